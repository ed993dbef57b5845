# SPDX-License-Identifier: Apache-2.0
"""Kills podvold at each system call that changes the world, and looks whether the next start mends it.

What a scenario leads to without a kill is looked at once: mounts, directories, loop devices, rows of the
ledger, open files. After each kill, and one more start, all of it has to be so again; and when the pods
are gone, nothing at all may be left. A second kill may come at any point of the recovery. Beside them lies
a foreign pod, which nothing may touch. Prints one row for each scenario.
"""
import collections
import hashlib
import http.client
import json
import os
import random
import re
import sqlite3
import stat
import subprocess
import time

import node
from node import eventually

STRANGER = "0b8f2d8c-stranger"
STOP_AT = os.path.join(node.TOP, "tests/stop-at")
RECOVERY_CALLS = 60  # a second kill comes within so many


def ask(n, method, path, body=None, plain=False):
    """(status, answer); (0, None) while there is no answer, as the daemon may be killed at any moment."""
    connection = node.Connection(n.socket)
    try:
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json", "Connection": "close"})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, text.decode() if plain else json.loads(text) if text else None
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


def states(n):
    code, answer = ask(n, "GET", "/podvol/v1/volumes")
    if code != 200:
        return None
    return {(row["pod"].rpartition("/")[2], row["volume"]): row["state"] for row in answer["items"]}


def known_volumes(n):
    """Volumes that the daemon has anything of, also where no pod has it any more; None: no answer."""
    code, text = ask(n, "GET", "/metrics", plain=True)
    found = re.search(r"^podvol_known_volumes (\d+)$", text, re.M) if code == 200 else None
    return found and int(found[1])


def is_idle(n):
    """Manifests were read, nothing runs or backs off, and nothing is about to: between the last step of a pod and
    the unmounting of its device, and until the ledger has forgotten it, no operation is shown."""
    if ask(n, "GET", "/readyz", plain=True)[0] != 200:
        return False
    code, answer = ask(n, "GET", "/podvol/v1/operations")
    if code != 200 or answer["items"]:
        return False
    code, answer = ask(n, "GET", "/podvol/v1/volumes")
    return code == 200 and known_volumes(n) == len({row["uniqueName"] for row in answer["items"]})


# ---- what there is ----

def below(directory, contents):
    """{path: facts} below a directory, mount points as such and what is behind them not."""
    found = {}
    device = os.lstat(directory).st_dev
    points = set(node.mountinfo(directory))
    for where, folders, names in os.walk(directory):
        for name in names + folders:
            path = os.path.join(where, name)
            facts = os.lstat(path)
            kind = stat.filemode(facts.st_mode)[0]
            digest = ""
            if contents and kind == "-" and facts.st_dev == device:
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
            found[path] = (kind, digest, os.readlink(path) if kind == "l" and contents else "")
        folders[:] = [f for f in folders if os.path.join(where, f) not in points]
    return found


def ledger_rows(n):
    path = os.path.join(n.run, "ledger.db")
    if not os.path.exists(path):
        return []
    database = sqlite3.connect(path)
    try:
        return database.execute("SELECT unique_name, pod_uid, state FROM entry").fetchall()
    finally:
        database.close()


def settled(n, most=0):
    """Open files of the daemon, the fewest: our own requests come and go. Waits while there are more than most."""
    fewest, end = n.descriptors(), time.monotonic() + (node.PATIENCE / 4 if most else 0.05)
    while time.monotonic() < end and not 0 < fewest <= most:
        time.sleep(0.01)
        fewest = min(fewest, n.descriptors())
    return fewest


def is_crowd_s(n, path):
    """Another agent's, in a world that has one; it manages that by itself."""
    uid = os.path.relpath(path, os.path.join(n.root, "pods")).partition("/")[0]
    return n.crowd is not None and uid in n.crowd.uids


