# SPDX-License-Identifier: Apache-2.0
"""The host's own systemd as PID 1 of fresh namespaces, on a throw-away overlay of /, for as long as a with-block."""
import os
import subprocess
import sys
import tempfile

import node

PROGRAM = os.path.join(node.TOP, "tests/system/systemd-as-pid1")
# /dev is made again in there and has no loop devices; a test file's own places are this machine's.
PREPARE_TESTS = """
	mknod /dev/loop-control c 10 237; mknod /dev/fuse c 10 229
	for n in $(seq 0 63); do mknod "/dev/loop$n" b 7 "$n"; done
	for d in {places}; do mkdir -p "$d"; mount --bind "/mnt/.old$d" "$d"; done
"""
ENVIRONMENT = ("top_srcdir", "top_builddir", "PODVOL_TEST_WORLD", "PODVOL_TEST_KILLS", "PODVOL_TEST_SEED", "PODVOL_TEST_LIVES")


class Booted:
    def __init__(self, work, prepare):
        self.work, self.prepare = work, prepare

    def __enter__(self):
        if not os.path.exists("/lib/systemd/systemd"):
            raise node.Skip("systemd is not installed")
        self.process = subprocess.Popen([PROGRAM, "boot", self.work, self.prepare])
        try:
            node.eventually(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip()
                            in ("running", "degraded"), what="a running systemd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.run("systemctl", "poweroff", "--force", check=False)
        try:
            self.process.wait(node.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with open(os.path.join(self.work, "cgroup"), encoding="utf-8") as file:
            group = file.read().strip()
        for where, _, _ in os.walk(group, topdown=False):
            node.eventually(lambda: removed(where), what=f"the end of {where}")

    def run(self, *command, check=True):
        done = subprocess.run([PROGRAM, "run", self.work, *command], capture_output=True, text=True, timeout=node.PATIENCE)
        assert not check or done.returncode == 0, (
            f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}\n{self.journal()}")
        return done

    def journal(self):
        return self.run("journalctl", "-u", "podvol.service", "--no-pager", check=False).stdout

    def pid(self):
        return int(subprocess.run([PROGRAM, "pid", self.work], capture_output=True, text=True,
                                  check=True).stdout)


def removed(directory):
    try:
        os.rmdir(directory)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def run_tests(arguments):
    """Runs a file of tests in there, where / is shared and PID 1 looks at every mount; its exit status."""
    work = tempfile.mkdtemp(prefix="podvol-systemd.", dir=node.TEMPORARY)
    places = " ".join(dict.fromkeys((node.TOP, node.BUILD, node.TEMPORARY)))
    try:
        with Booted(work, PREPARE_TESTS.format(places=places)) as booted:
            node.equal(booted.run("findmnt", "-n", "-o", "PROPAGATION", "/").stdout.strip(), "shared", "propagation of /")
            kept = [f"{name}={os.environ[name]}" for name in ENVIRONMENT if name in os.environ]
            return subprocess.run([PROGRAM, "run", booted.work, "env", "PODVOL_TEST_NAMESPACE=systemd", *kept,
                                   f"TMPDIR={node.TEMPORARY}", sys.executable, *arguments], check=False).returncode
    except node.Skip as skip:
        print(f"1..0 # SKIP {skip}")
        return 0
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)
