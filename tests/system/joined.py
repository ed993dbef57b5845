# SPDX-License-Identifier: Apache-2.0
"""A podvold that is a node of a cluster: its objects come from a server, by a kubeconfig.

The server is podvold's own API (test_remote_store) or kube-apiserver (tests/cluster).
"""
import os
import shutil

import crowded_root
import node
from node import eventually


class Joined(node.Node):
    """One more node beside that of the test; closed by the test's ExitStack."""

    def __init__(self, stack, name, kubeconfig):
        super().__init__()
        stack.callback(self.close)
        stack.callback(self.check_sanitizers)
        self.name, self.kubeconfig = name, kubeconfig

    def command(self, *arguments):
        return super().command(f"--kubeconfig={self.kubeconfig}", f"--node-name={self.name}", *arguments)

    def wait_mounted(self, *names):
        """Until the volumes of all these pods are mounted."""
        for name in names:
            eventually(lambda name=name: self.of_pod(name) and all(state == "mounted" for state in self.of_pod(name)),
                       what=lambda name=name: f"{name} mounted, now {self.volumes()}")

    def wait_unmounted(self, *names):
        for name in names:
            eventually(lambda name=name: not self.of_pod(name), what=lambda name=name: f"{name} gone, now {self.states()}")

    def of_pod(self, name):
        return [state for (pod, _), state in self.states().items() if pod == name]

    def reboot(self):
        """Killed; mounts and what is in /run are gone, what is on disk stays."""
        self.kill()
        for point in sorted(self.mounts(), key=len, reverse=True):
            crowded_root.unmount(point)
        shutil.rmtree(self.run)
        os.mkdir(self.run)
