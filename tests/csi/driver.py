#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A CSI driver for tests: everything works, on real mounts, until control.json wants it otherwise.

  driver.py --endpoint SOCKET --state DIRECTORY [--name csi.test.podvol] [--registration DIRECTORY] [--again]

gRPC is Google's (python3-grpcio), no line of it is podvold's. All that it remembers lies in the state directory
(see memory.py), so it may be killed at any moment and goes on when started again. Calls out of CSI's order go to
the file "shouts" there (see rules.py), faults come from "control.json" (see faults.py). --registration also
serves as its registrar, in the same process; --again starts it again whenever it crashes on purpose.
"""
import argparse
import concurrent.futures
import json
import os
import signal
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import grpc  # noqa: E402
from google.protobuf import json_format  # noqa: E402

import backing  # noqa: E402
import controller_service  # noqa: E402
import csi_messages  # noqa: E402
import faults  # noqa: E402
import memory  # noqa: E402
import node_service  # noqa: E402
import registrar  # noqa: E402
import rules  # noqa: E402

CRASHED = 77  # as faults.py ends the process
ABORTED, INVALID, UNKNOWN, UNIMPLEMENTED = 10, 3, 2, 12
CODES = {code.value[0]: code for code in grpc.StatusCode}
NEEDED = {**node_service.NEEDED, **controller_service.NEEDED}


class Driver:
    """From a gRPC call to a service's method: checks, faults, and what is remembered."""

    def __init__(self, name, directory):
        self.memory = memory.Memory(directory)
        storage = backing.Storage(os.path.join(directory, "storage"))
        self.node = node_service.NodeService(name, self.memory, storage)
        self.order = rules.Order(self.memory, lambda: self.node.has("STAGE_UNSTAGE_VOLUME"))
        self.controller = controller_service.ControllerService(self.memory, storage, self.order)
        self.traffic = rules.Traffic(self.memory)
        self.acting = threading.Lock()  # one act at a time

    def service_of(self, method):
        return self.node if hasattr(self.node, method) else self.controller

    def log(self, method, number, phase, **more):
        self.memory.append("calls", json.dumps({"number": number, "method": method, "phase": phase, **more}))

    def refuse_badly_formed(self, method, request):
        faults_found = list(rules.field_faults(method, request))
        for fault in faults_found:
            self.memory.shout(f"{method}: {fault}")
        if faults_found:
            raise faults.Status(INVALID, "; ".join(faults_found))
        if method in NEEDED and not self.service_of(method).has(NEEDED[method]):
            self.memory.shout(f"{method}: the driver has no {NEEDED[method]}")
            raise faults.Status(UNIMPLEMENTED, f"no {NEEDED[method]}")

    def act(self, method, request, fault):
        """The call itself, in order; returns a reply, or the name of a wrong one."""
        wrong = faults.strike(self.memory, fault, "before")
        with self.acting:
            reply = getattr(self.service_of(method), method)(request)
            self.memory.save()
        return faults.strike(self.memory, fault, "after") or wrong or reply

    def take_back(self, method, request, was_sure):
        """After a final error nothing of a first stage or publish is left."""
        undo = getattr(self.node, f"undo_{method}", None)
        if undo and not was_sure:
            with self.acting:
                undo(request)

    def run(self, method, request, context, number):
        """Returns a reply or the name of a wrong one; raises Status."""
        self.refuse_badly_formed(method, request)
        volume = getattr(request, "volume_id", "")
        fault = faults.pick(self.memory, method, volume, number)
        if not self.traffic.enter(number, method, request, context):
            raise faults.Status(ABORTED, f"an operation for '{volume}' is under way")
        try:
            with self.memory.lock:
                self.order.check(method, request)
                was_sure = self.order.begin(method, request)
            try:
                reply = self.act(method, request, fault)
            except faults.Status as status:
                if status.is_final() and not status.lie:
                    self.take_back(method, request, was_sure)
                self.order.end(method, request, status.is_final(), context.is_active())
                raise
            self.order.end(method, request, None, context.is_active() and not isinstance(reply, str))
            return reply
        finally:
            self.traffic.leave(number)

    def answer(self, method, request, context):
        """The bytes of the reply; sets the status of a call that fails."""
        number = self.memory.number_call()
        arguments = json_format.MessageToDict(request, preserving_proto_field_name=True)
        self.log(method, number, "begin", request=arguments)
        try:
            reply = self.run(method, request, context, number)
            code, text = 0, ""
        except faults.Status as status:
            code, text = status.code, status.text
        except Exception as error:  # a driver's own mistake is Internal to the caller, and a test's failure
            self.memory.shout(f"{method}: the driver failed: {type(error).__name__}: {error}")
            code, text = 13, str(error)
        self.log(method, number, "end", code=code, text=text)
        if code:
            context.set_code(CODES[code])
            context.set_details(text)
            return b""
        return self.wrong(reply) if isinstance(reply, str) else reply.SerializeToString()

    @staticmethod
    def wrong(name):
        return {"garbage": b"\xff\xff\xff\xff", "empty": b"", "huge": b"\x0a\x80\x80\xc0\x02" + b"x" * (5 << 20),
                "wrong": b"\x08\x96\x01\x12\x07strange"}[name]

    def handlers(self):
        """gRPC handlers of all services."""
        for name in ("Identity", "Node", "Controller", "GroupController"):
            methods = {}
            for method, (request, _) in csi_messages.service(csi_messages.csi, name).items():
                methods[method] = grpc.unary_unary_rpc_method_handler(
                    lambda message, context, method=method: self.answer(method, message, context),
                    request_deserializer=request.FromString, response_serializer=lambda data: data)
            yield grpc.method_handlers_generic_handler(f"csi.v1.{name}", methods)


def serve(options):
    driver = Driver(options.name, options.state)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=64))
    server.add_generic_rpc_handlers(tuple(driver.handlers()))
    if os.path.lexists(options.endpoint):
        os.unlink(options.endpoint)
    server.add_insecure_port(f"unix:{options.endpoint}")
    server.start()
    kept = options.registration and registrar.serve(options.name, options.endpoint, options.registration,
                                                    driver.memory.control)  # a server ends with its last reference
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    server.stop(0)
    if kept:
        kept[0].stop(0)
    return 0


def serve_again(options):
    """Serves in a child, and in another one when that crashes on purpose; gRPC has not been used before."""
    parent = os.getpid()
    while True:
        child = os.fork()
        if child == 0:
            backing.end_with_parent(parent)
            os._exit(serve(options))
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != CRASHED:
            return 0
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--state", required=True)
    parser.add_argument("--name", default="csi.test.podvol")
    parser.add_argument("--registration", default="")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    options.endpoint = options.endpoint.removeprefix("unix://")  # drivers take both
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})  # threads inherit it: sigwait() gets it
    sys.exit(serve_again(options) if options.again else serve(options))


if __name__ == "__main__":
    main()
