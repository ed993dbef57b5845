# SPDX-License-Identifier: Apache-2.0
"""What the lint tests share: the files of the tree, and TAP.

A lint test looks at the sources as text and builds nothing. It works from a checkout and from an
unpacked release alike, so it walks the folders below and asks no version control.
"""
import os
import re
import sys

sys.dont_write_bytecode = True

TOP = os.path.realpath(os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "../.."))
FOLDERS = (".ci", "bench", "cockpit", "debian", "docs", "examples", "man", "plugins", "scripts", "src", "systemd", "tests")
TOP_FILES = ("ARCHITECTURE.md", "CHANGELOG.md", "HACKING.md", "Makefile.am", "README.md", "SECURITY.md", "autogen.sh", "configure.ac")
PICTURES = (".png", ".svg")  # drawn by programs, no text to read
GENERATED = (".o", ".lo", ".la", ".a", ".log", ".trs", ".pyc", ".dirstamp")


def files(*endings, under=("",)):
    """Paths relative to the top, sorted; all files, or those with one of the endings. Inputs of fuzz
    targets are bytes, and none of them."""
    found = [name for name in TOP_FILES if os.path.exists(os.path.join(TOP, name))]
    for folder in FOLDERS:
        for where, folders, names in os.walk(os.path.join(TOP, folder)):
            folders[:] = [f for f in folders if f not in ("__pycache__", ".deps", ".libs", "cache")]
            found += [os.path.relpath(os.path.join(where, name), TOP) for name in names]
    return sorted(path for path in found
                  if not path.endswith(GENERATED + PICTURES)
                  and (not endings or path.endswith(endings))
                  and path.startswith(tuple(under))
                  and os.path.isfile(os.path.join(TOP, path)) and not is_program(path)
                  and not path.startswith("tests/fuzz/seeds/"))


def is_program(path):
    """A built test program beside its source, in a tree that was configured in place."""
    with open(os.path.join(TOP, path), "rb") as file:
        return file.read(4) == b"\x7fELF"


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def entries(path):
    """(line, heading, {label: text}) of each "### " section; a label begins a bullet and ends with a colon."""
    found = []
    for number, line in enumerate(read(path).split("\n"), 1):
        if line.startswith("## "):
            found.append(None)  # what follows is no entry's
        elif line.startswith("### "):
            found.append((number, line[4:], {}))
        elif not found or not found[-1]:
            continue
        elif line.startswith("* "):
            label, _, text = line[2:].partition(": ")
            found[-1][2][label] = text
        elif line.startswith("  ") and found[-1][2]:
            found[-1][2][next(reversed(found[-1][2]))] += " " + line.strip()
    return [entry for entry in found if entry]


def is_script(path):
    """'sh' or 'python' by the first line, else '' (also for a script of make)."""
    first = read(path).split("\n", 1)[0]
    if path.endswith(".py"):
        return "python"
    if not first.startswith("#!") or "make" in first:
        return ""
    return "python" if "python" in first else "sh"


def without_comments(text, keep_strings=False):
    """C source with comments (and strings) blanked; lines keep their numbers."""
    def blank(match):
        found = match.group(0)
        if found.startswith(("\"", "'")) and keep_strings:
            return found
        return re.sub(r"[^\n]", " ", found)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


class Report:
    """Numbered TAP results; each check is one line, its problems are comments below it."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, what, problems):
        problems = list(problems)
        self.count += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.count} - {what}")
        for problem in problems:
            print(f"# {problem}")

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}")

    def end(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
