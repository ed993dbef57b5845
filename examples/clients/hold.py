#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Mounts a pod, prints what to mount where in its containers, holds and releases it: by TLS with a token.

The package podvol_api is made of podvold's own description; docs/api.md has the commands.
  hold.py SERVER CA TOKEN POD.json
SERVER as https://127.0.0.1:6443, CA and TOKEN are files.
"""
import json
import os
import sys

import podvol_api


def main(server, authority, token, file):
    with open(token, encoding="ascii") as opened:
        configuration = podvol_api.Configuration(host=server)
        configuration.access_token = opened.read().strip()
    configuration.ssl_ca_cert = authority
    with open(file, encoding="utf-8") as opened:
        pod = json.load(opened)
    name_space, name = pod["metadata"].get("namespace", "default"), pod["metadata"]["name"]
    with podvol_api.ApiClient(configuration) as client:
        podvol = podvol_api.PodvolApi(client)
        podvol.apply(body=pod)
        podvol.mount_namespaced_pod(name_space, name, timeout="30s")
        podvol.wait_for_namespaced_pod(name_space, name, timeout="30s")
        mounts = podvol.list_namespaced_pod_mounts(name_space, name)
        for container in mounts.containers:
            for mount in container.mounts:
                print(f"{container.name}: {mount.host_path} on {mount.container_path}")
        hold = podvol.hold_namespaced_pod(name_space, name, io_podvol_v1_new_hold=podvol_api.IoPodvolV1NewHold(
            container=mounts.containers[0].name, pid=os.getpid()))
        print(f"held by process {hold.pid}")
        podvol.release_namespaced_pod(name_space, name, hold.id)
        print(f"{len(podvol.list_namespaced_pod_holds(name_space, name).items)} holds left")
        podvol.unmount_namespaced_pod(name_space, name, timeout="30s")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: hold.py SERVER CA TOKEN POD.json")
    try:
        main(*sys.argv[1:])
    except podvol_api.ApiException as error:
        sys.exit(f"hold.py: {error.body or error}")
