# SPDX-License-Identifier: Apache-2.0
"""Containers of crun and runc whose bundles name the built podvol-oci-hook as createRuntime and poststop hook.

What is in a bundle beside the hooks is that of containers.py; a container that is left running is the caller's to end.
"""
import json
import os
import shutil
import subprocess

import containers
import node
from node import Skip

HOOK = os.path.join(node.BUILD, "podvol-oci-hook")
RUNTIMES = {"crun": ("crun", "--cgroup-manager=disabled"), "runc": ("runc",)}


def environment(n):
    """PATH is for libtool's script around the built program."""
    return [f"PODVOL_SOCKET={n.socket}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]


class Bundle:
    """A container of a pod, with the mounts that podvold says, or other ones."""

    def __init__(self, n, script, annotations, part=None, hook=HOOK):
        self.node = n
        config = containers.Crun.bundle(None, n, script, False, 0, False)
        self.root = config["root"]["path"]
        self.path, self.id = self.root + ".bundle", f"hook-{os.getpid()}-{os.path.basename(n.top)}-{os.path.basename(self.root)}"
        containers.merge(config, part or {})
        entry = [{"path": hook, "env": environment(n)}]
        # crun shows what a hook says where this annotation says; runc by itself.
        config["annotations"] = {"podvol.io/pod": "default/web", "run.oci.hooks.stderr": "/dev/stderr", **annotations}
        config["hooks"] = {"createRuntime": entry, "poststop": entry}
        os.mkdir(self.path)
        with open(os.path.join(self.path, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)

    def start(self, runtime):
        self.command = [*RUNTIMES[runtime], f"--root={self.node.top}/{runtime}"]
        if not shutil.which(runtime):
            raise Skip(f"{runtime} is not installed")
        return subprocess.Popen([*self.command, "run", "--bundle", self.path, self.id], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def pid(self):
        done = subprocess.run([*self.command, "state", self.id], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["pid"] if done.returncode == 0 else 0


def holds(n):
    return node.get(n, "holds")["items"]


def waiting_hooks(n):
    """Processes of the hook, of this node."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", encoding="utf-8", errors="replace") as file:
                if os.path.basename(HOOK) in os.readlink(f"/proc/{entry}/exe") and n.socket in file.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found
