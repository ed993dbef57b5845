# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks in Python share: options, the samples that they print, and figures of a process.

bench/run reads the samples; a benchmark keeps no figures and judges none.
"""
import argparse
import os
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


def begin(doc, **sizes):
    """Options, each with its default and that of --quick (a list: given once for each), in a mount namespace."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    for name, (full, _) in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), action="append" if isinstance(full, list) else "store",
                            type=int if isinstance(full, list) else type(full), help=f"default: {full}")
    options = parser.parse_args()
    for name, defaults in sizes.items():
        if getattr(options, name) is None:
            setattr(options, name, defaults[options.quick])
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
