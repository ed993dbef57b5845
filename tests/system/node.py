# SPDX-License-Identifier: Apache-2.0
"""A node of its own for one system test: the built podvold in a private mount namespace.

A test file defines functions named test_..., each taking a fresh Node, and ends with node.main().
main() takes a mount namespace of its own, so that nothing a test mounts is seen outside, runs the
functions in the order of the file and prints TAP. Everything a Node makes lies in one temporary
directory; close() ends the daemon, unmounts what is left below it and removes it, never crossing a
mount. No state is shared between tests.

PODVOL_TEST_WORLD=plain|systemd|crowded says where: systemd boots one as PID 1 (booted.py), with / shared,
crowded fills every node's root directory with another agent's pods and mounts (crowded_root.py), which have
to be as they were when the test ends.
PODVOL_TEST_SANITIZED=DIRECTORY takes podvold from another build, with sanitizers: what they report fails the test.
"""
import ctypes
import errno
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crowded_root  # noqa: E402
import stutter  # noqa: E402

WORLD = os.environ.get("PODVOL_TEST_WORLD") or "plain"
TOP = os.path.realpath(os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.realpath(os.environ.get("top_builddir") or TOP)
# Temporary directories of tests: a real file system, which /tmp may not be.
TEMPORARY = os.environ.get("TMPDIR", "/var/tmp")
# Seconds that anything may take before a test gives up; no test judges by less. Below the 120 after which tests/run
# ends a silent test, so that the test itself says what it waited for.
PATIENCE = 100


# podvolctl itself where libtool's wrapper would be run, a script that starts five programs before it.
LIBRARIES = os.path.join(BUILD, ".libs")
PODVOLCTL = os.path.join(LIBRARIES if os.path.exists(os.path.join(LIBRARIES, "podvolctl")) else BUILD, "podvolctl")


def podvolctl_environment(environment=None):
    """What PODVOLCTL needs in an environment, which is this process' own by default: its library, as the wrapper does."""
    return {**(os.environ if environment is None else environment), "LD_LIBRARY_PATH": LIBRARIES}


OPEN_TREE = 428  # the same on every architecture
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


class Skip(Exception):
    """Raised by a test that cannot run here; says why."""


def eventually(question, seconds=PATIENCE, what="it"):
    """The first true answer; fails after so many seconds, with what, a text or what gives one then.

    A question that fails is asked again, too: about a pod that is not known yet, or a member that is not there yet."""
    end = time.monotonic() + seconds
    while True:
        failed, asked = "", time.monotonic()
        try:
            answer = question()
            if answer:
                return answer
        except (AssertionError, LookupError, StopIteration, TypeError) as failure:
            failed = f"\n{type(failure).__name__}: {failure}"
        if time.monotonic() >= end:
            raise AssertionError(f"not in {seconds} s: {what() if callable(what) else what}{failed}")
        time.sleep(min(max(0.01, time.monotonic() - asked), 0.1))  # a question may be a program, and others run, too


def equal(got, wanted, what=""):
    assert got == wanted, f"{what}: got {got!r}, wanted {wanted!r}"


def loop_devices(top):
    """Those that are attached to a file below a directory, and those on them, whose own file may have been a
    mount that is gone: it says "/" then, and is known by its inode. On top first."""
    done = subprocess.run(["losetup", "--json", "-O", "NAME,BACK-FILE,BACK-INO"], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout or '{"loopdevices": []}')["loopdevices"]
    below = [row["name"] for row in rows if (row["back-file"] or "").startswith(top + "/")]
    inodes = {os.stat(name).st_ino for name in below if os.path.exists(name)}
    return [row["name"] for row in rows if row["name"] not in below and
            (row["back-file"] in below or row["back-file"] == "/" and row["back-ino"] in inodes)] + below


ports = []  # sockets


def free_port():
    """A TCP port of 127.0.0.1 that no other process gets from the kernel: bound here, as podvold also allows, to the end."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    ports.append(held)
    return held.getsockname()[1]


def mountinfo(below, pid="self"):
    """{mount point: (mount id, file system type, options)} of what is mounted below a directory."""
    found = {}
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            left, _, right = line.partition(" - ")
            fields = left.split(" ")
            point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
            if point.startswith(below.rstrip("/") + "/"):
                found[point] = (int(fields[0]), right.split(" ")[0], fields[5])
    return found


class Connection(http.client.HTTPConnection):
    """HTTP by the unix socket at a path."""

    def __init__(self, path, seconds=PATIENCE):
        super().__init__("podvol", timeout=seconds)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


# ---- objects, as dictionaries: JSON is a manifest, too ----

def ask(n, path, method="GET", body=None, accept="application/json"):
    """One request to the socket by this process, for what tests ask again and again: its status and the body.

    A podvolctl or curl takes a hundred times the processor time of that."""
    content = "" if body is None else json.dumps(body)
    lines = (f"{method} {path} HTTP/1.0", "Host: podvol", f"Accept: {accept}", "Content-Type: application/json",
             f"Content-Length: {len(content)}", "", content)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(n.socket)
            connection.sendall("\r\n".join(lines).encode())
            head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
    except OSError as error:
        raise AssertionError(f"{method} {path}: {error}") from error
    assert head, f"{method} {path}: no answer"
    return int(head.split()[1]), body.decode()


def read(n, path):
    """The object at a path; None: there is none."""
    code, text = ask(n, path)
    assert code in (200, 404), f"GET {path}: {code} {text}"
    return json.loads(text) if code == 200 else None


# {plural, singular or short name: path of its objects}: of views, and once asked for of all kinds.
known_kinds = {name: f"/podvol/v1/{name}"
               for name in ("volumes", "operations", "steps", "manifests", "statistics", "holds", "drivers")}
known_kinds["stats"] = known_kinds["statistics"]


def get(n, kind, name=None, everywhere=False):
    """What podvolctl get prints as JSON: an object of the namespace `default`, None if there is none, or a list.

    Rows of views are those of all namespaces."""
    if kind not in known_kinds:
        known_kinds.update(kinds(n))
    path = known_kinds[kind].replace("/namespaces/default", "" if everywhere else "/namespaces/default")
    return read(n, path + (f"/{name}" if name else ""))


def kinds(n):
    discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    found = {}
    for top in ("/api", "/apis"):
        for group in json.loads(ask(n, top, accept=discovery)[1])["items"]:
            for version in reversed(group["versions"]):  # the preferred one is the first
                for row in version["resources"]:
                    path = "/".join([top, *filter(None, [group["metadata"].get("name")]), version["version"],
                                     *(["namespaces/default"] if row["scope"] == "Namespaced" else []), row["resource"]])
                    found.update(dict.fromkeys([row["resource"], row["singularResource"], *row.get("shortNames", [])], path))
    return found


def events(n):
    """What podvolctl get events prints, a line for each, without its columns' widths and times."""
    return "\n".join(f"{e['type']} {e['reason']} {e['involvedObject']['kind'].lower()}/{e['involvedObject']['name']} "
                     f"{e['message']}" for e in get(n, "events")["items"])


def curl_text(n, path, *options):
    """One request to the socket: its status and the body of the answer."""
    command = ["curl", "-sS", "--unix-socket", n.socket, "-w", "\n%{http_code}", *options, f"http://podvol{path}"]
    text, _, code = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.rpartition("\n")
    return int(code), text


def curl(n, method, path, body=None):
    """The same with an object, and its answer as one."""
    content = [] if body is None else ["-H", "Content-Type: application/json", "--data-binary", json.dumps(body)]
    code, text = curl_text(n, path, "-X", method, *content)
    return code, json.loads(text)


def has_clones():
    """Are there mounts in no namespace, by open_tree? tests/as-kernel takes the call away."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(OPEN_TREE, -1, None, 0) < 0 and ctypes.get_errno() != errno.ENOSYS


def source(data, name, content="content"):
    """A directory to be the source of a local volume, with one file."""
    path = os.path.join(data, name)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "file"), "w", encoding="utf-8") as file:
        file.write(content)
    return path


def volume(name, path, claim=None, **spec):
    """A PersistentVolume on a local path, bound beforehand to the claim of the same name."""
    affinity = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "storageClassName": "",
        "persistentVolumeReclaimPolicy": "Retain", "local": {"path": path},
        "claimRef": {"namespace": "default", "name": claim or name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [affinity]}]}}, **spec}}


def claim(name, volume_name=None):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": volume_name or name,
        "resources": {"requests": {"storage": "1Gi"}}}}


def pod(name, volumes, **spec):
    """A pod with one container that uses all of {volume name: source}; see claimed()."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "containers": [{"name": "main", "image": "none", "volumeMounts": [
            {"name": v, "mountPath": f"/{v}"} for v in volumes]}],
        "volumes": [{"name": v, **source} for v, source in volumes.items()], **spec}}


