/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror - a store that keeps copies of a kube-apiserver's objects
 *
 * What the server has is stored as it is: no admission, no finalizers, no check of versions. Only
 * metadata.resourceVersion is the store's own, so that watches, preconditions and the order of
 * changes are as ever. Writes of the kinds that belong to the server do not change the store: they
 * are given to the function that sends them there, and what the server answers is mirrored. The
 * loop thread only.
 */
#pragma once

#include "store/store.h"

struct write;

/**
 * store_mirror, store_mirror_delete - the server has this object; the server has it no more
 * @uid: of the object that is gone; another one of this name stays
 *
 * As store_update() and store_delete(): the same order, callbacks and quota. The same object again
 * makes no change. A new pod or volume is still refused when store_check_new()'s function does.
 * Errors given to @done: those of a write; of a delete also -ENOENT, -ESTALE another uid.
 *
 * Return: 0 queued; -ENOBUFS, -ECANCELED, -ENOMEM.
 */
int store_mirror(struct store *store, const struct object *object, store_done_fn *done,
		 void *userdata);
int store_mirror_delete(struct store *store, const struct store_key *key, const char *uid,
			store_done_fn *done, void *userdata);

/* Objects of these kinds are never written to disk: gone with a restart. @kinds: 1 << kind. */
void store_keep_off_disk(struct store *store, unsigned int kinds);

/* A write for the server (store/group.h). Takes @write: calls its done() later, never from within,
 * then frees it. Return: 0; a negative errno, and @write stays the caller's. */
typedef int store_upstream_fn(void *userdata, struct write *write);

/* Writes of these kinds go to @take from now on, all others are stored as ever. 0: none. */
void store_set_upstream(struct store *store, unsigned int kinds, store_upstream_fn *take,
			void *userdata);
