/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_list - reading the kernel's mount table; see mount_list.h
 *
 * Reads only. Debian 12's headers know neither statmount's structure nor its constants, so they
 * are here, with the kernel's names.
 */
#include "mount/table/mount_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/syscalls.h"
#include "mount/bind/fallback.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

#define STATMOUNT_SB_BASIC  0x001U
#define STATMOUNT_MNT_BASIC 0x002U
#define STATMOUNT_MNT_ROOT  0x008U
#define STATMOUNT_MNT_POINT 0x010U
#define STATMOUNT_FS_TYPE   0x020U
#define STATMOUNT_SB_SOURCE 0x200U
#define STATMOUNT_WANTED                                                                           \
	(STATMOUNT_SB_BASIC | STATMOUNT_MNT_BASIC | STATMOUNT_MNT_ROOT | STATMOUNT_MNT_POINT |     \
	 STATMOUNT_FS_TYPE | STATMOUNT_SB_SOURCE)

/* struct statmount of linux/mount.h as far as it is used here; the kernel's is 512 bytes. */
struct statmount_answer {
	uint32_t size, mnt_opts;
	uint64_t mask;
	uint32_t sb_dev_major, sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags, fs_type;
	uint64_t mnt_id, mnt_parent_id;
	uint32_t mnt_id_old, mnt_parent_id_old;
	uint64_t mnt_attr, mnt_propagation, mnt_peer_group, mnt_master, propagate_from;
	uint32_t mnt_root, mnt_point;
	uint64_t mnt_ns_id;
	uint32_t fs_subtype, sb_source;
	uint64_t unused[48];
	char str[];
};
_Static_assert(sizeof(struct statmount_answer) == 512, "as the kernel has it");

enum {
	ANSWER_BYTES = 4096,
	ANSWER_BYTES_MAX = 65536,
	IDS_AT_ONCE = 1024,
	TEXT_BYTES = 65536, /* of mountinfo, to begin with */
};

/* ---- entries ---- */

static const char *keep(char **text, const char *string)
{
	char *kept = *text;

	*text = mempcpy(kept, string, strlen(string) + 1);
	return kept;
}

struct table_entry *table_entry_new(const struct mount_entry *fields)
{
	size_t bytes = strlen(fields->root) + strlen(fields->mount_point) + strlen(fields->type) +
		       strlen(fields->source) + strlen(fields->options) + 5;
	struct table_entry *new = malloc(sizeof(*new) + bytes);
	char *text;

	if (!new)
		return NULL;
	text = new->text;
	*new = (struct table_entry){ .entry = *fields };
	new->entry.root = keep(&text, fields->root);
	new->entry.mount_point = keep(&text, fields->mount_point);
	new->entry.type = keep(&text, fields->type);
	new->entry.source = keep(&text, fields->source);
	new->entry.options = keep(&text, fields->options);
	return new;
}

int table_entries_add(struct table_entries *entries, struct table_entry *taken)
{
	assert(taken);
	if (ARRAY_ROOM(entries->items, entries->count, entries->room, 64) < 0) {
		free(taken);
		return -ENOMEM;
	}
	entries->items[entries->count++] = taken;
	return 0;
}

void table_entries_done(struct table_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->items[i]);
	free(entries->items);
	*entries = (struct table_entries){ 0 };
}

/* ---- by id ---- */

/* The last byte is never written to: whatever answers, a filter of system calls or another kernel
 * in this one's place, what is read ends in the buffer. */
static struct statmount_answer *query_mount(uint64_t mount_id, int *ret_error,
					    size_t *ret_text_bytes)
{
	struct mount_id_request request = {
		.size = sizeof(request),
		.mount_id = mount_id,
		.param = STATMOUNT_WANTED,
	};

	for (size_t bytes = ANSWER_BYTES; bytes <= ANSWER_BYTES_MAX; bytes *= 4) {
		struct statmount_answer *answer = calloc(1, bytes);

		if (!answer) {
			*ret_error = -ENOMEM;
			return NULL;
		}
		if (statmount(&request, answer, bytes - 1, 0) == 0) {
			*ret_text_bytes = bytes - sizeof(*answer);
			return answer;
		}
		*ret_error = -errno;
		free(answer);
		if (*ret_error != -EOVERFLOW)
			return NULL;
	}
	return NULL;
}

