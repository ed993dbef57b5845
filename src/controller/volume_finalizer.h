/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_finalizer - a made volume's object outlives what is behind it (HonorPVReclaimPolicy)
 *
 * Under policy Delete it bears external-provisioner's finalizer, so that a volume which is deleted
 * before its claim still leads to its data when that claim is deleted. Decides about no data.
 */
#pragma once

#include "controller/work_queue.h"
#include "object/kinds/persistent_volume.h"

#define FINALIZER_PROVISIONER "external-provisioner.volume.kubernetes.io/finalizer"

bool volume_finalizer_is_there(const struct object *volume);
/* It comes when the volume is bound under policy Delete, and goes under another one. Return: true:
 * a write of it is under way. */
bool volume_finalizer_keep(struct work_item *item, const struct persistent_volume *volume);
/* Nothing keeps the object any more: it is deleted, or its finalizer goes when it was. */
void volume_finalizer_forget(struct work_item *item, const struct object *volume);
