/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_table - files with several names, by inode; see volume_copy.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "mount/archive/volume_copy.h"

#include "base/cleanup.h"
#include "base/hash_table.h"

#include <assert.h>
#include <string.h>

struct link {
	struct link_key {
		dev_t device;
		ino_t inode;
	} key;
	nlink_t left; /* names that are still to come */
	char *path;
	UT_hash_handle hh;
};

struct link_table {
	struct link *links;
	struct link *last; /* all its names were met: goes with the next call */
};

static void link_free(struct link *link)
{
	if (!link)
		return;
	free(link->path);
	free(link);
}

void link_table_freep(struct link_table **table)
{
	struct link *link, *next;

	if (!*table)
		return;
	HASH_ITER (hh, (*table)->links, link, next) {
		HASH_DEL((*table)->links, link);
		link_free(link);
	}
	link_free((*table)->last);
	free(*table);
	*table = NULL;
}

static int add(struct link_table *table, const struct stat *status, const char *path)
{
	struct link *link = calloc(1, sizeof(*link));
	unsigned int before = HASH_COUNT(table->links);

	if (link)
		link->path = strdup(path);
	if (!link || !link->path) {
		link_free(link);
		return -ENOMEM;
	}
	link->key = (struct link_key){ status->st_dev, status->st_ino };
	link->left = status->st_nlink - 1;
	HASH_ADD(hh, table->links, key, sizeof(link->key), link);
	if (HASH_COUNT(table->links) == before) {
		link_free(link);
		return -ENOMEM;
	}
	return 0;
}

int link_table_meet(struct link_table **table, const struct stat *status, const char *path,
		    const char **ret)
{
	const struct link_key key = { status->st_dev, status->st_ino };
	struct link *link = NULL;

	assert(table && status && path && ret);
	*ret = NULL;
	if (S_ISDIR(status->st_mode) || status->st_nlink < 2)
		return 0;
	if (!*table)
		*table = calloc(1, sizeof(**table));
	if (!*table)
		return -ENOMEM;
	link_free((*table)->last);
	(*table)->last = NULL;
	HASH_FIND(hh, (*table)->links, &key, sizeof(key), link);
	if (!link)
		return add(*table, status, path);
	*ret = link->path;
	if (--link->left == 0) {
		HASH_DEL((*table)->links, link);
		(*table)->last = link;
	}
	return 0;
}
