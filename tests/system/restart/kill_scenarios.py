# SPDX-License-Identifier: Apache-2.0
"""What podvold does while it is killed: one class for each thing it does that changes the world.

A scenario fills a node (fill), brings it to where its work begins with no daemon running (prepare), asks
podvold for things where that is needed (begin), knows when all is done (done), and asks again what the
kill may have taken away (recover). verify() looks at what users would look at.
"""
import glob
import os
import subprocess

import crowded_root
import killing
import node
from killing import ask, states
from node import claim, claimed, equal, eventually, pod, volume

GROUP = 54321
FILES = {f"{d}/{f}": f"{d} {f}" for d in "abc" for f in range(6)}
templates = {}


def disk(n, name, formatted):
    """A loop device of its own, from an image that is made once."""
    image = os.path.join(n.top, name)
    key = "formatted" if formatted else "blank"
    if key not in templates:
        templates[key] = os.path.join(node.TEMPORARY, f"podvol-image.{os.getpid()}.{key}")
        subprocess.run(["truncate", "-s", "16M", templates[key]], check=True)
        if formatted:
            subprocess.run(["mkfs.ext4", "-q", templates[key]], check=True)
    subprocess.run(["cp", "--sparse=always", templates[key], image], check=True)
    done = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if done.returncode:
        raise node.Skip(f"no loop devices here: {done.stderr.strip()}")
    n.loops = [*getattr(n, "loops", []), done.stdout.strip()]
    return n.loops[-1]


def forget_templates():
    for path in templates.values():
        os.unlink(path)
    templates.clear()


def block_pod(name, claim_name):
    raw = pod(name, {})
    raw["spec"]["containers"][0] = {"name": "main", "image": "none",
                                    "volumeDevices": [{"name": "raw", "devicePath": "/dev/x"}]}
    raw["spec"]["volumes"] = [{"name": "raw", **claimed(claim_name)}]
    return raw


class Scenario:
    """Pods on all kinds of volumes are mounted."""
    name = "set-up"
    arguments = ()
    formatted = True
    wanted = {("web", "data"): "mounted", ("web", "room"): "mounted", ("web", "fast"): "mounted",
              ("web", "host"): "mounted", ("backup", "data"): "mounted", ("db", "disk"): "mounted",
              ("lift", "raw"): "mounted"}

    def fill(self, n):
        raw = claim("raw")
        raw["spec"]["volumeMode"] = "Block"
        n.source("host")
        n.write("volumes.json", volume("data", n.source("data")), claim("data"),
                volume("disk", disk(n, "disk", self.formatted)), claim("disk"),
                volume("raw", disk(n, "raw", True), volumeMode="Block"), raw)

    def write_pods(self, n):
        n.write("web.json", pod("web", {
            "data": claimed("data"), "room": {"emptyDir": {}}, "fast": {"emptyDir": {"medium": "Memory"}},
            "host": {"hostPath": {"path": os.path.join(n.data, "host"), "type": "DirectoryOrCreate"}}}))
        n.write("backup.json", pod("backup", {"data": claimed("data", read_only=True)}))
        n.write("db.json", pod("db", {"disk": claimed("disk")}))
        n.write("lift.json", block_pod("lift", "raw"))

    def remove_pods(self, n):
        for name in os.listdir(n.manifests):
            if name != "volumes.json" and not name.startswith("."):
                n.remove(name)

    def mount_pods(self, n):
        self.write_pods(n)
        n.start()
        eventually(lambda: states(n) == self.wanted, what=lambda: f"{self.wanted}, now {states(n)}")

    def prepare(self, n):
        self.write_pods(n)

    def begin(self, n):
        pass

    def done(self, n):
        return states(n) == self.wanted

    def after(self, n):
        """After the kill, before the next start."""

    def recover(self, n):
        pass

    def is_recovered(self, n):
        return self.done(n)

    def verify(self, n):
        with open(os.path.join(n.data, "data/file"), encoding="utf-8") as file:
            equal(file.read(), "content", "the data of a local volume")

    def remove_all(self, n):
        self.remove_pods(n)

    def release(self, n):
        pass

    def clean(self, n):
        if n.process and n.process.poll() is None:
            n.kill()
        for point in sorted(node.mountinfo(n.top), key=len, reverse=True):
            crowded_root.unmount(point)
        for path in [*set(node.loop_devices(n.top)) - set(getattr(n, "loops", ())), *getattr(n, "loops", ())]:
            subprocess.run(["losetup", "-d", path], check=True)


class Format(Scenario):
    """A blank device gets a file system, and is mounted."""
    name = "format"
    formatted = False
    wanted = {("db", "disk"): "mounted"}

    def write_pods(self, n):
        n.write("db.json", pod("db", {"disk": claimed("disk")}))


