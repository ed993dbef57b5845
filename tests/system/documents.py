# SPDX-License-Identifier: Apache-2.0
"""Documents, typed one by one on a node: each command prints what the page shows.

A block between ``` holds commands, lines that begin with "$ ", and what each prints; or a file, when the line
before it is its path in backquotes with a colon. Paths are those of the test's node, and sudo is left out. Uids, times,
counts of tries, the width of columns and the order of lines may differ; a look is repeated until what it shows
is there. What is at the end of a line as "..." may be anything. A warning that the kernel is old may come anywhere.
"""
import os
import re
import subprocess

import node
from node import eventually

PLACES = (("/srv/podvol-example", "data"), ("/etc/podvol/manifests", "manifests"), ("/var/lib/kubelet", "root"),
          ("/run/podvol", "run"))
LOOKS = ("podvolctl get", "podvolctl describe", "podvolctl mounts", "kubectl", "cat")
CHANGING = ((r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"), (r"\b[0-9.]+ ?(us|ms|s)\b", "TIME"),
            (r"\b[0-9]+ attempts\b", "N attempts"), (r"\bprocess [0-9]+\b", "process N"), (r"\s+", " "))

OF_THE_KERNEL = r"warning: no \w+ here \(old kernel or seccomp profile\)"


def read(name):
    with open(os.path.join(node.TOP, name), encoding="utf-8") as file:
        return file.read()


def blocks(name):
    return parts(read(name))


def parts(text):
    """(path of the file that it is, "" if it is none; text) of each block."""
    yield from re.findall(r"(?:^`(/[^`\n]+[.]\w+)`:\n+)?^```\w*\n(.*?)^```$", text, re.M | re.S)


def out_of_place(name):
    """Lines that Markdown shows as code and blocks() does not find: indented ones behind an empty line, and indented ```."""
    text = re.sub(r"^```\w*\n.*?^```$", "", read(name), flags=re.M | re.S)
    return re.findall(r"^[ \t]+```.*|(?<=\n\n)(?: {4}|\t).*", text, re.M)


def is_typed(path, text):
    return bool(path) or text.startswith("$ ")


def commands(text):
    """(command, lines it prints) of each line that begins with "$ "; a backslash continues it."""
    found = []
    for line in text.splitlines():
        if found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.lstrip()
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
    return found


def plain(lines):
    """What has to be the same."""
    for pattern, word in CHANGING:
        lines = [re.sub(pattern, word, line).strip() for line in lines]
    return sorted(line for line in lines if line and not re.match(OF_THE_KERNEL, line))


def is_shown(seen, shown):
    seen, shown = plain(seen), plain(shown)
    return len(seen) == len(shown) and all(
        there == line or line.endswith("...") and there.startswith(line[:-3]) for there, line in zip(seen, shown))


def on_node(n, text):
    for place, name in PLACES:
        text = text.replace(place, getattr(n, name))
    return text


def run(n, command):
    environment = {**node.podvolctl_environment(), "PODVOL_SOCKET": n.socket,
                   "PATH": f"{n.top}/programs:{os.path.dirname(node.PODVOLCTL)}:{node.BUILD}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", on_node(n, command.replace("sudo ", ""))], cwd=n.top, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=node.PATIENCE)
    text = done.stdout
    for place, name in PLACES:
        text = text.replace(getattr(n, name), place)
    return text.splitlines()


def enter(n, command, lines):
    """One command; a look until it shows these lines."""
    seen = []

    def as_shown():
        seen[:] = run(n, command)
        return is_shown(seen, lines)

    seconds = node.PATIENCE if command.removeprefix("sudo ").startswith(LOOKS) else 0
    eventually(as_shown, seconds, lambda: f"$ {command}\n" + "\n".join(seen) + "\nbut the page shows\n"
               + "\n".join(lines))


def follow(n, name, missing=(), own=None):
    """All of a document that can be typed, but for commands of programs that are missing, which are named.

    @own: {command: function that does what it would}"""
    for path, text in blocks(name):
        if path:
            path = on_node(n, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(on_node(n, text))
        elif is_typed(path, text):
            for command, lines in commands(text):
                if re.sub("^sudo ", "", command).split(" ")[0] in missing:
                    print(f"# left out: {command}")
                elif command in (own or {}):
                    own[command]()
                else:
                    enter(n, command, lines)
