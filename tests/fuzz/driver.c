/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver - runs a fuzz target without a fuzzer: every seed, and the same changes of it each time
 *
 * A target is one file that defines LLVMFuzzerTestOneInput(); with clang -fsanitize=fuzzer it is
 * built without this file. Its seeds are in the folder seeds/ beside it, under its own name. Prints
 * TAP: a line for each seed. What is wrong shows as an assertion or a sanitizer's report, which end
 * the program.
 */
#undef main /* where a target calls a program's main by another name */

#include "fuzz.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

enum { SEED_BYTES_MAX = 1 << 20, CHANGES_PER_SEED = 2000 };

/* xorshift: the same numbers on every machine, so that a failure comes again. */
static uint32_t next_number(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Overwrites, cuts, repeats: one small change more on what the last left. */
static size_t change(uint8_t *data, size_t size, size_t allocated, uint32_t *random)
{
	static const uint8_t odd[] = {
		0, '%', '/', '?', '&', '=', '.', '\n', 0x80, 0xff, '{', '"'
	};
	size_t at = size > 0 ? next_number(random) % size : 0;

	switch (next_number(random) % 4) {
	case 0:
		if (size > 0)
			data[at] = (uint8_t) next_number(random);
		return size;
	case 1:
		if (size > 0)
			data[at] = odd[next_number(random) % sizeof(odd)];
		return size;
	case 2:
		return at;
	default:
		if (size + at > allocated)
			return size;
		memmove(data + size, data, at);
		return size + at;
	}
}

static void run_seed(const uint8_t *seed, size_t size)
{
	size_t allocated = 2 * size + 64;
	uint32_t random = 2463534242U;

	(void) LLVMFuzzerTestOneInput(seed, size);
	for (unsigned int i = 0; i < CHANGES_PER_SEED; i++) {
		/* Its own allocation of the right length each time: reading past it is seen. */
		cleanup_free uint8_t *data = malloc(allocated), *exact = NULL;
		size_t length = size;

		if (!data)
			return;
		memcpy(data, seed, size);
		for (unsigned int k = 0; k <= i % 8; k++)
			length = change(data, length, allocated, &random);
		exact = malloc(length > 0 ? length : 1);
		if (!exact)
			return;
		memcpy(exact, data, length);
		(void) LLVMFuzzerTestOneInput(exact, length);
	}
}

static bool run_file(int directory_fd, const char *name, uint8_t *buffer)
{
	cleanup_close int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, buffer, SEED_BYTES_MAX);

	if (size < 0)
		return false;
	run_seed(buffer, (size_t) size);
	return true;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	const char *slash = strrchr(argv[0], '/');
	cleanup_free uint8_t *buffer = malloc(SEED_BYTES_MAX);
	cleanup_closedir DIR *seeds = NULL;
	const struct dirent *entry;
	unsigned int count = 0;
	char path[4096];

	(void) snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/%s", top ? top : ".",
			slash ? slash + 1 : argv[0]);
	seeds = opendir(path);
	while (seeds && buffer && (entry = readdir(seeds))) {
		if (entry->d_name[0] == '.')
			continue;
		printf("%s %u - %s\n",
		       run_file(dirfd(seeds), entry->d_name, buffer) ? "ok" : "not ok", ++count,
		       entry->d_name);
		(void) fflush(stdout);
	}
	if (count == 0)
		printf("not ok %u - there are seeds in %s\n", ++count, path);
	printf("1..%u\n", count);
	return 0;
}
