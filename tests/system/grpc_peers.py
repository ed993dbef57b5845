# SPDX-License-Identifier: Apache-2.0
"""Servers of other people's gRPC for tests: python3-grpcio and grpc-go, each with the same sockets.

  ok        GetPluginInfo's reply, name "peer"         never     waits; tells "deadline S", then "cancelled"
  trailers  NotFound, without headers                  large     3 MiB in vendor_version; huge: a little over 4 MiB
  after     FailedPrecondition, after headers          count     CreateVolume's reply, capacity: bytes of the request
  text      Internal, with a text to be escaped        die       the process ends in mid-call
"""
import functools
import os
import subprocess

import go_programs
import node

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def python():
    command = ["/usr/bin/python3", os.path.join(HERE, "grpc_peer.py")]  # Debian's, which has grpc
    if subprocess.run([command[0], "-c", "import grpc"], capture_output=True, check=False).returncode:
        raise node.Skip("python3-grpcio is not installed")
    return command


def go():
    return [go_programs.build("grpc-peer", os.path.join(HERE, "grpc_peer.go"), "google.golang.org/grpc")]


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

    def forget(self):
        os.unlink(os.path.join(self.directory, "events"))

    def close(self):
        self.process.stdin.close()
        self.process.wait(node.PATIENCE)
        self.process.stdout.close()
