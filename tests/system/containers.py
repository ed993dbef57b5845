# SPDX-License-Identifier: Apache-2.0
"""Container runtimes for system tests: crun, podman, docker and systemd-nspawn, each by the words of its format.

A container has a root file system of its own, made here of busybox and nothing else, and the mounts,
devices and groups that podvold says. Everything a runtime stores lies in the node's temporary directory.
Hybrid control groups, which these runtimes refuse, are hidden under a cgroup2 in the mount namespace of
the test; limits of resources are not what is tested.
"""
import atexit
import json
import os
import shutil
import subprocess
import tempfile

import node
from node import Skip, equal, eventually

BUSYBOX = "/bin/busybox"
APPLETS = ("cat", "dd", "grep", "head", "id", "ls", "mkdir", "mount", "printf", "sh", "sync", "test", "touch", "usleep")
PATIENCE = node.PATIENCE
FIRST_ID, ID_COUNT = 655360, 65536  # on the host, of containers with a user namespace


def is_static(program):
    """True when no dynamic linker is named in the first page, where that name stands."""
    try:
        with open(program, "rb") as file:
            return b"/ld" not in file.read(4096)
    except FileNotFoundError:
        return False


def prepare():
    """Once in the test's mount namespace; Skip when no container can run here."""
    if not is_static(BUSYBOX):
        raise Skip("needs busybox-static")
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return
    # What runtimes leave outside of the directories that they are given goes with the namespace.
    for directory in ("/run", "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", directory], check=True)
    done = subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"no cgroup2: {done.stderr.strip()}")


def root_file_system(top, owner=0):
    """A fresh one for each container: a runtime makes its mount points there."""
    number = 0
    while os.path.exists(os.path.join(top, f"rootfs{number}")):
        number += 1
    root = os.path.join(top, f"rootfs{number}")
    for directory in ("bin", "dev", "etc", "proc", "run", "sys", "tmp", "usr/lib", "var/tmp"):
        os.makedirs(os.path.join(root, directory))
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    shutil.copy(BUSYBOX, os.path.join(root, "bin/busybox"))
    for applet in APPLETS:
        os.symlink("busybox", os.path.join(root, "bin", applet))
    for name, text in (("passwd", "root:x:0:0::/:/bin/sh\n"), ("group", "root:x:0:\n"), ("os-release", "ID=test\n")):
        with open(os.path.join(root, "etc", name), "w", encoding="utf-8") as file:
            file.write(text)
    if owner:
        subprocess.run(["chown", "-hR", f"{owner}:{owner}", root], check=True)
    return root


class Runtime:
    format = None
    program = None
    no_recursive = ()          # modes of recursiveReadOnly that its format refuses
    recursive = {"Disabled": "writable below", "IfPossible": "read-only below", "Enabled": "read-only below"}
    none_is_private = True     # mountPropagation None keeps later mounts out
    keeps_flags = True         # a read-only mount keeps noexec
    cannot = ("recursive_read_only_is_refused",)  # names of cases

    def __init__(self):
        if not shutil.which(self.program):
            raise Skip(f"{self.program} is not installed")

    def ask(self, n, pod, container, status=0):
        """What podvolctl says that the container is to be given."""
        return n.ctl("mounts", pod, "--container", container, "--format", self.format, "--wait", "--timeout", "100s",
                     status=status)

    def words(self, n, pod, container):
        return self.ask(n, pod, container).stdout.splitlines()

    def command(self, n, pod, container, script, privileged, user, userns=False):
        raise NotImplementedError

    def start(self, n, pod, container, script, privileged=False, user=0, userns=False):
        command = self.command(n, pod, container, script, privileged, user, userns)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, cwd=n.top)

    def end(self, process):
        said = process.communicate(timeout=PATIENCE)[0]
        equal(process.returncode, 0, f"{self.program} said:\n{said}")
        return said

    def run(self, n, pod, container, script, **how):
        """Runs a shell script in a container, which has to end well; what it said."""
        return self.end(self.start(n, pod, container, "set -e; " + script, **how))


