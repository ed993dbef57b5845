# SPDX-License-Identifier: Apache-2.0
"""A node with a CSI driver on it: objects, the driver's process, and what the two did to each other.

with_driver() makes a test of a function that takes a World. At its end the driver must not have been called out
of CSI's order, whatever else the test looked at; a test that provokes that says so with allow_shouts().
"""
import os
import sys

import node
from node import Skip, claim, claimed, equal, eventually, pod

sys.path.insert(0, os.path.join(node.TOP, "tests/csi"))
import driver_process  # noqa: E402

PATIENCE = 60
DRIVER = "csi.test.podvol"


def driver_object(name=DRIVER, **spec):
    """A CSIDriver that needs no attachment."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name},
            "spec": {"attachRequired": False, "fsGroupPolicy": "File", **spec}}


def csi_volume(name, source=None, **spec):
    """A PersistentVolume of the test driver, bound beforehand to the claim of the same name."""
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "storageClassName": "",
        "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "default", "name": name},
        "csi": {"driver": DRIVER, "volumeHandle": f"handle-{name}", **(source or {})}, **spec}}


class World:
    def __init__(self, n, name=DRIVER):
        self.n = n
        self.driver = driver_process.TestDriver(n.root, os.path.join(n.top, name), name)
        self.may_shout = False

    def allow_shouts(self):
        self.may_shout = True

    def begin(self, *objects, spec=None, **driver):
        """Driver and podvold run, the driver is registered, a volume `v` and its claim are there. @spec: of the
        CSIDriver object."""
        self.driver.start(**driver)
        self.n.write("objects.json", driver_object(**(spec or {})), csi_volume("v"), claim("v"), *objects)
        self.n.start()
        self.wait_driver("ready")

    # -- drivers --

    def drivers(self):
        """{name: state} as `podvolctl drivers` prints."""
        return {row["name"]: row["state"] for row in node.get(self.n, "drivers")["items"]}

    def wait_driver(self, state):
        eventually(lambda: self.drivers().get(self.driver.name) == state, PATIENCE,
                   lambda: f"driver {state}, now {self.drivers()}; it said {self.driver.read('log')[-20:]}")

    def restart_driver(self, **how):
        self.driver.kill()
        self.driver.start(**how)

    # -- pods --

    def add(self, name="p", volume="v", **more):
        """A pod with one claim, as a manifest of its own."""
        self.n.write(f"{name}.json", pod(name, {volume: claimed(volume)}, **more))

    def remove(self, name="p"):
        self.n.remove(f"{name}.json")

    def wait_mounted(self, *names, volume="v"):
        self.wait_states({(name, volume): "mounted" for name in names})

    def wait_states(self, wanted):
        eventually(lambda: self.n.states() == wanted, PATIENCE,
                   lambda: f"{wanted}, now {self.n.states()}; calls {self.driver.calls()}")

    def wait_gone(self):
        self.wait_states({})
        eventually(lambda: not self.n.mounts(), PATIENCE, lambda: f"no mounts, now {self.n.mounts()}")

    # -- calls --

    def calls(self, *methods):
        """("Stage", 0), ... of the calls that changed something; code None: no answer yet."""
        return [(method[len("Node"):-len("Volume")], code) for method, code in self.driver.calls(*methods)]

    def wait_calls(self, *wanted):
        eventually(lambda: self.calls() == list(wanted), PATIENCE, lambda: f"calls {wanted}, now {self.calls()}")

    def wait_count(self, name, count, code=None):
        """So many calls of "Stage", "Unpublish", ... have ended, with this code if one is given."""
        eventually(lambda: sum(n == name and c is not None and code in (None, c) for n, c in self.calls()) >= count,
                   PATIENCE, lambda: f"{count} calls of {name}, now {self.calls()}")

    def end(self):
        shouts = self.driver.shouts()
        self.driver.close()
        if not self.may_shout:
            equal(shouts, [], "calls out of CSI's order")


def with_driver(check, **options):
    """A test_... from a function of a World."""
    def test(n):
        if driver_process.missing():
            raise Skip(driver_process.missing())
        world = World(n, **options)
        try:
            check(world)
        except BaseException:
            world.may_shout = True  # one reason is enough
            print("\n".join(f"# driver: {line}" for line in
                            world.driver.shouts() + world.driver.read("log")[-20:] + world.driver.read("calls")[-20:]))
            raise
        finally:
            world.end()
    return test
