# SPDX-License-Identifier: Apache-2.0
"""Processes that use a volume for as long as a test wants."""
import subprocess

from node import equal


def user(script, *before):
    """A shell that takes hold of something, says so and waits; behind other words, such as those of unshare."""
    process = subprocess.Popen([*before, "sh", "-c", f"{script}\necho ready; read word"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    equal(process.stdout.readline(), "ready\n")
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
