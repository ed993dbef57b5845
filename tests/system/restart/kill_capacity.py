# SPDX-License-Identifier: Apache-2.0
"""Kills while volumes of an enforced size are made, mounted and removed: images, subvolumes of a btrfs, and
emptyDirs with a project quota."""
import fcntl
import os
import struct
import subprocess

import crowded_root
import disks
import kill_scenarios
import node
from node import claim, equal, eventually, pod

QUOTA_CTL, ENABLE = 0xC0109428, 1


def unmount_all(n):
    """And until the loop devices that go with their mounts are gone."""
    if n.process and n.process.poll() is None:
        n.kill()
    for point in sorted(node.mountinfo(n.top), key=len, reverse=True):
        crowded_root.unmount(point)
    eventually(lambda: not node.loop_devices(n.top), what=lambda: f"no loop devices, now {node.loop_devices(n.top)}")


class Images(kill_scenarios.Provision):
    """Images are made for claims, formatted and mounted."""
    name = "provision of images"
    capacity, size = "image", "8Mi"

    def storage_class(self, n, name, mode):
        made = super().storage_class(n, name, mode)
        made["parameters"]["capacity"] = self.capacity
        return made

    def claim(self, class_name, name=None):
        made = super().claim(class_name, name)
        made["spec"]["resources"] = {"requests": {"storage": self.size}}
        return made

    def verify(self, n):
        super().verify(n)
        for name in os.listdir(n.base):
            equal(os.listdir(os.path.join(n.base, name)), ["volume.img"])
            equal(os.stat(os.path.join(n.base, name, "volume.img")).st_size, 8 << 20)

    def clean(self, n):
        unmount_all(n)


class LastImages(Images, kill_scenarios.Unprovision):
    """A claim is deleted, and its image with it."""
    name = "deletion of images"

    def prepare(self, n):
        n.start()
        kill_scenarios.reach(n, "POST", kill_scenarios.CLAIMS, self.claim("one"))
        eventually(lambda: self.phases(n) == ["Bound"], what=lambda: self.phases(n))
        n.stop()

    def verify(self, n):
        kill_scenarios.Unprovision.verify(self, n)


class Subvolumes(Images):
    """Subvolumes with a quota are made for claims."""
    name = "provision of subvolumes"
    capacity = "quota"

    def fill(self, n):
        super().fill(n)
        image = os.path.join(n.top, "btrfs.image")
        subprocess.run(["truncate", "-s", "128M", image], check=True)
        subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
        done = subprocess.run(["mount", "-o", "loop", image, n.base], capture_output=True, text=True, check=False)
        if done.returncode:
            raise node.Skip(f"no btrfs here: {done.stderr.strip()}")
        fd = os.open(n.base, os.O_RDONLY)
        fcntl.ioctl(fd, QUOTA_CTL, struct.pack("QQ", ENABLE, 0))
        os.close(fd)

    def verify(self, n):
        kill_scenarios.Provision.verify(self, n)
        for name in os.listdir(n.base):
            equal(os.stat(os.path.join(n.base, name)).st_ino, 256, "a subvolume")
            equal(self.limit(n, name), 8 << 20)

    @staticmethod
    def limit(n, name):
        shown = subprocess.run(["btrfs", "qgroup", "show", "-r", "--raw", "-f", os.path.join(n.base, name)],
                               capture_output=True, text=True, check=True).stdout
        return int(shown.splitlines()[-1].split()[3])


class LastSubvolumes(Subvolumes, kill_scenarios.Unprovision):
    """A claim is deleted, and its subvolume with all that is in it."""
    name = "deletion of subvolumes"

    def prepare(self, n):
        kill_scenarios.Unprovision.prepare(self, n)

    def verify(self, n):
        kill_scenarios.Unprovision.verify(self, n)


class Projects(kill_scenarios.Scenario):
    """emptyDirs get a project quota each."""
    name = "set-up of project quotas"
    wanted = {("web", "small"): "mounted", ("web", "large"): "mounted", ("db", "small"): "mounted"}

    def fill(self, n):
        disks.mount_with_project_quotas(n, n.root)
        n.write("volumes.json", claim("none"))  # a directory of manifests that is empty takes no pod away

    def write_pods(self, n):
        n.write("web.json", pod("web", {"small": {"emptyDir": {"sizeLimit": "1Mi"}}, "large": {"emptyDir": {"sizeLimit": "8Mi"}}}))
        n.write("db.json", pod("db", {"small": {"emptyDir": {"sizeLimit": "2Mi"}}}))

    def verify(self, n):
        sizes = sorted(status.f_blocks * status.f_frsize >> 20 for status in
                       (os.statvfs(row["path"]) for row in n.volumes()))
        equal(sizes, [1, 2, 8])

    def clean(self, n):
        unmount_all(n)


class LastProjects(Projects, kill_scenarios.Teardown):
    """emptyDirs with a project quota are removed; what comes after them has its own limits."""
    name = "teardown of project quotas"

    def prepare(self, n):
        kill_scenarios.Teardown.prepare(self, n)

    def done(self, n):
        return kill_scenarios.Teardown.done(self, n)

    def verify(self, n):
        equal(n.volumes(), [])
