# SPDX-License-Identifier: Apache-2.0
"""A real cluster on loopback: etcd, kube-apiserver, kube-controller-manager and kube-scheduler.

The programs are those that build-kubernetes made; without them a test says that it is skipped. Authorizers are Node
and RBAC, with the admission of NodeRestriction, and node_kubeconfig() has what kubelet would have: the certificate of
system:node:NAME. All lies in one temporary directory; close() ends by pid what was started. Nothing here knows podvol.
"""
import atexit
import base64
import concurrent.futures
import fcntl
import http.client
import json
import os
import select
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../system"))
import node  # noqa: E402
from authority import Authority  # noqa: E402
from node import Skip, eventually, free_port  # noqa: E402

PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
# Of the controllers those that deal with volumes, and what pods need to be. None that judges nodes by their leases.
CONTROLLERS = ("attachdetach", "ephemeral-volume", "garbagecollector", "namespace", "persistentvolume-binder",
               "persistentvolume-expander", "podgc", "pv-protection", "pvc-protection", "root-ca-cert-publisher",
               "serviceaccount", "serviceaccount-token", "statefulset")
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
         "rules": [{"level": "Metadata"}]}


def directory_of_programs():
    """Where they are; raises Skip when one is missing."""
    path = subprocess.run([os.path.join(HERE, "build-kubernetes"), "--path"], capture_output=True, text=True,
                          check=True).stdout.strip()
    missing = [name for name in PROGRAMS if not os.access(os.path.join(path, name), os.X_OK)]
    missing += [name for name in ("etcd", "etcdctl", "openssl") if not shutil.which(name)]
    if missing:
        raise Skip(f"not here: {', '.join(missing)}; scripts/check-cluster builds and installs what these tests need")
    return path


def main(functions):
    """node.main(), or one skip for the whole file; one file at a time, for a cluster takes a processor."""
    try:
        programs = directory_of_programs()
    except Skip as skip:
        print(f"1..0 # SKIP {skip}")
        return
    node.require_root()
    node.enter_namespace()
    with open(os.path.join(programs, "lock"), "w", encoding="ascii") as lock:
        while not locked(lock):
            print("# another test has a cluster", flush=True)
            select.select([], [], [], 10)
        node.main(functions)


