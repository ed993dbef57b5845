# SPDX-License-Identifier: Apache-2.0
"""What the test driver remembers across its own death, and what a test tells it.

All of it are files in one directory, so that nothing is lost with a process:
  control.json  written by the test, read again by each call: faults, capabilities, node id ...
  state.json    the driver's: volumes, what is staged and published, how often each fault has struck
  calls         one JSON line when a call begins and one when it ends
  shouts        one line for each call out of CSI's order; a test asserts that it is empty
"""
import json
import os
import threading


def write_json(path, value):
    """Whole or not at all, also when the writer dies meanwhile."""
    with open(f"{path}.{threading.get_ident()}.new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(file.name, path)


def read_json(path, default):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


class Memory:
    NOTHING = {"volumes": {}, "staged": {}, "published": {}, "attached": {}, "snapshots": {}, "used": {}, "calls": 0}

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.lock = threading.RLock()  # of state and of the files
        self.state = {**json.loads(json.dumps(self.NOTHING)), **read_json(self.path("state.json"), {})}
        self.control_seen, self.control_read = None, {}

    def path(self, name):
        return os.path.join(self.directory, name)

    def save(self):
        with self.lock:
            write_json(self.path("state.json"), self.state)

    def append(self, name, text):
        with self.lock, open(self.path(name), "a", encoding="utf-8") as file:
            file.write(text + "\n")  # one write(2): whole lines only

    def shout(self, text):
        self.append("shouts", text)

    def control(self):
        """What the test says now."""
        with self.lock:
            try:
                found = os.stat(self.path("control.json"))
            except FileNotFoundError:
                return {}
            seen = (found.st_ino, found.st_mtime_ns)
            if seen != self.control_seen:
                self.control_read = read_json(self.path("control.json"), {})
                self.control_seen = seen
            return self.control_read

    def number_call(self):
        with self.lock:
            self.state["calls"] += 1
            return self.state["calls"]

    def use(self, fault, limit):
        """Counts one strike of a fault; false when it has struck often enough."""
        with self.lock:
            used = self.state["used"].get(fault, 0)
            if used >= limit:
                return False
            self.state["used"][fault] = used + 1
            self.save()
            return True
