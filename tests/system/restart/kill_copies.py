# SPDX-License-Identifier: Apache-2.0
"""Kills while a snapshot is taken of a local volume, and while volumes are made from it and from others."""
import contextlib
import os
import subprocess

import kill_capacity
import kill_scenarios
from kill_scenarios import CLAIMS, FILES, reach
from killing import ask
from node import equal, eventually

API = "/apis/snapshot.storage.k8s.io/v1"
SNAPSHOTS = f"{API}/namespaces/default/volumesnapshots"
CONTENTS = f"{API}/volumesnapshotcontents"
VOLUMES = "/api/v1/persistentvolumes"


def items(n, path):
    return (ask(n, "GET", path)[1] or {}).get("items", [])


def files_in(path):
    return sorted(os.path.relpath(os.path.join(d, f), path) for d, _, fs in os.walk(path) for f in fs)


class Copies(kill_scenarios.Unprovision):
    """A snapshot is taken, and a claim is made from it."""
    name = "snapshots and clones"

    def fill(self, n):
        super().fill(n)
        n.write("snapshots.json", {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass",
                                   "metadata": {"name": "snap"}, "driver": "podvol/local", "deletionPolicy": "Delete"})

    def begin(self, n):
        reach(n, "POST", SNAPSHOTS, {
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "metadata": {"name": "s"},
            "spec": {"volumeSnapshotClassName": "snap", "source": {"persistentVolumeClaimName": "one"}}})
        made = self.claim("one")
        made["metadata"]["name"] = "clone"
        made["spec"]["dataSource"] = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
        reach(n, "POST", CLAIMS, made)

    def done(self, n):
        return ([v.get("status", {}).get("phase") for v in items(n, VOLUMES)] == ["Bound"] * 2
                and [s.get("status", {}).get("readyToUse") for s in items(n, SNAPSHOTS)] == [True])

    def verify(self, n):
        directories = [v["metadata"]["name"] for v in items(n, VOLUMES)]
        handles = [os.path.basename(c["status"]["snapshotHandle"]) for c in items(n, CONTENTS)]
        equal((len(directories), len(handles)), (2, 1))
        equal(sorted(os.listdir(n.base)), sorted(directories + handles), "volumes, snapshots and directories")
        for name in (*directories, *(f"{handle}/data" for handle in handles)):
            path = os.path.join(n.base, name)
            equal(files_in(path), sorted(FILES), name)
            equal(os.stat(path).st_mode & 0o7777, 0o770, name)


class AbandonedClones(kill_scenarios.Unprovision):
    """A claim goes when its clone was filled: whole or not, settled or not, nothing of it stays."""
    name = "unwanted clones"

    def begin(self, n):
        made = self.claim("one")
        made["metadata"]["name"] = "clone"
        made["spec"]["dataSource"] = {"kind": "PersistentVolumeClaim", "name": "one"}
        reach(n, "POST", CLAIMS, made)
        eventually(lambda: n.process.poll() is not None or self.is_filled(n), what="a clone that is filled")
        reach(n, "DELETE", f"{CLAIMS}/clone")

    @staticmethod
    def is_filled(n):
        """Or was, a moment ago."""
        for name in os.listdir(n.base):
            try:
                marks = os.listxattr(os.path.join(n.base, name))
                if "trusted.podvol.settled" in marks or "trusted.podvol.restore" in marks and \
                        os.getxattr(os.path.join(n.base, name), "trusted.podvol.restore") == b"filled":
                    return True
            except OSError:
                pass
        return False

    def recover(self, n):
        reach(n, "DELETE", f"{CLAIMS}/clone")

    def done(self, n):
        return [len(items(n, path)) for path in (CLAIMS, VOLUMES)] == [1, 1]

    def verify(self, n):
        equal(os.listdir(n.base), [v["metadata"]["name"] for v in items(n, VOLUMES)], "volumes and directories")