class Snapshot:
    """All that must be the same whether a process was killed on the way or not; uids are named by their pods."""

    def __init__(self, n, scenario, wanted=None):
        code, answer = ask(n, "GET", "/podvol/v1/volumes")
        assert code == 200, code
        uids = {row["podUID"]: row["pod"].rpartition("/")[2] for row in answer["items"]}

        def named(text):
            for uid, name in uids.items():
                text = text.replace(uid, f"<{name}>")
            text = re.sub(r"\.\.\d{4}(_\d\d){5}\.\d+", "..TIME", text.replace(n.top, ""))  # of an atomic write
            text = re.sub(r"pvc-[0-9a-f-]{36}", "PVC", text)  # volumes that were made for claims
            return re.sub(r"/dev/loop\d+|loop\d+\b", "LOOP", text)

        self.mounts = collections.Counter(named(point) for point in n.mount_lines())
        self.files = {named(path): facts for path, facts in below(n.root, contents=False).items()
                      if not is_crowd_s(n, path)}
        self.links = {named(path): named(os.readlink(path)) for path, facts in
                      below(os.path.join(n.run, "by-name"), contents=False).items() if facts[0] == "l"}
        self.loops = len(node.loop_devices(n.top))
        self.descriptors = settled(n, wanted.descriptors if wanted else 0)
        scenario.verify(n)
        n.stop()
        self.ledger = collections.Counter(tuple(named(str(field)) for field in row) for row in ledger_rows(n))


class Row(dict):
    """One line of the table: what was visited and what went wrong."""
    COLUMNS = ("points", "kills", "converged", "leaked mounts", "leaked descriptors", "leaked loop devices",
               "leaked files", "foreign bytes changed")

    def __init__(self, name):
        super().__init__({column: 0 for column in self.COLUMNS})
        self.name, self.problems = name, []

    def compare(self, got, wanted):
        """Adds what is there more than wanted; the words for all that differs."""
        self["leaked mounts"] += sum((got.mounts - wanted.mounts).values())
        self["leaked descriptors"] += max(0, got.descriptors - wanted.descriptors)
        self["leaked loop devices"] += max(0, got.loops - wanted.loops)
        self["leaked files"] += len(set(got.files) - set(wanted.files))
        return [f"{what}: {x!r}, wanted {y!r}" for what, x, y in (
            ("mounts", got.mounts - wanted.mounts, collections.Counter()),
            ("missing mounts", wanted.mounts - got.mounts, collections.Counter()),
            ("files", sorted(set(got.files) ^ set(wanted.files)), []),
            ("links by name", got.links, wanted.links),
            ("loop devices", got.loops, wanted.loops),
            ("rows of the ledger", got.ledger - wanted.ledger, collections.Counter()),
            ("missing rows of the ledger", wanted.ledger - got.ledger, collections.Counter())) if x != y] + (
            [f"descriptors: {got.descriptors}, wanted {wanted.descriptors}"]
            if got.descriptors > wanted.descriptors else [])


def print_table(rows):
    width = max(len(row.name) for row in rows)
    print(f"# {'scenario':{width}} | " + " | ".join(Row.COLUMNS))
    for row in rows:
        print(f"# {row.name:{width}} | " + " | ".join(f"{row[c]:{len(c)}}" for c in Row.COLUMNS), flush=True)


# ---- one life of a node ----

class Life:
    """A node for one pass of a scenario; leaves with the with-block."""

    def __init__(self, scenario):
        self.scenario = scenario

    def __enter__(self):
        self.n = node.Node()
        try:
            self.scenario.fill(self.n)
            add_stranger(self.n)
            self.foreign = foreign(self.n)
            self.scenario.prepare(self.n)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.scenario.clean(self.n)
        finally:
            self.n.close()

    def start(self, nth):
        """Behind stop-at, killed before the nth call; the file with its words."""
        result = os.path.join(self.n.top, "stopped")
        if os.path.exists(result):
            os.unlink(result)
        if os.path.exists(self.n.socket):
            os.unlink(self.n.socket)
        self.n.start(*self.scenario.arguments, wrapper=[STOP_AT, "kill", str(nth), result], wait=False)
        return result

    def run_to_end(self, nth):
        """True when the kill came, False when the scenario was over first."""
        result = self.start(nth)
        self.scenario.begin(self.n)

        def over():
            return self.n.process.poll() is not None or os.path.exists(self.n.socket) and \
                self.scenario.done(self.n) and is_idle(self.n)
        eventually(over, what=lambda: f"neither a kill nor the end of the work: {states(self.n)}")
        self.n.kill()
        eventually(lambda: os.path.exists(result), what="a word of stop-at")
        with open(result, encoding="utf-8") as file:
            self.words = file.read()
        return self.words.startswith("killed")

    def recover(self, wanted=None):
        """A start without a kill leads to where the scenario leads."""
        self.scenario.after(self.n)
        self.n.start()
        self.scenario.recover(self.n)
        eventually(lambda: self.scenario.is_recovered(self.n) and is_idle(self.n),
                   what=lambda: f"the end of the scenario, now {states(self.n)} {node.mountinfo(self.n.root)}")
        return Snapshot(self.n, self.scenario, wanted)

    def bury(self, wanted=None):
        """Without pods nothing is left."""
        self.scenario.remove_all(self.n)
        self.n.start()
        self.scenario.release(self.n)
        eventually(lambda: states(self.n) == {} and set(self.n.pod_directories()) <= {STRANGER} and is_idle(self.n),
                   what=lambda: f"the end of all, now {states(self.n)} {self.n.mount_lines()} {self.n.pod_directories()}")
        return Snapshot(self.n, NOTHING, wanted)


