# SPDX-License-Identifier: Apache-2.0
"""A kube-apiserver by script, for what no real one does on command: faults, a restored etcd, another cluster.

Plain HTTP on loopback. It gives a node the rights that a real one gave (tests/cluster/ asks a real one): pods by
the field selector spec.nodeName, the own Node, CSIDrivers, and by name what pods of the node refer to; all else is
403. What is asked is kept in requests. grants has plurals that all may list and watch, as by RBAC, and writes those that
may be written. fault, when set, gets each request (method, path with query) and answers
None, or what is done instead: a status, "reset", "stall", "half", "html". late, when set, gets the path of each object
that is not there, and of each that was patched or made, and the answer waits for its return; slow that of each that is read or listed.
clock is how far its clock is ahead, and lifetime how long tokens are valid, if not as long as they are asked for, in seconds.
"""
import datetime
import http.server
import json
import threading
import urllib.parse
import uuid

KINDS = {"pods": ("v1", "Pod"), "nodes": ("v1", "Node"), "persistentvolumes": ("v1", "PersistentVolume"),
         "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"), "secrets": ("v1", "Secret"),
         "configmaps": ("v1", "ConfigMap"), "namespaces": ("v1", "Namespace"), "events": ("v1", "Event"),
         "csidrivers": ("storage.k8s.io/v1", "CSIDriver"), "csinodes": ("storage.k8s.io/v1", "CSINode"),
         "volumeattachments": ("storage.k8s.io/v1", "VolumeAttachment"),
         "storageclasses": ("storage.k8s.io/v1", "StorageClass"), "leases": ("coordination.k8s.io/v1", "Lease"),
         "csistoragecapacities": ("storage.k8s.io/v1", "CSIStorageCapacity")}


def merge(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def merge_by_type(old, patch):
    """What a strategic merge makes of a Node's status: lists of conditions and addresses by their types."""
    lists = {}
    for key in ("conditions", "addresses"):
        new = {one["type"]: one for one in patch.get(key, [])}
        lists[key] = [one for one in old.get(key, []) if one["type"] not in new] + list(new.values())
    return {**merge(old, patch), **lists}


def of_environment(pod):
    """(plural, name) of what variables of its containers come from."""
    for container in pod["spec"].get("containers", []):
        for source in (*container.get("envFrom", []), *(one.get("valueFrom", {}) for one in container.get("env", []))):
            for key, plural in (("configMapRef", "configmaps"), ("configMapKeyRef", "configmaps"), ("secretRef", "secrets"),
                                ("secretKeyRef", "secrets")):
                if key in source:
                    yield plural, source[key]["name"]


class Cluster:
    """The objects of one cluster, and every change of them."""

    def __init__(self, node="node", version=100):
        self.lock = threading.Condition()
        self.node, self.version = node, version
        self.objects = {}  # (plural, namespace, name): object
        self.changes = []  # (version, type, plural, object)
        self.oldest = version  # a watch from before is 410
        self.put("nodes", {"metadata": {"name": node}, "status": {}})

    def put(self, plural, item, namespace=""):
        """Creates or replaces an object; its uid stays while its name does."""
        version, kind = KINDS[plural]
        with self.lock:
            key = (plural, namespace, item["metadata"]["name"])
            old = self.objects.get(key)
            self.version += 1
            metadata = {"uid": old["metadata"]["uid"] if old else str(uuid.uuid4()),
                        "creationTimestamp": "2026-01-01T00:00:00Z", **item["metadata"],
                        "resourceVersion": str(self.version)}
            if namespace:
                metadata["namespace"] = namespace
            new = {**item, "apiVersion": version, "kind": kind, "metadata": metadata}
            self.objects[key] = new
            if "deletionTimestamp" in new["metadata"] and not new["metadata"].get("finalizers"):
                del self.objects[key]
                self.changes.append((self.version, "DELETED", plural, new))
                self.lock.notify_all()
                return new
            self.changes.append((self.version, "MODIFIED" if old else "ADDED", plural, new))
            self.lock.notify_all()
            return new

    def delete(self, plural, name, namespace="", silently=False):
        """silently: with no event, as to who was away, and whatever finalizers it has."""
        with self.lock:
            there = self.objects[(plural, namespace, name)]
            if there["metadata"].get("finalizers") and not silently:
                return self.put(plural, {**there, "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", **there["metadata"]}}, namespace)
            self.version += 1
            old = self.objects.pop((plural, namespace, name))
            old = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
            if silently:
                self.oldest = self.version
            else:
                self.changes.append((self.version, "DELETED", plural, old))
            self.lock.notify_all()
            return None

    def restore(self, objects, version):
        """etcd as it was once."""
        with self.lock:
            self.objects, self.version, self.changes, self.oldest = dict(objects), version, [], version

    def pods(self):
        return [o for (plural, _, _), o in self.objects.items()
                if plural == "pods" and o["spec"].get("nodeName") == self.node]

    def refers(self, plural, namespace, name):
        """Does a pod of the node lead to it?"""
        claims = set()
        for pod in self.pods():
            space = pod["metadata"]["namespace"]
            if (plural, namespace, name) in ((plural, space, name) for plural, name in of_environment(pod)):
                return True
            for volume in pod["spec"].get("volumes", []):
                claims.add((space, volume.get("persistentVolumeClaim", {}).get("claimName")))
                if space == namespace and name in (volume.get("secret", {}).get("secretName"), volume.get("configMap", {}).get("name")):
                    return plural in ("secrets", "configmaps")
        if plural == "persistentvolumeclaims":
            return (namespace, name) in claims
        bound = {self.objects.get(("persistentvolumeclaims", *c), {}).get("spec", {}).get("volumeName") for c in claims}
        return plural == "persistentvolumes" and name in bound or plural == "volumeattachments"