class Moves(kill_scenarios.Unprovision):
    """A claim's data are moved to a volume of another class."""
    name = "moves"

    @staticmethod
    def to(_):
        return "two"

    @staticmethod
    def is_moved(claim):
        return claim["metadata"]["annotations"].get("podvol.io/last-move", "").startswith("moved")

    def begin(self, n):
        claim = reach(n, "GET", f"{CLAIMS}/one")[1]
        if claim and not self.is_moved(claim):
            claim["metadata"]["annotations"]["podvol.io/move-to"] = self.to(n)
            reach(n, "PUT", f"{CLAIMS}/one", claim)

    def done(self, n):
        claim = ask(n, "GET", f"{CLAIMS}/one")[1]
        return (self.is_moved(claim) and "podvol.io/move-to" not in claim["metadata"]["annotations"]
                and self.phases(n) == ["Bound", "Released"]
                and not any("podvol.io/unfinished" in v["metadata"]["annotations"] for v in items(n, VOLUMES)))

    def phases(self, n):
        """Also while there is no answer."""
        return sorted(v.get("status", {}).get("phase", "") for v in items(n, VOLUMES))

    def verify(self, n):
        phases = {v["metadata"]["name"]: v["status"]["phase"] for v in items(n, VOLUMES)}
        places = [os.path.basename(v["spec"]["local"]["path"]) for v in items(n, VOLUMES)]
        equal(sorted(os.listdir(n.base)), sorted(places), "volumes and directories")
        equal(phases[ask(n, "GET", f"{CLAIMS}/one")[1]["spec"]["volumeName"]], "Bound")
        for name in places:
            equal(files_in(os.path.join(n.base, name)), sorted(FILES), name)
            equal(os.stat(os.path.join(n.base, name)).st_mode & 0o7777, 0o770, name)


class UnwantedMoves(Moves):
    """A move is called off at any moment: done, or nothing of it is left."""
    name = "moves that are called off"

    def begin(self, n):
        super().begin(n)
        self.call_off(n)

    @staticmethod
    def call_off(n):
        claim = reach(n, "GET", f"{CLAIMS}/one")[1]
        if claim and claim["metadata"]["annotations"].pop("podvol.io/move-to", None):
            reach(n, "PUT", f"{CLAIMS}/one", claim)

    def recover(self, n):
        self.call_off(n)

    def done(self, n):
        claim = ask(n, "GET", f"{CLAIMS}/one")[1]
        if self.is_moved(claim):
            return super().done(n)
        return "podvol.io/move-to" not in claim["metadata"]["annotations"] and self.phases(n) == ["Bound"]


class PathMoves(Moves):
    """The same to a path."""
    name = "moves to a path"

    @staticmethod
    def to(n):
        return os.path.join(n.base, "named")


@contextlib.contextmanager
def mounted_image(n, name):
    point = os.path.join(n.top, "look")
    os.makedirs(point, exist_ok=True)
    subprocess.run(["mount", "-o", "loop", os.path.join(n.base, name, "volume.img"), point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)


class FilledImages(kill_capacity.LastImages):
    """The claim's image has files in it."""

    def prepare(self, n):
        super().prepare(n)
        name = os.listdir(n.base)[0]
        subprocess.run(["mkfs.ext4", "-q", os.path.join(n.base, name, "volume.img")], check=True)
        with mounted_image(n, name) as point:
            for file in FILES:
                os.makedirs(os.path.dirname(os.path.join(point, file)), exist_ok=True)
                with open(os.path.join(point, file), "w", encoding="utf-8"):
                    pass


class ImageCopies(Copies, FilledImages):
    """A snapshot is taken of an image, and an image is made from it."""
    name = "snapshots and clones of images"

    def verify(self, n):
        handles = [os.path.basename(c["status"]["snapshotHandle"]) for c in items(n, CONTENTS)]
        volumes = [v["metadata"]["name"] for v in items(n, VOLUMES)]
        equal((len(volumes), len(handles)), (2, 1))
        equal(sorted(os.listdir(n.base)), sorted(volumes + handles), "volumes, snapshots and directories")
        equal(files_in(os.path.join(n.base, handles[0], "data")), sorted(FILES))
        for name in volumes:
            equal(os.listdir(os.path.join(n.base, name)), ["volume.img"])
            with mounted_image(n, name) as point:
                equal(files_in(point), sorted(FILES), name)


class AbandonedImageClones(AbandonedClones, FilledImages):
    """The same of images."""
    name = "unwanted image clones"
