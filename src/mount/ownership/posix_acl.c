/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix_acl - access lists between the kernel's extended attribute and an archive; see ownership.h
 */
#include "mount/ownership/ownership.h"

#include "base/cleanup.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <endian.h>
#include <grp.h>
#include <limits.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <string.h>

enum { ENTRIES_MAX = 8000 }; /* fit an extended attribute */

/* In the order in which the kernel wants them. */
static const struct {
	unsigned int kernel; /* ACL_USER_OBJ and so on, which no header of users has */
	int archive;
} tags[] = {
	{ 0x01, ARCHIVE_ENTRY_ACL_USER_OBJ },  { 0x02, ARCHIVE_ENTRY_ACL_USER },
	{ 0x04, ARCHIVE_ENTRY_ACL_GROUP_OBJ }, { 0x08, ARCHIVE_ENTRY_ACL_GROUP },
	{ 0x10, ARCHIVE_ENTRY_ACL_MASK },      { 0x20, ARCHIVE_ENTRY_ACL_OTHER },
};

static int archive_tag(unsigned int kernel)
{
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (tags[i].kernel == kernel)
			return tags[i].archive;
	return -1;
}

static unsigned int kernel_tag(int archive)
{
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (tags[i].archive == archive)
			return tags[i].kernel;
	return 0;
}

/* ---- into an archive ---- */

int posix_acl_to_entry(const struct extended_attribute *attribute, struct archive_entry *entry)
{
	const struct posix_acl_xattr_header *header = attribute->value;
	const struct posix_acl_xattr_entry *list = (const void *) (header + 1);
	int type = strcmp(attribute->name, POSIX_ACL_DEFAULT) == 0 ? ARCHIVE_ENTRY_ACL_TYPE_DEFAULT
								   : ARCHIVE_ENTRY_ACL_TYPE_ACCESS;
	size_t count;

	if (attribute->size < sizeof(*header) ||
	    le32toh(header->a_version) != POSIX_ACL_XATTR_VERSION ||
	    (attribute->size - sizeof(*header)) % sizeof(*list) != 0)
		return -EINVAL;
	count = (attribute->size - sizeof(*header)) / sizeof(*list);
	for (size_t i = 0; i < count; i++) {
		int tag = archive_tag(le16toh(list[i].e_tag));
		bool has_id = tag == ARCHIVE_ENTRY_ACL_USER || tag == ARCHIVE_ENTRY_ACL_GROUP;
		int id = has_id ? (int) le32toh(list[i].e_id) : -1;

		if (tag < 0 || archive_entry_acl_add_entry(entry, type, le16toh(list[i].e_perm) & 7,
							   tag, id, NULL) != ARCHIVE_OK)
			return -EINVAL;
	}
	return 0;
}

/* ---- out of an archive ---- */

static int find_id(int tag, const char *name, int *id)
{
	char buffer[4096];
	struct passwd user, *found_user = NULL;
	struct group group, *found_group = NULL;

	if (!name || *name == '\0')
		return -EINVAL;
	if (tag == ARCHIVE_ENTRY_ACL_USER) {
		(void) getpwnam_r(name, &user, buffer, sizeof(buffer), &found_user);
		*id = found_user ? (int) found_user->pw_uid : -1;
	} else {
		(void) getgrnam_r(name, &group, buffer, sizeof(buffer), &found_group);
		*id = found_group ? (int) found_group->gr_gid : -1;
	}
	return *id < 0 ? -EINVAL : 0;
}

static int by_tag_and_id(const void *left, const void *right)
{
	const struct posix_acl_xattr_entry *a = left, *b = right;

	if (le16toh(a->e_tag) != le16toh(b->e_tag))
		return le16toh(a->e_tag) < le16toh(b->e_tag) ? -1 : 1;
	if (le32toh(a->e_id) == le32toh(b->e_id))
		return 0;
	return le32toh(a->e_id) < le32toh(b->e_id) ? -1 : 1;
}