class Teardown(Scenario):
    """Pods on all kinds of volumes go."""
    name = "teardown"

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()
        self.remove_pods(n)

    def done(self, n):
        return states(n) == {} and n.pod_directories() == [killing.STRANGER]


class Restart(Scenario):
    """A start that finds everything as it should be, but for a link by name that leads to nothing mounted."""
    name = "restart"

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()
        n.ids = n.mount_ids()
        n.stale = os.path.join(n.run, "by-name/default/gone")
        os.mkdir(n.stale)
        os.symlink(os.path.join(n.root, "pods/gone"), os.path.join(n.stale, "data"))

    def verify(self, n):
        super().verify(n)
        equal(n.mount_ids(), n.ids, "mounts before and after the restart")
        assert not os.path.lexists(n.stale), n.stale


class Mending(Scenario):
    """Everything is unmounted by others, devices too, and podvold mounts it again."""
    name = "mending"

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()

    def begin(self, n):
        eventually(lambda: n.process.poll() is not None or states(n) == self.wanted, what="a start")
        n.unmounted = [point for point in n.mounts() if killing.STRANGER not in point and
                       ("/volumes/" in point or "/local-volume/mounts/" in point)]
        for point in n.unmounted:
            eventually(lambda: subprocess.run(["umount", point], capture_output=True, check=False).returncode == 0,
                       what=f"{point} unmounted")  # podvold may be at work there already

    def done(self, n):
        return states(n) == self.wanted and set(n.unmounted) <= set(n.mounts())


class Change(Scenario):
    """A manifest changes: the old pod's volumes go, the new one's come."""
    name = "change"

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()
        n.write("web.json", pod("web", {"data": claimed("data"), "other": {"emptyDir": {"medium": "Memory"}}}))
        n.write("db.json", pod("db", {"disk": claimed("disk"), "room": {"emptyDir": {}}}))

    def done(self, n):
        return states(n) == {("web", "data"): "mounted", ("web", "other"): "mounted", ("backup", "data"): "mounted",
                             ("db", "disk"): "mounted", ("db", "room"): "mounted", ("lift", "raw"): "mounted"} and \
            len(n.pod_directories()) == 5


class Update(Scenario):
    """Objects change that volumes of files are made from; a kill leaves all old files or all new ones."""
    name = "update"
    wanted = {("web", name): "mounted" for name in ("conf", "keys", "all")}

    def fill(self, n):
        self.write_objects(n, "old")

    def write_objects(self, n, word):
        meta = {"namespace": "default"}
        n.write("volumes.json",
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf", **meta},
                 "data": {"a": word, "b": word, f"only-{word}": word}},
                {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", **meta},
                 "stringData": {"a": word, "b": word, f"only-{word}": word}})

    def write_pods(self, n):
        n.write("web.json", pod("web", {
            "conf": {"configMap": {"name": "conf"}}, "keys": {"secret": {"secretName": "keys"}},
            "all": {"projected": {"sources": [
                {"configMap": {"name": "conf"}}, {"serviceAccountToken": {"path": "token"}}]}}},
            securityContext={"fsGroup": 4711}))

    def prepare(self, n):
        self.mount_pods(n)
        eventually(lambda: self.shown(n, "token") is not None, what="a token")
        n.token = self.shown(n, "token")
        n.stop()
        self.write_objects(n, "new")

    def volumes(self, n):
        return [path for path in glob.glob(os.path.join(n.root, "pods/*/volumes/kubernetes.io~*/*"))
                if killing.STRANGER not in path and os.path.islink(os.path.join(path, "..data"))]

    def shown(self, n, name):
        """What the projected volume shows; None: nothing."""
        for volume_path in self.volumes(n):
            if os.path.exists(os.path.join(volume_path, name)):
                with open(os.path.join(volume_path, name), encoding="utf-8") as file:
                    return file.read()
        return None

    @staticmethod
    def words(volume_path):
        """Of all files of one volume but tokens; read in one directory, as a reader of them together does."""
        data, found = os.path.realpath(os.path.join(volume_path, "..data")), {}
        for name in os.listdir(data):
            if name != "token":
                with open(os.path.join(data, name), encoding="utf-8") as file:
                    found[name] = file.read()
        return found

    def is_new(self, n):
        return all(self.words(path) == {"a": "new", "b": "new", "only-new": "new"} for path in self.volumes(n))

    def done(self, n):
        try:
            return states(n) == self.wanted and len(self.volumes(n)) == 3 and self.is_new(n)
        except FileNotFoundError:
            return False  # they changed while they were read

    def after(self, n):
        for path in self.volumes(n):
            word = "new" if "only-new" in os.listdir(os.path.realpath(os.path.join(path, "..data"))) else "old"
            equal(self.words(path), {"a": word, "b": word, f"only-{word}": word}, f"files of {path} after the kill")

    def verify(self, n):
        assert self.is_new(n), [self.words(path) for path in self.volumes(n)]
        equal(self.shown(n, "token"), n.token, "the token, which is good for long")
        for path in self.volumes(n):
            left = [name for name in os.listdir(path) if name.startswith("..") and name != "..data"]
            equal(len(left), 1, f"directories of files in {path}: {left}")
            names = {name for name in os.listdir(path) if not name.startswith("..")}
            equal(names - {"token"}, {"a", "b", "only-new"}, "what people see")


