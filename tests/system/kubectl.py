# SPDX-License-Identifier: Apache-2.0
"""kubectl as a test client: the newest on PATH and Debian 12's 1.20, against the socket of one node.

kubectl knows no unix sockets, so a Server carries bytes from a port of 127.0.0.1 to the socket and back.
Debian's package collides with other kubectls on a machine; it is unpacked beside, never installed, and
kept in PODVOL_TEST_CACHE (or the build directory) for the next run.
"""
import fcntl
import glob
import os
import shutil
import socket
import subprocess
import threading

import node

CACHE = os.environ.get("PODVOL_TEST_CACHE") or os.path.join(node.BUILD, "tests/cache")


def newest():
    """The kubectl on PATH."""
    path = shutil.which("kubectl")
    if not path:
        raise node.Skip("there is no kubectl on PATH")
    return path


def fetch(directory):
    """Debian's package, unpacked there; apt needs a mirror for that."""
    fetched = os.path.join(CACHE, "download")
    os.makedirs(fetched, exist_ok=True)
    done = subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "kubernetes-client"],
                          cwd=fetched, capture_output=True, text=True, timeout=node.PATIENCE, check=False)
    packages = glob.glob(os.path.join(fetched, "kubernetes-client_*.deb"))
    if done.returncode != 0 or not packages:
        raise node.Skip(f"apt-get cannot fetch kubernetes-client: {done.stderr.strip()[:200]}")
    partial = directory + ".new"
    shutil.rmtree(partial, ignore_errors=True)
    subprocess.run(["dpkg", "-x", packages[0], partial], check=True, timeout=node.PATIENCE)
    os.rename(partial, directory)
    os.unlink(packages[0])


def oldest():
    """Debian 12's, fetched once, by the first of the tests that run at the same time."""
    directory = os.path.join(CACHE, "kubernetes-client")
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "kubernetes-client.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(directory):
            fetch(directory)
    return os.path.join(directory, "usr/bin/kubectl")


def carry(source, target):
    """Bytes of one direction until its end."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass  # the other direction ended it
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server:
    """A port of 127.0.0.1 that leads to the unix socket of a node, while the block lasts."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            inner = socket.socket(socket.AF_UNIX)
            try:
                inner.connect(self.path)
            except OSError:
                client.close()
                continue
            for pair in ((client, inner), (inner, client)):
                threading.Thread(target=carry, args=pair, daemon=True).start()


class Kubectl:
    """One kubectl with a home of its own, so that nothing of the machine's configuration is seen."""

    def __init__(self, n, program, server):
        self.program, self.server = program, server
        self.home = os.path.join(n.top, f"home-{len(os.listdir(n.top))}")
        os.mkdir(self.home)

    def run(self, *arguments, status=0, **more):
        """The finished process; fails unless it exits with the status (None: any)."""
        done = subprocess.run([self.program, f"--server={self.server.url}", *arguments], capture_output=True,
                              text=True, timeout=node.PATIENCE, env={"HOME": self.home, "KUBECONFIG": "/dev/null",
                                                          "PATH": os.environ["PATH"]}, check=False, **more)
        assert status is None or done.returncode == status, (
            f"{self.program} {' '.join(arguments)}: exit status {done.returncode}, not {status}\n"
            f"{done.stdout}{done.stderr}")
        return done

    def out(self, *arguments, **more):
        return self.run(*arguments, **more).stdout