static bool probe_unique_ids(void)
{
	cleanup_free struct statmount_answer *answer = NULL;
	struct mount_id_request request = {
		.size = sizeof(request),
		.mount_id = LISTMOUNT_ROOT,
	};
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct statx status;
	uint64_t first_id;
	size_t text_bytes;
	int error = -ENOSYS;

	if (listmount(&request, &first_id, 1, 0) < 0) {
		(void) call_is_missing(-errno, CALL_LISTMOUNT);
		return false;
	}
	if (statx(AT_FDCWD, "/", flags, STATX_MNT_ID_UNIQUE, &status) < 0 ||
	    !(status.stx_mask & STATX_MNT_ID_UNIQUE))
		return false;
	answer = query_mount(status.stx_mnt_id, &error, &text_bytes);
	if (!answer) {
		(void) call_is_missing(error, CALL_LISTMOUNT);
		return false;
	}
	return (answer->mask & STATMOUNT_WANTED) == STATMOUNT_WANTED;
}

bool mount_ids_are_unique(void)
{
	static atomic_int known; /* 0 not asked yet, 1 yes, 2 no; asking twice does no harm */

	if (atomic_load(&known) == 0)
		atomic_store(&known, probe_unique_ids() ? 1 : 2);
	return atomic_load(&known) == 1;
}

int mount_list_ids(uint64_t after, uint64_t **ret_ids, size_t *ret_count)
{
	struct mount_id_request request = {
		.size = sizeof(request),
		.mount_id = LISTMOUNT_ROOT,
		.param = after,
	};
	cleanup_free uint64_t *ids = NULL;
	size_t count = 0;
	ssize_t got;

	do {
		uint64_t *grown = reallocarray(ids, count + IDS_AT_ONCE, sizeof(*ids));

		if (!grown)
			return -ENOMEM;
		ids = grown;
		got = listmount(&request, ids + count, IDS_AT_ONCE, 0);
		if (got < 0)
			return -errno;
		if (got > IDS_AT_ONCE ||
		    (got > 0 && ids[count + (size_t) got - 1] <= request.param))
			return -EIO; /* it would be asked for ever */
		count += (size_t) got;
		if (got > 0)
			request.param = ids[count - 1];
	} while (got == IDS_AT_ONCE);

	*ret_ids = TAKE_PTR(ids);
	*ret_count = count;
	return 0;
}

/* As mountinfo writes them; @text is long enough for all of them. */
static void write_options(uint64_t attributes, char *text, size_t bytes)
{
	static const struct {
		uint64_t attribute;
		const char *word;
	} rows[] = {
		{ MOUNT_ATTR_NOSUID, ",nosuid" },
		{ MOUNT_ATTR_NODEV, ",nodev" },
		{ MOUNT_ATTR_NOEXEC, ",noexec" },
		{ MOUNT_ATTR_NOATIME, ",noatime" },
		{ MOUNT_ATTR_NODIRATIME, ",nodiratime" },
		{ MOUNT_ATTR_NOSYMFOLLOW, ",nosymfollow" },
	};
	const char *relatime = attributes & MOUNT_ATTR__ATIME ? "" : ",relatime";
	int used = snprintf(text, bytes, "%s", attributes & MOUNT_ATTR_RDONLY ? "ro" : "rw");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (attributes & rows[i].attribute)
			used += snprintf(text + used, bytes - (size_t) used, "%s", rows[i].word);
	(void) snprintf(text + used, bytes - (size_t) used, "%s", relatime);
}

/* A text of the answer; "" where there is none, or none in the buffer. */
static const char *text_at(const struct statmount_answer *answer, uint64_t mask, uint32_t offset,
			   size_t text_bytes)
{
	return answer->mask & mask && offset < text_bytes ? answer->str + offset : "";
}

