# SPDX-License-Identifier: Apache-2.0
"""Claims of the local provisioner, snapshots of them, and what becomes of both."""
import os

from node import eventually, events, get
from provisioned import apply, wait_gone  # noqa: F401 - those of any class

API = "snapshot.storage.k8s.io/v1"
DRIVER = "podvol/local"


def storage_class(n, name="fast", **parameters):
    base = os.path.join(n.top, "base")
    os.makedirs(base, exist_ok=True)
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": DRIVER,
            "parameters": {"basePaths": base, **parameters}}


def claim(name, source=None, size="1Mi", class_name="fast"):
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
                     "resources": {"requests": {"storage": size}}}}
    if source:
        kind, _, of = source.partition("/")
        made["spec"]["dataSource"] = {"kind": kind, "name": of, **(
            {"apiGroup": "snapshot.storage.k8s.io"} if kind == "VolumeSnapshot" else {})}
    return made


def snapshot_class(policy="Delete", name="snap", driver=DRIVER):
    return {"apiVersion": API, "kind": "VolumeSnapshotClass", "metadata": {"name": name}, "driver": driver,
            "deletionPolicy": policy}


def snapshot(name, **source):
    spec = {"source": source or {"persistentVolumeClaimName": "data"}}
    if "volumeSnapshotContentName" not in source:
        spec["volumeSnapshotClassName"] = "snap"
    return {"apiVersion": API, "kind": "VolumeSnapshot", "metadata": {"name": name}, "spec": spec}


def said(n):
    return lambda: f"{events(n)}\n{n.ctl('get', 'pvc,pv,vs,vsc').stdout}"


def wait(n, question):
    return eventually(question, what=said(n))


def wait_ready(n, name):
    wait(n, lambda: (get(n, "vs", name) or {}).get("status", {}).get("readyToUse"))
    return get(n, "vs", name)["status"]


def wait_error(n, name, text):
    wait(n, lambda: text in (get(n, "vs", name) or {}).get("status", {}).get("error", {}).get("message", ""))


def wait_event(n, text):
    wait(n, lambda: text in events(n))


def path_of(n, name):
    """Of the bound claim's volume."""
    wait(n, lambda: get(n, "pvc", name).get("status", {}).get("phase") == "Bound")
    return get(n, "pv", get(n, "pvc", name)["spec"]["volumeName"])["spec"]["local"]["path"]


def handle_of(n, name):
    return get(n, "vsc", get(n, "vs", name)["status"]["boundVolumeSnapshotContentName"])["status"]["snapshotHandle"]


def base(n):
    return sorted(os.listdir(os.path.join(n.top, "base")))
