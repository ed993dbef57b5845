# SPDX-License-Identifier: Apache-2.0
"""A node as kubelet leaves it when it is stopped: what it made below its root directory, and wrote to the server.

No kubelet runs here. Paths, modes, texts and the order of members are those that a kubelet 1.36.2 was recorded with
(tests/system/kubelet-1.36-tree, and vol_data.json of volumes of CSI drivers from the same recording). Volumes of CSI
drivers are staged and published by calls to a real driver, as kubelet calls it. Nothing here knows podvold's tables.
"""
import hashlib
import json
import os
import subprocess

import node

IN_USE = "kubernetes.io/csi/{}^{}"
ANNOTATIONS = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
CAPABILITY = {"mount": {"fsType": ""}, "accessMode": {"mode": "MULTI_NODE_MULTI_WRITER"}}


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def attachment(driver, handle, node_name):
    return "csi-" + sha256(handle + driver + node_name)


class Kubelet:
    """Of the node whose podvold n will be; server: who writes for it."""

    def __init__(self, n, server):
        self.n, self.server = n, server

    # -- what it wrote to the server --

    def register(self, driver):
        """The Node's annotations and the CSINode, as after the registration of a driver."""
        node_id = "node-of-" + driver
        path = f"/api/v1/nodes/{self.n.name}"
        made = self.server.patch(path, {"metadata": {"annotations": {
            **ANNOTATIONS, "csi.volume.kubernetes.io/nodeid": json.dumps({driver: node_id}, separators=(",", ":"))}}})
        self.server.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {
            "name": self.n.name, "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": self.n.name,
                                                      "uid": made["metadata"]["uid"]}]},
            "spec": {"drivers": [{"name": driver, "nodeID": node_id, "topologyKeys": None}]}})

    def report_in_use(self, driver, handle):
        self.server.patch(f"/api/v1/nodes/{self.n.name}/status", {"status": {"volumesInUse": [IN_USE.format(driver, handle)]}})

    # -- what it made below its root directory --

    def directory(self, *names, mode=0o750):
        path = self.n.root
        for name in "/".join(names).split("/"):
            path = os.path.join(path, name)
            if not os.path.isdir(path):
                os.mkdir(path)
                os.chmod(path, 0o755 if name == "kubernetes.io~empty-dir" and "/volumes/" in path else 0o750)
        os.chmod(path, mode)
        return path

    def file(self, directory, name, text, mode=0o644):
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def pod(self, uid):
        """What is of no volume."""
        top = self.directory("pods", uid)
        for name in ("volumes", "plugins", "containers/main"):
            self.directory("pods", uid, name)
        self.file(top, "etc-hosts", "# Kubernetes-managed hosts file.\n127.0.0.1 localhost\n")
        self.file(os.path.join(top, "containers/main"), "1a3699a9", "", 0o666)

    def ready(self, uid, name):
        self.file(self.directory("pods", uid, "plugins/kubernetes.io~empty-dir", name), "ready", "")

    def local(self, uid, name, source):
        path = self.directory("pods", uid, "volumes/kubernetes.io~local-volume", name)
        subprocess.run(["mount", "--bind", source, path], check=True)

    def empty_dir(self, uid, name, medium=None):
        path = self.directory("pods", uid, "volumes/kubernetes.io~empty-dir", name, mode=0o777)
        if medium:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", path], check=True)
        self.ready(uid, name)
        self.file(path, "kept", name)

    def payload(self, uid, plugin, name, texts, in_memory):
        """Files as kubelet's atomic writer leaves them."""
        path = self.directory("pods", uid, f"volumes/kubernetes.io~{plugin}", name, mode=0o777)
        if in_memory:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", path], check=True)
        self.ready(uid, f"wrapped_{name}")
        stamp = "..2026_11_22_18_06_29.1234567890"
        os.mkdir(os.path.join(path, stamp), 0o755)
        os.symlink(stamp, os.path.join(path, "..data"))
        for key, text in texts.items():
            self.file(os.path.join(path, stamp), key, text)
            os.symlink(f"..data/{key}", os.path.join(path, key))

    def csi(self, uid, name, driver, handle):
        """driver: a test driver, to which kubelet's two calls are made."""
        staged = self.directory("plugins/kubernetes.io/csi", driver.name, sha256(handle))
        self.file(staged, "vol_data.json", f'{{"driverName":"{driver.name}","volumeHandle":"{handle}"}}\n')
        staging = self.directory("plugins/kubernetes.io/csi", driver.name, sha256(handle), "globalmount")
        given = {"volumeId": handle, "stagingTargetPath": staging, "volumeCapability": CAPABILITY,
                 "publishContext": {"device": "disk"}}
        self.call(driver, "NodeStageVolume", given)
        place = self.directory("pods", uid, "volumes/kubernetes.io~csi", name)
        self.file(place, "vol_data.json",
                  f'{{"attachmentID":"{attachment(driver.name, handle, self.n.name)}","driverName":"{driver.name}",'
                  f'"nodeName":"{self.n.name}","specVolID":"{name}","volumeHandle":"{handle}","volumeLifecycleMode":"Persistent"}}\n')
        self.call(driver, "NodePublishVolume", {**given, "targetPath": os.path.join(place, "mount")})

    @staticmethod
    def call(driver, method, request):
        subprocess.run([node.PODVOLCTL, "csi", "call", "--endpoint", driver.endpoint, method, json.dumps(request)], check=True,
                       env=node.podvolctl_environment(), stdout=subprocess.DEVNULL, timeout=node.PATIENCE)


def facts(n):
    """{path: all that changing it would change} below the root directory, but for the drivers' own sockets."""
    found = {}
    for where, folders, names in os.walk(n.root):
        if where == n.root:
            folders.remove("plugins_registry")
        for path in (where, *(os.path.join(where, name) for name in names)):
            if path.endswith(".sock"):
                continue
            st = os.lstat(path)
            found[path.removeprefix(n.root)] = (st.st_ino, oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns)
    return found
