/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_systems - the kinds of file system that every search and check is tried on
 *
 * Each is made new in the sandbox: on a loop device, of memory, or overlay over two file systems,
 * so that its files have device numbers of their own.
 */
#pragma once

#include "sandbox.h"

/* NULL after the last: "ext4", "xfs", "btrfs", "overlay", "tmpfs". */
extern const char *const file_systems[];

/* Mount a new one there, relative to the sandbox; skips the test where there are no loop devices.
 * It goes with its last mount. */
void file_system_mount(const char *type, const char *relative);
/* After the mount at @relative is gone, in the order they were mounted or any: what it left in the
 * sandbox. */
void file_system_clean(const char *type);
