# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks in Python share: options, the samples that they print, and figures of a process.

bench/run reads the samples; a benchmark keeps no figures and judges none.
"""
import argparse
import http.client
import os
import socket
import sys
import time

TOP = os.path.realpath(os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(1, os.path.join(TOP, "tests/system"))
sys.path.insert(2, os.path.join(TOP, "tests/csi"))
import node  # noqa: E402

SECONDS = 600  # until a benchmark gives up


def skip(why):
    print(why)
    sys.exit(77)


def parse(doc, **sizes):
    """Options, each with its default and that of --quick; a list: may be given several times."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    for name, (full, _) in sizes.items():
        option, about = "--" + name.replace("_", "-"), {"help": f"default: {full}", "default": None}
        if isinstance(full, bool):
            parser.add_argument(option, action="store_true", **about)
        elif isinstance(full, list):
            parser.add_argument(option, action="append", type=int, **about)
        else:
            parser.add_argument(option, type=type(full), **about)
    options = parser.parse_args()
    for name, defaults in sizes.items():
        if getattr(options, name) is None:
            setattr(options, name, defaults[options.quick])
    return options


def begin(doc, **sizes):
    """The same, and from now on in a mount namespace of its own."""
    options = parse(doc, **sizes)
    if os.geteuid() != 0:
        skip("needs root: it mounts")
    node.enter_namespace()
    return options


def sample(name, case, podvol, floor=None):
    """One round's figure of podvold, and what no program could do without."""
    print(name, case, f"{podvol:.6g}", "-" if floor is None else f"{floor:.6g}", sep="\t", flush=True)


def memory(pid):
    """KiB that are resident: (now, at most)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    return tuple(int(rows[name].split()[0]) for name in ("VmRSS", "VmHWM"))


def cpu_ms(pid):
    """Milliseconds that its threads ran, those that ended included: the kernel's clock of that process."""
    return time.clock_gettime(~pid << 3 | 2) * 1e3


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("podvol", timeout=SECONDS)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Api:
    """One connection to a node that stays; for one thread."""

    def __init__(self, n):
        self.connection = Socket(n.socket)

    def ask(self, method, path, body=None, kind="application/json"):
        self.connection.request(method, path, body, {"Content-Type": kind})
        reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status < 300, (reply.status, text[:300])
        return text
