/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_parts - what kubeconfig.c and kubeconfig_exec.c share; no other file includes it
 */
#pragma once

#include "store/remote/kubeconfig.h"

struct cJSON;

/* A copy of a text; NULL in @ret when it is not set. */
int kubeconfig_take_text(const struct cJSON *entry, const char *field, char **ret,
			 struct failure *reterr);
/* The same, as a path from @directory. */
int kubeconfig_take_path(const struct cJSON *entry, const char *field, const char *directory,
			 char **ret, struct failure *reterr);

/* The exec of a user; what its cluster says to plugins, as JSON. */
int kubeconfig_exec_take(const struct cJSON *tree, const char *directory,
			 struct kubeconfig_exec *ret, struct failure *reterr);
int kubeconfig_exec_take_cluster(const struct cJSON *cluster, struct kubeconfig_exec *ret,
				 struct failure *reterr);
void kubeconfig_exec_done(struct kubeconfig_exec *exec);
