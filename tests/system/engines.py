# SPDX-License-Identifier: Apache-2.0
"""Debian's podman and dockerd with podvold as their volume plugin, configured in the words of docs/docker.md.

Containers are those of containers.py. The engines find the socket by their own ways: podman by containers.conf,
dockerd in /run/docker/plugins, in a /run that this mount namespace has for itself.
"""
import json
import os
import subprocess

import containers
import documents
import node
from node import claim, equal, eventually, volume

DOCUMENT = "docs/docker.md"
SOCKET = "/run/docker/plugins/podvol.sock"  # the document's


def start(n, is_configured=False):
    """@is_configured: the socket is in podvold.conf, in the document's words."""
    n.plugin = SOCKET if is_configured else os.path.join(n.run, "docker.sock")
    n.start(*([] if is_configured else [f"--docker-plugin-socket={n.plugin}"]))


def shown(word):
    """The block of the document that has the word."""
    found = [text for _, text in documents.blocks(DOCUMENT) if word in text]
    equal(len(found), 1, f"blocks of {DOCUMENT} with {word!r}")
    return found[0]


def free_volume(name, path):
    """A PersistentVolume that is bound to nothing."""
    made = volume(name, path)
    del made["spec"]["claimRef"]
    return made


def wait_bound(n, kind, name, *words):
    eventually(lambda: json.loads(n.ctl("get", kind, name, *words, "-o", "json").stdout).get("status", {})
               .get("phase") == "Bound", what=f"{kind} {name} bound")


def prepare_two(n, is_configured=False):
    """PersistentVolume "disk", free, and claim "default/shared"."""
    n.write("volumes.yaml", free_volume("disk", n.source("disk", "of disk")),
            volume("shared", n.source("shared", "of shared")), claim("shared"))
    start(n, is_configured)
    wait_bound(n, "pvc", "shared")


class Podman:
    def __init__(self, n):
        containers.prepare()
        containers.Podman()  # or skipped
        self.program = containers.Podman.engine(n, shown("[engine.volume_plugins]"))
        archive = subprocess.Popen(["tar", "-C", containers.root_file_system(n.top), "-c", "."],
                                   stdout=subprocess.PIPE)
        # An image, because podman leaves the volumes of a container with --rootfs mounted.
        self.said("import", "-", "box", stdin=archive.stdout)
        archive.wait()

    def said(self, *words, status=0, stdin=subprocess.DEVNULL):
        done = subprocess.run([*self.program, *words], stdin=stdin, capture_output=True, text=True, timeout=node.PATIENCE,
                              check=False)
        equal(done.returncode, status, f"podman {' '.join(words)}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip() if status == 0 else done.stderr

    RUN = containers.Podman.RUN

    def run_words(self, name, script):
        return [*self.RUN, "-i", f"--volume={name}:/data", "box", "/bin/sh", "-c", script]

    def popen(self, name, script):
        return subprocess.Popen([*self.program, *self.run_words(name, script)], stdout=subprocess.PIPE,
                                stdin=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Docker:
    def __init__(self, n):
        containers.prepare()
        containers.Docker()  # its dockerd runs, or skipped
        self.program = [containers.Docker.program, "-H", containers.Docker.host]

    RUN = ("run", "--rm", "--network=none", "--env=PATH=/bin")
    said = Podman.said
    run_words = Podman.run_words
    popen = Podman.popen


def private_run():
    """A /run of this mount namespace's own, where docker looks for plugins."""
    if not os.path.isdir("/run/docker/plugins"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        os.makedirs("/run/docker/plugins")


def begin(n, kind):
    """A node with the volumes of prepare_two(), and the engine; both are configured in the document's words."""
    containers.prepare()
    private_run()
    with open(n.config, "a", encoding="utf-8") as file:
        file.write(shown("docker-plugin-socket:"))
    prepare_two(n, is_configured=True)
    return kind(n)
