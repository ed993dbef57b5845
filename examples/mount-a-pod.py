#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what a file holds, waits for one pod, prints what its containers are given: plain HTTP, no library.

  mount-a-pod.py FILE NAMESPACE/NAME [SOCKET]
"""
import http.client
import json
import socket
import sys


class Podvold(http.client.HTTPConnection):
    """A connection to the daemon's unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None, content_type="application/json"):
        """The answer as JSON; what the daemon refuses ends the program with its sentence."""
        self.request(method, path, body, {"Content-Type": content_type, "Accept": "application/json"})
        answer = self.getresponse()
        content = json.loads(answer.read())
        if answer.status >= 400:
            sys.exit(content["message"])
        return content


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: mount-a-pod.py FILE NAMESPACE/NAME [SOCKET]")
    podvold = Podvold(sys.argv[3] if len(sys.argv) == 4 else "/run/podvol/podvol.sock")
    with open(sys.argv[1], "rb") as file:
        podvold.ask("POST", "/podvol/v1/apply", file.read(), "application/yaml")
    plan = podvold.ask("POST", f"/podvol/v1/pods/{sys.argv[2]}/mounts?timeout=30s")
    for container in plan["containers"]:
        for mount in container["mounts"]:
            print(f"{container['name']}: {mount['hostPath']} on {mount['containerPath']}")


main()
