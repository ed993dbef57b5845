/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_compare - known mounts compared with the kernel's table; see mount_compare.h
 *
 * Known mounts are found by a sorted list of their ids. By id, what is not known costs one
 * statmount each; as text, one read is all there is. Unprivileged but for mount_set_back().
 */
#include "mount/table/mount_compare.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "mount/bind/bind_staged.h"
#include "mount/bind/fallback.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

uint64_t mount_place_sum(const char *path)
{
	assert(path);
	return fnv1a_add_text(FNV1A_FIRST, path);
}

/* ---- known mounts by id ---- */

struct by_id {
	struct known_mount **known; /* rising */
	size_t count;
};

static int compare_ids(const void *a, const void *b)
{
	uint64_t one = (*(struct known_mount *const *) a)->mount_id;
	uint64_t other = (*(struct known_mount *const *) b)->mount_id;

	return one < other ? -1 : one > other;
}

static int sort_by_id(struct known_mount *known, size_t count, struct by_id *ret)
{
	ret->known = calloc(count > 0 ? count : 1, sizeof(struct known_mount *));
	if (!ret->known)
		return -ENOMEM;
	ret->count = count;
	for (size_t i = 0; i < count; i++) {
		ret->known[i] = &known[i];
		known[i].fate = MOUNT_GONE; /* until it is seen */
	}
	qsort(ret->known, count, sizeof(struct known_mount *), compare_ids);
	return 0;
}

static struct known_mount *find(const struct by_id *sorted, uint64_t mount_id)
{
	struct known_mount key = { .mount_id = mount_id }, *wanted = &key;
	struct known_mount **found = bsearch(&wanted, sorted->known, sorted->count,
					     sizeof(struct known_mount *), compare_ids);

	return found ? *found : NULL;
}

/* "rw,nosuid,relatime" as attributes. */
uint64_t mount_attributes_of(const struct mount_entry *entry)
{
	static const struct {
		const char *word;
		uint64_t attribute;
	} rows[] = {
		{ "ro", MOUNT_ATTR_RDONLY },
		{ "nosuid", MOUNT_ATTR_NOSUID },
		{ "nodev", MOUNT_ATTR_NODEV },
		{ "noexec", MOUNT_ATTR_NOEXEC },
	};
	const char *options = entry->options;
	uint64_t attributes = 0;

	while (*options) {
		size_t length = strcspn(options, ",");

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (strlen(rows[i].word) == length &&
			    strncmp(options, rows[i].word, length) == 0)
				attributes |= rows[i].attribute;
		options += length + (options[length] == ',');
	}
	return attributes;
}

static void note_there(struct known_mount *known, uint64_t attributes)
{
	known->fate = known->expects && attributes == known->attributes ? MOUNT_SAME : MOUNT_THERE;
	known->attributes = attributes;
}

static void note(struct known_mount *known, const struct mount_entry *entry)
{
	note_there(known, mount_attributes_of(entry));
	if (mount_place_sum(entry->mount_point) != known->place)
		known->fate = MOUNT_MOVED;
}

/* ---- others ---- */

/* Mounts above the root directory that came before it are what it stands on. */
static bool concerns(const struct mount_entry *entry, const char *root_path, bool after_root)
{
	if (strcmp(entry->mount_point, root_path) == 0 ||
	    path_is_below(entry->mount_point, root_path))
		return true;
	return after_root && path_is_below(root_path, entry->mount_point);
}

/* ---- by id ---- */

static int compare_by_id(const struct by_id *sorted, const char *root_path, uint64_t root_id,
			 struct table_entries *others)
{
	cleanup_free uint64_t *ids = NULL;
	size_t count;
	int r = mount_list_ids(0, &ids, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct known_mount *known = find(sorted, ids[i]);
		struct table_entry *entry = NULL;

		if (ids[i] == root_id && !known)
			continue;
		r = mount_list_stat(ids[i], &entry);
		if (r == -ENOENT) {
			r = 0; /* came and went */
			continue;
		}
		if (r == 0 && known)
			note(known, &entry->entry);
		if (r == 0 && !known && concerns(&entry->entry, root_path, ids[i] > root_id))
			r = table_entries_add(others, TAKE_PTR(entry));
		free(entry);
	}
	return r;
}

/* ---- as text ---- */

struct comparison {
	const struct by_id *sorted;
	const char *root_path;
	uint64_t root_id;
	bool after_root;
	struct table_entries *others; /* NULL: not asked for */
};

