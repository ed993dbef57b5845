/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - see cli.h
 *
 * A name that begins with a dot is passed over in a directory, as the daemon does with its
 * manifests; symbolic links are followed, but no directory is entered twice deeper than a limit.
 */
#include "cli/cli.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FILE_BYTES_MAX = 64 * 1024 * 1024, /* the daemon's own limit is lower */
	FILE_PIECE_BYTES = 64 * 1024,
	DIRECTORY_DEPTH_MAX = 16,
};

/* ---- one file ---- */

static int read_all(FILE *file, char **ret, size_t *ret_length)
{
	cleanup_free char *bytes = NULL;
	size_t length = 0, allocated = 0;

	for (;;) {
		size_t got;

		if (length + FILE_PIECE_BYTES + 1 > allocated) {
			char *grown;

			allocated = allocated ? allocated * 2 : (size_t) 2 * FILE_PIECE_BYTES;
			grown = realloc(bytes, allocated);
			if (!grown)
				return -ENOMEM;
			bytes = grown;
		}
		got = fread(bytes + length, 1, FILE_PIECE_BYTES, file);
		length += got;
		if (length > FILE_BYTES_MAX)
			return -EFBIG;
		if (got < FILE_PIECE_BYTES)
			break;
	}
	if (ferror(file))
		return errno > 0 ? -errno : -EIO;
	bytes[length] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_length = length;
	return 0;
}

const char *file_where(const char *name)
{
	return strcmp(name, "-") == 0 ? "standard input" : name;
}

/* "-" is standard input. */
int file_read(struct cli *cli, const char *name, char **ret, size_t *ret_length)
{
	cleanup_fclose FILE *opened = NULL;
	FILE *file = stdin;
	int r;

	if (strcmp(name, "-") != 0) {
		opened = fopen(name, "re");
		if (!opened) {
			cli_complain(cli, "cannot open '%s': %s", name, strerror(errno));
			return -EIO;
		}
		file = opened;
	}
	r = read_all(file, ret, ret_length);
	if (r < 0)
		cli_complain(cli, "cannot read '%s': %s", name, strerror(-r));
	return r;
}

/* ---- the list ---- */

void file_list_done(struct file_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct file_list){ 0 };
}

/* Takes @name. */
static int add_name(struct file_list *list, char *name)
{
	if (!name)
		return -ENOMEM;
	if (ARRAY_ROOM(list->names, list->count, list->allocated, 16) < 0) {
		free(name);
		return -ENOMEM;
	}
	list->names[list->count++] = name;
	return 0;
}

static bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int select_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int add_directory(struct cli *cli, struct file_list *list, const char *directory, int depth);

static int add_entry(struct cli *cli, struct file_list *list, const char *directory,
		     const char *name, int depth)
{
	cleanup_free char *path = NULL;
	struct stat facts;

	path = new_text("%s/%s", directory, name);
	if (!path)
		return -ENOMEM;
	if (stat(path, &facts) < 0)
		return 0; /* went away, or leads nowhere */
	if (S_ISDIR(facts.st_mode) && depth > 0)
		return add_directory(cli, list, path, depth - 1);
	return S_ISREG(facts.st_mode) && is_manifest(name) ? add_name(list, TAKE_PTR(path)) : 0;
}

/* @depth: of directories below it that are entered. */
static int add_directory(struct cli *cli, struct file_list *list, const char *directory, int depth)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, select_visible, alphasort), r = 0;

	if (count < 0) {
		r = -errno;
		cli_complain(cli, "cannot read '%s': %s", directory, strerror(errno));
	}
	for (int i = 0; i < count; i++) {
		if (r == 0)
			r = add_entry(cli, list, directory, entries[i]->d_name, depth);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int file_list_read(struct cli *cli, struct file_list *ret)
{
	int depth = cli_flag(cli, "recursive") ? DIRECTORY_DEPTH_MAX : 0, r = 0;
	const char *name;
	struct stat facts;

	for (size_t i = 0; r == 0 && (name = cli_value_at(cli, "filename", i)); i++) {
		size_t before = ret->count;

		if (strcmp(name, "-") == 0 || stat(name, &facts) < 0 || !S_ISDIR(facts.st_mode)) {
			r = add_name(ret, strdup(name)); /* what is wrong shows when it is read */
			continue;
		}
		r = add_directory(cli, ret, name, depth);
		if (r == 0 && ret->count == before)
			return cli_end(cli, EXIT_FAILED, "'%s' holds no *.yaml, *.yml or *.json%s",
				       name, depth > 0 ? "" : ": --recursive looks below it, too");
	}
	if (r == -ENOMEM)
		cli_complain(cli, "out of memory");
	if (r < 0)
		return EXIT_FAILED;
	if (ret->count > 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_USAGE, "must specify -f FILE, or -f - for standard input");
}
