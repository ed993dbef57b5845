# SPDX-License-Identifier: Apache-2.0
"""Between a client and a kube-apiserver, or podvold's API: what servers and networks do wrong, on purpose.

FaultProxy is a TLS server on loopback that forwards each request with a credential of its own and records it. Faults
are functions of an Exchange; on() says which requests meet which, and how often. It speaks HTTP/1.1. What newer
servers do otherwise is in newer_server.py. Wire, in wire.py, knows no HTTP and breaks connections only.
Refuses nothing by itself: without faults an answer is that of the server behind, byte for byte.
"""
import http.client
import http.server
import json
import re
import socket
import socketserver
import ssl
import struct
import threading
import time
import urllib.parse

HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server")
ANSWER_SECONDS = 900  # the longest watch


def reset(sock):
    """Closes a connection in such a way that the other side gets ECONNRESET and no end."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    except OSError:
        pass  # it is closed


class Exchange:
    """One request on its way, and what a fault may do with it; each method answers once."""

    def __init__(self, handler, proxy):
        self.handler, self.proxy = handler, proxy
        self.method, self.target = handler.command, handler.path
        self.path, _, query = handler.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = handler.rfile.read(int(self.headers.get("content-length", 0)))
        self.at = time.monotonic()

    @property
    def is_watch(self):
        return self.query.get("watch") in ("1", "true")

    def name(self):
        return f"{self.method} {self.target}"

    # -- the server behind --

    def ask(self, plain=True, target=None):
        """Its answer, as http.client has it. Plain: not compressed."""
        headers = {name: value for name, value in self.headers.items() if name not in HOP}
        if plain:
            headers.pop("accept-encoding", None)
        if self.proxy.token:
            headers["authorization"] = f"Bearer {self.proxy.token}"
        behind = self.proxy.connect()
        self.handler.behind = behind  # closed with the exchange
        behind.request(self.method, target or self.target, self.body or None, headers)
        return behind.getresponse()

    # -- answers --

    def head(self, code, headers, length=None):
        """Begins an answer; length None: in chunks."""
        self.handler.send_response_only(code)
        self.handler.send_header("Date", self.handler.date_time_string(time.time() + self.proxy.clock_skew))
        for name, value in headers.items():
            if name.lower() not in HOP:
                self.handler.send_header(name, value)
        if length is None:
            self.handler.send_header("Transfer-Encoding", "chunked")
        else:
            self.handler.send_header("Content-Length", str(length))
        self.handler.end_headers()
        self.handler.wfile.flush()

    def chunk(self, data):
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def event(self, kind, made):
        """A line of a watch."""
        self.chunk(json.dumps({"type": kind, "object": made}).encode() + b"\n")

    def answer(self, code, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.head(code, {"Content-Type": "application/json", **(headers or {})}, len(data))
        self.handler.wfile.write(data)

    def forward(self, change=None, headers=None, line=None):
        """What the server behind answers; change(object) and line(object), of a watch, give what is said instead.

        line() may answer None: that event is left out."""
        got = self.ask(plain=bool(change or line))
        more = {**dict(got.headers.items()), **(headers or {})}
        if self.is_watch and got.status == 200:
            self.head(200, more)
            self.forward_stream(got, line)
            return
        body = got.read()
        if change and got.status < 300:
            body = json.dumps(change(json.loads(body))).encode()
        self.head(got.status, more, len(body))
        self.handler.wfile.write(body)

    def forward_stream(self, got, line=None):
        while data := got.readline() if line else got.read1(65536):
            if line:
                changed = line(json.loads(data))
                if changed is None:
                    continue
                data = json.dumps(changed).encode() + b"\n"
            self.chunk(data)
        self.chunk(b"")

    def drop(self):
        reset(self.handler.connection)
        self.handler.close_connection = True


# ---- faults: functions that make one ----

def status(code, reason="", message="", retry_after=None, **details):
    """An error as kube-apiserver has it: a Status."""
    def fault(exchange):
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        exchange.answer(code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                               "message": message or reason, "reason": reason, "details": details, "code": code}, headers)
    return fault


def forbidden(exchange):
    status(403, "Forbidden", f"{exchange.path} is forbidden")(exchange)


def connection_reset(exchange):
    exchange.drop()


def half(exchange):
    """The head of the answer and half of what it announces; of a watch half a line."""
    got = exchange.ask()
    if exchange.is_watch and got.status == 200:
        exchange.head(200, dict(got.headers.items()))
        line = got.readline()
        exchange.chunk(line[:len(line) // 2])
    else:
        body = got.read()
        exchange.head(got.status, dict(got.headers.items()), len(body))
        exchange.handler.wfile.write(body[:len(body) // 2])
        exchange.handler.wfile.flush()
    exchange.handler.close_connection = True


def stalled(exchange):
    """Nothing comes, and the connection stays: until release() or the end of the proxy."""
    exchange.released.wait()
    exchange.drop()


def ends_in_time(exchange):
    """A watch in which nothing happens, and that ends with no error: at release(), but not before its timeoutSeconds."""
    exchange.head(200, {"Content-Type": "application/json"})
    exchange.released.wait()
    exchange.proxy.released.wait(max(0, exchange.at + int(exchange.query["timeoutSeconds"]) - time.monotonic()))
    exchange.chunk(b"")


def ends_at_release(exchange):
    """A watch in which nothing happens, and that a server which is stopped ends at release(): with no error."""
    exchange.head(200, {"Content-Type": "application/json"})
    exchange.released.wait()
    exchange.chunk(b"")


def slow(seconds):
    def fault(exchange):
        exchange.released.wait(seconds)
        exchange.forward()
    return fault


def content_type(name):
    """The same answer under another name, as a portal or a balancer gives one."""
    def fault(exchange):
        exchange.forward(headers={"Content-Type": name})
    return fault


def page(exchange):
    """Not the server at all: the page of something in between."""
    exchange.answer(200, b"<html><body>Sign in</body></html>", {"Content-Type": "text/html"})


def changed(change=None, line=None):
    def fault(exchange):
        exchange.forward(change, line=line)
    return fault


def unless_token(right):
    """401 for every other token: it expired, or was replaced."""
    def fault(exchange):
        if exchange.headers.get("authorization") == f"Bearer {right}":
            exchange.forward()
        else:
            status(401, "Unauthorized", "Unauthorized")(exchange)
    return fault


def empty_list(version=None):
    """No objects, and the list's own version or another: what etcd has after it was set up afresh."""
    def change(answer):
        answer["items"] = []
        if version:
            answer["metadata"]["resourceVersion"] = version
        return answer
    return changed(change)


