/* SPDX-License-Identifier: Apache-2.0 */
/*
 * superblock - is this the same file system: the one answer for every search and check in podvol
 *
 * The kernel has two device numbers for one file system. Tables of mounts (mountinfo, statmount),
 * /proc/locks and /proc/PID/maps show the superblock's. stat(2) and statx(2) show the inode's: on
 * btrfs each subvolume has its own, on overlay so do files of a lower layer. The two are equal on
 * ext4, xfs and tmpfs, so a comparison of one with the other passes tests there and fails on btrfs.
 *
 * Rule: st_dev is compared with st_dev alone (together with an inode number). Whatever is compared
 * with a mount's device comes from here.
 */
#pragma once

#include <sys/types.h>

/**
 * superblock_device - the device number that tables of mounts show for a descriptor's file system
 * @fd: anything that is open, O_PATH will do; its mount may be detached or in another namespace
 *
 * Asks no server on local file systems, NFS, Ceph and FUSE. Where statx's number may be another, it
 * is read from what /proc says of an inotify watch. Any thread that may block.
 *
 * Return: 0; -EMFILE no inotify instance is left for root (fs.inotify.max_user_instances);
 * -ENOMEM, -ENOSPC; else as the calls. After an error the file system is unknown: a caller that
 * protects data treats it as the one it looks for.
 */
int superblock_device(int fd, dev_t *ret);

/**
 * superblock_device_close - the same, and closes @fd
 * @fd: closed in any case, before what takes long: the kernel ends a watch within milliseconds, and
 * a descriptor that is open meanwhile makes an unmount by others fail with EBUSY
 */
int superblock_device_close(int fd, dev_t *ret);
