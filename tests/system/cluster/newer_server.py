# SPDX-License-Identifier: Apache-2.0
"""What kube-apiserver 1.36 does otherwise than 1.20 and podvold's own API, as faults of a FaultProxy.

From answers of a real 1.36.2 with authorizers Node and RBAC: a node may list and watch its own pods only by field
selector, it lists no PersistentVolumes and claims, WatchList sends the list as events of a watch, answers in CBOR go
to those who ask for it, events are events.k8s.io/v1.
"""
import json

from fault_proxy import status

NODE = "system:node:node"
INITIAL = {"k8s.io/initial-events-end": "true"}


def make_newer(proxy):
    proxy.on(r"GET /api/v1/pods(\?|$)(?!.*spec\.nodeName)", lambda exchange: status(
        403, "Forbidden", f'pods is forbidden: User "{NODE}" cannot list resource "pods" in API group "" at the cluster '
        "scope: can only list/watch pods with spec.nodeName field selector", kind="pods")(exchange))
    for plural in ("persistentvolumes", "persistentvolumeclaims", "nodes"):
        proxy.on(rf"GET /api/v1/{plural}(\?|$)(?!.*metadata\.name)", forbidden_list)
    proxy.on(r"GET /api/v1/persistentvolume(claim)?s\?.*metadata\.name", forbidden_list)
    proxy.on(r"GET /apis/storage.k8s.io/v1/(storageclasses|volumeattachments)(\?|$)", forbidden_list)
    proxy.on(r"POST /api/v1/namespaces/[^/]*/events", status(403, "Forbidden", "events is forbidden"))
    proxy.on(r"GET \S*sendInitialEvents=true", watch_list)


def forbidden_list(exchange):
    plural = exchange.path.rpartition("/")[2]
    status(403, "Forbidden", f'{plural} is forbidden: User "{NODE}" cannot list resource "{plural}" at the cluster scope',
           kind=plural)(exchange)


def watch_list(exchange):
    """The list as ADDED events, a bookmark that ends it, then a watch from there."""
    selector = "&".join(f"{name}={exchange.query[name]}" for name in ("fieldSelector", "labelSelector")
                        if name in exchange.query).replace("spec.nodeName=", "spec.nodeName%3D")
    answer = exchange.ask(target=f"{exchange.path}?{selector}")
    listed = json.loads(answer.read())
    if answer.status != 200:
        exchange.answer(answer.status, listed)
        return
    exchange.head(200, {"Content-Type": "application/json"})
    kind, version = listed["kind"].removesuffix("List"), listed["metadata"]["resourceVersion"]
    for item in listed["items"]:
        exchange.event("ADDED", {"kind": kind, "apiVersion": listed["apiVersion"], **item})
    exchange.event("BOOKMARK", {"kind": kind, "apiVersion": listed["apiVersion"], "metadata": {
        "resourceVersion": version, "annotations": INITIAL}})
    exchange.handler.behind.close()
    watch = f"{exchange.path}?{selector}&watch=1&allowWatchBookmarks=true&resourceVersion={version}"
    exchange.forward_stream(exchange.ask(target=f"{watch}&timeoutSeconds={exchange.query.get('timeoutSeconds', '300')}"))
