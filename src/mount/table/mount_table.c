/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_table - a cache of the kernel's mount table
 *
 * Never the truth, only a way to find candidates: what references() hands out was asked of the
 * kernel again just now. Where ids are unique a refresh fetches only what is new and drops what is
 * gone; elsewhere mountinfo is read whole, but not when the kernel says that nothing changed since
 * the last time.
 */
#include "mount/table/mount_list.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

/* Entries that references() may add before a full refresh drops those that are gone. */
enum { ADDED_MAX = 1024 };

struct mount_table {
	pthread_mutex_t lock;
	struct table_entries entries;
	struct table_entry **buckets; /* by device and root, for references */
	size_t bucket_count;          /* a power of two, or 0 */
	size_t added;                 /* since the last full refresh */
	bool by_id;                   /* listmount and statmount, else mountinfo */
	bool loaded;                  /* mountinfo was read at least once */
	int mountinfo_fd;
};

/* ---- index by device and root ---- */

static size_t root_hash(dev_t device, const char *root)
{
	uint64_t hash = fnv1a_add_text(FNV1A_FIRST ^ device, root);

	return (size_t) (hash ^ hash >> 32);
}

static struct table_entry **bucket_of(struct mount_table *table, dev_t device, const char *root)
{
	return &table->buckets[root_hash(device, root) & (table->bucket_count - 1)];
}

static void index_add(struct mount_table *table, struct table_entry *entry)
{
	struct table_entry **bucket = bucket_of(table, entry->entry.device, entry->entry.root);

	entry->next = *bucket;
	*bucket = entry;
}

/* All entries again: a list of an old bucket must not lead to entries that are gone. */
static int index_rebuild(struct mount_table *table)
{
	size_t bucket_count = 64;
	struct table_entry **buckets;

	while (bucket_count < table->entries.count * 2)
		bucket_count *= 2;
	buckets = calloc(bucket_count, sizeof(struct table_entry *));
	if (!buckets)
		return -ENOMEM;
	free(table->buckets);
	table->buckets = buckets;
	table->bucket_count = bucket_count;
	for (size_t i = 0; i < table->entries.count; i++)
		index_add(table, table->entries.items[i]);
	return 0;
}

/* ---- refreshing ---- */

/* Known entries and the kernel's ids, both rising: keep, drop and fetch. */
static int merge(struct table_entries *known, const uint64_t *ids, size_t count,
		 struct table_entries *ret)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct table_entry *entry = NULL;
		int result;

		while (at < known->count && known->items[at]->entry.mount_id < ids[i])
			at++;
		if (at < known->count && known->items[at]->entry.mount_id == ids[i]) {
			entry = known->items[at];
			known->items[at] = NULL;
			at++;
		} else {
			result = mount_list_stat(ids[i], &entry);
			if (result == -ENOENT)
				continue; /* came and went */
			if (result < 0)
				return result;
		}
		result = table_entries_add(ret, entry);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Ids are never used twice, so equal lists are equal tables. */
