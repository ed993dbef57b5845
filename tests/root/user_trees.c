/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_trees - see user_trees.h
 */
#include "user_trees.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void user_trees_make(const char *relative)
{
	char path[128];

	(void) mkdir(sandbox_path(relative), 0755);
	for (int i = 0; i < 3; i++) {
		(void) snprintf(path, sizeof(path), "%s/file%d", relative, i);
		sandbox_write(path, i == 1 ? "some text\n" : "");
		assert_return_code(chmod(sandbox_path(path), 0644), errno);
	}
	(void) snprintf(path, sizeof(path), "%s/directory", relative);
	(void) mkdir(sandbox_path(path), 0700);
	(void) snprintf(path, sizeof(path), "%s/directory/inner", relative);
	sandbox_write(path, "more");
	(void) snprintf(path, sizeof(path), "%s/link", relative);
	(void) symlink("file1", sandbox_path(path));
}

static void print_content(FILE *file, int parent_fd, const char *name)
{
	cleanup_close int fd = openat(parent_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char buffer[256];
	ssize_t got;

	assert_return_code(fd, errno);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		(void) fwrite(buffer, 1, (size_t) got, file);
}

static void print_directory(FILE *file, int parent_fd, const char *name, dev_t device);

static void print_entry(FILE *file, int parent_fd, const char *name, dev_t device)
{
	struct stat status;
	char target[256] = "";

	assert_return_code(fstatat(parent_fd, name, &status, AT_SYMLINK_NOFOLLOW), errno);
	if (S_ISLNK(status.st_mode))
		assert_true(readlinkat(parent_fd, name, target, sizeof(target) - 1) >= 0);
	(void) fprintf(file, "%s %o %u %u %s\n", name, status.st_mode, status.st_uid, status.st_gid,
		       target);
	if (S_ISREG(status.st_mode))
		print_content(file, parent_fd, name);
	if (S_ISDIR(status.st_mode) && status.st_dev == device)
		print_directory(file, parent_fd, name, device);
}

static void print_directory(FILE *file, int parent_fd, const char *name, dev_t device)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent **entries;
	int count;

	assert_return_code(fd, errno);
	count = scandirat(fd, ".", &entries, NULL, alphasort);
	assert_true(count >= 0);
	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
			print_entry(file, fd, entries[i]->d_name, device);
		free(entries[i]);
	}
	free(entries);
	(void) close(fd);
	(void) fprintf(file, "end of %s\n", name);
}

char *user_trees_print(const char *path)
{
	struct stat status;
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	assert_return_code(lstat(path, &status), errno);
	print_directory(file, AT_FDCWD, path, status.st_dev);
	assert_int_equal(fclose(file), 0);
	return text;
}

bool user_trees_same(const char *before, const char *path)
{
	cleanup_free char *now = user_trees_print(path);
	size_t at = 0;

	if (strcmp(before, now) == 0)
		return true;
	while (before[at] == now[at])
		at++;
	while (at > 0 && before[at - 1] != '\n')
		at--;
	print_message("# before: %.*s\n# now:    %.*s\n", (int) strcspn(before + at, "\n"),
		      before + at, (int) strcspn(now + at, "\n"), now + at);
	return false;
}
