# SPDX-License-Identifier: Apache-2.0
"""Claims and classes of the local provisioner, and what becomes of them."""
import json
import os

from node import eventually, events, get


def storage_class(name, provisioner="podvol/local", parameters=None, annotations=None, **more):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": name, "annotations": annotations or {}}, "provisioner": provisioner,
            "parameters": parameters or {}, **more}


def claim(name, class_name="fast", size="1Mi", **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
                     "resources": {"requests": {"storage": size}}, **spec}}


def base(n, name="base"):
    path = os.path.join(n.top, name)
    os.makedirs(path, exist_ok=True)
    return path


def apply(n, *objects):
    n.ctl("apply", "-f", "-", input="\n---\n".join(map(json.dumps, objects)))


def phase(n, name):
    found = get(n, "pvc", name)
    return found and found.get("status", {}).get("phase")


def wait_phase(n, name, wanted):
    eventually(lambda: phase(n, name) == wanted, what=lambda: f"{wanted}; {events(n)}")


def volume_of(n, name):
    return get(n, "pv", get(n, "pvc", name)["spec"]["volumeName"])


def path_of(volume):
    return volume["spec"].get("local", volume["spec"].get("hostPath"))["path"]


def wait_gone(n, kind, name):
    eventually(lambda: get(n, kind, name) is None, what=lambda: f"{kind} {name} gone; {events(n)}")
