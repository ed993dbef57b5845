/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes - owner, mode, times and extended attributes; see attributes.h
 *
 * Descriptors are reached by their names in /proc, because the calls on extended attributes and
 * modes take none that are O_PATH.
 */
#include "mount/bind/attributes.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>

#define OWN_PREFIX "trusted.podvol."

enum {
	LIST_BYTES = 65536,  /* the kernel's XATTR_LIST_MAX */
	VALUE_BYTES = 65536, /* and its XATTR_SIZE_MAX */
};

void attributes_done(struct attributes *attributes)
{
	for (size_t i = 0; i < attributes->extended_count; i++) {
		free(attributes->extended[i].name);
		free(attributes->extended[i].value);
	}
	free(attributes->extended);
	*attributes = (struct attributes){ .extended = NULL };
}

int attributes_add(struct attributes *attributes, const char *name, const void *value, size_t size)
{
	struct extended_attribute *list, *one;

	assert(name && (value || size == 0));
	if (strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)
		return 0;
	list = reallocarray(attributes->extended, attributes->extended_count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	attributes->extended = list;
	one = &list[attributes->extended_count];
	one->name = strdup(name);
	one->value = malloc(size > 0 ? size : 1);
	one->size = size;
	if (!one->name || !one->value) {
		free(one->name);
		free(one->value);
		return -ENOMEM;
	}
	if (size > 0)
		memcpy(one->value, value, size);
	attributes->extended_count++;
	return 0;
}

/* ---- reading ---- */

static int read_extended(int fd, struct attributes *ret, struct failure *reterr)
{
	const struct fd_path path = fd_path(fd);
	ssize_t length = listxattr(path.text, NULL, 0);
	cleanup_free char *names = NULL, *value = NULL;

	if (length < 0 && errno == EOPNOTSUPP)
		return 0;
	if (length <= 0)
		return length < 0 ? failed(reterr, -errno, "cannot list extended attributes") : 0;
	names = malloc(LIST_BYTES);
	value = malloc(VALUE_BYTES);
	if (!names || !value)
		return failed(reterr, -ENOMEM, "cannot read extended attributes");
	length = listxattr(path.text, names, LIST_BYTES);
	if (length < 0)
		return failed(reterr, -errno, "cannot list extended attributes");
	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		ssize_t size = getxattr(path.text, name, value, VALUE_BYTES);

		if (size < 0 && errno == ENODATA)
			continue; /* taken away since it was listed */
		if (size < 0)
			return failed(reterr, -errno, "cannot read extended attribute '%s'", name);
		if (attributes_add(ret, name, value, (size_t) size) < 0)
			return failed(reterr, -ENOMEM, "cannot preserve extended attribute '%s'",
				      name);
	}
	return 0;
}

int attributes_read(int fd, struct attributes *ret, struct failure *reterr)
{
	struct attributes made = { .extended = NULL };
	struct stat status;
	int r;

	assert(fd >= 0 && ret);
	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect it");
	made.mode = status.st_mode;
	made.uid = status.st_uid;
	made.gid = status.st_gid;
	made.access_time = status.st_atim;
	made.change_time = status.st_mtim;
	r = read_extended(fd, &made, reterr);
	if (r < 0)
		attributes_done(&made);
	else
		*ret = made;
	return r;
}

/* ---- giving ---- */

static bool is_listed(const struct attributes *attributes, const char *name)
{
	for (size_t i = 0; i < attributes->extended_count; i++)
		if (strcmp(attributes->extended[i].name, name) == 0)
			return true;
	return false;
}

/* What a new entry inherited from its directory is not the original's. */
static void remove_inherited(const char *path, const struct attributes *attributes)
{
	static const char *const names[] = { "system.posix_acl_access",
					     "system.posix_acl_default" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!is_listed(attributes, names[i]))
			(void) removexattr(path, names[i]);
}

static int apply_extended(int fd, const struct attributes *attributes, size_t *lost,
			  struct failure *reterr)
{
	const struct fd_path path = fd_path(fd);

	if (!S_ISLNK(attributes->mode))
		remove_inherited(path.text, attributes);
	for (size_t i = 0; i < attributes->extended_count; i++) {
		const struct extended_attribute *one = &attributes->extended[i];

		if (setxattr(path.text, one->name, one->value, one->size, 0) == 0)
			continue;
		if (errno != EOPNOTSUPP && errno != EPERM)
			return failed(reterr, -errno, "cannot set extended attribute '%s'",
				      one->name);
		(*lost)++;
	}
	return 0;
}

int attributes_apply(int fd, const struct attributes *attributes, size_t *lost,
		     struct failure *reterr)
{
	const struct timespec times[2] = { attributes->access_time, attributes->change_time };
	const struct fd_path path = fd_path(fd);
	int r;

	assert(fd >= 0 && lost);
	if (fchownat(fd, "", attributes->uid, attributes->gid, AT_EMPTY_PATH) < 0)
		return failed(reterr, -errno, "cannot set its owner");
	r = apply_extended(fd, attributes, lost, reterr);
	if (r < 0)
		return r;
	if (!S_ISLNK(attributes->mode) && chmod(path.text, attributes->mode & 07777) < 0)
		return failed(reterr, -errno, "cannot set its mode");
	if (utimensat(AT_FDCWD, path.text, times, 0) < 0)
		return failed(reterr, -errno, "cannot set its times");
	return 0;
}
