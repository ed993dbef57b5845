# SPDX-License-Identifier: Apache-2.0
"""Real storage behind the test driver's volumes: directories, tmpfs and loop devices, and real mounts of them.

A volume is a dictionary that state.json keeps: {"id", "kind", "bytes", "parameters"}. What is mounted is asked
of the kernel each time, never remembered, so that a driver that was killed goes on where it was.
"""
import ctypes
import os
import re
import subprocess

libc = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC = 1, 32, 4096, 16384
UMOUNT_NOFOLLOW = 8


def end_with_parent(parent):
    """A child that its parent leaves behind ends, too, also when that was before it could say so."""
    check(libc.prctl(1, 9, 0, 0, 0), "prctl PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        os._exit(1)


def check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(source, target, kind, flags, options=""):
    check(libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags),
                     options.encode()), f"mount {source} on {target}")


def may_grow():
    """CAP_SYS_RESOURCE, which ext4 wants for growing while mounted and containers often lack."""
    with open("/proc/self/status", encoding="utf-8") as file:
        bits = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    return bool(int(bits, 16) >> 24 & 1)


def unmount(target):
    check(libc.umount2(os.fsencode(target), UMOUNT_NOFOLLOW), f"unmount {target}")


def mounts():
    """[(mount point, root within its file system, device)], the uppermost last."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        fields = [line.split(" ") for line in file]
    plain = [[re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), f) for f in line[2:5]] for line in fields]
    return [(point, root, device) for device, root, point in plain]


def is_mounted(path):
    path = os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
    return any(point == path for point, _, _ in mounts())


def unmount_all(path):
    path = os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
    while is_mounted(path):
        unmount(path)


class Storage:
    """Where volumes keep their bytes: one directory or image file each, below a directory."""

    def __init__(self, top):
        self.top = top
        os.makedirs(top, exist_ok=True)

    def path(self, volume, ending=""):
        return os.path.join(self.top, volume["id"].replace("/", "_") + ending)

    def create(self, volume):
        if volume["kind"] == "loop":
            with open(self.path(volume, ".image"), "ab") as file:
                if file.tell() < volume["bytes"]:
                    file.truncate(volume["bytes"])
        else:
            os.makedirs(self.path(volume), exist_ok=True)

    def copy(self, source, target):
        """All that is in a volume or snapshot, into another one of the same kind that is still empty."""
        ending = ".image" if target["kind"] == "loop" else ""
        subprocess.run(["rm", "-rf", "--one-file-system", self.path(target, ending)], check=True)
        if os.path.exists(self.path(source, ending)):
            subprocess.run(["cp", "-a", "--sparse=always", self.path(source, ending), self.path(target, ending)], check=True)

    def delete(self, volume):
        self.detach(volume)
        subprocess.run(["rm", "-rf", "--one-file-system", self.path(volume), self.path(volume, ".image")], check=True)

    def devices(self, volume):
        done = subprocess.run(["losetup", "-n", "-O", "NAME", "-j", self.path(volume, ".image")],
                              capture_output=True, text=True, check=True)
        return done.stdout.split()

    def device(self, volume):
        """Its loop device, attached now if it was not."""
        there = self.devices(volume)
        if there:
            return there[0]
        done = subprocess.run(["losetup", "-f", "--show", self.path(volume, ".image")],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def detach(self, volume):
        if volume["kind"] == "loop":
            for device in self.devices(volume):
                subprocess.run(["losetup", "-d", device], check=True)

    def mount_at(self, volume, path, file_system=""):
        """The volume itself, for a stage or for a publish without one."""
        if is_mounted(path):
            return
        if volume["kind"] == "tmpfs":
            mount(volume["id"], path, "tmpfs", 0, f"size={max(volume['bytes'], 1 << 20)},mode=0755")
        elif volume["kind"] == "loop":
            device, kind = self.device(volume), file_system or "ext4"
            if subprocess.run(["blkid", "-p", device], capture_output=True, check=False).returncode == 2:
                subprocess.run([f"mkfs.{kind}", "-q", device], check=True, capture_output=True)
            mount(device, path, kind, 0)
        else:
            mount(self.path(volume), path, "none", MS_BIND)

    def device_at(self, volume, path):
        """The device itself as a file at a path, for a publish in block mode."""
        if not is_mounted(path):
            with open(path, "ab"):
                pass
            mount(self.device(volume), path, "none", MS_BIND)

    def grow(self, volume, size):
        volume["bytes"] = max(volume["bytes"], size)
        if volume["kind"] == "loop":
            os.truncate(self.path(volume, ".image"), volume["bytes"])
            for device in self.devices(volume):
                subprocess.run(["losetup", "-c", device], check=True)

    def grow_file_system(self, volume):
        if volume["kind"] == "loop" and may_grow():
            for device in self.devices(volume):
                subprocess.run(["resize2fs", device], check=True, capture_output=True)


def bind(source, target, read_only):
    """A publish: the target is made here, as CSI wants it."""
    if is_mounted(target):
        return
    os.makedirs(target, mode=0o750, exist_ok=True)
    mount(source, target, "none", MS_BIND | MS_REC)
    if read_only:
        mount("none", target, "none", MS_BIND | MS_REMOUNT | MS_RDONLY)


def remove_target(target):
    """An unpublish: unmounts and removes what bind() or device_at() made."""
    unmount_all(target)
    if os.path.isdir(target):
        os.rmdir(target)
    elif os.path.lexists(target):
        os.unlink(target)
