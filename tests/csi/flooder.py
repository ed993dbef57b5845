# SPDX-License-Identifier: Apache-2.0
"""A peer of gRPC that answers every call with response headers and then empty DATA frames without end.

It reads nothing. What counts is how many bytes of a connection were taken: its own send buffer and the other
side's budget, whatever the machine is doing.
"""
import os
import socket
import threading

SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HEADERS = bytes([0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
EMPTY_DATA = bytes([0, 0, 0, 0, 0, 0, 0, 0, 1])
TAKEN_MAX = 4 << 20  # socket buffers included; the budget alone is less than 40 kB of such frames


class Flooder:
    def __init__(self, path):
        self.path, self.taken, self.threads = path, [], []

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(128)
        self.acceptor = threading.Thread(target=self.accept)
        self.acceptor.start()
        return self

    def accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.threads.append(threading.Thread(target=self.flood, args=(connection,)))
            self.threads[-1].start()

    def flood(self, connection):
        taken, part = 0, SETTINGS + HEADERS
        with connection:
            try:
                while taken < 16 * TAKEN_MAX:
                    taken += connection.send(part)
                    part = EMPTY_DATA * 1820
            except OSError:
                pass
        self.taken.append(taken)

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
        self.acceptor.join()
        for thread in self.threads:
            thread.join()
