/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_process - files of a process's directory, in which it chose names and paths
 *
 * The first byte of the input says which file the rest is: "c" comm, "f" what fdinfo says of a
 * descriptor, "m" the map of its memory, "t" its table of mounts. They lie in a directory that
 * stands for the one in /proc, and is gone with this program.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mount/holders/process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char directory[64];
static int process_fd = -EBADF;

static const struct {
	char letter;
	const char *name;
} files[] = { { 'c', "comm" }, { 'f', "fdinfo/3" }, { 'm', "maps" }, { 't', "mountinfo" } };

static void remove_directory(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		(void) unlinkat(process_fd, files[i].name, 0);
	(void) unlinkat(process_fd, "fdinfo", AT_REMOVEDIR);
	(void) unlinkat(AT_FDCWD, directory, AT_REMOVEDIR);
}

static void make_directory(void)
{
	(void) snprintf(directory, sizeof(directory), "%s/podvol-fuzz-process-XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	HOLDS(mkdtemp(directory));
	process_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(process_fd >= 0 && mkdirat(process_fd, "fdinfo", 0700) == 0);
	HOLDS(atexit(remove_directory) == 0);
}

static const char *write_file(char letter, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_close int fd = -EBADF;

		if (files[i].letter != letter)
			continue;
		fd = openat(process_fd, files[i].name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			    0600);
		HOLDS(fd >= 0 && write(fd, bytes, size) == (ssize_t) size);
		return files[i].name;
	}
	return NULL;
}

static void check_map(const struct process_map *map, void *userdata)
{
	++*(size_t *) userdata;
	HOLDS(strncmp(map->link, "map_files/", 10) == 0 && !strchr(map->link + 10, '/'));
	HOLDS(strlen(map->link) < sizeof(map->link) - 1);
	HOLDS(map->path && !strchr(map->path, '\n'));
}

static void check_table(void)
{
	char *table = NULL;

	HOLDS(process_mounts(process_fd, MOUNT_TABLE_BYTES_MAX, &table) == 0);
	for (const char *line = table; *line; line = table_next_line(line)) {
		char *copy = table_copy_line(line);

		HOLDS(copy && !strchr(copy, '\n'));
		free(copy);
	}
	free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char command[COMMAND_BYTES];
	size_t maps = 0, lines = 1;
	uint64_t mount;

	if (size == 0)
		return 0;
	if (process_fd < 0)
		make_directory();
	if (!write_file((char) data[0], data + 1, size - 1))
		return 0;
	for (size_t i = 1; i < size; i++)
		lines += data[i] == '\n';
	process_command(process_fd, command);
	HOLDS(strnlen(command, sizeof(command)) < sizeof(command) && !strchr(command, '\n'));
	(void) process_descriptor_mount(process_fd, "3", &mount);
	if (data[0] == 't')
		check_table();
	HOLDS(process_walk_maps(process_fd, check_map, &maps) == 0);
	/* A line that is longer than any kernel's is several. */
	HOLDS(data[0] != 'm' || maps <= lines + size / 64);
	return 0;
}
