# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium and Debian's cockpit-ws with a session of its own, for tests of the page.

Chromium is driven by the DevTools protocol over a pipe (JSON, each message ended by a NUL), so no port is open but
cockpit-ws's on loopback. Errors of the page, and whatever its content security policy blocks, are kept in `errors`.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import urllib.request

import node
from node import eventually

CHROMIUM = shutil.which("chromium")
COCKPIT = next((p for p in ("/usr/lib/cockpit/cockpit-ws", "/usr/libexec/cockpit-ws") if os.path.exists(p)), None)
PATIENCE = node.PATIENCE


def ended(process):
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Cockpit:
    """cockpit-ws on a port of loopback; the page as `make install` puts it. The session is that of @uid, as if it had logged
    in, or begins by a login, whose user's @home has the page."""

    def __init__(self, n, socket, uid=0, home=None):
        share, config = ((os.path.join(home, ".local/share"), os.path.join(home, ".config")) if home
                         else (os.path.join(n.top, "share"), os.path.join(n.top, "config")))
        session = [] if home else ["--local-session=cockpit-bridge"]
        subprocess.run(["make", "-s", "-C", node.BUILD, "install-dist_cockpitDATA", f"cockpitdir={share}/cockpit/podvol"],
                       check=True, stdout=subprocess.DEVNULL)
        os.chmod(n.top, 0o755)
        os.makedirs(f"{config}/cockpit", exist_ok=True)
        with open(f"{config}/cockpit/podvol.override.json", "w", encoding="utf-8") as file:
            json.dump({"config": {"socket": socket}}, file)
        self.port = node.free_port()
        with open(os.path.join(n.top, "cockpit.log"), "wb") as log:
            self.process = subprocess.Popen(
                [COCKPIT, "--no-tls", "--address=127.0.0.1", f"--port={self.port}", *session],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=uid, group=uid, extra_groups=[], env={**os.environ, "XDG_DATA_DIRS": f"{share}:/usr/share", "XDG_CONFIG_HOME": config})
        self.login = f"http://127.0.0.1:{self.port}/"
        self.page = f"http://127.0.0.1:{self.port}/cockpit/@localhost/podvol/index.html"
        eventually(self.answers, what="cockpit-ws")

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ping", timeout=PATIENCE) as answer:
                return answer.status == 200
        except OSError:
            return False

    def close(self):
        ended(self.process)


class Browser:
    def __init__(self, directory, size="1000,560"):
        reads, self.out = os.pipe()
        self.into, writes = os.pipe()
        # Above 3 and 4, which Chromium reads and writes, so that neither is lost when the other becomes one of these.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (reads, writes)]
        os.close(reads)
        os.close(writes)
        self.rest, self.number, self.errors, self.session = b"", 0, [], None
        directory = tempfile.mkdtemp(prefix="chromium-", dir=directory)

        with open(os.path.join(directory, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]}', CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", f"--user-data-dir={directory}/profile", f"--window-size={size}", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=high)
        for fd in high:
            os.close(fd)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            assert select.select([self.into], [], [], max(0, end - time.monotonic()))[0], "Chromium does not answer"
            data = os.read(self.into, 1 << 20)
            assert data, "Chromium ended"
            self.rest += data
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def note(self, message):
        """An error of the page, of its scripts or of its policy."""
        what = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif message.get("method") == "Log.entryAdded" and what["entry"]["source"] in ("security", "javascript"):
            self.errors.append(what["entry"]["text"])

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self.note(message)

    def run(self, script):
        """The value of an expression in the page; of a promise, what it becomes."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, f"{script}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def text(self, selector):
        """What a user reads there; None when there is no such element."""
        return self.run(f"(e => e && e.innerText)(document.querySelector({json.dumps(selector)}))")

    def wait_text(self, selector, wanted):
        def shows():
            text = self.text(selector)
            return text is not None and wanted in text
        eventually(shows, what=lambda: f"'{wanted}' in {selector}, which has {self.text(selector)!r}; errors: {self.errors}")

    def click(self, label):
        """On the button or link with this text; waits for it."""
        script = f"""(e => e && (e.focus(), e.click(), true))([...document.querySelectorAll("button, a")]
            .find(e => e.innerText === {json.dumps(label)} && e.offsetParent !== null))"""
        eventually(lambda: self.run(script), what=f"a button {label}")

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "Escape": 27}[key])

    def accessible(self):
        """(role, name) of what a screen reader is offered."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(n.get("role", {}).get("value"), n.get("name", {}).get("value", "")) for n in nodes if not n["ignored"]]

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        ended(self.process)
        os.close(self.out)
        os.close(self.into)
