# SPDX-License-Identifier: Apache-2.0
"""A FUSE file system whose server answers as long as it is allowed to, for tests of servers that hang.

The server is a process of its own on /dev/fuse: one directory with one file, no more. It can stop in
the two ways in which servers die: reading nothing any more (its clients can still be killed), or
reading and never answering (the kernel waits for the answer whatever happens to who asked). It goes
on where it stopped, and what waits gets its answer; or its connection is aborted and all of it fails.
"""
import errno
import os
import signal
import struct
import subprocess
import time

import node

READS, ANSWERS, SWALLOWS = range(3)
ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
ROOT, FILE = 1, 2
CONTENT = b"content"


def attributes(inode):
    mode, size = (0o040755, 0) if inode == ROOT else (0o100644, len(CONTENT))
    return ATTRIBUTES.pack(inode, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, inode, body):
    """(error, data) of one request; None where nothing is answered at all."""
    if opcode == 26:  # INIT
        return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 10, 65536, 1, 1, 0, 0, *[0] * 7)
    if opcode == 1:  # LOOKUP: nothing is remembered, so that each look-up asks
        if body.rstrip(b"\0") == b"file":
            return 0, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE)
        return -errno.ENOENT, b""
    if opcode == 3:  # GETATTR
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(inode)
    if opcode in (14, 27):  # OPEN, OPENDIR
        return 0, struct.pack("<QII", 0, 0, 0)
    if opcode == 15:  # READ
        offset, size = struct.unpack_from("<QI", body, 8)
        return 0, CONTENT[offset:offset + size] if inode == FILE else b""
    if opcode == 28:  # READDIR: empty
        return 0, b""
    if opcode == 17:  # STATFS
        return 0, struct.pack("<QQQQQIIII6I", 1000, 900, 900, 100, 90, 4096, 255, 4096, *[0] * 7)
    if opcode in (18, 29):  # RELEASE, RELEASEDIR
        return 0, b""
    if opcode in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET
        return None
    return -errno.ENOSYS, b""


def serve(fd, mode):
    """Until the connection ends. mode() is asked before each request."""
    swallowed = []

    def reply(request):
        _, opcode, unique, inode, _, _, _, _ = struct.unpack_from("<IIQQIIII", request)
        got = answer(opcode, inode, request[40:])
        if got is not None:
            try:
                os.write(fd, struct.pack("<IiQ", 16 + len(got[1]), got[0], unique) + got[1])
            except FileNotFoundError:
                pass  # the client has gone

    while True:
        while mode() == READS:
            time.sleep(0.005)
        try:
            request = os.read(fd, 1 << 17)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                continue  # a request that was taken back
            if error.errno == errno.EAGAIN:
                time.sleep(0.002)
                if mode() == ANSWERS:
                    while swallowed:
                        reply(swallowed.pop(0))
                continue
            return
        if mode() == SWALLOWS:
            swallowed.append(request)
        else:
            reply(request)


class HungFuse:
    """Mounted at a path, and answering until silence() or swallow()."""

    def __init__(self, path):
        self.path = path
        try:
            fd = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK)
        except OSError as error:
            raise node.Skip(f"no FUSE here: {error.strerror}") from None
        os.makedirs(path, exist_ok=True)
        done = subprocess.run(["mount", "-i", "-t", "fuse", "-o",
                               f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other", "hung", path],
                              pass_fds=[fd], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            os.close(fd)
            raise node.Skip(f"cannot mount FUSE: {done.stderr.strip()}")
        self.told, self.tell = os.pipe()
        self.heard, self.hear = os.pipe()
        self.server = os.fork()
        if self.server == 0:
            os.close(self.tell)
            os.close(self.heard)
            self.run(fd)
        os.close(self.told)
        os.close(self.hear)
        os.close(fd)
        os.stat(path)  # INIT is answered

    def run(self, fd):
        os.set_blocking(self.told, False)
        now = ANSWERS

        def mode():
            nonlocal now
            try:
                told = os.read(self.told, 1024)
            except BlockingIOError:
                return now
            if not told:
                os._exit(0)
            now = told[-1]
            os.write(self.hear, told)
            return now
        try:
            serve(fd, mode)
        finally:
            os._exit(0)

    def set(self, mode):
        os.write(self.tell, bytes([mode]))
        os.read(self.heard, 1)  # what is asked from now on gets that

    def silence(self):
        """Nothing is read any more: its clients wait, but can be killed."""
        self.set(READS)

    def swallow(self):
        """Everything is read and nothing answered: its clients cannot even be killed."""
        self.set(SWALLOWS)

    def go_on(self):
        self.set(ANSWERS)

    def abort(self):
        """Everything that waits fails, as when the server's process ends."""
        if self.server:
            os.kill(self.server, signal.SIGKILL)
            os.waitpid(self.server, 0)
            self.server = None

    def close(self):
        self.abort()
        os.close(self.tell)
        os.close(self.heard)
        subprocess.run(["umount", "-l", self.path], check=False, stderr=subprocess.DEVNULL)
