/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_id - this program and its libraries; see program_id.h
 */
#include "base/program_id.h"

#include "base/fnv1a.h"

#include <link.h>
#include <sys/stat.h>

/* Return: not 0 for the program itself that cannot be found; the kernel's part has no file. */
static int add_part(struct dl_phdr_info *part, size_t size, void *userdata)
{
	const char *path = *part->dlpi_name ? part->dlpi_name : "/proc/self/exe";
	uint64_t *sum = userdata;
	struct stat status;

	if (stat(path, &status) < 0)
		return *part->dlpi_name == '\0';
	*sum = fnv1a_add(*sum, status.st_dev);
	*sum = fnv1a_add(*sum, status.st_ino);
	*sum = fnv1a_add(*sum, (uint64_t) status.st_size);
	*sum = fnv1a_add(*sum, (uint64_t) status.st_mtim.tv_sec);
	*sum = fnv1a_add(*sum, (uint64_t) status.st_mtim.tv_nsec);
	*sum = fnv1a_add(*sum, (uint64_t) status.st_ctim.tv_sec);
	*sum = fnv1a_add(*sum, (uint64_t) status.st_ctim.tv_nsec);
	return 0;
}

uint64_t program_id(void)
{
	uint64_t sum = FNV1A_FIRST;

	return dl_iterate_phdr(add_part, &sum) == 0 ? sum : 0;
}