class Nothing:
    def verify(self, n):
        pass


NOTHING = Nothing()


def add_stranger(n):
    volumes = os.path.join(n.root, "pods", STRANGER, "volumes")
    bound, plain = (os.path.join(volumes, name) for name in ("kubernetes.io~local-volume/pv-1", "kubernetes.io~empty-dir/x"))
    for directory in (bound, plain):
        os.makedirs(directory)
    with open(os.path.join(plain, "file"), "w", encoding="utf-8") as file:
        file.write("foreign")
    os.makedirs(os.path.join(n.data, "foreign"))
    subprocess.run(["mount", "--bind", os.path.join(n.data, "foreign"), bound], check=True)


def foreign(n):
    """What is not podvold's: the users' files below data, and the strange pod with its mounts."""
    points = {point: ids for point, ids in n.mount_ids().items() if STRANGER in point}
    return points, below(n.data, contents=True), below(os.path.join(n.root, "pods", STRANGER), contents=True)


class Sweep:
    """All points of one scenario, or some of them; twice: the recovery is killed at a random point as well."""

    def __init__(self, scenario, twice, seed):
        self.scenario, self.twice = scenario, twice
        self.random = random.Random(f"{scenario.name} {seed}")
        self.row = Row(scenario.name + (", twice" if twice else ""))
        with Life(scenario) as life:
            assert not life.run_to_end(0) and life.words.count("\n") > 10, life.words
            self.calls = life.words.splitlines()
            self.wanted = life.recover()
            self.empty = life.bury()
        self.row["points"] = len(self.calls)

    def visit(self, nth):
        """False when that many calls were not made."""
        with Life(self.scenario) as life:
            killed = life.run_to_end(nth)
            where = f"{self.row.name}: call {nth}, {life.words.splitlines()[0] if killed else 'at the end'}"
            self.row["kills"] += 1
            try:
                if self.twice and life.run_to_end(self.random.randint(1, RECOVERY_CALLS)):
                    where += f"; then {life.words.strip()}"
                    self.row["kills"] += 1
                problems = self.row.compare(life.recover(self.wanted), self.wanted)
                problems += [f"without pods: {p}" for p in self.row.compare(life.bury(self.empty), self.empty)]
                life.n.check_crowd()
                if foreign(life.n) != life.foreign:
                    self.row["foreign bytes changed"] += 1
                    problems.append("foreign files or mounts changed")
            except AssertionError as error:
                problems = [str(error)]
            if problems:
                self.row.problems += [f"{where}: {problem}" for problem in problems]
                said = life.n.said()[-3000:]
                print("\n".join(f"# {line}" for text in (*self.row.problems[-len(problems):], said)
                                for line in text.splitlines()), flush=True)
            else:
                self.row["converged"] += 1
        return killed

    def visit_all(self):
        nth = 1
        while self.visit(nth):
            nth += 1
        # The last of these was at the end of all.
        self.row["points"] = nth
        return self.row

    def visit_one(self):
        self.visit(self.random.randint(1, len(self.calls)))
