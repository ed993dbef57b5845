/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf - bodies in Kubernetes' protocol buffers, which kubectl sends, read by tables; pure
 *
 * A table has a row for each field that is read: its number in k8s.io/api and its JSON name. Keys
 * of maps may come twice in what is read here: who wants none prints the tree and parses it.
 */
#pragma once

#include "object/json/json.h"
#include "object/kind.h"

enum protobuf_type {
	PROTOBUF_STRING,
	PROTOBUF_STRINGS, /* a list of them */
	PROTOBUF_INTEGER,
	PROTOBUF_BOOL,
	PROTOBUF_MESSAGE,
	PROTOBUF_MESSAGES,     /* a list of them */
	PROTOBUF_MAP,          /* of strings to strings */
	PROTOBUF_MAP_OF_BYTES, /* in base64, as in JSON */
	PROTOBUF_IGNORED,      /* whatever it holds: the server sets it */
	PROTOBUF_END,          /* the last row: other fields are passed over */
	PROTOBUF_END_OF_ALL,   /* the last row: another field is -EOPNOTSUPP */
};

struct protobuf_member {
	uint64_t number;
	enum protobuf_type type;
	const char *key;
	const struct protobuf_member *of; /* of messages */
};

/* The table for what the envelope calls @kind; NULL: it is not read. */
typedef const struct protobuf_member *protobuf_chooser(void *userdata, const char *kind);

/* The bytes are untrusted. Return: 0 and the same as JSON, freed with json_free(); -EINVAL it is
 * none, or of another kind; -EOPNOTSUPP a field that no row has; -ENOMEM. */
int protobuf_parse(const void *bytes, size_t length, protobuf_chooser *choose, void *userdata,
		   struct cJSON **ret);

/* ---- object_protobuf.c ---- */

/* Objects in protocol buffers: the kinds that `kubectl create KIND` sends so; pure.
 *
 * ConfigMap, Secret, Namespace, ServiceAccount. A field of a newer Kubernetes is refused, so
 * that nothing is dropped unseen; what the server sets (creationTimestamp, managedFields) is
 * passed over. */

/* Is a body of this kind read in protocol buffers? */
bool object_protobuf_has(enum object_kind kind);

/* Bytes are not trusted. Return: 0 and the same as JSON text, to be freed; -EINVAL it is no
 * object of this kind; -EOPNOTSUPP it has a field that is not known; -ENOMEM. */
int object_protobuf_print(enum object_kind kind, const void *bytes, size_t length, char **ret);
