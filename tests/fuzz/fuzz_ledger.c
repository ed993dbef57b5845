/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ledger - a ledger's file with some bytes changed, or any bytes in its place
 *
 * The input is "=" and the file's bytes, or groups of four: where (two bytes), what is flipped, and
 * whether the file rather ends there. Whatever it is, the ledger opens as it was or begins again,
 * its rows are possible ones, and it can be written. The directory is one of this program's own and
 * is gone with it.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "state/ledger.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const struct ledger_identity identity = { .boot_id = "b00t", .mount_namespace = 1 };
static const struct volume_plugin plugin = { .name = "example.com/fake" };
static char directory[64];
static uint8_t good[131072]; /* the file of a ledger with a few rows: four pages */
static size_t good_size;

static void empty_directory(void)
{
	cleanup_closedir DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			HOLDS(unlinkat(dirfd(stream), entry->d_name, 0) == 0);
}

static void remove_own_directory(void)
{
	empty_directory();
	(void) unlinkat(AT_FDCWD, directory, AT_REMOVEDIR);
}

static void open_file(int flags, int *ret_fd)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "%s/ledger.db", directory);
	*ret_fd = open(path, flags | O_CLOEXEC, 0600);
	HOLDS(*ret_fd >= 0);
}

static void make_good_file(void)
{
	struct ledger *ledger = NULL;
	cleanup_close int fd = -EBADF;
	char name[32];
	ssize_t size;

	HOLDS(ledger_open_as(directory, &identity, &ledger, NULL) == 0);
	for (unsigned int i = 0; i < 40; i++) {
		struct ledger_row row = { .entry = { .unique_name = name,
						     .plugin = &plugin,
						     .pod_uid = i % 4 > 0 ? "uid" : NULL,
						     .path = "/var/lib/kubelet/pods/uid" },
					  .state = (enum mount_state)(i % MOUNT_STATE_COUNT) };

		(void) snprintf(name, sizeof(name), "example.com/fake/pv-%u", i);
		HOLDS(ledger_put(ledger, &row) == 0);
	}
	HOLDS(ledger_commit(ledger, NULL) == 0);
	ledger_free(ledger);

	open_file(O_RDONLY, &fd);
	size = read(fd, good, sizeof(good));
	HOLDS(size > 0 && (size_t) size < sizeof(good));
	good_size = (size_t) size;
}

static void make_own_directory(void)
{
	const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	(void) snprintf(directory, sizeof(directory), "%s/podvol-fuzz-XXXXXX", memory);
	HOLDS(mkdtemp(directory));
	HOLDS(atexit(remove_own_directory) == 0);
}

static void write_file(const uint8_t *data, size_t size)
{
	cleanup_close int fd = -EBADF;

	open_file(O_WRONLY | O_CREAT | O_TRUNC, &fd);
	HOLDS(write(fd, data, size) == (ssize_t) size);
}

static void write_changed(const uint8_t *data, size_t size)
{
	static uint8_t file[sizeof(good)];
	size_t length = good_size;

	memcpy(file, good, good_size);
	for (; size >= 4; data += 4, size -= 4) {
		size_t at = ((size_t) data[0] << 8 | data[1]) % good_size;

		file[at] ^= data[2];
		if (data[3] % 32 == 0 && at < length)
			length = at;
	}
	write_file(file, length);
}

static int check_row(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	HOLDS(row->state < MOUNT_STATE_COUNT);
	HOLDS(row->entry.unique_name[0] != '\0');
	HOLDS(!row->entry.pod_uid || row->entry.pod_uid[0] != '\0');
	HOLDS(row->entry.plugin_name && row->entry.spec_name && row->entry.path);
	return 0;
}

static void use(struct ledger *ledger, int opened)
{
	struct ledger_row row = { .entry = { .unique_name = "fuzz/new", .plugin = &plugin } };
	unsigned int before = 0, after = 0;

	HOLDS(ledger_walk(ledger, check_row, &before) == 0);
	HOLDS(opened == 0 || before == 0);
	HOLDS(ledger_put(ledger, &row) == 0);
	HOLDS(ledger_commit(ledger, NULL) == 0);
	HOLDS(ledger_walk(ledger, check_row, &after) == 0);
	HOLDS(after == before + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = { 0 };
	struct ledger *ledger = NULL;
	int opened;

	if (good_size == 0) {
		make_own_directory();
		make_good_file();
	}
	if (size > 0 && data[0] == '=')
		write_file(data + 1, size - 1);
	else
		write_changed(data, size);
	opened = ledger_open_as(directory, &identity, &ledger, &failure);
	HOLDS(opened == 0 || opened == 1);
	HOLDS((opened == 1) == (failure.text[0] != '\0'));
	use(ledger, opened);
	ledger_free(ledger);
	empty_directory();
	return 0;
}
