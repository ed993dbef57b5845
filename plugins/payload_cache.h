/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload_cache - files that many pods show are made once
 *
 * A thousand pods that mount one ConfigMap in the same words get one payload, while the versions of
 * the objects are the same. Only what does not depend on the pod is shared. Bounded; what is in use
 * lives on when it is pushed out. Any thread: one mutex inside, under which nothing is read or
 * built.
 */
#pragma once

#include "plugins/file_payload.h"

#include <stdio.h>

enum {
	PAYLOADS_KEPT_MAX = 16,
	PAYLOADS_KEPT_BYTES_MAX = 16 * 1024 * 1024, /* larger ones are not kept */
};

struct payload_cache;
struct shared_payload;

/* Return: 0 or -ENOMEM. Freeing accepts NULL and returns it; payloads in use live on. */
int payload_cache_new(struct payload_cache **ret);
struct payload_cache *payload_cache_free(struct payload_cache *cache);

/**
 * payload_cache_get - the files of a volume [worker: waits for one that builds the same]
 * @cache: NULL: nothing is shared
 * @ret:   given back with shared_payload_unref()
 *
 * Return: 0, else as file_payload_build().
 */
int payload_cache_get(struct payload_cache *cache, const struct file_inputs *inputs,
		      struct shared_payload **ret, struct failure *reterr);
/* How often files were made since the start, and how often some that were there were taken, in
 * Prometheus' form: those of volumes that depend on their pod are not counted. Any thread. @cache
 * NULL: zero. */
void payload_cache_print_metrics(struct payload_cache *cache, FILE *file);
const struct payload *shared_payload_files(const struct shared_payload *shared);
/* Accepts NULL. Return: NULL. */
struct shared_payload *shared_payload_unref(struct shared_payload *shared);
