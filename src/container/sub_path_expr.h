/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sub_path_expr - the sub-path of a volumeMount, with the variables of subPathExpr filled in
 *
 * Variables are the container's own: env[].value, and fields of the pod by valueFrom.fieldRef. What
 * only another object could tell (a ConfigMap, a Secret) is refused and not guessed.
 */
#ifndef PODVOL_CONTAINER_SUB_PATH_EXPR_H
#define PODVOL_CONTAINER_SUB_PATH_EXPR_H

#include "base/failure.h"
#include "object/object.h"
#include "object/pod.h"

/**
 * sub_path_of_mount - where below its volume a mount begins
 * @pod:       its bytes are read when there is an expression
 * @container: of the pod
 * @mount:     of the container
 * @ret:       relative, without ".."; "" is the whole volume; freed with free()
 *
 * Return: 0; -EINVAL a variable has no value here, or what comes out is absolute or has a "..";
 * -ENOMEM.
 */
int sub_path_of_mount(const struct object *pod, const struct pod_container *container,
		      const struct pod_volume_mount *mount, char **ret, struct failure *reterr);

#endif
