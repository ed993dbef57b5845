/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_others - the fields of kinds that nobody here acts upon
 */
#include "object/kinds.h"
#include "object/metadata.h"

const struct shape config_map_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape secret_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape node_shape = { .fields = (const struct shape_field[]){ { .name = "metadata",
									    .type = SHAPE_OBJECT,
									    .of = &metadata_shape },
									  { 0 } } };

const struct shape namespace_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape event_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape service_account_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape csi_driver_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape csi_node_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape volume_attachment_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape csi_storage_capacity_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape volume_snapshot_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape volume_snapshot_class_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape volume_snapshot_content_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};

const struct shape lease_shape = {
	.fields =
		(const struct shape_field[]){
			{ .name = "metadata", .type = SHAPE_OBJECT, .of = &metadata_shape }, { 0 } }
};
