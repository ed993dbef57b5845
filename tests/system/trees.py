# SPDX-License-Identifier: Apache-2.0
"""Trees with one of everything that a file system keeps, and what two of them have in common."""
import errno
import hashlib
import os
import socket
import stat
import struct

NAMES = ("plain", "with space", "ä", b"not-utf8-\xff".decode(errors="surrogateescape"), "-dash", "new\nline", "x" * 200)
SPARSE_BYTES = 64 << 20
BLOCK_BYTES = 64 << 10


def acl(*entries):
    """The kernel's extended attribute for (tag, permissions, id or None)."""
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, permissions, 0xffffffff if who is None else who) for tag, permissions, who in entries)


ACCESS = acl((1, 6, None), (2, 4, 1234), (4, 4, None), (8, 6, 77), (16, 6, None), (32, 0, None))
DEFAULT = acl((1, 7, None), (2, 5, 1234), (4, 5, None), (16, 7, None), (32, 0, None))


def write(path, data, mode=0o644, owner=(0, 0)):
    with open(path, "wb") as file:
        file.write(data)
    os.chown(path, *owner)
    os.chmod(path, mode)


def can_make_devices(directory):
    path = os.path.join(directory, "probe")
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        return False
    os.unlink(path)
    return True


def fill(top, devices=False, links_out=True):
    """One of everything, with times of its own."""
    os.makedirs(f"{top}/deep/er/and/deeper")
    for number, name in enumerate(NAMES):
        write(f"{top}/{name}", b"%d" % number * number, 0o600 + number, (1000 + number, 2000))
    write(f"{top}/empty", b"")
    write(f"{top}/set-user-id", b"#!/bin/sh\n", 0o4755, (7, 8))
    write(f"{top}/large", os.urandom(3 << 20), 0o640, (70000, 70001))
    write(f"{top}/deep/er/and/deeper/file", b"below")
    os.link(f"{top}/plain", f"{top}/deep/second-name")
    os.link(f"{top}/plain", f"{top}/a-third-name")
    os.symlink("plain", f"{top}/link")
    os.symlink("../../plain", f"{top}/deep/er/link-up")
    if links_out:
        os.symlink("/etc/passwd", f"{top}/link-out")
    os.lchown(f"{top}/link", 5, 6)
    os.mkfifo(f"{top}/fifo", 0o620)
    with open(f"{top}/sparse", "wb") as file:
        file.truncate(SPARSE_BYTES)
        os.pwrite(file.fileno(), b"middle", SPARSE_BYTES // 2)
        os.pwrite(file.fileno(), b"end", SPARSE_BYTES - 3)
    with open(f"{top}/all-hole", "wb") as file:
        file.truncate(SPARSE_BYTES)
    os.setxattr(f"{top}/plain", "user.colour", b"green\0and blue")
    os.setxattr(f"{top}/deep", "user.empty", b"")
    os.setxattr(f"{top}/with space", "system.posix_acl_access", ACCESS)
    os.setxattr(f"{top}/deep", "system.posix_acl_default", DEFAULT)
    if devices:
        os.mknod(f"{top}/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.mknod(f"{top}/block", 0o660 | stat.S_IFBLK, os.makedev(7, 200))
    os.chmod(f"{top}/deep/er", 0o2750)
    os.chown(top, 33, 34)
    os.chmod(top, 0o1770)
    for number, (directory, names, files) in enumerate(os.walk(top, topdown=False)):
        for name in (*names, *files):
            when = 1_500_000_000_123_456_789 + number * 1_000_000_007
            os.utime(os.path.join(directory, name), ns=(when + 5, when), follow_symlinks=False)
    os.utime(top, ns=(1_400_000_000_000_000_001, 1_400_000_000_000_000_002))
    return top


def add_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(os.path.dirname(path))  # its name may be too long for an address
        try:
            made.bind(os.path.basename(path))
        finally:
            os.chdir(here)


def digest(descriptor):
    """Of what a file reads as, with holes or without: of its size and its blocks that are not all zero. Holes are not read."""
    size = os.fstat(descriptor).st_size
    found, at = hashlib.sha256(b"%d" % size), 0
    while at < size:
        try:
            at = os.lseek(descriptor, at, os.SEEK_DATA) // BLOCK_BYTES * BLOCK_BYTES
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # nothing but a hole is left
        block = os.pread(descriptor, BLOCK_BYTES, at)
        if block.strip(b"\0"):
            found.update(b"%d %d " % (at, len(block)) + block)
        at += BLOCK_BYTES
    return found.hexdigest()


def look(top, times=True):
    """{path: all that is to be the same}; "" for the top."""
    found, first_names = {}, {}
    paths = [""] + [os.path.relpath(os.path.join(d, n), top) for d, ns, fs in os.walk(top) for n in (*ns, *fs)]
    for path in sorted(paths):
        full = os.path.join(top, path) if path else top
        status = os.lstat(full)
        one = {"type": stat.S_IFMT(status.st_mode), "mode": stat.S_IMODE(status.st_mode), "uid": status.st_uid,
               "gid": status.st_gid, "device": status.st_rdev}
        if times:
            one["mtime"] = status.st_mtime_ns
        if stat.S_ISLNK(status.st_mode):
            one["target"] = os.readlink(full)
        else:
            one["attributes"] = {name: os.getxattr(full, name) for name in os.listxattr(full)
                                 if not name.startswith(("trusted.podvol.", "security."))}
        if stat.S_ISREG(status.st_mode):
            with open(full, "rb") as file:
                one["content"] = digest(file.fileno())
            one["holes"] = status.st_size >= SPARSE_BYTES and status.st_blocks * 512 < SPARSE_BYTES // 8
        if not stat.S_ISDIR(status.st_mode):
            one["same file as"] = first_names.setdefault(status.st_ino, path)
        found[path] = one
    return found


def same(left, right):
    """Fails with the first difference; both of look()."""
    assert set(left) == set(right), f"not in both: {set(left) ^ set(right)}"
    for path, one in left.items():
        assert one == right[path], f"{path!r}: {one}\n is not {right[path]}"
