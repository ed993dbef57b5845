# SPDX-License-Identifier: Apache-2.0
"""Lives of pods at random, with faults in the background, and what they leave behind.

Threads of clients create pods on all kinds of volumes, ask for their containers' mounts, hold and release
them and delete them, in any order and at any speed. Meanwhile podvold is killed and started again, its run
directory is full for a while, and the source of a volume vanishes and comes back. At rests all pods are
deleted, and one row of a table says what podvold and the machine then have more than in the beginning.
"""
import os
import random
import subprocess
import threading
import time

import disks
import killing
from node import claim, claimed, eventually, pod, volume

CLIENTS, SLOTS = 4, 8  # pods of a client that live at the same time
SOURCES = 4
NAMESPACE = "/api/v1/namespaces/default/pods"
VIEW = "/podvol/v1/pods/default"
COLUMNS = ("seconds", "lives", "kills", "full disks", "lost sources", "RSS KiB", "descriptors", "threads", "mounts",
           "pod directories", "ledger KiB", "store KiB")


class Client(threading.Thread):
    """Owns its slots; whatever podvold answers or does not, it goes on until rest() is called."""

    def __init__(self, n, number, seed):
        super().__init__(daemon=True)
        self.n, self.number, self.random = n, number, random.Random(f"{seed} client {number}")
        self.lives, self.pods, self.holds, self.made = 0, [], [], 0
        self.unsure = []  # pods that may have a hold: the answer that names it was lost
        self.resting, self.rested, self.ended = threading.Event(), threading.Event(), False
        self.error = None

    def ask(self, method, path, body=None):
        return killing.ask(self.n, method, path, body)

    def run(self):
        try:
            while not self.ended:
                if self.resting.is_set():
                    self.bury_all()
                    self.rested.set()
                    time.sleep(0.02)
                else:
                    self.rested.clear()
                    self.act()
        except Exception as error:  # the main thread tells it
            self.error = error
            self.rested.set()

    def act(self):
        choice = self.random.random()
        if not self.pods or choice < 0.4 and len(self.pods) < SLOTS:
            self.create()
        elif choice < 0.5:
            self.hold(self.random.choice(self.pods))
        elif choice < 0.6:
            self.ask("POST", f"{VIEW}/{self.random.choice(self.pods)}/mounts?format=json")
        elif choice < 0.65:
            self.ask("POST", f"{VIEW}/{self.random.choice(self.pods)}/wait?for=mounted&timeout=1s")
        else:
            self.delete(self.random.choice(self.pods))

    def create(self):
        self.made += 1
        name = f"soak-{self.number}-{self.made}"
        kinds = {"claim": claimed(f"data-{self.random.randrange(SOURCES)}"), "room": {"emptyDir": {}},
                 "fast": {"emptyDir": {"medium": "Memory"}},
                 "host": {"hostPath": {"path": os.path.join(self.n.data, "host"), "type": "DirectoryOrCreate"}}}
        chosen = self.random.sample(sorted(kinds), self.random.randint(1, 3))
        body = pod(name, {kind: kinds[kind] for kind in chosen})
        for mount in body["spec"]["containers"][0]["volumeMounts"]:
            if mount["name"] == "room":
                mount["subPath"] = "deep/inside"
        code, answer = self.ask("POST", NAMESPACE, body)
        assert code in (0, 201, 409, 429, 500, 503, 504, 507), (code, answer)
        self.pods.append(name)  # whatever was answered: it may be there

    def hold(self, name):
        code, answer = self.ask("POST", f"{VIEW}/{name}/holds", {"container": "main"})
        if code == 201:
            self.holds.append((name, answer["id"]))
        elif code == 0:
            self.unsure.append(name)
        if self.holds and self.random.random() < 0.7:
            self.release(self.random.choice(self.holds))

    def release(self, held):
        if self.ask("DELETE", f"{VIEW}/{held[0]}/holds/{held[1]}")[0] in (200, 204, 404):
            self.holds.remove(held)

    def find_holds(self, name):
        code, answer = self.ask("GET", "/podvol/v1/holds")
        if code == 200:
            self.holds += [(name, hold["id"]) for hold in answer["items"] if hold["pod"] == f"default/{name}"]
            self.unsure.remove(name)

    def delete(self, name):
        if self.ask("DELETE", f"{NAMESPACE}/{name}")[0] in (200, 202, 404):
            self.pods.remove(name)
            self.lives += 1
            for held in [h for h in self.holds if h[0] == name]:
                self.release(held)

    def bury_all(self):
        for name in list(self.pods):
            self.delete(name)
        for name in list(self.unsure):
            self.find_holds(name)
        for held in list(self.holds):
            self.release(held)


