/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_state_read - the state of a tree on disk; see tree_state.h
 *
 * The same entries as archive_write.c puts into a full backup.
 */
#include "mount/archive/tree_state.h"

#include "base/cleanup.h"
#include "mount/archive/volume_copy.h"
#include "mount/bind/attributes.h"
#include "mount/ownership/tree_walk.h"

#include <assert.h>

struct state_reader {
	struct tree_state *state;
	struct link_table *links;
	const atomic_bool *cancel;
};

static void state_reader_done(struct state_reader *reader)
{
	tree_state_freep(&reader->state);
	link_table_freep(&reader->links);
}

static int read_entry(struct state_reader *reader, int fd, const char *path, struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	struct state_node node = { .mode = 0 };
	const char *original = NULL;
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect it");
	if (S_ISSOCK(status.st_mode))
		return 0;
	if (link_table_meet(&reader->links, &status, path, &original) < 0)
		return failed(reterr, -ENOMEM, "cannot remember its names");
	if (original)
		return tree_state_link(reader->state, path,
				       tree_state_find(reader->state, original), reterr);
	node.mode = status.st_mode;
	r = attributes_read(fd, &attributes, reterr);
	if (r == 0)
		r = entry_digest_read(fd, &attributes, reader->cancel, node.digest, reterr);
	return r < 0 ? r : tree_state_put(reader->state, path, &node, NULL, reterr);
}

static int read_walked(struct state_reader *reader, const struct tree_walk *walk,
		       const struct tree_entry *entry, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r;

	if ((entry->directory_fd >= 0 && !entry->before) || entry->other_mount)
		return 0;
	path = tree_walk_path(walk, entry);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot keep a path");
	r = read_entry(reader, entry->before ? entry->directory_fd : entry->fd, path, reterr);
	return r < 0 ? failure_prefix(reterr, "'%.100s'", path) : 0;
}

int tree_state_read(int root_fd, const atomic_bool *cancel, struct tree_state **ret,
		    struct failure *reterr)
{
	cleanup(state_reader_done) struct state_reader reader = { .state = tree_state_new(),
								  .cancel = cancel };
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	int r;

	assert(root_fd >= 0 && ret && reterr);
	r = reader.state ? tree_walk_new(root_fd, &walk) : -ENOMEM;
	if (r < 0)
		return failed(reterr, r, "cannot read the directory");
	tree_walk_open_first(walk, true);
	tree_walk_directories_first(walk);
	r = read_entry(&reader, root_fd, "", reterr);
	while (r == 0) {
		r = tree_walk_next(walk, &entry);
		if (r < 0)
			return failed(reterr, r, "cannot read a directory");
		if (r == 0)
			break;
		r = read_walked(&reader, walk, &entry, reterr);
	}
	if (r == 0)
		*ret = TAKE_PTR(reader.state);
	return r;
}