static int read_list(struct archive_entry *entry, int type, struct posix_acl_xattr_entry *list,
		     size_t count, struct failure *reterr)
{
	int got_type, permissions, tag, id;
	const char *name = NULL;
	size_t i = 0;

	while (i < count && archive_entry_acl_next(entry, type, &got_type, &permissions, &tag, &id,
						   &name) == ARCHIVE_OK) {
		bool has_id = tag == ARCHIVE_ENTRY_ACL_USER || tag == ARCHIVE_ENTRY_ACL_GROUP;

		if (kernel_tag(tag) == 0)
			return failed_plain(reterr, -EINVAL,
					    "its ACL is of no kind that "
					    "can be kept here");
		if (has_id && id < 0 && find_id(tag, name, &id) < 0)
			return failed_plain(reterr, -EINVAL,
					    "its ACL names '%.60s', which is unknown here",
					    name ? name : "");
		list[i++] = (struct posix_acl_xattr_entry){
			.e_tag = htole16((uint16_t) kernel_tag(tag)),
			.e_perm = htole16((uint16_t) (permissions & 7)),
			.e_id = htole32(has_id ? (uint32_t) id : UINT32_MAX),
		};
	}
	qsort(list, i, sizeof(*list), by_tag_and_id);
	return (int) i;
}

/* With an access list the bits of the group are its mask. */
static void take_mask(const struct posix_acl_xattr_entry *list, size_t count,
		      struct attributes *attributes)
{
	for (size_t i = 0; i < count; i++)
		if (archive_tag(le16toh(list[i].e_tag)) == ARCHIVE_ENTRY_ACL_MASK)
			attributes->mode = (attributes->mode & ~(mode_t) S_IRWXG) |
					   (mode_t) le16toh(list[i].e_perm) << 3;
}

static int add_list(struct archive_entry *entry, int type, const char *name,
		    struct attributes *attributes, struct failure *reterr)
{
	int count = archive_entry_acl_reset(entry, type);
	cleanup_free struct posix_acl_xattr_header *value = NULL;
	int r;

	if (count == 0)
		return 0;
	if (count < 0 || count > ENTRIES_MAX)
		return failed_plain(reterr, -EINVAL, "its ACL is too long");
	value = calloc(1, sizeof(*value) + (size_t) count * sizeof(struct posix_acl_xattr_entry));
	if (!value)
		return failed(reterr, -ENOMEM, "cannot preserve its ACL");
	value->a_version = htole32(POSIX_ACL_XATTR_VERSION);
	r = read_list(entry, type, (void *) (value + 1), (size_t) count, reterr);
	if (r > 0 && type == ARCHIVE_ENTRY_ACL_TYPE_ACCESS)
		take_mask((const void *) (value + 1), (size_t) r, attributes);
	if (r > 0)
		r = attributes_add(attributes, name, value,
				   sizeof(*value) +
					   (size_t) r * sizeof(struct posix_acl_xattr_entry));
	return r;
}

int posix_acl_from_entry(struct archive_entry *entry, struct attributes *attributes,
			 struct failure *reterr)
{
	int types = archive_entry_acl_types(entry), r = 0;

	assert(entry && attributes);
	if (types & ARCHIVE_ENTRY_ACL_TYPE_NFS4)
		return failed_plain(reterr, -EINVAL, "its ACL is of no kind that can be kept here");
	if (types & ARCHIVE_ENTRY_ACL_TYPE_ACCESS)
		r = add_list(entry, ARCHIVE_ENTRY_ACL_TYPE_ACCESS, POSIX_ACL_ACCESS, attributes,
			     reterr);
	if (r == 0 && (types & ARCHIVE_ENTRY_ACL_TYPE_DEFAULT))
		r = add_list(entry, ARCHIVE_ENTRY_ACL_TYPE_DEFAULT, POSIX_ACL_DEFAULT, attributes,
			     reterr);
	return r;
}
