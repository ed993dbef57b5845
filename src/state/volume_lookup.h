/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_lookup - from a volume of a pod, through its claim and PV, to a spec and its plugin
 *
 * Kubelet's checks in kubelet's order, with kubelet's texts: they are what people search for.
 * Reads the store's cache, changes nothing. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"
#include "store/store.h"

struct volume_lookup {
	struct volume_spec spec;    /* borrows from the pod, or from the PV in the store */
	const struct object *claim; /* borrowed from the store; NULL for inline volumes */
	const struct volume_plugin *plugin;
	bool device_mountable;
	char *unique_name; /* freed with free() */
};

/* Does it come through a claim, the pod's own or one made for it? */
bool volume_has_claim(const struct pod_volume *volume);

/**
 * volume_lookup - what a pod's volume is
 * @waits_for_moves: a claim that is being moved to another class is refused
 * @pod:    the pod's object
 * @volume: one of its volumes that some container uses
 * @ret:    written on success only
 * @reterr: the sentence for people: "error processing PVC default/data: PVC is not bound"
 *
 * Return: 0; -EBUSY its claim is being moved; -ENOENT something that it refers to is missing;
 * -EAGAIN its claim is not bound; -EINVAL what is there does not fit; -EOPNOTSUPP no change of
 * other objects makes it fit; -ENOMEM.
 */
int volume_lookup(struct store *store, bool waits_for_moves, const struct object *pod,
		  const struct pod_volume *volume, struct volume_lookup *ret,
		  struct failure *reterr);
