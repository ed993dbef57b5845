# SPDX-License-Identifier: Apache-2.0
"""The messages of CSI and of plugin registration, as Python classes made from src/csi/*.proto.

protoc writes them when they are first asked for, into a directory beside the build, newer than the .proto
files. A program that imports this one runs under Debian's /usr/bin/python3, which has grpc and protobuf.
"""
import fcntl
import importlib
import os
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.realpath(os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.realpath(os.environ.get("top_builddir") or TOP)
PROTOS = ("csi", "plugin_registration")


def generate():
    """The directory that holds csi_pb2.py and plugin_registration_pb2.py."""
    source = os.path.join(TOP, "src/csi")
    target = os.path.join(BUILD, "tests/cache/csi")
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests begin at once
        for name in PROTOS:
            proto, made = f"{source}/{name}.proto", f"{target}/{name}_pb2.py"
            if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(proto):
                subprocess.run(["protoc", f"--proto_path={source}", f"--python_out={target}", proto], check=True)
    return target


sys.path.insert(0, generate())
csi = importlib.import_module("csi_pb2")
registration = importlib.import_module("plugin_registration_pb2")


def service(proto, name):
    """{method: (request class, reply class)} of a service."""
    pool = proto.DESCRIPTOR.services_by_name[name]
    return {m.name: (getattr(proto, m.input_type.name), getattr(proto, m.output_type.name)) for m in pool.methods}


def methods():
    """{"NodeStageVolume": (service, request class, reply class)} of all services, by full service name."""
    found = {}
    for proto in (csi, registration):
        for name, descriptor in proto.DESCRIPTOR.services_by_name.items():
            for method, (request, reply) in service(proto, name).items():
                found[method] = (descriptor.full_name, request, reply)
    return found
