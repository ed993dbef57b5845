# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in the test driver on purpose, as control.json says.

  {"faults": [{"id": "a", "method": "NodeStageVolume", "volume": "v1", "skip": 0, "times": 1,
               "when": "before", "do": "code", "code": 4, "text": "too late", "seconds": 1}],
   "random": {"seed": 7, "rate": 0.2, "do": ["code", "crash"], "codes": [4, 13, 14], "methods": [...]}}

"method" and "volume" may be left out: any. "skip" calls are let pass, then it strikes "times" times (0: always).
"when": before the driver acts, or after. "do":
  code    ends with a gRPC status; a final one after acting takes back what was done, unless "lie" is true
  crash   the process ends as if killed
  hang    nothing more comes until the test removes the fault
  slow    waits so many seconds, whether the caller still waits or not
  garbage, empty, wrong, huge   in place of the reply: bytes that are no message, no bytes, the message of another
          method, five megabytes
"random" draws for each call; the draw depends on seed and number of the call alone.
"""
import os
import random
import time

UNCERTAIN = (1, 4, 8, 10, 14)  # the caller cannot know whether it happened
REPLIES = ("garbage", "empty", "wrong", "huge")


class Status(Exception):
    """Ends a call with a gRPC status."""

    def __init__(self, code, text, injected=False, lie=False):
        super().__init__(text)
        self.code, self.text, self.injected, self.lie = code, text, injected, lie

    def is_final(self):
        return self.code not in UNCERTAIN


def drawn(memory, plan, method, number):
    """The fault that chance gives a call, or None."""
    chance = random.Random(f"{plan.get('seed', 0)}:{number}")
    if method not in plan.get("methods", (method,)) or chance.random() >= plan["rate"]:
        return None
    fault = {"id": f"random-{number}", "do": chance.choice(plan.get("do", ["code"])),
             "when": chance.choice(["before", "after"]), "code": chance.choice(plan.get("codes", [4, 13, 14])),
             "seconds": plan.get("seconds", 0.05), "text": f"drawn for call {number}"}
    memory.append("calls", f'{{"fault": "{fault["do"]}", "when": "{fault["when"]}", "number": {number}}}')
    return fault


def pick(memory, method, volume, number):
    """The fault that strikes this call, or None."""
    control = memory.control()
    for fault in control.get("faults", ()):
        if fault.get("method", method) != method or fault.get("volume", volume) != volume:
            continue
        if fault.get("skip") and memory.use(f"{fault['id']} skipped", fault["skip"]):
            continue
        if memory.use(fault["id"], fault.get("times", 1) or 1 << 60):
            return fault
    return drawn(memory, control["random"], method, number) if control.get("random") else None


def hang(memory, fault):
    while any(f["id"] == fault["id"] for f in memory.control().get("faults", ())):
        time.sleep(0.02)


def strike(memory, fault, when):
    """Does what the fault wants at this moment; returns the name of a reply to be given instead, or None."""
    if fault is None or fault.get("when", "before") != when:
        return None
    what = fault.get("do", "code")
    if what == "crash":
        os._exit(77)
    if what == "code":
        raise Status(fault["code"], fault.get("text", "injected"), injected=True, lie=fault.get("lie", False))
    if what == "hang":
        hang(memory, fault)
    elif what == "slow":
        time.sleep(fault["seconds"])
    return what if what in REPLIES else None
