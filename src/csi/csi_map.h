/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_map - maps of strings in messages to drivers: contexts and secrets
 *
 * protobuf-c has a type of its own for the entries of each map, all of the same schema; they are
 * filled here from one. Values may be secrets: all are overwritten before they are freed.
 */
#pragma once

#include "csi/csi.pb-c.h"
#include "object/object.h"

/* The schema of Csi__V1__NodeStageVolumeRequest__SecretsEntry and its kin. */
struct csi_map_entry {
	ProtobufCMessage base; /* of the message that was filled last */
	char *key, *value;
};

/* Zeroed: empty. Owns its strings. */
struct csi_map {
	struct csi_map_entry *pairs, **pointers; /* the second as messages have it */
	size_t count;
};

/* A key that is there gets the new value. Return: 0 or -ENOMEM. */
int csi_map_set(struct csi_map *map, const char *key, const char *value);
int csi_map_add_labels(struct csi_map *map, const struct labels *labels);
/* The parameters of a class, but for those whose keys begin with @but (the sidecars' own); NULL:
 * all of them. */
int csi_map_add_parameters(struct csi_map *map, const struct cJSON *class, const char *but);
/* The entries of a v1.Secret. Up to a megabyte of JSON is parsed. Return: 0; -EINVAL one of them is
 * no text, and CSI sends only text; -ENOMEM. */
int csi_map_add_secret(struct csi_map *map, const struct object *secret, struct failure *reterr);
void csi_map_done(struct csi_map *map);

/**
 * csi_map_fill - the member of a message, which borrows the map until that changes or fills another
 * @entry:    the descriptor of its entries
 * @ret_count, @ret_entries: &message.n_secrets, &message.secrets
 *
 * Return: 0 or -ENOMEM.
 */
int csi_map_fill(struct csi_map *map, const ProtobufCMessageDescriptor *entry, size_t *ret_count,
		 void *ret_entries);
/* Of a request as generated: CSI_MAP_FILL(&map, &message, delete_volume, secrets). */
#define CSI_MAP_FILL(map, message, request, member)                                                \
	csi_map_fill(map, &csi__v1__##request##_request__##member##_entry__descriptor,             \
		     &(message)->n_##member, &(message)->member)
