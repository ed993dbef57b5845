/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_limits - the options that limit all objects together; see parts.h
 */
#include "agent/parts.h"

#include "config.h"
#include "store/store.h"

struct store *store_with_limits(struct store *store, const struct config *config)
{
	const struct store_quota quota = {
		.bytes = { [STORE_ON_DISK] = (size_t) config->objects_bytes_max.stored,
			   [STORE_IN_MEMORY] = (size_t) config->objects_bytes_max.in_memory },
		.names = { [STORE_ON_DISK] = "objects-bytes-max",
			   [STORE_IN_MEMORY] = "memory-objects-bytes-max" },
	};

	store_set_quota(store, &quota);
	return store;
}
