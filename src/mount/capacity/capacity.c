/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity - which of the three ways is meant, and which is in force; see capacity.h
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "mount/mount.h"
#include "mount/remove/volume_directory.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const struct capacity_method *const methods[] = {
	&capacity_btrfs,
	&capacity_project,
	&capacity_image,
};

static bool is_word(const char *word)
{
	return strcmp(word, CAPACITY_NONE) == 0 || strcmp(word, CAPACITY_QUOTA) == 0 ||
	       strcmp(word, CAPACITY_IMAGE) == 0 || strcmp(word, CAPACITY_AUTO) == 0;
}

/* The first of this word that says yes; of those that say no the last one's words are kept. */
static int find_by_word(const char *word, int base_fd, const char *path,
			const struct capacity_method **ret, struct failure *reterr)
{
	int result = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (strcmp(methods[i]->word, word) != 0)
			continue;
		result = methods[i]->check(base_fd, path, reterr);
		*ret = methods[i];
		/* A file system that is another's says so by ENOTTY, and is passed over. */
		if (result != -ENOTTY)
			return result;
	}
	if (result == -ENOTTY)
		result = -EOPNOTSUPP;
	return failed_plain(reterr, result,
			    "the file system at '%s' has no quotas that podvold knows: btrfs, xfs "
			    "and ext4 have",
			    path);
}

int capacity_find(const char *word, int base_fd, const char *path,
		  const struct capacity_method **ret, struct failure *reterr)
{
	int result;

	assert(word && base_fd >= 0 && path && ret);
	*ret = NULL;
	if (strcmp(word, CAPACITY_NONE) == 0)
		return 0;
	if (!is_word(word))
		return failed_plain(reterr, -EINVAL, "'%s' is not a way to enforce a capacity",
				    word);
	if (strcmp(word, CAPACITY_AUTO) != 0)
		return find_by_word(word, base_fd, path, ret, reterr);
	result = find_by_word(CAPACITY_QUOTA, base_fd, path, ret, NULL);
	return result == 0 ? 0 : find_by_word(CAPACITY_IMAGE, base_fd, path, ret, reterr);
}

const struct capacity_method *capacity_of(int fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (methods[i]->is_in_force(fd))
			return methods[i];
	return NULL;
}

int capacity_grow_at(const char *path, const char *mark, uint64_t bytes, struct failure *reterr)
{
	const char *name = strrchr(path, '/');
	bool is_image = name && strcmp(name + 1, CAPACITY_IMAGE_NAME) == 0;
	cleanup_free char *directory =
		strndup(path, is_image ? (size_t) (name - path) : strlen(path));
	const struct capacity_method *method;
	cleanup_close int fd = -EBADF;

	assert(mark && mark[0]);
	if (!directory)
		return failed(reterr, -ENOMEM, "cannot make '%s' larger", path);
	fd = open_host_path(directory, O_RDONLY | O_DIRECTORY, reterr);
	if (fd < 0)
		return fd;
	if (volume_mark_of(fd, mark) != VOLUME_MARK_OURS)
		return failed_plain(reterr, -EPERM,
				    "'%s' does not bear the mark of this volume: it does not grow",
				    directory);
	method = capacity_of(fd);
	if (!method || (method == &capacity_image) != is_image)
		return failed_plain(reterr, -EOPNOTSUPP, "the size of '%s' is not enforced", path);
	return method->set_limit(fd, directory, bytes, reterr);
}

int capacity_quota_usage(const char *path, struct capacity_usage *ret)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	/* The others show in statfs. */
	return capacity_btrfs.read_usage(fd, ret);
}