static bool is_as_known(const struct table_entries *known, const uint64_t *ids, size_t count)
{
	if (known->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (known->items[i]->entry.mount_id != ids[i])
			return false;
	return true;
}

static int refresh_by_id(struct mount_table *table)
{
	cleanup(table_entries_done) struct table_entries merged = { 0 };
	cleanup_free uint64_t *ids = NULL;
	struct table_entries old;
	size_t count;
	int result = mount_list_ids(0, &ids, &count);

	if (result == 0 && table->buckets && is_as_known(&table->entries, ids, count)) {
		table->added = 0;
		return 0;
	}
	if (result == 0)
		result = merge(&table->entries, ids, count, &merged);
	/* After a failure some entries are in neither list: begin from nothing the next time. */
	old = table->entries;
	table->entries = result == 0 ? merged : (struct table_entries){ 0 };
	if (result == 0)
		merged = (struct table_entries){ 0 };
	table_entries_done(&old);
	table->added = 0;
	return index_rebuild(table) < 0 ? -ENOMEM : result;
}

/* Only what was mounted after the last one known. */
static int add_new_by_id(struct mount_table *table)
{
	size_t known = table->entries.count;
	uint64_t last = known > 0 ? table->entries.items[known - 1]->entry.mount_id : 0;
	cleanup_free uint64_t *ids = NULL;
	size_t count;
	int result;

	if (known == 0 || table->added > ADDED_MAX + known / 2)
		return refresh_by_id(table);
	result = mount_list_ids(last, &ids, &count);
	for (size_t i = 0; result == 0 && i < count; i++) {
		struct table_entry *entry;

		result = mount_list_stat(ids[i], &entry);
		if (result == -ENOENT) {
			result = 0;
			continue;
		}
		if (result == 0)
			result = table_entries_add(&table->entries, entry);
		if (result == 0)
			index_add(table, entry);
	}
	table->added += count;
	return result == 0 && table->entries.count > table->bucket_count ? index_rebuild(table)
									 : result;
}

/* Did the kernel change its table since the last read? Asking makes it forget, so read after. */
static bool mountinfo_changed(const struct mount_table *table)
{
	struct pollfd poll_fd = { .fd = table->mountinfo_fd, .events = POLLPRI };

	return !table->loaded || poll(&poll_fd, 1, 0) != 0;
}

/* After a failure nothing counts as loaded: the next one reads again. */
static int refresh_from_text(struct mount_table *table)
{
	struct table_entries entries;
	int result;

	if (!mountinfo_changed(table))
		return 0;
	table->loaded = false;
	result = mount_list_read(table->mountinfo_fd, &entries);
	if (result < 0)
		return result;
	table_entries_done(&table->entries);
	table->entries = entries;
	table->loaded = true;
	return index_rebuild(table);
}

/* ---- the table ---- */

int mount_table_new(struct mount_table **ret, struct failure *reterr)
{
	struct mount_table *table;

	assert(ret);
	table = calloc(1, sizeof(*table));
	if (!table)
		return failed(reterr, -ENOMEM, "cannot make a mount table");
	table->by_id = mount_ids_are_unique();
	table->mountinfo_fd = -EBADF;
	if (!table->by_id) {
		table->mountinfo_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
		if (table->mountinfo_fd < 0) {
			int error = -errno;

			free(table);
			return failed(reterr, error, "cannot open /proc/self/mountinfo");
		}
	}
	(void) pthread_mutex_init(&table->lock, NULL);
	*ret = table;
	return 0;
}

struct mount_table *mount_table_free(struct mount_table *table)
{
	if (!table)
		return NULL;
	(void) close_keep_errno(table->mountinfo_fd);
	table_entries_done(&table->entries);
	free(table->buckets);
	(void) pthread_mutex_destroy(&table->lock);
	free(table);
	return NULL;
}

int mount_table_refresh(struct mount_table *table, struct failure *reterr)
{
	int result;

	assert(table);
	(void) pthread_mutex_lock(&table->lock);
	result = table->by_id ? refresh_by_id(table) : refresh_from_text(table);
	(void) pthread_mutex_unlock(&table->lock);
	return result < 0 ? failed(reterr, result, "cannot read the mount table") : 0;
}

int mount_table_walk(struct mount_table *table,
		     int (*visit)(const struct mount_entry *entry, void *userdata), void *userdata)
{
	int result = 0;

	assert(table && visit);
	(void) pthread_mutex_lock(&table->lock);
	for (size_t i = 0; result == 0 && i < table->entries.count; i++)
		result = visit(&table->entries.items[i]->entry, userdata);
	(void) pthread_mutex_unlock(&table->lock);
	return result;
}

/* ---- references ---- */

static const struct table_entry *find_by_id(const struct mount_table *table, uint64_t mount_id)
{
	for (size_t i = table->entries.count; i-- > 0;)
		if (table->entries.items[i]->entry.mount_id == mount_id)
			return table->entries.items[i];
	return NULL;
}

/* Where a descriptor's file is within its file system: the mount's root and the way from its mount
 * point. */
static int root_path_of(int fd, const struct mount_entry *mount, char **ret)
{
	size_t length = strlen(mount->mount_point);
	const char *root = strcmp(mount->root, "/") == 0 ? "" : mount->root;
	char path[PATH_MAX];
	int r = fd_real_path(fd, path);

	if (r < 0)
		return r;
	if (length == 1)
		length = 0; /* "/" is the beginning of every path, and its slash belongs to it */
	if (strncmp(path, mount->mount_point, length) != 0 ||
	    (path[length] != '\0' && path[length] != '/'))
		return -ENOENT;
	if (strcmp(path + length, "/") == 0)
		path[length] = '\0';
	if (*root == '\0' && path[length] == '\0')
		root = "/";
	return asprintf(ret, "%s%s", root, path + length) < 0 ? -ENOMEM : 0;
}

typedef bool same_files_fn(const char *root, const char *other);

static bool is_same_root(const char *root, const char *other)
{
	return strcmp(root, other) == 0;
}

static bool is_above_or_below(const char *root, const char *other)
{
	return path_is_at_or_below(root, other) || path_is_at_or_below(other, root);
}

/* What is asked about: a directory of a file system, seen through one mount. */
struct reference_query {
	same_files_fn *is_meant;
	uint64_t mount_id;
	dev_t device;
	char *root;
	const char *prefix;
};

/* The mount under the descriptor is asked of the kernel, not of the cache, where that is possible.
 */
static int query_init(struct mount_table *table, int fd, struct reference_query *query)
{
	cleanup_free struct table_entry *fresh = NULL;
	const struct table_entry *mount;
	struct mount_facts facts;
	int result = fd_facts(fd, &facts, NULL);

	if (result < 0)
		return result;
	if (table->by_id) {
		result = mount_list_stat(facts.mount_id, &fresh);
		if (result < 0)
			return result;
	}
	mount = fresh ? fresh : find_by_id(table, facts.mount_id);
	if (!mount)
		return -ENOENT; /* a mount of another namespace, or of none */
	query->mount_id = facts.mount_id;
	query->device = mount->entry.device;
	return root_path_of(fd, &mount->entry, &query->root);
}

/* The cache says where to look, the kernel whether it is still so. */
static int visit_candidate(const struct mount_table *table, const struct table_entry *candidate,
			   const struct reference_query *query,
			   int (*visit)(const struct mount_entry *entry, void *userdata),
			   void *userdata)
{
	cleanup_free struct table_entry *fresh = NULL;
	const struct mount_entry *entry = &candidate->entry;

	if (entry->device != query->device || entry->mount_id == query->mount_id ||
	    !query->is_meant(entry->root, query->root))
		return 0;
	if (table->by_id) {
		int result = mount_list_stat(entry->mount_id, &fresh);

		if (result < 0)
			return result == -ENOENT ? 0 : result;
		entry = &fresh->entry; /* it may have been moved since it was cached */
	}
	if (strncmp(entry->mount_point, query->prefix, strlen(query->prefix)) != 0)
		return 0;
	return visit(entry, userdata);
}

/* With the lock, which the caller gives back whatever the result. */
static int begin_query(struct mount_table *table, int fd, struct reference_query *query,
		       struct failure *reterr)
{
	int result;

	(void) pthread_mutex_lock(&table->lock);
	result = table->by_id ? add_new_by_id(table) : refresh_from_text(table);
	if (result == 0)
		result = query_init(table, fd, query);
	return result < 0 ? failed(reterr, result, "cannot find where else this is mounted") : 0;
}

static void end_query(struct mount_table *table, struct reference_query *query)
{
	free(query->root);
	(void) pthread_mutex_unlock(&table->lock);
}

int mount_table_references(struct mount_table *table, int fd, const char *prefix,
			   int (*visit)(const struct mount_entry *entry, void *userdata),
			   void *userdata, struct failure *reterr)
{
	struct reference_query query = { .is_meant = is_same_root, .prefix = prefix };
	const struct table_entry *candidate;
	int result;

	assert(table && fd >= 0 && prefix && visit);
	result = begin_query(table, fd, &query, reterr);
	if (result == 0) {
		candidate = *bucket_of(table, query.device, query.root);
		for (; result == 0 && candidate; candidate = candidate->next)
			result = visit_candidate(table, candidate, &query, visit, userdata);
	}
	end_query(table, &query);
	return result;
}

int mount_table_overlaps(struct mount_table *table, int fd, const char *prefix,
			 int (*visit)(const struct mount_entry *entry, void *userdata),
			 void *userdata, struct failure *reterr)
{
	struct reference_query query = { .is_meant = is_above_or_below, .prefix = prefix };
	int result;

	assert(table && fd >= 0 && prefix && visit);
	result = begin_query(table, fd, &query, reterr);
	for (size_t i = 0; result == 0 && i < table->entries.count; i++)
		result = visit_candidate(table, table->entries.items[i], &query, visit, userdata);
	end_query(table, &query);
	return result;
}

int mount_table_origin(struct mount_table *table, int fd, struct mount_origin *ret,
		       struct failure *reterr)
{
	struct reference_query query = { .is_meant = NULL };
	int result;

	assert(table && fd >= 0 && ret);
	result = begin_query(table, fd, &query, reterr);
	if (result == 0)
		*ret = (struct mount_origin){ query.device, TAKE_PTR(query.root) };
	end_query(table, &query);
	return result;
}
