# SPDX-License-Identifier: Apache-2.0
"""examples/mini-kubelet beside a podvold, with an image that holds busybox, in a namespace where crun works."""
import json
import os
import shutil
import subprocess

import node
from node import Skip

PROGRAM = os.path.join(node.BUILD, "examples/mini-kubelet/mini-kubelet")
HOOK = os.path.join(node.BUILD, "podvol-oci-hook")
BUSYBOX = "/bin/busybox"
# A crun whose process that detaches a container, and is its parent, ends half a second after crun, or before it.
SLOW_CRUN = """#!/usr/bin/python3
import ctypes, os, subprocess, sys, time
words = ["{crun}", *sys.argv[1:]]
if not {{"create", "run"}} & set(words):
    os.execv(words[0], words)
reader, writer = os.pipe()
if os.fork() == 0:
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    os.write(writer, bytes([subprocess.run(words).returncode]))
    os.close(writer)
    time.sleep(0.5)
    os._exit(0)
os.close(writer)
code = (os.read(reader, 1) or b"1")[0]
if {ends_first}:
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
sys.exit(code)
"""


def container(script, **more):
    """One that has the pod's volume "data" and runs a script in busybox's shell."""
    return {"name": "main", "image": "busybox", "command": [BUSYBOX, "sh", "-c"], "args": [script],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}], **more}


class Kubelet:
    def __init__(self, n):
        for program in ("crun", BUSYBOX):
            if not shutil.which(program):
                raise Skip(f"{program} is not installed")
        self.node, self.process = n, None
        self.images, self.state = os.path.join(n.top, "images"), os.path.join(n.top, "mini")
        os.makedirs(os.path.join(self.images, "busybox/bin"))
        shutil.copy(BUSYBOX, os.path.join(self.images, "busybox/bin"))
        subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)

    def slow_crun(self, ends_first):
        """A directory to look for programs in, before others."""
        directory = os.path.join(self.node.top, f"slow-{ends_first}")
        os.mkdir(directory)
        path = os.path.join(directory, "crun")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SLOW_CRUN.format(crun=shutil.which("crun"), ends_first=ends_first))
        os.chmod(path, 0o755)
        return directory

    def start(self, programs=None):
        path = os.environ["PATH"] if programs is None else f"{programs}:{os.environ['PATH']}"
        with open(os.path.join(self.node.top, "mini.log"), "ab") as log:
            self.process = subprocess.Popen([PROGRAM, "-i", self.images, "-s", self.state, "-k", self.node.socket, "-H", HOOK,
                                             "-o", "--cgroup-manager=disabled"], stdout=log, stderr=log,
                                            env={**os.environ, "PATH": path})

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def crun(self, *arguments):
        done = subprocess.run(["crun", "--cgroup-manager=disabled", f"--root={self.state}/crun", *arguments],
                              capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def bundles(self):
        """Their names are the ids of containers; beside them lies what crun stores."""
        return [name for name in os.listdir(self.state) if name != "crun"] if os.path.isdir(self.state) else []

    def container(self):
        """The one that runs: {id, pid, status}, or {}."""
        states = [json.loads(state) for state in map(lambda i: self.crun("state", i), self.bundles()) if state]
        return next((state for state in states if state["status"] == "running"), {})

    def children(self):
        """Names of its processes, those included that ended and were not waited for."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            pids = file.read().split()
        names = []
        for pid in pids:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                names.append(file.read().strip())
        return names

    def said(self):
        with open(os.path.join(self.node.top, "mini.log"), encoding="utf-8") as file:
            return f"mini-kubelet said:\n{file.read()}\npodvold said:\n{self.node.said()}"

    def close(self):
        """Also after a failure: nothing that was started here goes on."""
        self.kill()
        for name in self.bundles():
            self.crun("delete", "--force", name)
        subprocess.run(["umount", "/sys/fs/cgroup"], check=True)
