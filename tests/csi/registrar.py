#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Introduces a CSI driver to the node's agent, as Kubernetes' node-driver-registrar does.

  registrar.py --csi-address SOCKET --kubelet-registration-path SOCKET --plugin-registration-path DIRECTORY

It asks the driver for its name, listens on <driver>-reg.sock in the directory (umask 0077, a stale socket
removed first), offers version 1.0.0, ends with status 1 when the agent says that registration failed, and
removes its socket on SIGTERM. Its manager starts it again when it ends, as a pod's restartPolicy would.
"""
import argparse
import concurrent.futures
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import grpc  # noqa: E402

from csi_messages import csi, registration  # noqa: E402


def info(name, endpoint, control):
    """What GetInfo answers; a test's control may bend each part of it."""
    bent = control().get("registration", {})
    return registration.PluginInfo(type=bent.get("type", "CSIPlugin"), name=bent.get("name", name),
                                   endpoint=bent.get("endpoint", endpoint),
                                   supported_versions=bent.get("versions", ["1.0.0"]))


def notified(status):
    print(f"registered: {status.plugin_registered} {status.error}", flush=True)
    if not status.plugin_registered:
        os._exit(1)
    return registration.RegistrationStatusResponse()


def serve(name, endpoint, directory, control=lambda: {}):
    """Listens; returns (server, path of the socket)."""
    path = os.path.join(directory, f"{name}-reg.sock")
    os.makedirs(directory, exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("pluginregistration.Registration", {
        "GetInfo": grpc.unary_unary_rpc_method_handler(
            lambda request, context: info(name, endpoint, control),
            request_deserializer=registration.InfoRequest.FromString,
            response_serializer=registration.PluginInfo.SerializeToString),
        "NotifyRegistrationStatus": grpc.unary_unary_rpc_method_handler(
            lambda request, context: notified(request),
            request_deserializer=registration.RegistrationStatus.FromString,
            response_serializer=registration.RegistrationStatusResponse.SerializeToString)}),))
    before = os.umask(0o077)
    server.add_insecure_port(f"unix:{path}")
    os.umask(before)
    server.start()
    return server, path


def driver_name(address, seconds=60):
    """Asked of the driver, which may be still about to listen."""
    with grpc.insecure_channel(f"unix:{address}", options=[("grpc.default_authority", "localhost")]) as channel:
        ask = channel.unary_unary("/csi.v1.Identity/GetPluginInfo",
                                  request_serializer=csi.GetPluginInfoRequest.SerializeToString,
                                  response_deserializer=csi.GetPluginInfoResponse.FromString)
        return ask(csi.GetPluginInfoRequest(), timeout=seconds, wait_for_ready=True).name


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--csi-address", required=True)
    parser.add_argument("--kubelet-registration-path", required=True)
    parser.add_argument("--plugin-registration-path", required=True)
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    name = driver_name(options.csi_address)
    server, path = serve(name, options.kubelet_registration_path, options.plugin_registration_path)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    if os.path.lexists(path):
        os.unlink(path)
    server.stop(0)


if __name__ == "__main__":
    main()