class Soak:
    def __init__(self, n, seed):
        self.n, self.random = n, random.Random(f"{seed} faults")
        self.counts = dict.fromkeys(("kills", "full disks", "lost sources"), 0)
        self.rows = []
        disks.small_tmpfs(n.run, "4M")
        objects = []
        for number in range(SOURCES):
            objects += [volume(f"data-{number}", n.source(f"data-{number}")), claim(f"data-{number}")]
        n.write("volumes.json", *objects)
        n.start()
        self.began = time.monotonic()
        self.clients = [Client(n, number, seed) for number in range(CLIENTS)]

    # -- faults: each is over when it returns --

    def kill(self):
        self.n.kill()
        self.n.start()

    def full_disk(self):
        disks.fill(self.n.run)
        time.sleep(self.random.uniform(0, 0.5))
        disks.free(self.n.run)

    def lost_source(self):
        path = os.path.join(self.n.data, f"data-{self.random.randrange(SOURCES)}")
        os.rename(path, path + ".away")
        time.sleep(self.random.uniform(0, 0.5))
        os.rename(path + ".away", path)

    def fault(self, kills):
        name = self.random.choice(("kills", "full disks", "lost sources") if kills else ("full disks", "lost sources"))
        name = name if any(self.counts.values()) else "kills"  # one there is, whatever the dice say
        {"kills": self.kill, "full disks": self.full_disk, "lost sources": self.lost_source}[name]()
        self.counts[name] += 1

    # -- rests --

    def lives(self):
        return sum(client.lives for client in self.clients)

    def check_clients(self):
        for client in self.clients:
            if client.error:
                raise client.error

    def rest(self):
        """All pods go; what is left, as a row."""
        for client in self.clients:
            client.rested.clear()
            client.resting.set()
        for client in self.clients:
            eventually(lambda: client.rested.is_set() and not (client.pods or client.unsure or client.holds) or client.error,
                       what=lambda: f"a client's rest: {client.pods} {client.unsure} {client.holds}")
        self.check_clients()
        eventually(lambda: killing.states(self.n) == {} and not self.n.pod_directories() and killing.is_idle(self.n),
                   what=lambda: f"the end of all: {killing.states(self.n)}\n{self.left_over()}")
        self.rows.append(self.measure())
        print("# " + " | ".join(f"{value:>{len(name)}}" for name, value in zip(COLUMNS, self.rows[-1])), flush=True)

    def left_over(self):
        """What there is of pods that should be gone, and what was said of them."""
        uids = self.n.pod_directories()
        tree = subprocess.run(["find", os.path.join(self.n.root, "pods")], capture_output=True, text=True, check=False).stdout
        return tree + "\n".join(line for line in self.n.said().splitlines() if any(uid in line for uid in uids))

    def measure(self):
        n = self.n
        with open(f"/proc/{n.process.pid}/status", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        size = lambda where: sum(e.stat().st_size for e in os.scandir(where) if e.is_file()) // 1024  # noqa: E731
        return (round(time.monotonic() - self.began), self.lives(), *self.counts.values(), int(facts["VmRSS"].split()[0]),
                killing.settled(n, self.rows[0][COLUMNS.index("descriptors")] if self.rows else 0), int(facts["Threads"]), len(n.mounts()), len(n.pod_directories()),
                sum(os.path.getsize(os.path.join(n.run, f)) for f in os.listdir(n.run) if f.startswith("ledger.db")) // 1024,
                size(n.state))

    def wake(self):
        for client in self.clients:
            client.resting.clear()

    def run(self, is_over, rests, pause):
        """Lives until is_over(), which says how much is done, from 0 to 1; kills in the first half only."""
        print("# " + " | ".join(COLUMNS))
        self.rest_without_clients()
        for client in self.clients:
            client.start()
        for number in range(1, rests + 1):
            self.wake()
            while is_over(self) < number / rests:
                self.check_clients()
                time.sleep(self.random.uniform(0, pause))
                self.fault(kills=number <= rests // 2)
            self.rest()
        for client in self.clients:
            client.ended = True

    def rest_without_clients(self):
        self.rows.append(self.measure())
        print("# " + " | ".join(f"{value:>{len(name)}}" for name, value in zip(COLUMNS, self.rows[-1])), flush=True)

    def column(self, name):
        return [row[COLUMNS.index(name)] for row in self.rows]
