/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_probe - what libblkid finds on an open block device; reads only
 *
 * The same low-level probing as `blkid -p`: superblocks and partition tables, no cache, no udev.
 */
#ifndef PODVOL_MOUNT_DEVICE_PROBE_H
#define PODVOL_MOUNT_DEVICE_PROBE_H

enum { PROBE_CONTENT_BYTES = 64 };

/* What is said of a partition table, as kubelet says it. */
#define PROBE_PARTITIONS "unknown data, probably partitions"

/**
 * device_probe - what is on it? [worker]
 * @fd:          open for reading
 * @ret_content: "ext4", "LVM2_member", "crypto_LUKS", ... or PROBE_PARTITIONS; "" when nothing
 *
 * A superblock with a bad checksum counts as found.
 *
 * Return: 1 something, 0 nothing at all; -ENOTUNIQ signatures that contradict each other; -EIO and
 * kin when it cannot be read.
 */
int device_probe(int fd, char ret_content[PROBE_CONTENT_BYTES]);

#endif
