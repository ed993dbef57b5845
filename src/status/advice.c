/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice - see status.h
 *
 * By error number alone: plugins and drivers use them for the same things, and a new plugin needs
 * no row. What has none is retried, and its text is all that is known.
 */
#include "status/status.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define TO_DO "; to do: "

static const struct {
	int error;
	const char *clause;
} rows[] = {
	{ -ENOENT, TO_DO "create what is missing, or correct its name in the pod or volume" },
	{ -ENXIO, TO_DO "correct the volume: this node, or its driver, does not have it" },
	{ -ENODEV, TO_DO "attach the device, or load the kernel's module for its file system" },
	{ -ENOTDIR, TO_DO "put there what the volume says, or correct the volume's path or type" },
	{ -EISDIR, TO_DO "put there what the volume says, or correct the volume's path or type" },
	{ -ELOOP, TO_DO "replace the symbolic link by its target" },
	{ -EXDEV, TO_DO "use a path that does not leave its directory" },
	{ -ENAMETOOLONG, TO_DO "use a shorter path" },
	{ -EACCES, TO_DO "give podvold access, or correct the credentials" },
	{ -EPERM, TO_DO "allow it in the configuration, or use another volume" },
	{ -EROFS, TO_DO "make the file system writable, or the volume readOnly" },
	{ -ENOSPC, TO_DO "free space or inodes, or raise the limit" },
	{ -EDQUOT, TO_DO "free space, or raise the quota" },
	{ -EBUSY, TO_DO "stop what uses it" },
	{ -ENOBUFS, TO_DO "free what is used up, or raise its limit" },
	{ -EBADFD, TO_DO "bring the volume into the state that the driver asks for" },
	{ -ERANGE, TO_DO "ask for a size that the driver allows" },
	{ -EEXIST, TO_DO "remove what is in the way, or correct the volume" },
	{ -EINVAL, TO_DO "correct the volume or the pod" },
	{ -EOPNOTSUPP, TO_DO "use a kind of volume, or an option, that is supported" },
	{ -ENOKEY, TO_DO "create the Secret" },
	{ -ENOMEDIUM, TO_DO "store a volume that fits the claim, or correct the claim" },
	{ -EREMOTE, TO_DO "run the pod on that node, or delete and create the claim" },
	{ -EIO, TO_DO "check the disk and the kernel's log" },
	{ -EUCLEAN, TO_DO "check the file system by hand, with its pods ended" },
	{ -ETIMEDOUT, TO_DO "check that the server or driver answers" },
	{ -ENOTCONN, TO_DO "start the driver and its registrar" },
	{ -EHOSTDOWN, TO_DO "check that the server or driver answers" },
	{ -ECONNREFUSED, TO_DO "start the server, or correct its address in the volume" },
};

const char *advice_clause(int error)
{
	assert(error <= 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].error == error)
			return rows[i].clause;
	return "";
}

const char *advice_for(int error)
{
	const char *clause = advice_clause(error);

	return *clause ? clause + strlen(TO_DO) : clause;
}