class Server:
    def __init__(self, cluster):
        self.cluster, self.fault, self.late, self.slow, self.requests, self.generation = cluster, None, None, None, [], 0
        self.grants, self.writes, self.clock, self.lifetime = set(), set(), 0, None
        server = self

        class Handler(RequestHandler):
            scripted = server
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def kubeconfig(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
                       "users": [{"name": "u", "user": {"token": "t"}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, file)
        return path

    def hang_up(self):
        """Every watch ends; what follows is a new connection."""
        with self.cluster.lock:
            self.generation += 1
            self.cluster.lock.notify_all()

    def become(self, cluster):
        """Another cluster behind the same address."""
        old, self.cluster = self.cluster, cluster
        with old.lock:
            self.generation += 1
            old.lock.notify_all()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def asked(self, part, method="GET"):
        return [r for r in self.requests if r[0] == method and part in r[1]]


class RequestHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scripted = None

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, content="application/json", cut=0):
        data = json.dumps(body).encode() if not isinstance(body, bytes) else body
        self.send_response(status)
        self.send_header("Content-Type", content)
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(data[:len(data) - cut])
        if cut:
            self.wfile.flush()
            self.hang_up()

    def hang_up(self):
        self.close_connection = True
        self.connection.close()

    def refuse(self, code, reason, message, plural="", name=""):
        self.answer(code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                           "reason": reason, "details": {"name": name, "kind": plural}, "code": code})

    def spoil(self, fault):
        if fault == "reset":
            self.hang_up()
        elif fault == "html":
            self.answer(404, b"<html>not found</html>", "text/html")
        elif fault in ("half", "stale"):
            self.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []},
                        **({"cut": 9} if fault == "half" else {}))
        else:
            self.refuse(fault, "Unauthorized" if fault == 401 else "NotFound" if fault == 404 else "Fault", "a fault of the test")

    def do_GET(self):
        self.handle_request("GET")

    def do_POST(self):
        self.handle_request("POST")

    def do_PATCH(self):
        self.handle_request("PATCH")

    def do_PUT(self):
        self.handle_request("PUT")

    def do_DELETE(self):
        self.handle_request("DELETE")

    def handle_request(self, method):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.scripted.requests.append((method, self.path, body))
        fault = self.scripted.fault and self.scripted.fault(method, self.path)
        if fault:
            self.spoil(fault)
            return
        url = urllib.parse.urlsplit(self.path)
        query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if len(parts) > 2 and parts[0] == "namespaces":
            namespace, parts = parts[1], parts[2:]
        plural, name, sub = (parts + ["", "", ""])[:3]
        if plural == "serviceaccounts" and sub == "token" and method == "POST":
            self.issue(namespace, name, json.loads(body))
        elif plural not in KINDS:
            self.refuse(404, "NotFound", "no such resource")
        elif method != "GET":
            self.write(method, plural, namespace, name, sub, json.loads(body) if body else {})
        elif name:
            self.get(plural, namespace, name)
        else:
            self.list(plural, namespace, query)

    def may(self, plural, namespace, name, selected):
        cluster = self.scripted.cluster
        if plural in self.scripted.grants:
            return True
        if plural == "pods":
            return f"spec.nodeName={cluster.node}" in selected if not name else (plural, namespace, name) in cluster.objects
        if plural == "nodes":
            return name == cluster.node or f"metadata.name={cluster.node}" in selected
        if plural in ("secrets", "configmaps"):
            names = [s[len("metadata.name="):] for s in selected if s.startswith("metadata.name=")]
            return cluster.refers(plural, namespace, name or (names or [""])[0])
        if plural in ("csidrivers", "csinodes"):
            return True
        if plural == "leases":
            return name == cluster.node
        return bool(name) and cluster.refers(plural, namespace, name)

    def get(self, plural, namespace, name):
        found = self.scripted.cluster.objects.get((plural, namespace, name))
        if not self.may(plural, namespace, name, []):
            self.refuse(403, "Forbidden", f"{plural} \"{name}\" is forbidden: no relationship found", plural, name)
        elif not found:
            if self.scripted.late:
                self.scripted.late(self.path)
            self.refuse(404, "NotFound", f"{plural} \"{name}\" not found", plural, name)
        else:
            if self.scripted.slow:
                self.scripted.slow(self.path)
            self.answer(200, found)

    def list(self, plural, namespace, query):
        cluster = self.scripted.cluster
        selected = [s for s in query.get("fieldSelector", "").split(",") if s]
        if not self.may(plural, namespace, "", selected):
            self.refuse(403, "Forbidden", f"{plural} is forbidden", plural)
            return

        def wanted(item):
            fields = {"metadata.name": item["metadata"]["name"], "spec.nodeName": item.get("spec", {}).get("nodeName")}
            return all(fields[s.split("=")[0]] == s.split("=")[1] for s in selected) and namespace in ("", item["metadata"].get("namespace"))
        if query.get("sendInitialEvents"):
            self.refuse(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch")
            return
        if query.get("watch"):
            self.watch(plural, wanted, int(query["resourceVersion"]))
            return
        with cluster.lock:
            items = [o for (p, _, _), o in cluster.objects.items() if p == plural and wanted(o)]
            version, kind = KINDS[plural]
            body = {"kind": kind + "List", "apiVersion": version, "metadata": {"resourceVersion": str(cluster.version)}, "items": items}
        if self.scripted.slow:
            self.scripted.slow(self.path)
        self.answer(200, body)

    def chunk(self, event):
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, plural, wanted, version):
        cluster, generation = self.scripted.cluster, self.scripted.generation
        # From a version that it does not have yet, as after a restore, a real one watches, too, and says nothing.
        if version < cluster.oldest:
            self.refuse(410, "Expired", "too old resource version")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                with cluster.lock:
                    cluster.lock.wait_for(lambda: generation != self.scripted.generation or
                                          any(v > version for v, _, _, _ in cluster.changes), 1)
                    if generation != self.scripted.generation:
                        self.hang_up()
                        return
                    news = [c for c in cluster.changes if c[0] > version]
                for changed, how, of, item in news:
                    version = changed
                    if of == plural and wanted(item):
                        self.chunk({"type": how, "object": item})
        except OSError:
            self.close_connection = True

    def issue(self, namespace, name, body):
        """A token: its text says for whom."""
        bound = body["spec"]["boundObjectRef"]
        text = ".".join((namespace, name, bound["name"], bound["uid"], *body["spec"].get("audiences", [])))
        seconds = self.scripted.lifetime or body["spec"]["expirationSeconds"]
        expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds + self.scripted.clock)
        self.answer(201, {**body, "spec": {**body["spec"], "expirationSeconds": seconds}, "status": {"token": text, "expirationTimestamp": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}})

    def may_write(self, plural, name, sub):
        """As NodeRestriction and the authorizer have it."""
        node = self.scripted.cluster.node
        return plural in ("nodes", "csinodes", "leases") and name == node or (plural, sub) in (
            ("pods", "status"), ("persistentvolumeclaims", "status")) or plural == "events" or plural in self.scripted.writes

    def write(self, method, plural, namespace, name, sub, body):
        cluster = self.scripted.cluster
        if not self.may_write(plural, name or body["metadata"]["name"], sub):
            self.refuse(403, "Forbidden", f"{plural} is forbidden: User \"system:node:{cluster.node}\" cannot write", plural, name)
            return
        with cluster.lock:  # what is read is what is replaced
            code, answer = self.change(method, plural, namespace, name or body["metadata"]["name"], sub, body)
        if method in ("PATCH", "POST") and code < 300 and self.scripted.late:
            self.scripted.late(self.path)
        if code > 299:
            self.refuse(code, *answer, plural, name)
        else:
            self.answer(code, answer)

    def change(self, method, plural, namespace, name, sub, body):
        """(HTTP status, the object, or the reason and message of a refusal)."""
        cluster = self.scripted.cluster
        old = cluster.objects.get((plural, namespace, name))
        if method == "POST":
            return (409, ("AlreadyExists", "already exists")) if old else (201, cluster.put(plural, body, namespace))
        if not old:
            return 404, ("NotFound", f"{plural} \"{name}\" not found")
        uid = old["metadata"]["uid"]
        if method == "DELETE" and body.get("preconditions", {}).get("uid", uid) != uid:
            return 409, ("Conflict", f"the UID in the precondition does not match the UID in record: {uid}")
        if method == "DELETE":
            return 200, cluster.delete(plural, name, namespace) or {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        expected = body.get("metadata", {}).get("resourceVersion")
        if expected != old["metadata"]["resourceVersion"] and (expected or method == "PUT"):
            return 409, ("Conflict", "the object has been modified")
        if body.get("metadata", {}).get("uid", uid) != uid:
            return 422, ("Invalid", f"{plural} \"{name}\" is invalid: metadata.uid: Invalid value: field is immutable")
        if method == "PUT":
            return 200, cluster.put(plural, body, namespace)
        if "strategic" in self.headers["Content-Type"]:
            body = {**body, "status": merge_by_type(old.get("status", {}), body["status"])}
        changed = {"status": body.get("status", {})} if sub == "status" else {k: v for k, v in body.items() if k != "status"}
        return 200, cluster.put(plural, merge(old, changed), namespace)