class Crun(Runtime):
    format = "oci"
    program = "crun"

    def bundle(self, n, script, privileged, user, userns):
        capabilities = ["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_MKNOD"] if privileged else []
        ids = [{"containerID": 0, "hostID": FIRST_ID, "size": ID_COUNT}] if userns else []
        return {
            "ociVersion": "1.0.2",
            "process": {"user": {"uid": user, "gid": user}, "args": ["/bin/sh", "-c", script], "cwd": "/",
                        "env": ["PATH=/bin"], "capabilities": {"bounding": capabilities, "effective": capabilities,
                                                               "permitted": capabilities}},
            "root": {"path": root_file_system(n.top, FIRST_ID if userns else 0)},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}],
            "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "ipc"},
                                     *([{"type": "user"}] if userns else [])],
                      "uidMappings": ids, "gidMappings": ids,
                      "resources": {"devices": [{"allow": False, "access": "rwm"}]}}}

    def command(self, n, pod, container, script, privileged, user, userns=False):
        config = self.bundle(n, script, privileged, user, userns)
        merge(config, json.loads(self.ask(n, pod, container).stdout))
        bundle = config["root"]["path"] + ".bundle"
        os.mkdir(bundle)
        with open(os.path.join(bundle, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return ["crun", f"--root={n.top}/crun", "--cgroup-manager=disabled", "run", "--bundle", bundle,
                f"podvol-{os.getpid()}-{os.path.basename(bundle)}"]


def merge(config, part):
    """Objects member by member, lists one behind the other: how a part of a config.json is merged."""
    for key, value in part.items():
        if isinstance(value, dict):
            merge(config.setdefault(key, {}), value)
        elif isinstance(value, list):
            config[key] = config.get(key, []) + value
        else:
            config[key] = value


class Podman(Runtime):
    format = "podman"
    program = "podman"
    no_recursive = ("Enabled",)
    recursive = {"Disabled": "writable below", "IfPossible": "writable below"}
    cannot = ()

    RUN = ("run", "--rm", "--network=none", "--cgroups=disabled", "--ulimit=nofile=1024:1024",
           "--ulimit=nproc=4096:4096", "--env=PATH=/bin")

    @staticmethod
    def engine(n, config=""):
        """podman with all that it stores below n.top, and more lines of configuration."""
        for name in ("storage", "run", "tmp"):
            os.makedirs(os.path.join(n.top, "podman", name), exist_ok=True)
        path = os.path.join(n.top, "podman", "containers.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'[engine]\ntmp_dir = "{n.top}/podman/tmp"\n{config}')
        return ["env", f"CONTAINERS_CONF={path}", "podman", f"--root={n.top}/podman/storage",
                f"--runroot={n.top}/podman/run", "--storage-driver=vfs", "--cgroup-manager=cgroupfs",
                "--events-backend=none", "--runtime=crun"]

    def command(self, n, pod, container, script, privileged, user, userns=False):
        ids = [f"--{kind}map=0:{FIRST_ID}:{ID_COUNT}" for kind in ("uid", "gid")] if userns else []
        return [*self.engine(n), *self.RUN, f"--user={user}", *(["--privileged"] if privileged else []), *ids,
                *self.words(n, pod, container), "--rootfs", root_file_system(n.top, FIRST_ID if userns else 0),
                "/bin/sh", "-c", script]


class Nspawn(Runtime):
    format = "nspawn"
    program = "systemd-nspawn"
    recursive = {"Disabled": "read-only below", "IfPossible": "read-only below", "Enabled": "read-only below"}
    none_is_private = False
    cannot = ("groups", "propagation_to_the_host", "recursive_read_only_is_refused")

    def command(self, n, pod, container, script, privileged, user, userns=False):
        ids = [f"--private-users={FIRST_ID}:{ID_COUNT}"] if userns else []
        return ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", "--as-pid2", *ids,
                f"--directory={root_file_system(n.top, FIRST_ID if userns else 0)}", *self.words(n, pod, container), "/bin/sh", "-c", script]


class Docker(Runtime):
    """Debian's docker, whose dockerd is started once for all tests of a file, on a directory of its own."""
    format = "docker"
    program = "/usr/bin/docker"
    no_recursive = ("Enabled",)  # a word of Docker 25; this one is 20.10
    recursive = {"Disabled": "writable below", "IfPossible": "writable below"}
    keeps_flags = False
    cannot = ("recursive_read_only_is_refused", "user_namespace")
    # All that the case needs: --privileged also gives what a machine may have taken from root itself.
    privileges = ("--cap-add=SYS_ADMIN", "--security-opt=apparmor=unconfined", "--security-opt=seccomp=unconfined")
    host = None

    def __init__(self):
        super().__init__()
        if not Docker.host:
            self.start_engine()

    def start_engine(self):
        if not shutil.which("dockerd"):
            raise Skip("dockerd is not installed")
        top = tempfile.mkdtemp(prefix="podvol-docker.", dir=node.TEMPORARY)
        host = f"unix://{top}/docker.sock"
        with open(os.path.join(top, "log"), "wb") as log:
            engine = subprocess.Popen(
                ["dockerd", "--bridge=none", "--iptables=false", "--storage-driver=vfs", f"--data-root={top}/data",
                 f"--exec-root={top}/exec", f"--pidfile={top}/pid", f"--host={host}"], stdout=log, stderr=log)
        atexit.register(self.end_engine, engine, top)
        try:
            eventually(lambda: engine.poll() is not None or self.docker(host, "version").returncode == 0, what="dockerd")
        except AssertionError:
            engine.poll()
        if engine.returncode is not None or self.docker(host, "version").returncode != 0:
            with open(os.path.join(top, "log"), encoding="utf-8", errors="replace") as log:
                raise Skip(f"dockerd does not run here: {log.read()[-300:]}")
        Docker.host = host
        archive = subprocess.Popen(["tar", "-C", root_file_system(top), "-c", "."], stdout=subprocess.PIPE)
        done = self.docker(host, "import", "-", "box", stdin=archive.stdout)
        archive.wait()
        equal(done.returncode, 0, f"docker import: {done.stderr}")

    @staticmethod
    def docker(host, *words, **more):
        return subprocess.run(["/usr/bin/docker", "-H", host, *words], capture_output=True, text=True, **more)

    @staticmethod
    def end_engine(engine, top):
        engine.terminate()
        engine.wait(PATIENCE)
        for point in sorted(node.mountinfo(top), key=len, reverse=True):
            subprocess.run(["umount", "-l", point], check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", top], check=False)
        if os.path.isdir("/sys/fs/cgroup/docker"):  # what it made for all of its containers
            os.rmdir("/sys/fs/cgroup/docker")

    def command(self, n, pod, container, script, privileged, user, userns=False, words=None):
        return ["/usr/bin/docker", "-H", self.host, "run", "--rm", "--network=none", "--env=PATH=/bin",
                f"--user={user}", *(self.privileges if privileged else []),
                *(words or self.words(n, pod, container)), "box", "/bin/sh", "-c", script]


# ---- a file of tests ----

def test_of(case, kind):
    def test(n):
        prepare()
        runtime = kind()
        case(n, runtime)
    test.__doc__ = case.__doc__
    return test


def main(kind, cases):
    """Runs the cases that a runtime has words for."""
    node.main({f"test_{case.__name__}": test_of(case, kind) for case in cases if case.__name__ not in kind.cannot})
