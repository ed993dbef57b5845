#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A CSI driver that does nothing and says that all went well, after a time that is always the same.

  csi_answers.py --name NAME --endpoint SOCKET --registration DIRECTORY --counts FILE [--wait MILLISECONDS]

Ten calls at a time, as a driver of few threads; only NodePublishVolume and NodeUnpublishVolume wait. The file holds
two numbers, how many of each were answered, so that to look on costs neither this process nor podvold anything.
"""
import argparse
import concurrent.futures
import mmap
import os
import signal
import struct
import sys
import threading
import time

TOP = os.path.realpath(os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(TOP, "tests/csi"))
import grpc  # noqa: E402
import csi_messages  # noqa: E402
import registrar  # noqa: E402
from csi_messages import csi  # noqa: E402

TOGETHER = 10
COUNTED = ("NodePublishVolume", "NodeUnpublishVolume")


class Driver:
    def __init__(self, options):
        self.wait, self.lock, self.answered = options.wait / 1e3, threading.Lock(), [0, 0]
        with open(options.counts, "w+b") as file:
            file.write(bytes(16))
            file.flush()
            self.counts = mmap.mmap(file.fileno(), 16)
        self.replies = {"GetPluginInfo": csi.GetPluginInfoResponse(name=options.name, vendor_version="1.0.0"),
                        "NodeGetInfo": csi.NodeGetInfoResponse(node_id="node")}
        self.changes = {"NodePublishVolume": (os.mkdir, csi.NodePublishVolumeRequest),
                        "NodeUnpublishVolume": (os.rmdir, csi.NodeUnpublishVolumeRequest)}

    def work(self, method, message):
        """What a driver has to leave behind: a directory at the target, or none."""
        change, request = self.changes[method]
        time.sleep(self.wait)  # the rest of the work that it stands for
        change(request.FromString(message).target_path)
        with self.lock:
            self.answered[COUNTED.index(method)] += 1
            self.counts[:] = struct.pack("QQ", *self.answered)

    def handler(self, method, reply):
        text = self.replies.get(method, reply()).SerializeToString()

        def answer(message, _context):
            if method in COUNTED:
                self.work(method, message)
            return text
        return grpc.unary_unary_rpc_method_handler(answer)

    def handlers(self):
        for name in ("Identity", "Node"):
            rows = csi_messages.service(csi, name)
            yield grpc.method_handlers_generic_handler(
                f"csi.v1.{name}", {method: self.handler(method, reply) for method, (_, reply) in rows.items()})


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("name", "endpoint", "registration", "counts"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--wait", type=float, default=0)
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=TOGETHER))
    server.add_generic_rpc_handlers(tuple(Driver(options).handlers()))
    server.add_insecure_port(f"unix:{options.endpoint}")
    server.start()
    kept = registrar.serve(options.name, options.endpoint, options.registration)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    kept[0].stop(0)
    server.stop(0)


main()