class Subpaths(Scenario):
    """A container asks for its mounts, and gets its sub-paths bound."""
    name = "sub-paths"
    wanted = {("web", "data"): "mounted", ("web", "room"): "mounted"}

    def write_pods(self, n):
        web = pod("web", {"data": claimed("data"), "room": {"emptyDir": {}}})
        web["spec"]["containers"][0]["volumeMounts"] = [
            {"name": "data", "mountPath": "/a", "subPath": "deep/inside"},
            {"name": "data", "mountPath": "/f", "subPath": "file", "readOnly": True},
            {"name": "room", "mountPath": "/b", "subPath": "x"}]
        n.write("web.json", web)

    def fill(self, n):
        super().fill(n)
        os.makedirs(os.path.join(n.data, "data/deep/inside"))

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()

    def ask(self, n):
        n.bound = reach(n, "POST", "/podvol/v1/pods/default/web/mounts?format=json&timeout=10s")[0] == 200

    def begin(self, n):
        self.ask(n)

    def recover(self, n):
        self.ask(n)

    def done(self, n):
        return n.bound and states(n) == self.wanted


class Holds(Scenario):
    """A container comes, is held, its pod goes, and it goes last."""
    name = "holds"
    wanted = {("web", "data"): "mounted", ("web", "fast"): "mounted"}

    def write_pods(self, n):
        n.write("web.json", pod("web", {"data": claimed("data"), "fast": {"emptyDir": {"medium": "Memory"}}}))

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()
        n.container = subprocess.Popen(["/bin/sleep", "600"])
        n.held = n.gone = False

    def begin(self, n):
        if n.gone:
            return
        if not n.held:
            n.held = reach(n, "POST", "/podvol/v1/pods/default/web/holds",
                           {"container": "main", "pid": n.container.pid})[0] == 201
        if "web.json" in os.listdir(n.manifests):
            n.remove("web.json")
        if n.held:  # nothing goes while the container lives, with or without podvold
            eventually(lambda: n.process.poll() is not None or went(n), what="the pod's end")
            equal(len(n.mounts()) - 1, 2, "mounts of a pod that is held")
            self.let_go(n)

    def let_go(self, n):
        if not getattr(n, "gone", True):
            n.container.kill()
            n.container.wait()
        n.gone = True

    def recover(self, n):
        if n.held and not n.gone:
            eventually(lambda: went(n), what="the pod's end")
            equal(len(n.mounts()) - 1, 2, "mounts of a pod that was held before the kill")
        self.let_go(n)

    def done(self, n):
        return n.gone and states(n) == {} and n.pod_directories() == [killing.STRANGER]

    def clean(self, n):
        self.let_go(n)
        super().clean(n)


class Ownership(Scenario):
    """A tree of files gets the pod's group."""
    name = "ownership"
    wanted = {("web", "data"): "mounted"}

    def fill(self, n):
        super().fill(n)
        for name, content in FILES.items():
            path = os.path.join(n.data, "data", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)

    def write_pods(self, n):
        n.write("web.json", pod("web", {"data": claimed("data")}, securityContext={"fsGroup": GROUP}))

    def verify(self, n):
        super().verify(n)
        for name in ("", *FILES):
            facts = os.stat(os.path.join(n.data, "data", name))
            equal(facts.st_gid, GROUP, f"group of '{name}'")
            equal(facts.st_mode & 0o060, 0o060, f"mode of '{name}'")


