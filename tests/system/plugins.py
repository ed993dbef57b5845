# SPDX-License-Identifier: Apache-2.0
"""Executable plugins for tests: a shell script in /etc/podvol/plugins of the test's own mount namespace.

The script notes each call, runs what the test left for that call, and mounts a tmpfs where it shall publish. What it
attaches when it stages is a file, "attached-VOLUME", which has to be gone when the volume is unstaged. What it makes for a
StorageClass are the files "made-VOLUME" and "taken-SNAPSHOT".
"""
import json
import os
import subprocess

import node
from node import equal, eventually, events, pod, volume

DIRECTORY = "/etc/podvol/plugins"
SCRIPT = """#!/bin/sh
read -r request
# No process for each member: calls are many.
read_value() {{
	value=${{request#*\\"$1\\":\\"}}
	[ "$value" = "$request" ] && value='' || value=${{value%%\\"*}}
}}
read_value call && call=$value
read_value volume && volume=$value
read_value target && target=$value
read_value staging && staging=$value
read_value snapshot && snapshot=$value
read_value sourceVolume && of=made-$value
[ "$value" ] || {{ read_value sourceSnapshot && of=taken-$value; }}
echo "$call" >> {top}/calls
printf '%s\\n' "$request" >> {top}/requests-$call
[ -e {top}/do-$call ] && . {top}/do-$call
case $call in
probe) ;;
stage) : > {top}/attached-"$volume" ;;
publish) mount -t tmpfs -o size=1m,mode=0755 exec "$target" && echo "$volume" > "$target/name" || exit 1 ;;
unpublish) ;;
unstage) rm -f {top}/attached-"$volume" ;;
create) : > {top}/made-"$volume" ;;
clone) [ -e {top}/"$of" ] && : > {top}/made-"$volume" || exit 1 ;;
delete) rm -f {top}/made-"$volume" ;;
snapshot) [ -e {top}/made-"$volume" ] && : > {top}/taken-"$snapshot" || exit 1 ;;
delete-snapshot) rm -f {top}/taken-"$snapshot" ;;
*) echo '{{"status":"unsupported"}}'; exit 0 ;;
esac
echo '{{"status":"ok"}}'
"""
SLOTS = ["create", "clone", "delete", "expand", "snapshot", "delete-snapshot"]
GRANTS = {"capabilities": ["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE"], "inline": True, "slots": SLOTS}
SETUP = ("probe", "stage", "publish")


def with_plugins(function):
    """A /etc/podvol/plugins that is this test's alone."""
    def run(n):
        extra = os.path.join(n.top, "etc")
        os.makedirs(os.path.join(extra, "podvol", "plugins"))
        done = subprocess.run(["mount", "-t", "overlay", "-o", f"lowerdir={extra}:/etc", "overlay", "/etc"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise node.Skip(f"no overlay here: {done.stderr.strip()}")
        try:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "plugins", DIRECTORY], check=True)
            install(n)
            if node.has_clones():  # else what a plugin mounted cannot be moved to podvold's mount namespace
                function(n)
            else:
                refused(n)
        finally:
            subprocess.run(["umount", "-l", "/etc"], check=False)
    run.__name__ = function.__name__
    return run


def with_private_dev(n, function):
    """With a /dev of this test's own, where programs of device mappers make nodes."""
    for name in ("upper", "work"):
        os.mkdir(os.path.join(n.top, name))
    subprocess.run(["mount", "-t", "overlay", "-o", f"lowerdir=/dev,upperdir={n.top}/upper,workdir={n.top}/work",
                    "overlay", "/dev"], check=True)
    try:
        function(n)
    finally:
        subprocess.run(["umount", "-l", "/dev"], check=False)


def refused(n):
    """Instead of each test: podvold runs no plugin whose mounts it could not keep to itself."""
    n.write("a.yaml", pod("p", {"v": inline()}))
    n.start()
    eventually(lambda: "plugins need openat2(), open_tree() and move_mount()" in events(n), what=lambda: events(n))
    equal((n.mounts(), attached(n)), ({}, []))
    n.remove("a.yaml")
    nothing_left(n)


def install(n, name="test", mode=0o755, **grants):
    path = os.path.join(DIRECTORY, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(top=n.top))
    os.chmod(path, mode)
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump({**GRANTS, **grants}, file)
    return path


def do(n, call, text):
    """What the script does first in a call: in this directory, as a shell reads it."""
    with open(os.path.join(n.top, f"new-{call}"), "w", encoding="utf-8") as file:
        file.write(text.format(top=n.top))
    os.rename(os.path.join(n.top, f"new-{call}"), os.path.join(n.top, f"do-{call}"))


def undo(n, call):
    os.unlink(os.path.join(n.top, f"do-{call}"))


def calls(n):
    try:
        with open(os.path.join(n.top, "calls"), encoding="utf-8") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def request(n, call):
    """The last one; two may be written at once."""
    with open(os.path.join(n.top, f"requests-{call}"), encoding="utf-8") as file:
        return json.loads(file.read().splitlines()[-1])


def inline(name="test", **members):
    return {"flexVolume": {"driver": f"podvol.io/{name}", **members}}


def persistent(name, claim_name, **members):
    made = volume(name, "/unused", claim_name)
    for member in ("local", "nodeAffinity"):
        made["spec"].pop(member)
    made["spec"]["flexVolume"] = inline(**members)["flexVolume"]
    return made


def plugin_class(plugin="test", policy="Delete", name="fast", **parameters):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": "podvol/local",
            "reclaimPolicy": policy, "allowVolumeExpansion": True, "parameters": {"plugin": plugin, **parameters}}


def files(n, prefix):
    return sorted(name.removeprefix(prefix) for name in os.listdir(n.top) if name.startswith(prefix))


def attached(n):
    return files(n, "attached-")


def nothing_left(n):
    n.wait_mounts(0)
    eventually(lambda: n.pod_directories() == [] and attached(n) == [], what=lambda: f"{n.pod_directories()}, {attached(n)}")
    staging = os.path.join(n.root, "plugins/podvol.io~exec/mounts")
    equal(os.listdir(staging) if os.path.isdir(staging) else [], [])
    eventually(lambda: processes(n) == [], what=lambda: f"no process, now {processes(n)}")


def processes(n):
    """Of any call for a volume of this node: they have the script's name in their command line, and its lock."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read()
            if n.top.encode() + b"/marker" in line or (
                    DIRECTORY.encode() in line and os.readlink(f"/proc/{pid}/fd/3").startswith(n.top + "/")):
                found.append(int(pid))
        except OSError:
            continue
    return found


def point(n, name):
    return next(at for at in n.mounts() if at.endswith(f"podvol.io~exec/{name}"))


def manual_example():
    """Script, settings and volumes of podvol-plugins(8), as they are shown."""
    with open(os.path.join(node.TOP, "man/podvol-plugins.8"), encoding="utf-8") as file:
        return [part.partition(".Ed")[0].replace("\\e", "\\") for part in file.read().split(".Bd -literal -offset indent\n")[1:]]
