# SPDX-License-Identifier: Apache-2.0
"""Servers of other people's gRPC for tests: python3-grpcio and grpc-go, each with the same sockets.

  ok        GetPluginInfo's reply, name "peer"         never     waits; tells "deadline S", then "cancelled"
  trailers  NotFound, without headers                  large     3 MiB in vendor_version; huge: a little over 4 MiB
  after     FailedPrecondition, after headers          count     CreateVolume's reply, capacity: bytes of the request
  text      Internal, with a text to be escaped        die       the process ends in mid-call
"""
import os
import subprocess

import node
from node import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
GO_PATH = "/usr/share/gocode"
GO_SOURCE = os.path.join(HERE, "grpc_peer.go")


def python():
    command = ["/usr/bin/python3", os.path.join(HERE, "grpc_peer.py")]  # Debian's, which has grpc
    if subprocess.run([command[0], "-c", "import grpc"], capture_output=True, check=False).returncode:
        raise Skip("python3-grpcio is not installed")
    return command


def go():
    """Compiled once for a build."""
    path = os.path.join(node.BUILD, "tests/cache/grpc-peer")
    if os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(GO_SOURCE):
        return [path]
    if not os.path.isdir(os.path.join(GO_PATH, "src/google.golang.org/grpc")):
        raise Skip("golang-google-grpc-dev is not installed")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["go", "build", "-o", path, GO_SOURCE], check=True, env={
        **os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": GO_PATH,
        "GOCACHE": os.path.join(node.BUILD, "tests/cache/go")})
    return [path]


class Peer:
    """A server that runs until close()."""

    def __init__(self, command, directory):
        os.makedirs(directory)
        self.directory = directory
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([*command, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError(f"{command[-1]} does not start")

    def socket(self, way):
        return os.path.join(self.directory, f"{way}.sock")

    def events(self):
        try:
            with open(os.path.join(self.directory, "events"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def close(self):
        self.process.stdin.close()
        self.process.wait(node.PATIENCE)
        self.process.stdout.close()
