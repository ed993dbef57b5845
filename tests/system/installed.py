# SPDX-License-Identifier: Apache-2.0
"""podvol as it is installed, under a real systemd on a throw-away overlay of /; nothing of it reaches the host."""
import functools
import os
import re
import subprocess
import tempfile

import documents
import node
from booted import Booted
from node import equal

INSTALL = "cp -a /mnt/.old{stage}/. /\n"


class Installed(Booted):
    """A systemd with podvol installed; ends with the with-block. @prepare: more of a shell script, run before it
    starts, with the host's root at /mnt/.old."""

    def __init__(self, n, prepare):
        # overlayfs takes no directory of another overlay as its upper one, and copies need a plain path.
        super().__init__(os.path.join(n.top, "systemd"), INSTALL.format(stage=staged().name) + prepare)

    def start_podvold(self):
        """By the commands of README.md that follow the installation."""
        shown = next(text for _, text in documents.blocks("README.md") if "make install" in text)
        commands = [line for line in shown.splitlines() if "systemd" in line or "systemctl" in line]
        equal(len(commands), 2, shown)
        for command in commands:
            self.run("sh", "-ec", command.replace("sudo ", ""))

    def mounts(self):
        """As PID 1 sees them; its root is another, but the mount points are as it names them."""
        return node.mountinfo("/var/lib/kubelet", self.pid())


@functools.cache
def staged():
    """A directory with all that is installed, for the tests of a file, which copy it; it goes with the process."""
    stage = tempfile.TemporaryDirectory(prefix="podvol-stage.", dir=node.TEMPORARY)
    install(stage.name)
    return stage


def install(stage):
    done = subprocess.run(["make", "-C", node.BUILD, "-s", "install", f"DESTDIR={stage}", "prefix=/usr",
                           "exec_prefix=/usr", "libdir=/usr/lib", "sysconfdir=/etc",
                           "systemdsystemunitdir=/usr/lib/systemd/system"],
                          capture_output=True, text=True, env={k: v for k, v in os.environ.items()
                                                               if k not in ("MAKEFLAGS", "MAKELEVEL")})
    equal(done.returncode, 0, done.stdout + done.stderr)
    made_for_prefix(os.path.join(stage, "usr/share/containers/oci/hooks.d/podvol.json"), r'"path": ".*(?=/podvol)', r'"path": "/usr/libexec')
    for name, program in (("podvol.service", "/usr/sbin/podvold"), ("podvol-pod@.service", "/usr/bin/podvolctl"),
                          ("podvol-drain.service", "/usr/sbin/podvold")):
        made_for_prefix(os.path.join(stage, "usr/lib/systemd/system", name), r"^(ExecSt\w+)=\S+(?=/podvol)\S+", rf"\1={program}")


def made_for_prefix(path, pattern, text):
    """A file that was made for the build's own prefix, for the stage's."""
    with open(path, encoding="utf-8") as file:
        before = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(pattern, text, before, flags=re.M))
