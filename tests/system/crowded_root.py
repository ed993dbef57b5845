# SPDX-License-Identifier: Apache-2.0
"""A root directory that is full of what another agent left: a kubelet's pods, mounts, devices and state files.

Nothing here is podvold's. check() fails when a single mount, file, owner or time of it has changed.
"""
import ctypes
import json
import os
import re
import stat
import uuid

MOUNTS = 300
MS_BIND, MS_REC, MS_SHARED, MNT_DETACH = 1 << 12, 1 << 14, 1 << 20, 2
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, options=None):
    arguments = [os.fsencode(a) if a else None for a in (source, target, kind)]
    if libc.mount(*arguments, flags, os.fsencode(options) if options else None) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount '{target}'")


def unmount(point):
    """Lazily; whatever comes of it. A process for each of hundreds would take seconds."""
    libc.umount2(os.fsencode(point), MNT_DETACH)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Crowd:
    """Pods of a kubelet that is gone, each with three mounts, below a root directory."""

    def __init__(self, root, source):
        self.root, self.uids, self.points = root, [], []
        self.source = source
        mount("none", "/", None, MS_REC | MS_SHARED)  # of this namespace alone; as hosts have it
        write(os.path.join(self.source, "file"), "somebody else's")
        for number in range(MOUNTS // 3):
            self.add_pod(number)
        for name, text in (("cpu_manager_state", '{"policyName":"none"}'), ("memory_manager_state", "{}"),
                           ("plugins_registry/driver-reg.sock.txt", ""), ("device-plugins/kubelet_internal_checkpoint", "{}"),
                           ("pod-resources/x", "")):
            write(os.path.join(root, name), text)
        self.before = self.facts()

    def add_pod(self, number):
        uid = str(uuid.uuid4())
        pod = os.path.join(self.root, "pods", uid)
        secret, bound, csi = (os.path.join(pod, "volumes", name) for name in (
            "kubernetes.io~projected/kube-api-access-x", f"kubernetes.io~local-volume/crowd-{number}",
            f"kubernetes.io~csi/pvc-{number}/mount"))
        for directory in (secret, bound, csi):
            os.makedirs(directory)
        mount("tmpfs", secret, "tmpfs", 0, "size=64k")
        mount(self.source, bound, None, MS_BIND)
        mount(self.source, csi, None, MS_BIND)
        self.points += [secret, bound, csi]
        write(os.path.join(os.path.dirname(csi), "vol_data.json"), json.dumps(
            {"driverName": "hostpath.csi.example.com", "volumeHandle": f"handle-{number}", "specVolID": f"pvc-{number}",
             "volumeLifecycleMode": "Persistent", "attachmentID": "csi-x", "nodeName": "node"}))
        write(os.path.join(pod, "etc-hosts"), "127.0.0.1 localhost\n")
        write(os.path.join(pod, "volumes/kubernetes.io~empty-dir/scratch/file"), "kept")
        os.makedirs(os.path.join(pod, "containers/main"))
        self.uids.append(uid)

    def facts(self):
        """Of each file its inode, mode, owners, size and times; of each mount point its id. Uids may go and come."""
        ids, found = {}, {}
        wanted = set(self.points)
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.split(" ")
                point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
                if point in wanted:
                    ids.setdefault(point, []).append(fields[0])
        for top in (*(os.path.join(self.root, "pods", uid) for uid in self.uids), self.source):
            for where, folders, names in os.walk(top):
                for path in [where, *(os.path.join(where, name) for name in names)]:
                    st = os.lstat(path)
                    found[path] = (st.st_ino, st.st_dev, stat.filemode(st.st_mode), st.st_uid, st.st_gid, st.st_size,
                                   st.st_mtime_ns, st.st_ctime_ns)
                folders.sort()
        return ids, found

    def check(self):
        ids, found = self.facts()
        changed = [(path, self.before[1].get(path), found.get(path))
                   for path in sorted(set(found) | set(self.before[1])) if found.get(path) != self.before[1].get(path)]
        moved = [point for point in self.points if ids.get(point) != self.before[0].get(point)]
        assert not moved, f"{len(moved)} mounts of others changed: {[(p, ids.get(p)) for p in moved[:5]]}"
        assert not changed, f"files of others changed: {changed[:5]}"
