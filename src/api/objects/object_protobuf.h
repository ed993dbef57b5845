/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_protobuf - objects in protocol buffers: the kinds that `kubectl create KIND` sends so;
 * pure
 *
 * ConfigMap, Secret, Namespace, ServiceAccount. A field of a newer Kubernetes is refused, so that
 * nothing is dropped unseen; what the server sets (creationTimestamp, managedFields) is passed
 * over.
 */
#ifndef PODVOL_API_OBJECT_PROTOBUF_H
#define PODVOL_API_OBJECT_PROTOBUF_H

#include "object/kind.h"

/* Is a body of this kind read in protocol buffers? */
bool object_protobuf_has(enum object_kind kind);

/* Bytes come from strangers. Return: 0 and the same as JSON text, to be freed; -EINVAL it is no
 * object of this kind; -EOPNOTSUPP it has a field that is not known; -ENOMEM. */
int object_protobuf_print(enum object_kind kind, const void *bytes, size_t length, char **ret);

#endif
