/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_world - api_world with docker's calls and volumes for them
 */
#pragma once

#include "api/docker/docker_volume.h"
#include "api_world.h"

/* As world_begin() and world_request(), on docker's socket. */
void docker_begin(struct world *world, enum api_method method, const char *uri, const char *body);
int docker_request(struct world *world, enum api_method method, const char *uri, const char *body);
/* A call of one volume. */
int docker_call(struct world *world, const char *uri, const char *name);
/* Makes a volume with one option; asserts that it is made. */
void docker_create(struct world *world, const char *name, const char *option, const char *value);
/* PersistentVolumes "disk", "taken" by "default/other" and "device"; claims "default/shared" and
 * "default/device". */
void docker_store_volumes(struct world *world);
/* Asserts that an object is gone or being deleted. */
void docker_assert_going(struct world *world, enum object_kind kind, const char *name_space,
			 const char *name);
