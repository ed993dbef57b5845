# SPDX-License-Identifier: Apache-2.0
"""tests/system/list_watch_client, run and read: what podvold's list and watch of a server reports."""
import base64
import json
import os
import signal
import subprocess
import threading

import node
from node import eventually

PROGRAM = os.path.join(node.BUILD, "tests/system/list_watch_client")


def write_kubeconfig(path, server, authority, user, **cluster):
    """A kubeconfig for a server: the authority is a file, user the members of its user."""
    with open(authority, "rb") as file:
        trusted = base64.b64encode(file.read()).decode()
    with open(path, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                   "clusters": [{"name": "c", "cluster": {"server": server, "certificate-authority-data": trusted, **cluster}}],
                   "users": [{"name": "u", "user": user}],
                   "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, file)
    return path


class ListWatch:
    """One run of it. known: the names that it reported and did not take back."""

    def __init__(self, kubeconfig, kind, path, selector="", *more, watch_seconds=0, heartbeat_msec=60000):
        """more: further kinds, paths and selectors, by the same client; then known is of no use. watch_seconds: of each
        watch, up to twice as many; 0: podvold's own. heartbeat_msec: of silence, and until an answer."""
        self.lines, self.known, self.listed = [], set(), None
        self.lists = self.went_back = 0
        self.process = subprocess.Popen([PROGRAM, kubeconfig, kind, path, selector, *more], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "WATCH_SECONDS": str(watch_seconds),
                                                               "HEARTBEAT_MSEC": str(heartbeat_msec)})
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "BEGIN":
                self.listed = set()
            elif word in ("ITEM", "UNKNOWN"):
                self.listed.add(rest)
            elif word == "LIST":
                self.known = self.listed
                self.went_back += rest == "1"
                self.lists += 1
            elif word == "ADDED":
                self.known = self.known | {rest}
            elif word == "DELETED":
                self.known = self.known - {rest}
            self.lines.append(line.rstrip("\n"))

    def wait(self, question, what="it"):
        return eventually(question, what=lambda: f"{what}; it said: {self.lines[-20:]}")

    def wait_known(self, names):
        self.wait(lambda: self.known == set(names), f"{set(names)}, known are {self.known}")

    def failures(self):
        """Those of now: [(status, reason)]"""
        return [(int(line.split(" ")[1]), line.split(" ", 2)[2]) for line in list(self.lines) if line.startswith("FAILED ")]

    def wait_failure(self, number=1):
        self.wait(lambda: len(self.failures()) >= number, f"{number} failures")

    def count(self, word):
        return sum(line.split(" ")[0] == word for line in list(self.lines))

    def read_credentials(self):
        before = self.count("CREDENTIALS")
        self.process.send_signal(signal.SIGHUP)
        self.wait(lambda: self.count("CREDENTIALS") > before, "credentials")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()