def ends_early(exchange):
    """A watch, or the initial events of one, that ends before anything came."""
    exchange.head(200, {"Content-Type": "application/json"})
    exchange.chunk(b"")


def gone_in_watch(exchange):
    """410 the way a watch says it: 200, and an event."""
    exchange.head(200, {"Content-Type": "application/json"})
    exchange.event("ERROR", {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired",
                             "code": 410, "message": "too old resource version: 1 (2)"})
    exchange.chunk(b"")


# ---- the proxy ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behind = None

    def setup(self):
        self.request.settimeout(ANSWER_SECONDS)
        self.request = self.server.proxy.tls.wrap_socket(self.request, server_side=True)
        self.server.proxy.opened(self.request)
        super().setup()

    def finish(self):
        self.server.proxy.closed(self.request)
        try:
            super().finish()
            self.request.close()
        except OSError:
            pass

    def do_GET(self):
        proxy = self.server.proxy
        exchange = Exchange(self, proxy)
        try:
            proxy.handle(exchange)
        except (OSError, http.client.HTTPException, ValueError):
            exchange.drop()  # one of the two sides is gone
        finally:
            if self.behind:
                self.behind.close()
                self.behind = None

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A handshake that failed or a client that is gone: the client knows why."""


class FaultProxy:
    """In front of a server (host, port); reached with the authority's certificate at 127.0.0.1:port."""

    def __init__(self, authority, behind, trusted, token=None, certificate=None):
        """trusted: the authority of the server behind, a file; token or certificate (two files): who asks there."""
        self.address, self.token = behind, token
        self.tls_behind = ssl.create_default_context(cafile=trusted)
        if certificate:
            self.tls_behind.load_cert_chain(*certificate)
        self.authority = authority
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(*authority.issue("proxy", purpose="serverAuth", hosts=("IP:127.0.0.1", "DNS:localhost")))
        self.clock_skew = 0  # seconds that the server's Date is ahead
        self.requests = []  # Exchange objects, in order
        self.rules = []  # [pattern, fault, times left or None]
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.connections = set()
        self.port, self.server = 0, None
        self.come_back()

    def connect(self):
        host, port = self.address
        return http.client.HTTPSConnection(host, port, context=self.tls_behind, timeout=ANSWER_SECONDS)

    # -- faults --

    def on(self, pattern, fault, times=None):
        """Requests whose "METHOD TARGET" matches from its beginning meet the fault, the next so many; the last rule
        that matches counts. Returns the rule, for off()."""
        rule = [re.compile(pattern), fault, times]
        with self.lock:
            self.rules.insert(0, rule)
        return rule

    def off(self, *rules):
        """Without arguments: all."""
        with self.lock:
            self.rules = [rule for rule in self.rules if rules and not any(rule is one for one in rules)]

    def handle(self, exchange):
        with self.lock:
            self.requests.append(exchange)
            exchange.released = self.released  # by the next release() after it is counted
            rule = next((r for r in self.rules if r[2] != 0 and r[0].match(exchange.name())), None)
            if rule and rule[2]:
                rule[2] -= 1
        (rule[1] if rule else Exchange.forward)(exchange)

    def release(self):
        """What is stalled or slow goes on."""
        with self.lock:
            released, self.released = self.released, threading.Event()
        released.set()

    def count(self, pattern="", since=0.0):
        """Requests whose "METHOD TARGET" matches."""
        expression = re.compile(pattern)
        with self.lock:
            return sum(bool(expression.match(e.name())) for e in self.requests if e.at >= since)

    # -- connections --

    def opened(self, connection):
        with self.lock:
            self.connections.add(connection)

    def closed(self, connection):
        with self.lock:
            self.connections.discard(connection)

    def drop_connections(self):
        """All that there are end with a reset."""
        with self.lock:
            dropped = list(self.connections)
        for connection in dropped:
            reset_open(connection)

    def go_away(self):
        """Connections are refused, and those that there are end."""
        server, self.server = self.server, None
        server.shutdown()
        server.server_close()
        self.drop_connections()

    def come_back(self):
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.proxy = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.released.set()
        if self.server:
            self.go_away()

    def url(self):
        return f"https://127.0.0.1:{self.port}"


def reset_open(connection):
    """Of a connection that another thread may be reading: it stays that thread's to close."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
