# SPDX-License-Identifier: Apache-2.0
"""What podvold does with CSI volumes while it is killed, before each call to the driver and after it.

The driver lives on, as drivers do, and shouts at whatever comes out of CSI's order.
"""
import os
import sys

import kill_scenarios
import killing
import node
from kill_scenarios import block_pod
from killing import ask, states
from node import Skip, claim, claimed, equal, eventually, pod

sys.path.insert(0, os.path.join(node.TOP, "tests/csi"))
import csi_world  # noqa: E402
import driver_process  # noqa: E402


class Calls(kill_scenarios.Scenario):
    """A driver is registered; volumes are staged and published, one for two pods, one without a file system."""
    name = "calls to a driver"
    wanted = {("web", "data"): "mounted", ("backup", "data"): "mounted", ("lift", "raw"): "mounted"}

    def fill(self, n):
        if driver_process.missing():
            raise Skip(driver_process.missing())
        raw = claim("raw")
        raw["spec"]["volumeMode"] = "Block"
        n.write("volumes.json", csi_world.driver_object(), csi_world.csi_volume("data"), claim("data"),
                csi_world.csi_volume("raw", {"volumeAttributes": {"kind": "loop"}}, volumeMode="Block"), raw)
        n.driver = driver_process.TestDriver(n.root, os.path.join(n.top, "driver"))
        n.driver.start()
        eventually(lambda: os.path.exists(n.driver.socket), what=lambda: f"a socket; {n.driver.read('log')}")

    def write_pods(self, n):
        n.write("web.json", pod("web", {"data": claimed("data")}))
        n.write("backup.json", pod("backup", {"data": claimed("data", read_only=True)}))
        n.write("lift.json", block_pod("lift", "raw"))

    def done(self, n):
        return states(n) == self.wanted and is_registered(n)

    def verify(self, n):
        equal(n.driver.shouts(), [], "calls out of CSI's order")

    def clean(self, n):
        if hasattr(n, "driver"):
            n.driver.close()
        super().clean(n)
        if hasattr(n, "driver"):
            self.verify(n)


class LastCalls(Calls):
    """The same volumes are unpublished and unstaged."""
    name = "last calls to a driver"

    def prepare(self, n):
        self.mount_pods(n)
        n.stop()
        self.remove_pods(n)

    def done(self, n):
        return states(n) == {} and n.pod_directories() == [killing.STRANGER] and is_registered(n)

    def verify(self, n):
        super().verify(n)
        left = {name: kept for name, kept in n.driver.remembered().items() if name in ("staged", "published") and kept}
        equal(left, {}, "what the driver was not told to take back")


def is_registered(n):
    code, answer = ask(n, "GET", "/podvol/v1/drivers")
    return code == 200 and [row["state"] for row in answer["items"] if not row["inTree"]] == ["ready"]