def claimed(name, read_only=False):
    return {"persistentVolumeClaim": {"claimName": name, "readOnly": read_only}}


class Node:
    """Directories for one podvold, and that podvold."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="podvol-system.", dir=TEMPORARY)
        self.root, self.state, self.run, self.manifests, self.data = (
            os.path.join(self.top, name) for name in ("root", "state", "run", "manifests", "data"))
        for directory in (self.root, self.state, self.run, self.manifests, self.data):
            os.mkdir(directory)
        self.socket = os.path.join(self.run, "podvol.sock")
        self.log = os.path.join(self.top, "log")
        self.config = os.path.join(self.top, "podvold.conf")  # and not the machine's own
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("log-level: info\n")
        self.program = os.path.join(os.environ.get("PODVOL_TEST_SANITIZED") or BUILD, "podvold")
        self.process = None
        self.crowd = crowded_root.Crowd(self.root, os.path.join(self.top, "crowd")) if WORLD == "crowded" else None

    # -- the daemon --

    def command(self, *arguments):
        return [self.program, f"--config={self.config}", f"--root-dir={self.root}",
                f"--state-dir={self.state}", f"--run-dir={self.run}", f"--manifest-dir={self.manifests}",
                "--node-name=node", *arguments]

    def start(self, *arguments, wrapper=(), wait=True, pass_fds=()):
        """Starts podvold, behind wrapper (such as strace -D ...), and waits for its ready notice."""
        notice = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = os.path.join(self.top, "notify")
        if os.path.exists(path):
            os.unlink(path)
        notice.bind(path)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*wrapper, *self.command(*arguments)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, pass_fds=pass_fds,
                                            env={**os.environ, "NOTIFY_SOCKET": path, **self.sanitizer_options()})
        stutter.begin(self.process)
        if wait:
            self.wait_ready(notice)
        notice.close()

    def wait_ready(self, notice):
        end = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, f"podvold ended with {self.process.returncode}:\n{self.said()}"
            assert time.monotonic() < end, f"podvold is not ready after {PATIENCE} s:\n{self.said()}"
            if select.select([notice], [], [], 0.05)[0] and b"READY=1" in notice.recv(4096).split(b"\n"):
                return

    def end(self, how=signal.SIGTERM, seconds=PATIENCE):
        """Ends the daemon by a signal; its exit status, negative when killed."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(seconds)

    def stop(self):
        equal(self.end(), 0, f"exit status after SIGTERM; it said:\n{self.said()}")

    def kill(self):
        self.end(signal.SIGKILL)

    def drain(self):
        return subprocess.run(self.command("--drain"), capture_output=True, text=True, timeout=PATIENCE)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def resident_bytes(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith(field))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # -- the command --

    def ctl(self, *arguments, status=0, **more):
        """podvolctl with its socket; fails unless it exits with the status (None: any)."""
        done = subprocess.run([PODVOLCTL, f"--socket={self.socket}", *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, **{**more, "env": podvolctl_environment(more.get("env"))})
        assert status is None or done.returncode == status, (
            f"podvolctl {' '.join(arguments)}: exit status {done.returncode}, not {status}\n"
            f"{done.stdout}{done.stderr}")
        return done

    def start_ctl(self, *arguments, **more):
        """The same, running."""
        return subprocess.Popen([PODVOLCTL, f"--socket={self.socket}", *arguments],
                                **{**more, "env": podvolctl_environment(more.get("env"))})

    def wait(self, name):
        """Until the pod of a manifest just written is known, and its volumes are mounted."""
        eventually(lambda: get(self, "pods", name), what=f"pod {name}")
        self.ctl("wait", name)

    def volumes(self):
        """The rows of `podvolctl get volumes`, as dictionaries."""
        return get(self, "volumes")["items"]

    def states(self):
        """{(pod, volume): state}"""
        return {(row["pod"].rpartition("/")[2], row["volume"]): row["state"] for row in self.volumes()}

    def metric(self, name):
        """The number of a metric without labels."""
        code, text = ask(self, "/metrics")
        found = re.search(rf"^{name} (\d+)$", text, re.M)
        assert code == 200 and found, f"no {name} in the answer {code}: {text}"
        return int(found[1])

    def wait_sync_loop(self, change):
        """Until a whole turn of the sync loop has followed a change of the store."""
        before = self.metric("podvol_sync_loops_total")
        change()
        eventually(lambda: self.metric("podvol_sync_loops_total") > before, what="a turn of the sync loop")

    def settle(self, rounds=2):
        """Until podvold has acted on all that happened before: two turns of its loop a round, and no thread works.

        What is as it was after that stays so: instead of a sleep, where nothing is to happen. An idle loop does not
        turn, so an object that no pod uses comes and goes."""
        path = "/api/v1/namespaces/default/configmaps"

        def expect(status, *request):
            equal(ask(self, *request)[0], status, request)
        for _ in range(rounds):
            self.wait_sync_loop(lambda: expect(201, path, "POST", {"metadata": {"name": "sync-loop"}}))
            self.wait_sync_loop(lambda: expect(200, f"{path}/sync-loop", "DELETE"))
            eventually(lambda: not self.works(), what="threads that have nothing to do")

    def works(self):
        """Has a thread something to do, those aside that hang?"""
        pools = json.loads(ask(self, "/podvol/v1/threads")[1])["items"]
        return any(pool["waiting"] or pool["running"] > pool["hanging"] for pool in pools)

    # -- manifests and mounts --

    def write(self, name, *objects):
        """A manifest, put in place by rename; objects are dictionaries or text."""
        text = "\n---\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)
        hidden = os.path.join(self.manifests, f".{name}.new")
        with open(hidden, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(hidden, os.path.join(self.manifests, name))

    def remove(self, name):
        os.unlink(os.path.join(self.manifests, name))

    def source(self, name, content="content"):
        return source(self.data, name, content)

    def volume_lock(self, path):
        """The file that is locked while the volume in this directory is backed up, restored, copied or removed."""
        status = os.stat(path)
        return os.path.join(self.run, "volume-locks", f"{status.st_dev:x}-{status.st_ino:x}")

    def mounts(self):
        """What is mounted below the root directory, as mountinfo(), without the crowd's."""
        others = self.crowd.points if self.crowd else ()
        return {point: entry for point, entry in mountinfo(self.root).items() if point not in others}

    def mount_lines(self):
        """The same mount points, each as often as something is mounted there: stacked ones have the same."""
        others = self.crowd.points if self.crowd else ()
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            points = [line.split(" ")[4] for line in file]
        return [point for point in points if point.startswith(self.root + "/") and point not in others]

    def mount_ids(self):
        return {point: entry[0] for point, entry in self.mounts().items()}

    def wait_mounts(self, count):
        eventually(lambda: len(self.mounts()) == count, what=lambda: f"{count} mounts, now {self.mounts()}")

    def wait_states(self, wanted):
        eventually(lambda: self.states() == wanted, what=lambda: f"{wanted}, now {self.states()}")

    def pod_directories(self):
        try:
            others = self.crowd.uids if self.crowd else ()
            return sorted(set(os.listdir(os.path.join(self.root, "pods"))) - set(others))
        except FileNotFoundError:
            return []

    def check_crowd(self):
        """Fails when anything of another agent's has changed."""
        if self.crowd:
            self.crowd.check()

    # -- the end --

    def sanitizer_options(self):
        """Where sanitizers of podvold, if it has any, write what they find."""
        return {name: f"{os.environ.get(name, '')}:log_path={self.top}/sanitizer" for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}

    def sanitizers_said(self):
        """What they have found so far."""
        said = ""
        for name in sorted(name for name in os.listdir(self.top) if name.startswith("sanitizer.")):
            with open(os.path.join(self.top, name), encoding="utf-8", errors="replace") as file:
                said += file.read()
        return said

    def check_sanitizers(self):
        equal(self.sanitizers_said(), "", "reports of podvold's sanitizers")

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        for point in sorted(mountinfo(self.top), key=len, reverse=True):
            crowded_root.unmount(point)
        for device in loop_devices(self.top):
            subprocess.run(["losetup", "--detach", device], check=False)
        if not mountinfo(self.top):
            # What a runtime left behind for a moment (podman cleans up in the background) may still write there.
            eventually(lambda: subprocess.run(["rm", "-rf", "--one-file-system", self.top], check=False).returncode == 0,
                       what=f"{self.top} can be removed")


# ---- running a file of tests ----

def require_root():
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root: it mounts")
        sys.exit(0)


def enter_namespace():
    """Goes on in a mount namespace of its own, entered once; or starts the file again beneath a systemd of its own."""
    if os.environ.get("PODVOL_TEST_NAMESPACE") in ("private", "systemd"):
        return
    if WORLD == "systemd":
        import booted  # it needs this module
        sys.exit(booted.run_tests([os.path.realpath(sys.argv[0]), *sys.argv[1:]]))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) < 0 or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) < 0:
        raise OSError(ctypes.get_errno(), "cannot enter a mount namespace")
    os.environ["PODVOL_TEST_NAMESPACE"] = "private"


