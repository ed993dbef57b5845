/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_target - TearDownAt of volumes that are one mount in a directory of the pod, and nothing else
 *
 * The target is unmounted and removed, then the plugin's directory of the pod if it is empty.
 * Nothing that is in the volume is touched, and the volume's name is all that is needed for it.
 */
#ifndef PODVOL_PLUGINS_POD_TARGET_H
#define PODVOL_PLUGINS_POD_TARGET_H

#include "plugins/plugin.h"

/* A slot new_unmounter; the plugin's name says in which directory. */
int pod_target_new_unmounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr);

#endif
