/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks - what else a write is asked, beside object_admit(): uids, places, quotas; see store.h
 */
#include "store/group.h"

#include <assert.h>

void store_check_uids(struct store *store, store_uid_check_fn *check, void *userdata)
{
	store_group(store)->uids.check = check;
	store_group(store)->uids.userdata = userdata;
}

void store_check_new(struct store *store, store_check_fn *check, void *userdata)
{
	store_group(store)->news.check = check;
	store_group(store)->news.userdata = userdata;
}

void store_set_quota(struct store *store, const struct store_quota *quota)
{
	assert(store && quota);
	store_group(store)->quota = *quota;
}
