# SPDX-License-Identifier: Apache-2.0
"""Small file systems that a test fills, frees and breaks."""
import contextlib
import errno
import fcntl
import os
import subprocess

import node

FILLING = ".filling"
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878


def small_tmpfs(directory, size="1M"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", directory], check=True)


def fill(directory):
    """No byte is left."""
    with open(os.path.join(directory, FILLING), "ab", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                node.equal(error.errno, errno.ENOSPC)


def free(directory):
    os.unlink(os.path.join(directory, FILLING))


def mount_with_project_quotas(n, directory):
    """An ext4; its limits hold for those without CAP_SYS_RESOURCE."""
    image = os.path.join(n.top, "quota.image")
    subprocess.run(["truncate", "-s", "64M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-O", "project,quota", "-E", "quotatype=prjquota", image], check=True)
    done = subprocess.run(["mount", "-o", "loop,prjquota", image, directory], capture_output=True, text=True, check=False)
    if done.returncode:
        raise node.Skip("this kernel has no project quotas on ext4 (CONFIG_QFMT_V2), or there are no loop devices here")


@contextlib.contextmanager
def frozen(directory):
    """Writers there wait."""
    fd = os.open(directory, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, FIFREEZE, 0)
        try:
            yield
        finally:
            fcntl.ioctl(fd, FITHAW, 0)
    finally:
        os.close(fd)


def staged(n):
    """Where devices are mounted for the node."""
    return [point for point in n.mounts() if "/plugins/kubernetes.io/local-volume/mounts/" in point]


class Device:
    """A loop device with a file system of its own."""

    def __init__(self, n, name="image"):
        self.image = os.path.join(n.top, name)
        subprocess.run(["truncate", "-s", "16M", self.image], check=True)
        done = subprocess.run(["losetup", "--find", "--show", self.image], capture_output=True, text=True, check=False)
        if done.returncode:
            raise node.Skip(f"no loop devices here: {done.stderr.strip()}")
        self.path = done.stdout.strip()
        subprocess.run(["mkfs.ext4", "-q", self.path], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        subprocess.run(["losetup", "-d", self.path], check=True)


class BreakingDisk:
    """An ext4 on a loop device, which becomes read-only when the kernel finds an error, as disks do."""

    def __init__(self, n, directory):
        self.directory, self.image = directory, os.path.join(n.top, os.path.basename(directory) + ".image")
        subprocess.run(["truncate", "-s", "16M", self.image], check=True)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
        done = subprocess.run(["losetup", "--find", "--show", self.image], capture_output=True, text=True, check=False)
        if done.returncode:
            raise node.Skip(f"no loop devices here: {done.stderr.strip()}")
        self.device = done.stdout.strip()

    def __enter__(self):
        self.mount()
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.directory], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["losetup", "-d", self.device], check=False)

    def mount(self, *options):
        subprocess.run(["mount", "-o", ",".join(("errors=remount-ro", *options)), self.device, self.directory], check=True)

    def fail(self):
        trigger = f"/sys/fs/ext4/{os.path.basename(self.device)}/trigger_fs_error"
        if not os.path.exists(trigger):
            raise node.Skip("this kernel has no trigger_fs_error")
        os.sync()  # the ledger never is: a run directory is memory, and vanishes with what it describes
        try:
            with open(trigger, "w", encoding="ascii") as file:
                file.write("podvol test\n")
        except OSError as error:
            raise node.Skip(f"no errors can be made here: {error.strerror}") from error

    def repair(self):
        subprocess.run(["umount", self.directory], check=True)
        node.equal(subprocess.run(["fsck.ext4", "-fy", self.device], capture_output=True, check=False).returncode & ~1, 0)
        self.mount()
