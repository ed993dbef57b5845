# SPDX-License-Identifier: Apache-2.0
"""What podvold is to cost at most: the one table of goals, by which figures are judged, printed and drawn.

A goal names a figure of one benchmark: one of "min", "median", "p99", "max" of what podvold took ("podvol"), or of the
ratio to the floor measured in the same round. Its limits apply from so many pods, volumes or files on; None: measured
and shown, and nothing is asked of it.
"""
import re
import typing


class Goal(typing.NamedTuple):
    benchmark: str
    name: str
    title: str
    of: str
    figure: str
    limits: dict

    def limit(self, case):
        """For "1000 pods", by its first number; cases smaller than all are judged as the smallest."""
        number = re.search(r"\d+", case)
        size = int(number[0]) if number else 0
        return self.limits[max((least for least in self.limits if least <= size), default=min(self.limits))]


GOALS = [Goal(*row) for row in (
    ("manifest", "mounted_ms", "YAML file until mounted, times bare", "ratio", "median", {0: 4}),
    ("manifest", "gone_ms", "YAML file removed until gone, times bare", "ratio", "median", {0: 4}),
    ("manifest", "idle_mib", "resident when idle, MiB", "podvol", "median", {0: 10}),
    ("manifest", "pod_kib", "resident for each pod beyond that, KiB", "podvol", "median", {0: 4}),
    ("manifest", "peak_kib", "peak, times what stays resident", "ratio", "max", {0: 1.5}),
    ("manifest", "cycle_kib", "resident after a cycle, times after the second", "ratio", "max", {0: 1.05}),
    ("mount", "mounted_ms", "mount path alone, mounted, times bare", "ratio", "median", {0: 1.4, 10000: 1.2}),
    ("mount", "unmounted_ms", "mount path alone, unmounted, times bare", "ratio", "median", {0: 1.4, 10000: 1.2}),
    ("node", "pod_ms", "one pod until mounted, ms: median", "podvol", "median", {0: 1, 10000: None}),
    ("node", "pod_ms", "one pod until mounted, ms: p99", "podvol", "p99", {0: 3, 10000: None}),
    ("node", "restart_ms", "restart until all states known, times one read", "ratio", "median", {0: None, 1000: 3}),
    ("provision", "mounted_ms", "claims until mounted, times bare", "ratio", "median", {0: 4}),
    ("provision", "deleted_ms", "claims until deleted, times bare", "ratio", "median", {0: 4}),
    ("provision", "one_mounted_ms", "one claim until mounted, ms: p99", "podvol", "p99", {0: 2}),
    ("kubectl", "apply_ms", "kubectl apply until mounted, times a kubectl get", "ratio", "median", {0: None}),
    ("files", "read_ms", "ConfigMap update until read, ms: p99", "podvol", "p99", {0: 100}),
    ("api", "get_us", "get one, times a constant body", "ratio", "median", {0: 1.5}),
    ("api", "page_us", "list 500, times a constant body", "ratio", "median", {0: 2}),
    ("api", "label_us", "list by label, times a constant body", "ratio", "median", {0: 2}),
    ("api", "watch_us", "a change to all watches, times a constant body", "ratio", "median", {0: None, 2: 2}),
    ("api", "create_us", "create, times a constant body", "ratio", "median", {0: 3}),
    ("api", "patch_us", "patch, times a constant body", "ratio", "median", {0: 3}),
    ("csi", "mounted_cpu_ms", "inline CSI volume mounted, processor time, ms", "podvol", "median", {0: 0.3}),
    ("csi", "gone_cpu_ms", "inline CSI volume gone, processor time, ms", "podvol", "median", {0: 0.3}),
    ("csi", "mounted_ms", "CSI volumes mounted, times the driver's time", "ratio", "median", {0: 1.1}),
    ("csi", "gone_ms", "CSI volumes gone, times the driver's time", "ratio", "median", {0: 1.1}),
    ("csi", "slow_mounted_ms", "driver of 10 ms: mounted, times its floor", "ratio", "median", {0: 1.05}),
    ("csi", "slow_gone_ms", "driver of 10 ms: gone, times its floor", "ratio", "median", {0: 1.05}),
    ("ownership", "all_ms", "ownership, all to change, times chown -R", "ratio", "median", {0: 0.85}),
    ("ownership", "none_ms", "ownership, none to change, times chown -R", "ratio", "median", {0: 0.25}),
    ("idle", "wake_ups", "wake-ups of an idle node", "podvol", "max", {0: 0}),
    ("idle", "foreign_percent", "others mount 1,000 times a second, % of a core", "podvol", "median", {0: 5}),
)]
BENCHMARKS = list(dict.fromkeys(goal.benchmark for goal in GOALS))


def judged(rows):
    """(goal, row, figure, limit) of each measured case of each goal."""
    for goal in GOALS:
        for row in rows:
            if (row["benchmark"], row["name"]) == (goal.benchmark, goal.name):
                yield goal, row, row[goal.of][goal.figure], goal.limit(row["case"])
