/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_statmount - answers of statmount and listmount as no kernel gives them
 *
 * The first byte says which: "l" ids of eight bytes each, else the bytes of struct statmount with
 * its texts, the second byte how often it answers that they do not fit. Texts that are returned end
 * in the answer, ids rise, and there is an end.
 *
 * Link with -Wl,--wrap=statmount,--wrap=listmount
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/syscalls.h"
#include "mount/table/mount_list.h"

#include <errno.h>
#include <string.h>

int __wrap_statmount(const struct mount_id_request *request, void *buffer, size_t size,
		     unsigned int flags);
ssize_t __wrap_listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
			 unsigned int flags);

static const uint8_t *answer;
static size_t answer_size;
static unsigned int refusals, asked;

int __wrap_statmount(const struct mount_id_request *request, void *buffer, size_t size,
		     unsigned int flags)
{
	HOLDS(request->size == sizeof(*request) && flags == 0);
	if (refusals > 0) {
		refusals--;
		errno = EOVERFLOW;
		return -1;
	}
	memcpy(buffer, answer, answer_size < size ? answer_size : size);
	return 0;
}

/* As many as fit, again and again: that there are more is what the caller believes. */
ssize_t __wrap_listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
			 unsigned int flags)
{
	size_t there = answer_size / sizeof(*ids);

	HOLDS(request->size == sizeof(*request) && flags == 0);
	HOLDS(++asked < 10000);
	if (there > count)
		there = count;
	memcpy(ids, answer, there * sizeof(*ids));
	if (answer_size % sizeof(*ids) != 1)
		return (ssize_t) there;
	/* "The same again, and a full page", which would never end. */
	for (size_t i = there; i < count; i++)
		ids[i] = there > 0 ? ids[i - there] : i;
	return (ssize_t) count;
}

static void check_one(void)
{
	struct table_entry *entry = NULL;
	int r = mount_list_stat(1, &entry);

	HOLDS(r == 0 || r == -ENOENT || r == -EOVERFLOW);
	if (r < 0)
		return;
	HOLDS(entry->entry.mount_point[0] == '/');
	HOLDS(strlen(entry->entry.root) + strlen(entry->entry.type) + strlen(entry->entry.source) <
	      4 * 65536);
	HOLDS(strncmp(entry->entry.options, "r", 1) == 0);
	free(entry);
}

static void check_list(void)
{
	uint64_t *ids = NULL;
	size_t count = 0;
	int r = mount_list_ids(0, &ids, &count);

	HOLDS(r == 0 || r == -EIO);
	if (r == 0)
		free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	answer = data + 2;
	answer_size = size - 2;
	asked = 0;
	refusals = data[1] % 5;
	if (data[0] == 'l')
		check_list();
	else
		check_one();
	return 0;
}
