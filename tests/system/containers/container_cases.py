# SPDX-License-Identifier: Apache-2.0
"""Containers that run on podvold's volumes: the same cases for each runtime, by the words of its format.

A runtime is a class of containers.py. A case takes a fresh node and a runtime, asks `podvolctl mounts`
for what the container is to be given, runs a shell in a container with that and nothing else, and looks
at what came of it from both sides.
"""
import ctypes
import errno
import os
import subprocess

import containers
from node import Skip, claim, claimed, equal, eventually, pod, volume

TRY_WRITE = "(echo x > {0}/new) && echo wrote || true; "


def container(name, mounts, **more):
    return {"name": name, "volumeMounts": [{"name": v, "mountPath": p, **m} for v, p, m in mounts], **more}


def apply(n, *objects):
    n.write("given.json", *objects)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def mounted_tmpfs(*path):
    directory = os.path.join(*path)
    os.makedirs(directory, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", directory], check=True)
    return directory


def host_path(directory):
    return {"hostPath": {"path": directory}}


def private_directory(n, name):
    """A directory that is a mount of its own and no peer of any other; shared, so that mounts go in."""
    directory = os.path.join(n.data, name)
    os.makedirs(directory, exist_ok=True)
    subprocess.run(["mount", "--bind", directory, directory], check=True)
    subprocess.run(["mount", "--make-shared", directory], check=True)
    return directory


# ---- the cases ----

def reads_and_writes(n, runtime):
    """Every kind of volume in one pod: persistent, read-only, emptyDir on disk and in memory, hostPath."""
    srv = n.source("srv", "of the host")
    apply(n, volume("data", n.source("data")), claim("data"), volume("fixed", n.source("fixed", "is fixed")),
          claim("fixed"),
          pod("web", {"data": claimed("data"), "fixed": claimed("fixed", read_only=True), "disk": {"emptyDir": {}},
                      "fast": {"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}, "srv": host_path(srv)}))
    n.start()
    said = runtime.run(n, "web", "main", "cat /data/file; " + TRY_WRITE.format("/fixed") + "cat /fixed/file; "
                       "echo of the container > /data/new; echo on disk > /disk/new; echo in memory > /fast/new; "
                       "cat /srv/file; grep ' /fast ' /proc/self/mounts")
    assert "content" in said and "Read-only file system" in said and "is fixed" in said, said
    assert "of the host" in said and " tmpfs " in said, said
    path = {row["volume"]: row["path"] for row in n.volumes()}
    equal(read(n.data, "data", "new"), "of the container\n")
    equal(read(path["disk"], "new"), "on disk\n")
    equal(read(path["fast"], "new"), "in memory\n")
    assert not os.path.exists(os.path.join(n.data, "fixed", "new"))


def each_container_has_its_own(n, runtime):
    """What an init container wrote the next one sees, read-only; neither has the other's mounts."""
    spec = {"initContainers": [container("first", [("shared", "/out", {})])],
            "containers": [container("main", [("shared", "/in", {"readOnly": True})])]}
    apply(n, pod("web", {"shared": {"emptyDir": {}}}, **spec))
    n.start()
    runtime.run(n, "web", "first", "echo made first > /out/file; test ! -e /in")
    said = runtime.run(n, "web", "main", "cat /in/file; test ! -e /out; " + TRY_WRITE.format("/in"))
    assert "made first" in said and "Read-only file system" in said, said


def sub_paths(n, runtime):
    """A directory that is there, one that is not, a file, one by variables; and no way beside them."""
    source = n.source("data")
    os.makedirs(os.path.join(source, "there"))
    write("of there", source, "there", "file")
    main = container("main", [("data", "/there", {"subPath": "there", "readOnly": True}), ("data", "/made", {"subPath": "a/b"}),
                              ("data", "/etc/one", {"subPath": "file"}), ("data", "/mine", {"subPathExpr": "pods/$(POD)"})],
                     env=[{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
    apply(n, volume("data", source), claim("data"), pod("web", {"data": claimed("data")}, containers=[main]))
    n.start()
    said = runtime.run(n, "web", "main", "cat /there/file /etc/one; echo x > /made/new; echo y > /mine/new; "
                       "ls /made/..; " + TRY_WRITE.format("/there"))
    assert "of there" in said and "content" in said and "Read-only file system" in said, said
    equal(read(source, "a", "b", "new"), "x\n")
    equal(read(source, "pods", "web", "new"), "y\n")


def has_mount_setattr():
    """Runtimes idmap mounts and make them read-only recursively by it; kernels before 5.12 and old filters lack it."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(442, -1, b"", 0, None, 0) == 0 or ctypes.get_errno() != errno.ENOSYS


def recursive_read_only(n, runtime):
    """A mount below the volume is writable through a read-only mount, unless it is so recursively."""
    if not has_mount_setattr():
        raise Skip("no mount_setattr here: the runtime cannot make a mount read-only recursively")
    top = private_directory(n, "top")
    mounted_tmpfs(top, "below")
    modes = [m for m in ("Disabled", "IfPossible", "Enabled") if m not in runtime.no_recursive]
    main = container("main", [("top", f"/{m}", {"readOnly": True, "recursiveReadOnly": m}) for m in modes])
    apply(n, pod("web", {"top": host_path(top)}, containers=[main]))
    n.start()
    for mode in modes:
        said = runtime.run(n, "web", "main", TRY_WRITE.format(f"/{mode}") + TRY_WRITE.format(f"/{mode}/below"))
        wrote = runtime.recursive[mode] == "writable below"
        equal((said.count("Read-only file system"), said.count("wrote")), (1, 1) if wrote else (2, 0), f"{mode}: {said}")
    write("the host's own mounts are as before", top, "from-host")
    write("the host's own mounts are as before", top, "below", "from-host")


def recursive_read_only_is_refused(n, runtime):
    """What the runtime has no words for is reported, and not left out."""
    main = container("main", [("e", "/e", {"readOnly": True, "recursiveReadOnly": "Enabled"})])
    apply(n, pod("web", {"e": {"emptyDir": {}}}, containers=[main]))
    n.start()
    done = runtime.ask(n, "web", "main", status=1)
    assert "recursiveReadOnly Enabled" in done.stderr, done.stderr


def propagation_from_the_host(n, runtime):
    """A mount that comes later beneath the volume appears by HostToContainer, and by nothing else."""
    top = private_directory(n, "top")
    os.mkdir(os.path.join(top, "below"))
    main = container("main", [("top", "/seen", {"mountPropagation": "HostToContainer"}), ("top", "/not", {}),
                              ("talk", "/talk", {})])
    apply(n, pod("web", {"top": host_path(top), "talk": {"emptyDir": {}}}, containers=[main]))
    n.start()
    process = runtime.start(n, "web", "main", "echo > /talk/runs; while [ ! -e /talk/go ]; do usleep 20000; done; "
                            "ls /seen/below; echo without:; ls /not/below")
    talk = next(row["path"] for row in n.volumes() if row["volume"] == "talk")
    eventually(lambda: os.path.exists(os.path.join(talk, "runs")) or process.poll() is not None, what="the container")
    late = mounted_tmpfs(top, "below")
    write("late", late, "came-late")
    write("", talk, "go")
    said = runtime.end(process)
    seen, _, other = said.partition("without:")
    assert "came-late" in seen, said
    equal("came-late" in other, not runtime.none_is_private, f"without propagation: {said}")


def propagation_to_the_host(n, runtime):
    """What a privileged container mounts beneath a Bidirectional mount appears on the host."""
    top = private_directory(n, "top")
    os.mkdir(os.path.join(top, "below"))
    main = container("main", [("top", "/top", {"mountPropagation": "Bidirectional"})], securityContext={"privileged": True})
    apply(n, pod("web", {"top": host_path(top)}, containers=[main]))
    n.start()
    runtime.run(n, "web", "main", "mount -t tmpfs tmpfs /top/below; echo inside > /top/below/file", privileged=True)
    equal(read(top, "below", "file"), "inside\n")


def block_device(n, runtime):
    """Volume mode Block: the device itself, which a container reads and writes."""
    image = os.path.join(n.data, "image")
    with open(image, "wb") as file:
        file.write(b"the first sector".ljust(1 << 20, b"\0"))
    done = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"no loop device: {done.stderr.strip()}")
    loop = done.stdout.strip()
    try:
        disk = claim("disk")
        disk["spec"]["volumeMode"] = "Block"
        main = {"name": "main", "volumeDevices": [{"name": "disk", "devicePath": "/dev/xvda"}]}
        apply(n, volume("disk", loop, volumeMode="Block"), disk, pod("web", {"disk": claimed("disk")}, containers=[main]))
        n.start()
        said = runtime.run(n, "web", "main", "test -b /dev/xvda; head -c 16 /dev/xvda; echo; "
                           "printf 'and the second' | dd of=/dev/xvda bs=512 seek=1 conv=notrunc 2>/dev/null; sync")
        assert "the first sector" in said, said
        with open(loop, "rb") as file:
            equal(file.read(512 + 14)[512:], b"and the second")
        n.remove("given.json")
        n.wait_states({})
    finally:
        subprocess.run(["losetup", "--detach", loop], check=False)


def noexec(n, runtime):
    """Mount options of the volume hold on the host and in the container, also where that remounts it read-only."""
    source = n.source("data")
    write("#!/bin/sh\necho was run\n", source, "program")
    os.chmod(os.path.join(source, "program"), 0o755)
    mounts = [("data", "/data", {})] + ([("data", "/fixed", {"readOnly": True})] if runtime.keeps_flags else [])
    flags = ("noexec", "nosuid", "nodev")
    apply(n, volume("data", source, mountOptions=["noexec,nosuid", "nodev"]), claim("data"),
          pod("web", {"data": claimed("data")}, containers=[container("main", mounts)]))
    n.start()
    n.wait_states({("web", "data"): "mounted"})
    set_on_host = os.statvfs(n.volumes()[0]["path"]).f_flag
    assert all(set_on_host & flag for flag in (os.ST_NOEXEC, os.ST_NOSUID, os.ST_NODEV)), set_on_host
    for _, path, _ in mounts:
        said = runtime.run(n, "web", "main", f"{path}/program 2>&1 || true; grep ' {path} ' /proc/self/mounts")
        assert "was run" not in said and "ermission denied" in said and all(flag in said for flag in flags), f"{path}: {said}"


def groups(n, runtime):
    """The group of a volume's annotation (case 346) and fsGroup are groups of the process."""
    shared = volume("shared", n.source("shared"))
    shared["metadata"]["annotations"] = {"pv.beta.kubernetes.io/gid": "54321"}
    os.chown(os.path.join(n.data, "shared"), 0, 54321)
    os.chmod(os.path.join(n.data, "shared"), 0o770)
    apply(n, shared, claim("shared"), pod("web", {"shared": claimed("shared")}))
    n.start()
    said = runtime.run(n, "web", "main", "id; echo x > /shared/new", user=1000)
    assert "54321" in said, said
    equal(os.stat(os.path.join(n.data, "shared", "new")).st_uid, 1000, "owner of what the process wrote")


def user_namespace(n, runtime):
    """hostUsers: false: ids on the volumes are those that the container sees, in every kind of volume."""
    if not has_mount_setattr():
        raise Skip("no mount_setattr here: the runtime cannot idmap a mount")
    os.chmod(n.top, 0o755)
    source = n.source("data")
    os.chown(os.path.join(source, "file"), 7, 8)
    volumes = {"data": claimed("data"), "disk": {"emptyDir": {}}, "fast": {"emptyDir": {"medium": "Memory"}},
               "srv": host_path(n.source("srv", "of the host"))}
    mounts = [("data", "/data", {}), ("data", "/fixed", {"readOnly": True}), ("data", "/part", {"subPath": "part"}),
              *((name, f"/{name}", {}) for name in ("disk", "fast", "srv"))]
    apply(n, volume("data", source), claim("data"),
          pod("web", volumes, containers=[container("main", mounts)], hostUsers=False))
    n.start()
    said = runtime.run(n, "web", "main", "ls -ln /data/file /fixed/file; cat /proc/self/uid_map; " + TRY_WRITE.format("/fixed")
                       + "for d in data part disk fast srv; do echo x > /$d/new; done", userns=True)
    assert f" {containers.FIRST_ID} " in said, f"no user namespace: {said}"
    for path in ("/data/file", "/fixed/file"):
        line = next(line for line in said.splitlines() if line.endswith(path)).split()
        equal(line[2:4], ["7", "8"], f"owner that the container sees of {path}")
    assert "Read-only file system" in said, said
    paths = {row["volume"]: row["path"] for row in n.volumes()}
    for path in (source, os.path.join(source, "part"), paths["disk"], paths["fast"], os.path.join(n.data, "srv")):
        found = os.stat(os.path.join(path, "new"))
        equal((found.st_uid, found.st_gid), (0, 0), f"owner on the disk of what root in the container wrote to {path}")


def user_namespace_is_refused(n, runtime):
    """Where a runtime cannot idmap a mount, hostUsers: false is refused and nothing is printed."""
    apply(n, pod("web", {"disk": {"emptyDir": {}}}, hostUsers=False))
    n.start()
    done = runtime.ask(n, "web", "main", status=1)
    assert "cannot express idmapped mounts, which hostUsers: false asks for" in done.stderr, done.stderr
    equal(done.stdout, "")


def odd_paths(n, runtime):
    """Blanks, commas, quotes, colons and backslashes in paths on both sides."""
    mounts = []
    volumes = {}
    for at, name in enumerate(("a b", "c,d", 'e"f', "g:h", "i\\j", "k=l", "$m'n")):
        directory = os.path.join(n.data, name)
        os.makedirs(directory)
        write(f"file {at}", directory, "file")
        volumes[f"v{at}"] = host_path(directory)
        mounts.append((f"v{at}", f"/to {name}", {}))
    apply(n, pod("web", volumes, containers=[container("main", mounts)]))
    n.start()
    said = runtime.run(n, "web", "main", "for d in /to*; do cat \"$d/file\"; echo \" in $d\"; done")
    for at, (_, path, _) in enumerate(mounts):
        assert f"file {at} in {path}\n" in said, f"{path}: {said}"


def lost_flags_are_refused(n, runtime):
    """Where the runtime drops noexec from a mount that it makes read-only, there are no words for such a one."""
    source = n.source("data")
    main = container("main", [("data", "/data", {"readOnly": True})])
    apply(n, volume("data", source, mountOptions=["noexec"]), claim("data"),
          pod("web", {"data": claimed("data")}, containers=[main]))
    n.start()
    done = runtime.ask(n, "web", "main", status=1)
    assert "noexec" in done.stderr, done.stderr
    path = n.volumes()[0]["path"]
    words = [f"--mount=type=bind,source={path},target=/data,readonly"]
    said = subprocess.run(runtime.command(n, "web", "main", "grep ' /data ' /proc/self/mounts", False, 0, words=words),
                          capture_output=True, text=True).stdout
    assert " ro," in said and "noexec" not in said, f"it keeps noexec by now, so it need not be refused: {said}"


CASES = (reads_and_writes, each_container_has_its_own, sub_paths, recursive_read_only, recursive_read_only_is_refused,
         propagation_from_the_host, propagation_to_the_host, block_device, noexec, groups, user_namespace,
         odd_paths)
