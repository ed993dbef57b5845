# SPDX-License-Identifier: Apache-2.0
"""A podvold that seldom runs: finds tests that expect too early what comes a moment later.

PODVOL_TEST_STUTTER=1 has every podvold of a test stopped and continued all the time, so that its test is
nearly always faster than it. What holds only because podvold is quick fails then; what waits for conditions does
not. It changes nothing but times.
"""
import os
import signal
import threading

STOPPED_SECONDS = 0.12
RUNNING_SECONDS = 0.012


def is_on():
    return bool(os.environ.get("PODVOL_TEST_STUTTER"))


def begin(process):
    """Until the process has ended."""
    if is_on():
        threading.Thread(target=go_on, args=(process,), daemon=True).start()


def go_on(process):
    tick = threading.Event()
    while process.poll() is None:
        for how, seconds in ((signal.SIGSTOP, STOPPED_SECONDS), (signal.SIGCONT, RUNNING_SECONDS)):
            process.send_signal(how)  # nothing, when it has ended
            tick.wait(seconds)
