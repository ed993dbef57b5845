# SPDX-License-Identifier: Apache-2.0
"""What a mounted volume costs without podvold: the bare system calls."""
import ctypes
import os
import struct
import time

MS_BIND = 4096
SYS_LISTMOUNT = 458
libc = ctypes.CDLL(None, use_errno=True)
mount_ids = (ctypes.c_uint64 * 65536)()


def seconds(function, *arguments):
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def bind(source, target):
    assert libc.mount(source.encode(), target.encode(), None, MS_BIND, None) == 0, os.strerror(ctypes.get_errno())


def unbind(target):
    assert libc.umount2(target.encode(), 0) == 0, os.strerror(ctypes.get_errno())


def each(directory, count):
    """Seconds for each of mkdir+bind+umount+rmdir, as one burst would do them: all made, then all taken away."""
    source = os.path.join(directory, "source")
    paths = [os.path.join(directory, str(number)) for number in range(count)]
    os.mkdir(source)
    times = [seconds(lambda path: (os.mkdir(path), bind(source, path)), path) for path in paths]
    for number, path in enumerate(paths):
        times[number] += seconds(lambda path: (unbind(path), os.rmdir(path)), path)
    os.rmdir(source)
    return times


def make_pods(root, sources):
    """The directories and mounts of a pod for each source, as podvold lays them out below a root."""
    for number, source in enumerate(sources):
        path = f"{root}/pods/00000000-0000-4000-8000-{number:012}"
        for part in ("", "/volumes", "/volumes/kubernetes.io~local-volume"):
            os.mkdir(path + part)
        os.mkdir(f"{path}/volumes/kubernetes.io~local-volume/v-{number}")
        bind(source, f"{path}/volumes/kubernetes.io~local-volume/v-{number}")


def remove_pods(root, sources):
    for number in range(len(sources)):
        path = f"{root}/pods/00000000-0000-4000-8000-{number:012}"
        unbind(f"{path}/volumes/kubernetes.io~local-volume/v-{number}")
        for part in (f"/volumes/kubernetes.io~local-volume/v-{number}", "/volumes/kubernetes.io~local-volume", "/volumes", ""):
            os.rmdir(path + part)


def pods(root, sources):
    """(seconds to make them, to remove them); the root is a mount of its own, as podvold's."""
    os.makedirs(f"{root}/pods")
    bind(root, root)
    made, removed = seconds(make_pods, root, sources), seconds(remove_pods, root, sources)
    unbind(root)
    return made, removed


def count_mounts(after=0):
    """Of this namespace, those that came after one: by listmount, which costs a sixtieth of reading the table, and nothing
    for those before. None: the kernel lacks it."""
    request = struct.pack("IIQQ", 24, 0, 0xffffffffffffffff, after)
    found = libc.syscall(SYS_LISTMOUNT, request, mount_ids, len(mount_ids), 0)
    return found if found >= 0 else None


def newest_mount():
    """Its id, which no later one has; 0: the kernel lists no ids."""
    found = count_mounts()
    return mount_ids[found - 1] if found else 0


def mounts_of(n, after=0):
    """As many, or those of a node where the kernel cannot count."""
    found = count_mounts(after)
    return len(n.mounts()) if found is None else found