int mount_list_stat(uint64_t mount_id, struct table_entry **ret)
{
	int error = -EOVERFLOW;
	size_t bytes = 0;
	cleanup_free struct statmount_answer *answer = query_mount(mount_id, &error, &bytes);
	char options[128];
	struct mount_entry fields;

	assert(ret);
	if (!answer)
		return error == -EPERM ? -ENOENT : error;
	write_options(answer->mnt_attr, options, sizeof(options));
	fields = (struct mount_entry){
		.mount_id = mount_id,
		.parent_id = answer->mnt_parent_id,
		.device = makedev(answer->sb_dev_major, answer->sb_dev_minor),
		.root = text_at(answer, STATMOUNT_MNT_ROOT, answer->mnt_root, bytes),
		.mount_point = text_at(answer, STATMOUNT_MNT_POINT, answer->mnt_point, bytes),
		.type = text_at(answer, STATMOUNT_FS_TYPE, answer->fs_type, bytes),
		.source = text_at(answer, STATMOUNT_SB_SOURCE, answer->sb_source, bytes),
		.options = options,
	};
	if (fields.mount_point[0] != '/')
		return -ENOENT; /* not reachable from here */
	*ret = table_entry_new(&fields);
	return *ret ? 0 : -ENOMEM;
}

int mount_list_attributes(uint64_t mount_id, uint64_t *ret)
{
	struct mount_id_request request = {
		.size = sizeof(request),
		.mount_id = mount_id,
		.param = STATMOUNT_MNT_BASIC,
	};
	struct statmount_answer answer;

	assert(ret);
	if (statmount(&request, &answer, sizeof(answer), 0) < 0)
		return errno == EPERM ? -ENOENT : -errno;
	*ret = answer.mnt_attr;
	return 0;
}

/* ---- as text ---- */

static int read_whole(int fd, char **ret_text)
{
	cleanup_free char *text = NULL;
	size_t bytes = TEXT_BYTES, used = 0;
	ssize_t got;

	do {
		if (!text || used + 1 == bytes) {
			char *grown = realloc(text, text ? bytes *= 2 : bytes);

			if (!grown)
				return -ENOMEM;
			text = grown;
		}
		got = pread(fd, text + used, bytes - used - 1, (off_t) used);
		if (got < 0)
			return -errno;
		used += (size_t) got;
	} while (got > 0);

	text[used] = '\0';
	*ret_text = TAKE_PTR(text);
	return 0;
}

int mount_list_each(int mountinfo_fd, int (*visit)(void *userdata, const struct mount_entry *entry),
		    void *userdata)
{
	cleanup_free char *text = NULL;
	char *rest, *line;
	int result = read_whole(mountinfo_fd, &text);

	assert(visit);
	rest = text;
	while (result == 0 && (line = strsep(&rest, "\n"))) {
		struct mountinfo_line parsed;
		struct mount_entry fields;

		if (*line == '\0' || mountinfo_parse(line, &parsed) < 0)
			continue;
		fields = (struct mount_entry){
			.mount_id = parsed.mount_id,
			.parent_id = parsed.parent_id,
			.device = parsed.device,
			.root = parsed.root,
			.mount_point = parsed.mount_point,
			.type = parsed.type,
			.source = parsed.source,
			.options = parsed.options,
		};
		result = visit(userdata, &fields);
	}
	return result;
}

static int keep_entry(void *userdata, const struct mount_entry *fields)
{
	struct table_entry *entry = table_entry_new(fields);

	return entry ? table_entries_add(userdata, entry) : -ENOMEM;
}

int mount_list_read(int mountinfo_fd, struct table_entries *ret)
{
	cleanup(table_entries_done) struct table_entries entries = { 0 };
	int result = mount_list_each(mountinfo_fd, keep_entry, &entries);

	if (result < 0)
		return result;
	*ret = entries;
	entries = (struct table_entries){ 0 };
	return 0;
}
