# SPDX-License-Identifier: Apache-2.0
"""A test driver and its registrar as processes, for tests: start, kill, faults, what it saw.

Needs nothing of gRPC itself unless call() is used.
"""
import functools
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import memory  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has grpc


@functools.lru_cache(maxsize=None)
def missing():
    """Why no test driver can run here, or None."""
    for program in ("protoc",):
        if not any(os.access(os.path.join(d, program), os.X_OK) for d in os.environ["PATH"].split(":")):
            return f"{program} is not installed"
    if subprocess.run([PYTHON, "-c", "import grpc, google.protobuf"], capture_output=True, check=False).returncode:
        return "python3-grpcio and python3-protobuf are not installed"
    return None


class TestDriver:
    """One driver; its endpoint is <root>/plugins/<name>/csi.sock, as drivers have it."""

    def __init__(self, root, state, name="csi.test.podvol"):
        self.name, self.state = name, state
        self.endpoint = os.path.join(root, "plugins", name, "csi.sock")
        self.registry = os.path.join(root, "plugins_registry")
        self.socket = os.path.join(self.registry, f"{name}-reg.sock")
        os.makedirs(state, exist_ok=True)
        self.process = self.registrar = None
        self.controls, self.next_fault = {}, 0

    # -- processes --

    def start(self, register=True, again=False):
        """register: in the driver's own process; see start_registrar() for a process of its own."""
        os.makedirs(os.path.dirname(self.endpoint), exist_ok=True)
        with open(os.path.join(self.state, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [PYTHON, os.path.join(HERE, "driver.py"), f"--endpoint={self.endpoint}", f"--state={self.state}",
                 f"--name={self.name}", *([f"--registration={self.registry}"] if register else []),
                 *(["--again"] if again else [])], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_registrar(self):
        os.makedirs(self.registry, exist_ok=True)
        with open(os.path.join(self.state, "log"), "ab") as log:
            self.registrar = subprocess.Popen(
                [PYTHON, os.path.join(HERE, "registrar.py"), f"--csi-address={self.endpoint}",
                 f"--kubelet-registration-path={self.endpoint}", f"--plugin-registration-path={self.registry}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        """As a crash: sockets stay behind."""
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def kill_registrar(self, how=signal.SIGKILL):
        if self.registrar:
            self.registrar.send_signal(how)
            self.registrar.wait()
            self.registrar = None

    def remove_registration(self):
        """What a registrar that ends does; podvold forgets the driver."""
        self.kill_registrar()
        if os.path.lexists(self.socket):
            os.unlink(self.socket)

    def close(self):
        """Ends it all, and gives back the loop devices."""
        self.kill()
        self.kill_registrar()
        found = subprocess.run(["losetup", "-n", "-O", "NAME,BACK-FILE"], capture_output=True, text=True, check=True)
        for line in found.stdout.splitlines():
            device, _, file = line.partition(" ")
            if file.strip().startswith(os.path.realpath(self.state) + "/"):
                subprocess.run(["losetup", "-d", device], check=False)

    # -- what it shall do --

    def control(self, **values):
        """Changes members of control.json; None takes one away."""
        for name, value in values.items():
            if value is None:
                self.controls.pop(name, None)
            else:
                self.controls[name] = value
        memory.write_json(os.path.join(self.state, "control.json"), self.controls)

    def fault(self, method, **fault):
        """One more fault, see faults.py; returns what remove_fault() takes."""
        self.next_fault += 1
        fault = {"id": f"fault-{self.next_fault}", "method": method, **fault}
        self.control(faults=[*self.controls.get("faults", ()), fault])
        return fault["id"]

    def remove_fault(self, identifier):
        self.control(faults=[f for f in self.controls.get("faults", ()) if f["id"] != identifier])

    # -- what it saw --

    def read(self, name):
        """Its lines, without one that the driver is still writing."""
        try:
            with open(os.path.join(self.state, name), encoding="utf-8") as file:
                return file.read().rpartition("\n")[0].splitlines()
        except FileNotFoundError:
            return []

    def shouts(self):
        return self.read("shouts")

    def calls(self, *methods):
        """[(method, code)] of the calls that ended, in order; code None: it never did. Of all but Get... without
        arguments."""
        ends, begun = {}, []
        for line in map(json.loads, self.read("calls")):
            if line.get("phase") == "end":
                ends[line["number"]] = line["code"]
            elif line.get("phase") == "begin" and (line["method"] in methods or
                                                   not methods and "Get" not in line["method"]):
                begun.append(line)
        return [(line["method"], ends.get(line["number"])) for line in begun]

    def requests(self, method):
        """The requests of a method, as dictionaries."""
        lines = map(json.loads, self.read("calls"))
        return [line["request"] for line in lines if line.get("phase") == "begin" and line["method"] == method]

    def remembered(self):
        return memory.read_json(os.path.join(self.state, "state.json"), memory.Memory.NOTHING)


class Caller:
    """Calls a driver's methods as a CO would, with dictionaries; needs grpc."""

    def __init__(self, endpoint):
        import grpc
        import csi_messages
        from google.protobuf import json_format
        self.grpc, self.format, self.methods = grpc, json_format, csi_messages.methods()
        self.address = f"unix:{endpoint}"

    def begin(self, method, request, seconds=20):
        """(channel, future); each call has a connection of its own."""
        service, request_class, reply_class = self.methods[method]
        channel = self.grpc.insecure_channel(self.address, options=[("grpc.default_authority", "localhost"),
                                                                    ("grpc.use_local_subchannel_pool", 1)])
        ask = channel.unary_unary(f"/{service}/{method}", request_serializer=request_class.SerializeToString,
                                  response_deserializer=reply_class.FromString)
        return channel, ask.future(self.format.ParseDict(request, request_class()), timeout=seconds,
                                   wait_for_ready=True)

    def __call__(self, method, request=None, seconds=20):
        """(code, reply as a dictionary, or the text of the status)"""
        channel, future = self.begin(method, request or {}, seconds)
        with channel:
            try:
                return 0, self.format.MessageToDict(future.result(), preserving_proto_field_name=True)
            except self.grpc.RpcError as error:
                return error.code().value[0], error.details()