/* Known mounts are most of the table: nothing is kept of them. */
static int compare_entry(void *userdata, const struct mount_entry *entry)
{
	struct comparison *comparison = userdata;
	struct known_mount *known = find(comparison->sorted, entry->mount_id);
	bool is_root = entry->mount_id == comparison->root_id;
	struct table_entry *kept;

	comparison->after_root = comparison->after_root || is_root;
	if (known)
		note(known, entry);
	if (known || is_root || !comparison->others ||
	    !concerns(entry, comparison->root_path, comparison->after_root))
		return 0;
	kept = table_entry_new(entry);
	return kept ? table_entries_add(comparison->others, kept) : -ENOMEM;
}

static int compare_as_text(const struct by_id *sorted, const char *root_path, uint64_t root_id,
			   struct table_entries *others)
{
	struct comparison comparison = { sorted, root_path, root_id, false, others };
	cleanup_close int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : mount_list_each(fd, compare_entry, &comparison);
}

/* ---- checks ---- */

static int compare_id(struct known_mount *known)
{
	uint64_t attributes = 0;
	int r = mount_list_attributes(known->mount_id, &attributes);

	note_there(known, attributes & MOUNT_ATTR_WATCHED);
	if (r == -ENOENT)
		known->fate = MOUNT_GONE;
	return r == -ENOENT ? 0 : r;
}

int mount_look_at_known(struct known_mount *known, size_t count, struct failure *reterr)
{
	struct by_id sorted = { 0 };
	int r = 0;

	assert(known || count == 0);
	if (mount_ids_are_unique()) {
		for (size_t i = 0; r == 0 && i < count; i++)
			r = compare_id(&known[i]);
	} else {
		r = sort_by_id(known, count, &sorted);
		if (r == 0)
			r = compare_as_text(&sorted, "/", 0, NULL);
		free(sorted.known);
	}
	return r < 0 ? failed(reterr, r, "cannot inspect mounts") : 0;
}

int mount_compare_all(struct known_mount *known, size_t count, const char *root_path,
		      uint64_t root_id, struct table_entries *ret_others, struct failure *reterr)
{
	cleanup(table_entries_done) struct table_entries others = { 0 };
	struct by_id sorted = { 0 };
	int r;

	assert((known || count == 0) && root_path && *root_path == '/' && ret_others);
	r = sort_by_id(known, count, &sorted);
	if (r == 0)
		r = mount_ids_are_unique() ? compare_by_id(&sorted, root_path, root_id, &others)
					   : compare_as_text(&sorted, root_path, root_id, &others);
	free(sorted.known);
	if (r < 0)
		return failed(reterr, r, "cannot inspect the mounts of this namespace");
	*ret_others = others;
	others = (struct table_entries){ 0 };
	return 0;
}

int mount_compare_ids(const uint64_t *ids, size_t count, struct table_entries *ret,
		      struct failure *reterr)
{
	cleanup(table_entries_done) struct table_entries seen = { 0 };
	int r = 0;

	assert((ids || count == 0) && ret);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct table_entry *entry;

		r = mount_list_stat(ids[i], &entry);
		if (r == 0)
			r = table_entries_add(&seen, entry);
		else if (r == -ENOENT)
			r = 0;
	}
	if (r < 0)
		return failed(reterr, r, "cannot inspect mounts");
	*ret = seen;
	seen = (struct table_entries){ 0 };
	return 0;
}

/* ---- setting back ---- */

static int remount(int fd, uint64_t attributes)
{
	const struct mount_attributes wanted = { .set = attributes,
						 .clear = MOUNT_ATTR_WATCHED & ~attributes };
	unsigned long flags;
	int r = flags_to_remount(fd_path(fd).text, &wanted, &flags);

	if (r < 0)
		return r;
	flags |= MS_REMOUNT | MS_BIND;
	return mount(NULL, fd_path(fd).text, NULL, flags, NULL) < 0 ? -errno : 0;
}

int mount_set_back(const struct place *place, uint64_t mount_id, uint64_t attributes,
		   struct failure *reterr)
{
	struct mount_attr attr = { .attr_set = attributes,
				   .attr_clr = MOUNT_ATTR_WATCHED & ~attributes };
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	assert(place && place->parent_fd >= 0 && !(attributes & ~MOUNT_ATTR_WATCHED));
	fd = open_beneath(place->parent_fd, place->name, O_PATH, PATH_NO_SYMLINKS_ANY_MOUNT,
			  reterr);
	if (fd < 0)
		return fd;
	r = fd_facts(fd, &facts, reterr);
	if (r < 0)
		return r;
	if (!facts.is_mount_root || facts.mount_id != mount_id)
		return failed_plain(reterr, -ESTALE, "'%s' shows another mount", place->path);
	r = mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
	if (call_is_missing(r, CALL_MOUNT_SETATTR))
		r = remount(fd, attributes);
	return r < 0 ? failed(reterr, r, "cannot restore the attributes of '%s'", place->path) : 0;
}
