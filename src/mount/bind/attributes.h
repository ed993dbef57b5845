/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes - owner, mode, times and extended attributes of an entry, to be given to another
 *
 * POSIX access lists are extended attributes here, as the kernel has them. podvold's own marks
 * (trusted.podvol.*) are never among them: they say whose a directory is, and a copy is another's.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct extended_attribute {
	char *name;
	void *value;
	size_t size;
};

struct attributes {
	mode_t mode; /* with its type */
	uid_t uid;
	gid_t gid;
	struct timespec access_time, change_time; /* when it was read and written last */
	struct extended_attribute *extended;
	size_t extended_count;
};

/* Of an open entry; O_PATH will do, also of a symbolic link. Return: 0; -ENOMEM; as the calls. */
int attributes_read(int fd, struct attributes *ret, struct failure *reterr);

/* Return: 0; -ENOMEM. One of podvold's own is passed over. */
int attributes_add(struct attributes *attributes, const char *name, const void *value, size_t size);

/**
 * attributes_apply - give them to an open entry; O_PATH will do
 * @lost: raised for each extended attribute that the file system does not keep
 *
 * The mode comes after the owner, because a change of that takes set-user-ID bits away; the times
 * come last. A file that is not complete must not have them yet.
 *
 * Return: 0, also when some were lost; else as the calls.
 */
int attributes_apply(int fd, const struct attributes *attributes, size_t *lost,
		     struct failure *reterr);

void attributes_done(struct attributes *attributes);
