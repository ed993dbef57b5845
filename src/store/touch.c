/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch - see touch.h
 */
#include "store/touch.h"

#include "store/group.h"

#include <assert.h>
#include <errno.h>

static_assert(KIND_COUNT <= 31, "STORE_TOUCHES is no kind");

/* An object that is gone is none of the toucher's business. */
static void on_done(void *userdata, int error, const struct object *result,
		    const struct failure *why)
{
}

int store_touch(struct store *store, const struct store_key *key, const char *uid)
{
	const struct store_precondition same = { .uid = uid };
	struct write *write;
	int r;

	assert(store && key && uid);
	r = store_check_open(store);
	if (r < 0)
		return r;
	write = write_new(ADMIT_UPDATE, key->kind, key->name_space, key->name, &same);
	if (!write)
		return -ENOMEM;
	write->touches = true;
	write->done = on_done;
	store_queue_write(store, write);
	return 0;
}
