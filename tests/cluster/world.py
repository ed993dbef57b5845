# SPDX-License-Identifier: Apache-2.0
"""A cluster with podvolds as its nodes, for one test: objects, mounts, and what ends with the test."""
import contextlib
import os

import cluster
import node
from joined import Joined
from node import eventually
from wire import Wire

HERE = os.path.dirname(os.path.abspath(__file__))
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


def pod(name, volumes=None, on=None, **spec):
    """For the scheduler, unless on names a node; its token does not matter here."""
    made = node.pod(name, volumes or {}, automountServiceAccountToken=False, terminationGracePeriodSeconds=0, **spec)
    if on:
        made["spec"]["nodeName"] = on
    return made


def local_volume(name, path, on, **spec):
    """A PersistentVolume on a path of one node, for the claim of the same name."""
    made = node.volume(name, path, **spec)
    made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]}}
    return made


class World:
    def __init__(self, stack, *nodes, controllers=True, options=()):
        self.stack = stack
        self.cluster = cluster.shared_cluster(controllers, options)
        self.data = os.path.join(self.cluster.top, "data")
        for name in nodes:
            self.cluster.add_node(name)

    def join(self, name, *arguments, port=None):
        """A podvold as this node; the server behind another port of this machine when one is given."""
        server = f"https://127.0.0.1:{port}" if port else None
        made = Joined(self.stack, name, self.cluster.node_kubeconfig(name, server=server))
        made.start(*arguments)
        return made

    def wire(self):
        made = Wire(("127.0.0.1", self.cluster.port))
        self.stack.callback(made.close)
        return made

    def grant(self, example="rbac"):
        """What examples/cluster/ has under this name gives, until the end of the test."""
        import yaml  # only where a cluster can be built
        with open(os.path.join(HERE, f"../../examples/cluster/{example}.yaml"), encoding="utf-8") as file:
            made = list(yaml.safe_load_all(file))
        self.cluster.create(*made)
        for one in made:
            self.stack.callback(self.cluster.delete, cluster.item(one))

    def source(self, name, content="content"):
        return node.source(self.data, name, content)

    def add(self, name, on, bound=True):
        """A pod with a local volume of its own on a node; not bound: the scheduler has to find that node."""
        self.cluster.create(local_volume(name, self.source(name), on), node.claim(name),
                            pod(name, {"data": node.claimed(name)}, on=on if bound else None))

    def run(self, name):
        """What the node's agent says of a pod whose containers run."""
        self.cluster.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})

    def delete_pod(self, name):
        """Its agent says that it has ended: it is gone."""
        self.cluster.delete(f"{PODS}/{name}", gracePeriodSeconds=0)

    def wait_gone(self, path):
        eventually(lambda: not self.cluster.exists(path), what=f"{path} gone")


def world(*nodes, **options):
    """A test_... from a function of a World with these nodes."""
    def decorate(function):
        def test(_):
            try:
                with contextlib.ExitStack() as stack:
                    made = World(stack, *nodes, **options)
                    function(made)
                made.cluster.clean()
            except BaseException:
                cluster.forget_shared()
                raise
        return test
    return decorate
