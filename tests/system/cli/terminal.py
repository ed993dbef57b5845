# SPDX-License-Identifier: Apache-2.0
"""podvolctl on a terminal of its own."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import node

ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def run(n, words, width, height=1000):
    """What it writes, to standard output and error, whatever its exit status. top is ended after its first picture."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if "PAGER" not in name}
    process = n.start_ctl(*words, stdin=slave, stdout=slave, stderr=slave, env={**environment, "TERM": "xterm", "NO_COLOR": "1"})
    os.close(slave)
    said, end = b"", time.monotonic() + node.PATIENCE
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            said += piece
        elif words[0] == "top" and said.endswith(b"\n"):
            process.send_signal(2)
    os.close(master)
    process.wait(node.PATIENCE)
    return said.decode().replace("\r\n", "\n").replace("\r", "\n")
