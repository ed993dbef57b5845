# SPDX-License-Identifier: Apache-2.0
"""Programs in Go that tests need, of Debian's packages, each compiled once for a build."""
import fcntl
import os
import subprocess

import node

GO_PATH = "/usr/share/gocode"
CACHE = os.path.join(node.BUILD, "tests/cache")


def build(name, source, *packages):
    """The program's path. One at a time: the packages that two of them need are compiled for the first."""
    path = os.path.join(CACHE, name)
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "go.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(source):
            return path
        for package in packages:
            if not os.path.isdir(os.path.join(GO_PATH, "src", package)):
                raise node.Skip(f"{package} is not installed in {GO_PATH}")
        print(f"# compiling {name}", flush=True)
        subprocess.run(["go", "build", "-o", path, source], check=True, env={
            **os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": GO_PATH, "GOCACHE": os.path.join(CACHE, "go")})
    return path
