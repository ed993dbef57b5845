/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_probe - what libblkid finds on a block device; see format.h
 */
#include "mount/filesystem/format.h"

#include "base/cleanup.h"

#include <assert.h>
#include <blkid.h>

enum { PROBE_FOUND = 0, PROBE_NOTHING = 1, PROBE_AMBIVALENT = -2 }; /* of blkid_do_safeprobe */

static void free_probe(blkid_probe *probe)
{
	blkid_free_probe(*probe);
}

static int configure(blkid_probe probe, int fd)
{
	errno = 0;
	if (blkid_probe_set_device(probe, fd, 0, 0) < 0)
		return errno > 0 ? -errno : -EIO;
	if (blkid_probe_get_size(probe) <= 0)
		return -ENOMEDIUM;
	if (blkid_probe_enable_superblocks(probe, 1) < 0 ||
	    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_BADCSUM) <
		    0 ||
	    blkid_probe_enable_partitions(probe, 1) < 0)
		return -ENOMEM;
	return 0;
}

int device_probe(int fd, char ret_content[PROBE_CONTENT_BYTES])
{
	cleanup(free_probe) blkid_probe probe = blkid_new_probe();
	const char *value = NULL;
	int result;

	assert(fd >= 0 && ret_content);
	if (!probe)
		return -ENOMEM;
	result = configure(probe, fd);
	if (result < 0)
		return result;

	ret_content[0] = '\0';
	errno = 0;
	result = blkid_do_safeprobe(probe);
	if (result == PROBE_NOTHING)
		return 0;
	if (result == PROBE_AMBIVALENT)
		return -ENOTUNIQ;
	if (result != PROBE_FOUND)
		return errno > 0 ? -errno : -EIO;

	/* A partition table wins: what looks like a superblock beside it may be a partition's. */
	if (blkid_probe_lookup_value(probe, "PTTYPE", NULL, NULL) == 0)
		value = PROBE_PARTITIONS;
	else if (blkid_probe_lookup_value(probe, "TYPE", &value, NULL) < 0)
		value = "something without a name";
	(void) snprintf(ret_content, PROBE_CONTENT_BYTES, "%s", value);
	return 1;
}
