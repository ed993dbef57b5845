/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror - copies of a server's objects go into the queue of the embedded store; see mirror.h
 */
#include "store/mirror.h"

#include "store/group.h"

#include <assert.h>
#include <errno.h>

static int queue_mirror(struct store *store, struct write *write, store_done_fn *done,
			void *userdata)
{
	if (!write)
		return -ENOMEM;
	write->mirrors = true;
	write->done = done;
	write->userdata = userdata;
	store_queue_write(store, write);
	return 0;
}

int store_mirror(struct store *store, const struct object *object, store_done_fn *done,
		 void *userdata)
{
	struct write *write;
	int r;

	assert(store && object);
	r = store_check_open(store);
	if (r < 0)
		return r;
	write = write_new(ADMIT_CREATE, object->kind, object->meta.name_space, object->meta.name,
			  NULL);
	if (write)
		write->object = object_ref(object);
	return queue_mirror(store, write, done, userdata);
}

int store_mirror_delete(struct store *store, const struct store_key *key, const char *uid,
			store_done_fn *done, void *userdata)
{
	const struct store_precondition same = { .uid = uid };
	int r;

	assert(store && key && key->name_space && key->name && uid);
	r = store_check_open(store);
	if (r < 0)
		return r;
	return queue_mirror(store,
			    write_new(ADMIT_DELETE, key->kind, key->name_space, key->name, &same),
			    done, userdata);
}

void store_keep_off_disk(struct store *store, unsigned int kinds)
{
	store_group(store)->unstored_kinds = kinds;
}

void store_set_upstream(struct store *store, unsigned int kinds, store_upstream_fn *take,
			void *userdata)
{
	struct group *group = store_group(store);

	assert(kinds == 0 || take);
	group->upstream.kinds = kinds;
	group->upstream.take = take;
	group->upstream.userdata = userdata;
}