class Writes(Scenario):
    """Clients write objects; what was answered is there, and is mounted."""
    name = "API writes"
    pods = tuple(f"api-{number}" for number in range(4))
    wanted = {(name, "fast"): "mounted" for name in pods}

    def prepare(self, n):
        n.answered = []

    def write(self, n):
        for name in self.pods:
            if name not in n.answered and reach(n, "POST", "/api/v1/namespaces/default/pods",
                                                pod(name, {"fast": {"emptyDir": {"medium": "Memory"}}}))[0] in (201, 409):
                n.answered.append(name)

    def begin(self, n):
        self.write(n)

    def recover(self, n):
        for name in n.answered:
            equal(ask(n, "GET", f"/api/v1/namespaces/default/pods/{name}")[0], 200, f"{name}, which was answered")
        self.write(n)

    def release(self, n):
        for name in self.pods:
            ask(n, "DELETE", f"/api/v1/namespaces/default/pods/{name}")


class Drain(Scenario):
    """podvold --drain, by itself; the next start mounts again."""
    name = "drain"
    arguments = ("--drain",)

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()

    def done(self, n):
        return False

    def after(self, n):
        done = n.drain()
        equal(done.returncode, 0, done.stderr)
        equal(n.pod_directories(), [killing.STRANGER], "what a drain leaves")

    def is_recovered(self, n):
        return states(n) == self.wanted


CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


class Provision(Scenario):
    """Directories are made for claims, and a pod gets them."""
    name = "provision"
    names = ("one", "two")
    wanted = {("web", name): "mounted" for name in names}

    def fill(self, n):
        n.base = os.path.join(n.top, "base")
        os.mkdir(n.base)
        n.write("volumes.json", *(self.storage_class(n, name, mode) for name, mode in (
            ("one", "Immediate"), ("two", "WaitForFirstConsumer"))))

    def storage_class(self, n, name, mode):
        return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                "provisioner": "podvol/local", "parameters": {"basePaths": n.base}, "volumeBindingMode": mode}

    def claim(self, class_name, name=None):
        made = claim(name or class_name)
        del made["spec"]["volumeName"]
        made["spec"].update(storageClassName=class_name, accessModes=["ReadWriteOnce"],
                            resources={"requests": {"storage": "1Ki"}})
        return made

    def write_pods(self, n):
        n.write("claims.json", *map(self.claim, self.names))
        n.write("web.json", pod("web", {name: claimed(name) for name in self.names}))

    def verify(self, n):
        made = ask(n, "GET", "/api/v1/persistentvolumes")[1]["items"]
        equal(sorted(v["metadata"]["name"] for v in made), sorted(os.listdir(n.base)), "volumes and directories")
        equal([v["status"]["phase"] for v in made], ["Bound"] * len(self.names))
        equal({os.stat(os.path.join(n.base, name)).st_mode & 0o7777 for name in os.listdir(n.base)}, {0o770})


class Unprovision(Provision):
    """Claims are deleted, and their data with them."""
    name = "deletion of data"
    deleted = ("one",)

    def prepare(self, n):
        n.start()
        for claim_name in self.deleted:
            reach(n, "POST", CLAIMS, self.claim("one", claim_name))
        eventually(lambda: self.phases(n) == ["Bound"] * len(self.deleted), what=lambda: self.phases(n))
        for path in (os.path.join(n.base, volume, name) for volume in os.listdir(n.base) for name in FILES):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8"):
                pass
        n.stop()

    def phases(self, n):
        return [v.get("status", {}).get("phase") for v in
                (ask(n, "GET", "/api/v1/persistentvolumes")[1] or {"items": ["?"]})["items"]]

    def begin(self, n):
        for claim_name in self.deleted:
            reach(n, "DELETE", f"{CLAIMS}/{claim_name}")

    def recover(self, n):
        self.begin(n)

    def done(self, n):
        return all((ask(n, "GET", path)[1] or {}).get("items") == [] for path in (CLAIMS, "/api/v1/persistentvolumes"))

    def verify(self, n):
        equal(os.listdir(n.base), [], "directories of volumes that are gone")


class UnprovisionMany(Unprovision):
    """So many that one search for users serves several."""
    name = "deletion of several volumes' data"
    deleted = ("one", "other", "third", "last")


class Abandon(Unprovision):
    """A claim goes while its directory is being made."""
    name = "claims that go at once"

    def prepare(self, n):
        pass

    def begin(self, n):
        reach(n, "POST", CLAIMS, self.claim("one"))
        reach(n, "DELETE", f"{CLAIMS}/one")

    def recover(self, n):
        reach(n, "DELETE", f"{CLAIMS}/one")


def went(n):
    return ask(n, "GET", "/api/v1/namespaces/default/pods/web")[0] == 404


def reach(n, method, path, body=None):
    """As ask(), when the daemon is there, or has gone."""
    def answer():
        got = ask(n, method, path, body)
        return got if got[0] or n.process.poll() is not None else None
    return eventually(answer, what=f"an answer to {method} {path}")