def locked(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


class Program:
    """One of them, with its log; ends with this process, too."""

    def __init__(self, cluster, name, *arguments, program=None):
        self.cluster, self.name = cluster, name
        self.command = [program or os.path.join(cluster.programs, name), *arguments]
        self.log, self.process = os.path.join(cluster.top, f"{name}.log"), None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", *self.command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def end(self, how=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(node.PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-3000:]


class Refused(Exception):
    """An answer that is an error; .code has the status."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Cluster:
    def __init__(self, controllers=True, options=()):
        """controllers: also the controller manager and the scheduler; names of more controllers. options: more of kube-apiserver."""
        self.programs = directory_of_programs()
        self.top = tempfile.mkdtemp(prefix="podvol-cluster.", dir=node.TEMPORARY)
        self.authority = Authority(self, "cluster")
        self.admin = self.authority.issue("admin", "system:masters")
        self.tls = ssl.create_default_context(cafile=self.authority.file)
        self.tls.load_cert_chain(*self.admin)
        self.local = threading.local()
        self.etcd_port, self.peer_port, self.port = free_port(), free_port(), free_port()
        self.data = os.path.join(self.top, "etcd-0")
        self.audit = os.path.join(self.top, "audit.log")
        self.server = Program(self, "kube-apiserver", *self.server_options(), *options)
        self.controllers = self.controller_programs(() if controllers is True else controllers) if controllers else []
        self.etcd = None
        try:
            self.start_etcd()
            self.start_server()
            for program in self.controllers:
                program.start()
            if controllers:
                self.wait_ready_for_pods()
            print("# a cluster is ready", flush=True)  # a start and a wait that fails are longer than tests/run waits
        except BaseException:
            self.close()
            raise

    # -- programs --

    def write(self, name, content):
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def server_options(self):
        certificate, key = self.authority.issue(
            "kube-apiserver", purpose="serverAuth", hosts=("IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes"))
        self.account_key = os.path.join(self.top, "accounts.key")
        self.authority.openssl("ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", self.account_key)
        self.authority.openssl("ec", "-in", self.account_key, "-pubout", "-out", self.account_key + ".pub")
        return (f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1",
                f"--secure-port={self.port}", "--endpoint-reconciler-type=none", f"--tls-cert-file={certificate}",
                f"--tls-private-key-file={key}", f"--client-ca-file={self.authority.file}",
                "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                "--disable-admission-plugins=TaintNodesByCondition", "--service-account-issuer=https://kubernetes.io",
                f"--service-account-key-file={self.account_key}.pub",
                f"--service-account-signing-key-file={self.account_key}", "--service-cluster-ip-range=10.0.0.0/24",
                f"--cert-dir={self.top}", f"--audit-log-path={self.audit}",
                f"--audit-policy-file={self.write('audit.json', AUDIT)}")

    def controller_programs(self, more):
        manager, scheduler = (self.kubeconfig(name, f"system:{name}") for name in PROGRAMS[1:])
        return [Program(self, PROGRAMS[1], f"--kubeconfig={manager}", "--leader-elect=false", "--port=0", "--secure-port=0",
                        "--use-service-account-credentials", f"--controllers={','.join((*CONTROLLERS, *more))}", "--attach-detach-reconcile-sync-period=2s",
                        f"--root-ca-file={self.authority.file}", f"--service-account-private-key-file={self.account_key}",
                        "--pvclaimbinder-sync-period=5s", "--kube-api-qps=500", "--kube-api-burst=1000"),
                Program(self, PROGRAMS[2], f"--kubeconfig={scheduler}", "--leader-elect=false", "--port=0",
                        "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000")]

    def start_etcd(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.etcd_port, self.peer_port))
        self.etcd = Program(self, "etcd", "--data-dir", self.data, "--listen-client-urls", client,
                            "--advertise-client-urls", client, "--listen-peer-urls", peer,
                            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
                            "--logger=zap", program="etcd")
        self.etcd.start()
        self.wait_for(self.etcd, lambda: self.etcdctl("endpoint", "health", check=False) is not None)

    def start_server(self):
        self.server.start()
        self.wait_for(self.server, lambda: self.is_ready() and self.exists("/api/v1/namespaces/default"))

    def wait_for(self, program, question):
        eventually(lambda: program.process.poll() is not None or question(),
                   what=lambda: f"{program.name} is not ready:\n{program.said()}")
        assert program.process.poll() is None, f"{program.name} ended:\n{program.said()}"

    def is_ready(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def wait_ready_for_pods(self):
        eventually(lambda: self.exists("/api/v1/namespaces/default/serviceaccounts/default"),
                   what=lambda: f"no service account:\n{self.controllers[0].said()}")

    def close(self):
        for program in (*self.controllers, self.server, self.etcd):
            if program:
                program.end()
        shutil.rmtree(self.top, ignore_errors=True)

    # -- etcd --

    def etcdctl(self, *arguments, check=True):
        """Its output; None when it failed and may."""
        done = subprocess.run(["etcdctl", f"--endpoints=http://127.0.0.1:{self.etcd_port}", *arguments],
                              env={**os.environ, "ETCDCTL_API": "3"}, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not check, f"etcdctl {arguments}: {done.stdout}{done.stderr}"
        return done.stdout if done.returncode == 0 else None

    def snapshot(self):
        """The store as it is, in a file for restore()."""
        path = os.path.join(self.top, f"snapshot-{len(os.listdir(self.top))}")
        self.etcdctl("snapshot", "save", path)
        return path

    def restore(self, snapshot):
        """The store as it was then, with the server stopped meanwhile: objects and versions go back."""
        self.server.end()
        self.etcd.end()
        self.data = os.path.join(self.top, f"etcd-{len(os.listdir(self.top))}")
        peer = f"http://127.0.0.1:{self.peer_port}"
        self.etcdctl("snapshot", "restore", snapshot, "--data-dir", self.data, "--initial-cluster", f"default={peer}",
                     "--initial-advertise-peer-urls", peer)
        self.start_etcd()
        self.start_server()

    def compact(self):
        """etcd forgets all versions before now."""
        revision = json.loads(self.etcdctl("endpoint", "status", "-w", "json"))[0]["Status"]["header"]["revision"]
        self.etcdctl("compact", str(revision))

    # -- credentials --

    def kubeconfig(self, name, user, *groups, server=None, authority=None, **more):
        """A file for a user with a certificate, or with the members of a user given instead."""
        if not more:
            certificate, key = self.authority.issue(user, *groups)
            more = {"client-certificate": certificate, "client-key": key}
        with open(authority or self.authority.file, "rb") as file:
            trusted = base64.b64encode(file.read()).decode()
        return self.write(f"{name}.kubeconfig", {
            "apiVersion": "v1", "kind": "Config", "current-context": "cluster",
            "clusters": [{"name": "cluster", "cluster": {"server": server or f"https://127.0.0.1:{self.port}",
                                                         "certificate-authority-data": trusted}}],
            "users": [{"name": "user", "user": more}],
            "contexts": [{"name": "cluster", "context": {"cluster": "cluster", "user": "user"}}]})

    def node_kubeconfig(self, name, **more):
        return self.kubeconfig(f"node-{name}", f"system:node:{name}", "system:nodes", **more)

    def tls_of_nobody(self):
        """For a connection without a certificate."""
        return ssl.create_default_context(cafile=self.authority.file)

    # -- objects, as the administrator --

    def ask(self, method, path, body=None, content_type="application/json"):
        """(status, object or text); each thread has a connection, made again when the server ended it."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=node.PATIENCE)
        connection, data = self.local.connection, None if body is None else json.dumps(body)
        had = connection.sock is not None
        try:
            connection.request(method, path, data, {"Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            if had:  # it may have been an old one
                return self.ask(method, path, body, content_type)
            raise
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text.decode()

    def must(self, method, path, body=None, **more):
        code, answer = self.ask(method, path, body, **more)
        if code >= 300:
            raise Refused(code, answer)
        return answer

    def get(self, path):
        return self.must("GET", path)

    def exists(self, path):
        code, answer = self.ask("GET", path)
        if code not in (200, 404):
            raise Refused(code, answer)
        return code == 200

    def create(self, *objects):
        """In namespace default where they need one."""
        for made in objects:
            self.must("POST", collection(made), made)

    def create_many(self, objects, threads=8):
        """The same by several threads."""
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(self.create, objects):
                pass

    def patch(self, path, change):
        return self.must("PATCH", path, change, content_type="application/merge-patch+json")

    def delete(self, path, **options):
        return self.must("DELETE", path, options or None)

    def add_node(self, name):
        """A node that is ready and has room for many pods, as its agent would say."""
        self.create({"apiVersion": "v1", "kind": "Node",
                     "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}}})
        room = {"cpu": "1k", "memory": "1Ti", "pods": "10000", "ephemeral-storage": "1Ti"}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": room, "allocatable": room, "conditions": [
            {"type": "Ready", "status": "True", "reason": "Test", "message": "", "lastHeartbeatTime": now,
             "lastTransitionTime": now}]}})

    def clean(self):
        """No object of a test is left, once controllers have let go of them."""
        for path in OF_TESTS:
            self.must("DELETE", f"{path}?gracePeriodSeconds=0")
        for name in self.left(VOLUMES):  # whose podvold has ended
            code, answer = self.ask("PATCH", f"{VOLUMES}/{name}", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
            if code not in (200, 404):
                raise Refused(code, answer)
        eventually(lambda: not any(self.left(path) for path in OF_TESTS),
                   what=lambda: f"nothing left of {[(path, self.left(path)) for path in OF_TESTS]}")

    def left(self, path):
        return [one["metadata"]["name"] for one in self.get(path)["items"]]

    def requests_of(self, user):
        """Audit records of a user, in order."""
        with open(self.audit, encoding="utf-8") as file:
            records = [json.loads(line) for line in file if line.endswith("\n")]
        return [record for record in records if record["user"].get("username") == user]


VOLUMES = "/api/v1/persistentvolumes"
# What clean() deletes, in this order.
OF_TESTS = (*(f"/api/v1/namespaces/default/{plural}" for plural in ("pods", "persistentvolumeclaims")),
            "/apis/storage.k8s.io/v1/volumeattachments", VOLUMES, "/apis/storage.k8s.io/v1/csidrivers",
            "/apis/storage.k8s.io/v1/csinodes", "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/nodes")
shared = {}  # by what they were made with


def shared_cluster(controllers=True, options=()):
    """One for all tests of a file: each cleans up, and a start takes longer than most tests. It is healthy."""
    key = (controllers, options)
    if key not in shared:
        shared[key] = Cluster(*key)
        atexit.register(shared[key].close)
    return shared[key]


def forget_shared():
    """After a failure: the next test starts with nothing."""
    while shared:
        shared.popitem()[1].close()


PLURALS = {"StorageClass": "storageclasses", "Ingress": "ingresses", "VolumeSnapshotClass": "volumesnapshotclasses"}
CLUSTER_SCOPED = ("Node", "PersistentVolume", "Namespace", "StorageClass", "CSIDriver", "CSINode", "VolumeAttachment",
                  "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "VolumeSnapshotClass", "VolumeSnapshotContent")


def collection(made):
    """The path an object is created at."""
    version, kind = made["apiVersion"], made["kind"]
    prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = PLURALS.get(kind, kind.lower() + "s")
    if kind in CLUSTER_SCOPED:
        return f"{prefix}/{plural}"
    return f"{prefix}/namespaces/{made['metadata'].get('namespace', 'default')}/{plural}"


def item(made):
    return f"{collection(made)}/{made['metadata']['name']}"
