#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""grpc_peer.py DIRECTORY: a server on Google's gRPC with a socket for each way to answer; see grpc_peers.py.

Knows no messages: requests and replies are bytes. What it sees goes to the file "events".
"""
import concurrent.futures
import os
import sys
import threading

import grpc

directory = sys.argv[1]
NAME = b"\x0a\x04peer"  # GetPluginInfoResponse: name
lock = threading.Lock()


def varint(number):
    out = b""
    while number >= 128:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def tell(event):
    with lock, open(os.path.join(directory, "events"), "a", encoding="utf-8") as file:
        file.write(event + "\n")


def never(context):
    ended = threading.Event()
    remaining = context.time_remaining()
    context.add_callback(ended.set)
    tell(f"deadline {remaining:.1f}")
    ended.wait()
    tell("cancelled")
    return NAME


def after(context):
    context.send_initial_metadata(())
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "after headers")


def answer(way, request, context):
    if way == "trailers":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such volume")
    if way == "after":
        after(context)
    if way == "text":
        context.abort(grpc.StatusCode.INTERNAL, "100% größer\nsecond \u20ac line")
    if way == "never":
        return never(context)
    if way == "large":
        return b"\x12" + varint(3 << 20) + b"v" * (3 << 20)
    if way == "huge":
        return b"\x12" + varint(4 << 20) + b"v" * (4 << 20)
    if way == "count":
        size = b"\x08" + varint(len(request))
        return b"\x0a" + varint(len(size)) + size
    if way == "die":
        os._exit(1)
    return NAME


class Handler(grpc.GenericRpcHandler):
    def __init__(self, way):
        self.way = way

    def service(self, handler_call_details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: answer(self.way, request, context))


servers = []
for way in ("ok", "trailers", "after", "text", "never", "large", "huge", "count", "die"):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                         options=[("grpc.max_send_message_length", -1)])
    server.add_generic_rpc_handlers((Handler(way),))
    server.add_insecure_port(f"unix:{directory}/{way}.sock")
    server.start()
    servers.append(server)
print("ready", flush=True)
sys.stdin.read()  # until the test is over
os._exit(0)
