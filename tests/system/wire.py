# SPDX-License-Identifier: Apache-2.0
"""A TCP forwarder on loopback that breaks connections, whatever is in them: HTTP/2, TLS.

One thread; each connection is two sockets. What is set holds for all bytes from then on. Refuses nothing, changes no
byte: it delays, stops or cuts.
"""
import selectors
import socket
import struct
import threading

import node

RESET = struct.pack("ii", 1, 0)


class Wire:
    """Reached at 127.0.0.1:port; what it gets goes to the address behind."""

    def __init__(self, behind):
        self.behind = behind
        self.lock = threading.Lock()
        self.selector = selectors.DefaultSelector()
        self.peers = {}  # socket: the other one of its connection
        self.listener, self.port = None, 0
        self.cut_after = None  # bytes from the server until a connection is reset; None: never
        self.moves = threading.Event()  # cleared: connections stay and nothing moves
        self.moves.set()
        self.bytes_per_second = None
        self.frozen = []  # connections in which nothing moves any more
        self.accepted = self.carried = 0  # connections; bytes from the server
        self.closed = threading.Event()
        self.come_back()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def come_back(self):
        listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.port = listener.getsockname()[1]
        with self.lock:
            self.listener = listener
            self.selector.register(listener, selectors.EVENT_READ)

    def go_away(self):
        """Connections are refused, and those that there are get a reset."""
        with self.lock:
            if self.listener:
                self.selector.unregister(self.listener)
                self.listener.close()
                self.listener = None
        self.drop_connections()

    def drop_connections(self):
        with self.lock:
            while self.peers:
                self.reset(next(iter(self.peers)))

    def freeze(self):
        """The connections of now stay open and carry nothing any more; later ones are not concerned."""
        with self.lock:
            for one in self.peers:
                self.selector.unregister(one)
                self.frozen.append(one)
            self.peers.clear()

    def close(self):
        self.closed.set()
        self.go_away()
        for one in self.frozen:
            one.close()
        self.thread.join()
        self.selector.close()

    # -- the thread --

    def reset(self, one):
        other = self.peers.pop(one, None)
        self.peers.pop(other, None)
        for sock in filter(None, (one, other)):
            self.selector.unregister(sock)
            try:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            except OSError:
                pass
            sock.close()

    def accept(self):
        client = self.listener.accept()[0]
        try:
            server = socket.create_connection(self.behind, timeout=node.PATIENCE)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            client.close()
            return
        self.accepted += 1
        self.peers[client], self.peers[server] = server, client
        self.selector.register(client, selectors.EVENT_READ, "client")
        self.selector.register(server, selectors.EVENT_READ, "server")

    def carry(self, one, side):
        other = self.peers.get(one)
        if other is None:
            return  # reset in this turn
        try:
            data = one.recv(16384)
            if data and side == "server":
                self.carried += len(data)
                if self.cut_after is not None:
                    data = data[:max(0, self.cut_after)]
                    self.cut_after -= len(data)
            if data:
                other.sendall(data)
            if not data or self.cut_after == 0:
                self.cut_after = None if self.cut_after == 0 else self.cut_after
                self.reset(one)
        except OSError:
            data = b""
            self.reset(one)
        if self.bytes_per_second:
            self.closed.wait(len(data) / self.bytes_per_second)

    def run(self):
        while not self.closed.is_set():
            ready = self.selector.select(0.02)
            if not self.moves.wait(0.1):
                continue
            with self.lock:
                for key, _ in ready:
                    if key.fileobj is self.listener:
                        self.accept()
                    else:
                        self.carry(key.fileobj, key.data)