def run_one(number, name, function):
    node = Node()
    try:
        function(node)
        node.check_crowd()
        node.check_sanitizers()
        print(f"ok {number} - {name}")
        return True
    except Skip as skip:
        print(f"ok {number} - {name} # SKIP {skip}")
        return True
    except Exception as error:  # whatever it is, the next test runs
        print(f"not ok {number} - {name}")
        where = [f"{os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}"
                 for frame in traceback.extract_tb(error.__traceback__)[1:]]
        said = (node.said()[-4000:] if os.path.exists(node.log) else "") + node.sanitizers_said()
        print("\n".join(f"# {line}" for text in (*where, f"{type(error).__name__}: {error}", "-- podvold:", said)
                        for line in text.splitlines()))
        return False
    finally:
        try:
            node.close()
        except OSError as error:
            print(f"# cleaning up: {errno.errorcode.get(error.errno)}: {error}")
        sys.stdout.flush()


def main(functions, private=True):
    """Runs what globals() holds under names that begin with test_; arguments choose some of them."""
    require_root()
    # A shell starts what runs in the background with SIGINT ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if private:
        enter_namespace()
    tests = [(name, f) for name, f in functions.items() if name.startswith("test_") and callable(f)
             and (len(sys.argv) < 2 or name in sys.argv[1:])]
    print(f"1..{len(tests)}", flush=True)
    results = [run_one(number, name, function) for number, (name, function) in enumerate(tests, 1)]
    sys.exit(0 if all(results) else 1)
