/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_state - which entries a tree has, and a digest of all of them; see tree_state.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "mount/archive/tree_state.h"

#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "base/hash_table.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <string.h>
#include <utlist.h>

struct tree_state {
	struct state_name *names;
};

struct tree_state *tree_state_new(void)
{
	return calloc(1, sizeof(struct tree_state));
}

/* A node goes with its last name. */
static void forget(struct tree_state *state, struct state_name *name)
{
	HASH_DEL(state->names, name);
	DL_DELETE(name->node->names, name);
	if (!name->node->names)
		free(name->node);
	free(name);
}

void tree_state_freep(struct tree_state **state)
{
	struct state_name *name, *next;

	if (!*state)
		return;
	HASH_ITER (hh, (*state)->names, name, next)
		forget(*state, name);
	free(*state);
	*state = NULL;
}

static struct state_name *find(const struct tree_state *state, const char *path)
{
	struct state_name *name = NULL;

	HASH_FIND(hh, state->names, path, strlen(path), name);
	return name;
}

static int add_name(struct tree_state *state, const char *path, struct state_node *node,
		    struct failure *reterr)
{
	size_t length = strlen(path);
	unsigned int before = HASH_COUNT(state->names);
	struct state_name *name;

	if (before >= TREE_STATE_ENTRIES_MAX)
		return failed_plain(reterr, -E2BIG, "there are more than %d entries",
				    TREE_STATE_ENTRIES_MAX);
	name = calloc(1, sizeof(*name) + length + 1);
	if (!name)
		return failed(reterr, -ENOMEM, "cannot remember it");
	memcpy(name->path, path, length + 1);
	name->node = node;
	HASH_ADD_KEYPTR(hh, state->names, name->path, length, name);
	if (HASH_COUNT(state->names) == before) {
		free(name);
		return failed(reterr, -ENOMEM, "cannot remember it");
	}
	DL_APPEND(node->names, name);
	return 0;
}

int tree_state_put(struct tree_state *state, const char *path, const struct state_node *node,
		   struct state_node **ret, struct failure *reterr)
{
	struct state_node *made = malloc(sizeof(*made));
	int r;

	assert(state && path && node && reterr);
	if (!made)
		return failed(reterr, -ENOMEM, "cannot remember it");
	*made = *node;
	made->names = NULL;
	(void) tree_state_remove(state, path);
	r = add_name(state, path, made, reterr);
	if (r < 0)
		free(made);
	else if (ret)
		*ret = made;
	return r;
}

int tree_state_link(struct tree_state *state, const char *path, struct state_node *node,
		    struct failure *reterr)
{
	struct state_name *before = find(state, path);

	assert(node && node->names);
	if (before && before->node == node)
		return 0;
	if (before)
		forget(state, before);
	return add_name(state, path, node, reterr);
}

int tree_state_remove(struct tree_state *state, const char *path)
{
	struct state_name *name = find(state, path);

	if (!name)
		return -ENOENT;
	forget(state, name);
	return 0;
}

struct state_node *tree_state_find(const struct tree_state *state, const char *path)
{
	const struct state_name *name = find(state, path);

	return name ? name->node : NULL;
}

struct state_node *tree_state_meet(struct tree_state *state, const char *path)
{
	struct state_name *name = find(state, path);

	if (!name)
		return NULL;
	name->is_met = true;
	return name->node;
}

static int by_path(const void *left, const void *right)
{
	const struct state_name *const *a = left, *const *b = right;

	return strcmp((*a)->path, (*b)->path);
}

int tree_state_sort(const struct tree_state *state, struct state_name ***ret, size_t *ret_count)
{
	size_t count = HASH_COUNT(state->names), i = 0;
	struct state_name **sorted = calloc(count + 1, sizeof(struct state_name *));
	struct state_name *name, *next;

	if (!sorted)
		return -ENOMEM;
	HASH_ITER (hh, state->names, name, next)
		sorted[i++] = name;
	qsort(sorted, count, sizeof(struct state_name *), by_path);
	*ret = sorted;
	*ret_count = count;
	return 0;
}

int tree_state_check(const struct tree_state *state, struct failure *reterr)
{
	struct state_name *name, *next;

	HASH_ITER (hh, state->names, name, next) {
		const char *slash = strrchr(name->path, '/');
		cleanup_free char *parent =
			strndup(name->path, slash ? (size_t) (slash - name->path) : 0);
		const struct state_node *above = parent ? tree_state_find(state, parent) : NULL;

		if (!parent)
			return failed(reterr, -ENOMEM, "cannot inspect '%.100s'", name->path);
		if (!above || !S_ISDIR(above->mode))
			return failed_plain(reterr, -ENOTDIR,
					    "the directory of '%.100s' is not in it", name->path);
	}
	return 0;
}

/* Of one name: its path, its entry, and the first path that the entry has. */
static int add_to_digest(gnutls_hash_hd_t hash, const struct state_name *name)
{
	struct state_node *node = name->node;

	if (!node->first_path)
		node->first_path = name->path;
	return gnutls_hash(hash, name->path, strlen(name->path) + 1) < 0 ||
			       gnutls_hash(hash, node->first_path, strlen(node->first_path) + 1) <
				       0 ||
			       gnutls_hash(hash, node->digest, ENTRY_DIGEST_BYTES) < 0
		       ? -ENOMEM
		       : 0;
}

int tree_state_digest(const struct tree_state *state, char ret[ENTRY_DIGEST_TEXT],
		      struct failure *reterr)
{
	cleanup_free struct state_name **sorted = NULL;
	unsigned char digest[ENTRY_DIGEST_BYTES];
	gnutls_hash_hd_t hash;
	size_t count = 0;
	int r = tree_state_sort(state, &sorted, &count);

	if (r < 0 || gnutls_begin() < 0 || gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return failed(reterr, -ENOMEM, "cannot compute its digest");
	for (size_t i = 0; i < count; i++)
		sorted[i]->node->first_path = NULL;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_to_digest(hash, sorted[i]);
	gnutls_hash_deinit(hash, digest);
	if (r < 0)
		return failed(reterr, r, "cannot compute its digest");
	entry_digest_print(digest, ret);
	return 0;
}
