# SPDX-License-Identifier: Apache-2.0
"""Claims whose volumes a CSI driver makes: objects, and what there is of them here and at the driver."""
import json

import csi_world
import node
from node import claimed, equal, eventually, pod

PATIENCE = csi_world.PATIENCE


def storage_class(name="fast", parameters=None, **more):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": csi_world.DRIVER, "parameters": parameters or {}, **more}


def claim(name="c", class_name="fast", size="1Mi", **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
                     "resources": {"requests": {"storage": size}}, **spec}}


class Claims:
    """A world whose driver makes volumes."""

    def __init__(self, world):
        self.world, self.n, self.driver = world, world.n, world.driver

    def begin(self, *objects, **more):
        """Driver and podvold run, and podvold knows that the driver has a controller."""
        self.driver.start(**more)
        self.n.start()
        self.world.wait_driver("ready")
        self.apply(csi_world.driver_object(), *objects)

    def apply(self, *objects):
        self.n.ctl("apply", "-f", "-", input="\n---\n".join(map(json.dumps, objects)))

    def get(self, kind, name=None):
        return node.get(self.n, kind, name)

    def events(self):
        return node.events(self.n)

    def delete(self, *arguments):
        self.n.ctl("delete", *arguments)

    def told(self):
        """What a failed wait shows."""
        return f"{self.get('pvc')}; {self.get('pv')}; {self.events()}; calls {self.driver.calls()[-20:]}"

    def wait(self, question, what):
        eventually(question, PATIENCE, lambda: f"{what}; {self.told()}")

    def wait_event(self, text):
        self.wait(lambda: text in self.events(), f"event '{text}'")

    def phase(self, name="c"):
        found = self.get("pvc", name)
        return found and found.get("status", {}).get("phase")

    def wait_bound(self, *names):
        for name in names or ("c",):
            self.wait(lambda name=name: self.phase(name) == "Bound", f"{name} is bound")

    def volume(self, name="c"):
        return self.get("pv", self.get("pvc", name)["spec"]["volumeName"])

    def made(self):
        """{name: volume} of all that the driver has."""
        return {volume["name"]: volume for volume in self.driver.remembered()["volumes"].values()}

    def wait_gone(self, kind, name):
        self.wait(lambda: self.get(kind, name) is None, f"{kind} {name} is gone")

    def wait_nothing_left(self):
        """Neither here nor at the driver."""
        self.wait(lambda: not self.get("pvc")["items"] and not self.get("pv")["items"], "no claims, no volumes")
        equal(self.made(), {}, "the driver's volumes")

    def use(self, name="c"):
        self.apply(pod(f"pod-{name}", {"v": claimed(name)}))
        self.world.wait_states({(f"pod-{name}", "v"): "mounted"})

    def stop_using(self, name="c"):
        self.delete("pod", f"pod-{name}")


def with_claims(check, **options):
    """A test_... from a function of Claims."""
    return csi_world.with_driver(lambda world: check(Claims(world)), **options)
