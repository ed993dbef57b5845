/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_class - storage.k8s.io/v1 StorageClass, decoded
 */
#pragma once

#include "object/kinds/persistent_volume.h"
#include "object/object.h"

/* The ConfigMap of rancher.io/local-path that says where its directories are made. */
#define NODE_MAP_NAMESPACE "local-path-storage"
#define NODE_MAP_NAME      "local-path-config"

struct storage_class {
	const struct object *object;
	const char *provisioner;
	enum reclaim_policy reclaim_policy;
	bool waits_for_first_consumer;
	bool is_default; /* annotation storageclass.kubernetes.io/is-default-class: "true" */
	bool allow_volume_expansion;
};
