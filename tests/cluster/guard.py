# SPDX-License-Identifier: Apache-2.0
"""Sees every moment at which a mount is not the one that it was.

A thread waits for changes of the mount table and compares mounts by statx's ids, which are never used twice where the
kernel has such (6.8): there a mount that went and came back is seen afterwards, too. Elsewhere ids are used again, and
the thread has to be faster than the next mount. Looks at mounts and touches none.
"""
import ctypes
import os
import select
import threading

AT_FDCWD, AT_NO_AUTOMOUNT = -100, 0x800
MNT_ID, MNT_ID_UNIQUE = 0x1000, 0x4000
libc = ctypes.CDLL(None, use_errno=True)


def mount_id(path):
    """Of the mount that a path is in; None: it cannot be looked up."""
    found = (ctypes.c_uint64 * 32)()  # struct statx: 256 bytes; stx_mask first, stx_mnt_id at 144
    if libc.statx(AT_FDCWD, os.fsencode(path), AT_NO_AUTOMOUNT, MNT_ID | MNT_ID_UNIQUE, found) < 0:
        return None
    return found[18]


class Guard:
    """Of these mount points, from now on."""

    def __init__(self, points):
        self.before = {point: mount_id(point) for point in points}
        assert None not in self.before.values(), self.before
        self.wrong, self.looks = [], 0
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def look(self):
        self.looks += 1
        now = {point: mount_id(point) for point in self.before}
        self.wrong += [(point, now[point], was) for point, was in self.before.items() if now[point] != was]

    def watch(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as table:
            changes = select.poll()
            changes.register(table, select.POLLPRI | select.POLLERR)
            while not self.closed.is_set():
                if changes.poll(100):
                    self.look()

    def check(self):
        self.look()
        assert not self.wrong, f"mounts that were not the same (point, id, id before): {self.wrong[:5]}"

    def close(self):
        self.closed.set()
        self.thread.join()
