/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_secret - which Secret a StorageClass wants for a call to its driver; pure
 *
 * As external-provisioner: a pair of parameters for each use, or the pair of the default, with
 * ${pv.name}, ${pvc.namespace}, ${pvc.name} and ${pvc.annotations['KEY']} in them. The namespace
 * may name only what the claim's owner cannot choose. A pair that is half, a name that is none and
 * what no variable stands for are refused.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>

struct cJSON;

#define CSI_PARAMETER_PREFIX "csi.storage.k8s.io/"

enum csi_secret_use {
	CSI_SECRET_PROVISIONER,
	CSI_SECRET_CONTROLLER_PUBLISH,
	CSI_SECRET_NODE_STAGE,
	CSI_SECRET_NODE_PUBLISH,
	CSI_SECRET_CONTROLLER_EXPAND,
	CSI_SECRET_NODE_EXPAND,
	CSI_SECRET_USE_COUNT
};

/* "" both: none is wanted. */
struct csi_secret_name {
	char name[254], name_space[64];
};

struct csi_secret_query {
	const struct cJSON *parameters; /* of the class */
	const char *volume_name;
	const struct cJSON *claim; /* NULL: it is gone; its variables stand for nothing then */
};

/* Return: 0; -EINVAL. */
int csi_secret_resolve(const struct csi_secret_query *question, enum csi_secret_use use,
		       struct csi_secret_name *ret, struct failure *reterr);

/* Is it one of the parameters above? They are not the driver's. */
bool csi_secret_is_parameter(const char *key);

/* The member of a volume's csi source that refers to it ("nodeStageSecretRef"); NULL: none. */
const char *csi_secret_member(enum csi_secret_use use);
