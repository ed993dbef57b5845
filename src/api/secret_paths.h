/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_paths - does a pod make names of directories from a Secret?
 *
 * A subPathExpr may name variables, and a variable may come from a Secret: the name of the
 * directory is its content then, for whoever sees the volume. Pure; cost follows the length of the
 * pod.
 */
#ifndef PODVOL_API_SECRET_PATHS_H
#define PODVOL_API_SECRET_PATHS_H

#include "base/failure.h"
#include "object/json/json.h"

/**
 * secret_paths_check - for a writer who may not read Secrets
 * @spec: of a pod
 *
 * A variable counts as a Secret's when its last definition is a secretKeyRef, when its value names
 * one that does, or when it is in no env and envFrom has a secretRef. Return: 0; -EACCES, with
 * field and variable; -ENOMEM.
 */
int secret_paths_check(const struct cJSON *spec, struct failure *reterr);

#endif
