# SPDX-License-Identifier: Apache-2.0
"""CSI's order, as the driver sees it: each violation is printed.

What is staged and published is counted as the caller must count it, not as the kernel has it:
  - a stage or publish is there from the moment it begins; it is sure when OK was answered to a caller that
    still listened; a final error takes back one that never was sure, an uncertain one does not;
  - it is gone when an unstage or unpublish was answered with OK to a caller that still listened.
"""
import time

from google.protobuf import json_format

MAY_DIFFER = ("secrets",)  # a rotated secret is no other request
TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"
STRING_BYTES, MAP_BYTES, NODE_ID_BYTES = 128, 4096, 256
PATHS = ("staging_target_path", "target_path", "volume_path")
REQUIRED = {
    "NodeStageVolume": ("volume_id", "staging_target_path", "volume_capability"),
    "NodeUnstageVolume": ("volume_id", "staging_target_path"),
    "NodePublishVolume": ("volume_id", "target_path", "volume_capability"),
    "NodeUnpublishVolume": ("volume_id", "target_path"),
    "NodeGetVolumeStats": ("volume_id", "volume_path"),
    "NodeExpandVolume": ("volume_id", "volume_path"),
    "CreateVolume": ("name", "volume_capabilities"),
    "DeleteVolume": ("volume_id",),
    "ControllerPublishVolume": ("volume_id", "node_id", "volume_capability"),
    "ControllerUnpublishVolume": ("volume_id",),
    "ValidateVolumeCapabilities": ("volume_id", "volume_capabilities"),
    "ControllerExpandVolume": ("volume_id", "capacity_range"),
    "ControllerGetVolume": ("volume_id",),
    "ControllerModifyVolume": ("volume_id",),
    "CreateSnapshot": ("source_volume_id", "name"),
    "DeleteSnapshot": ("snapshot_id",),
    "CreateVolumeGroupSnapshot": ("name", "source_volume_ids"),
    "DeleteVolumeGroupSnapshot": ("group_snapshot_id",),
    "GetVolumeGroupSnapshot": ("group_snapshot_id",),
}
ON_NODE = ("NodeStageVolume", "NodeUnstageVolume", "NodePublishVolume", "NodeUnpublishVolume")
ONE_AT_A_TIME = (*ON_NODE, "CreateVolume", "DeleteVolume", "ControllerExpandVolume")
SECONDS_TO_HEAR = 2  # until the end of a caller's connection must have been noticed


def as_arguments(request):
    """A request as a dictionary, without what may differ when it is repeated."""
    found = json_format.MessageToDict(request, preserving_proto_field_name=True)
    for name in MAY_DIFFER:
        found.pop(name, None)
    found.get("volume_context", {}).pop(TOKENS, None)
    return found


def too_long(request):
    """Names of the fields that are longer than CSI allows."""
    for field, value in request.ListFields():
        if field.name in PATHS:
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            size = sum(len(k.encode()) + len(v.encode()) for k, v in value.items() if k != TOKENS)
            if size > MAP_BYTES:
                yield field.name
        elif field.label == field.LABEL_REPEATED and field.type == field.TYPE_STRING:
            if sum(len(v.encode()) for v in value) > MAP_BYTES:
                yield field.name
        elif field.type == field.TYPE_STRING:
            if len(value.encode()) > (NODE_ID_BYTES if field.name == "node_id" else STRING_BYTES):
                yield field.name
        elif field.type == field.TYPE_MESSAGE and field.label != field.LABEL_REPEATED:
            yield from too_long(value)


def bad_capability(capability):
    if capability.WhichOneof("access_type") is None:
        return "volume_capability without access type"
    if capability.access_mode.mode == 0:
        return "volume_capability without access mode"
    return None


def field_faults(method, request):
    """Sentences on what is missing or too long."""
    for name in REQUIRED.get(method, ()):
        value = getattr(request, name)
        descriptor = request.DESCRIPTOR.fields_by_name[name]
        single = descriptor.message_type and descriptor.label != descriptor.LABEL_REPEATED
        if not (request.HasField(name) if single else value):
            yield f"without {name}"
        elif name == "volume_capability" and bad_capability(value):
            yield bad_capability(value)
    for name in PATHS:
        path = getattr(request, name, "")
        if path and (not path.startswith("/") or "/../" in path or "//" in path):
            yield f"{name} '{path}' is not absolute and plain"
    for name in too_long(request):
        yield f"{name} is too long"


class Traffic:
    """Which calls run now: no two for the same volume or target may, unless the first one's caller has gone."""

    def __init__(self, memory):
        self.memory, self.running = memory, {}

    @staticmethod
    def subject(request):
        """What a call is about: a volume that has no identifier yet has a name."""
        return getattr(request, "volume_id", "") or getattr(request, "name", "")

    def rivals(self, method, request):
        on_device = method in ("NodeStageVolume", "NodeUnstageVolume")
        for number, (other, there, context) in list(self.running.items()):
            if self.subject(there) != self.subject(request) or (method in ON_NODE) != (other in ON_NODE):
                continue
            if method not in ON_NODE or on_device or other in ("NodeStageVolume", "NodeUnstageVolume") or \
                    there.target_path == request.target_path:
                yield number, other, context

    def enter(self, number, method, request, context):
        """False when an earlier call of a caller that has gone still runs: ABORTED is the answer."""
        if method not in ONE_AT_A_TIME:
            return True
        end, free = time.monotonic() + SECONDS_TO_HEAR, True
        for earlier, other, theirs in self.rivals(method, request):
            free = False
            while earlier in self.running and theirs.is_active():
                if time.monotonic() > end:
                    self.memory.shout(f"{method} of '{self.subject(request)}' while {other} runs")
                    break
                time.sleep(0.005)
        if free:
            self.running[number] = (method, request, context)
        return free

    def leave(self, number):
        self.running.pop(number, None)


class Order:
    """What is staged and published, in the caller's eyes."""

    def __init__(self, memory, has_stage):
        self.memory, self.has_stage = memory, has_stage

    @property
    def staged(self):
        return self.memory.state["staged"]

    @property
    def published(self):
        return self.memory.state["published"]

    def shout(self, method, request, text):
        self.memory.shout(f"{method} of '{request.volume_id}': {text}")

    def live(self, volume):
        return sorted(target for target, entry in self.published.items() if entry["volume"] == volume)

    def check(self, method, request):
        """Shouts when this call may not come now."""
        check = getattr(self, f"check_{method}", None)
        if check:
            check(request)

    def check_repetition(self, method, request, before):
        if before and before["arguments"] != as_arguments(request):
            self.shout(method, request, f"again with other arguments: {as_arguments(request)}, "
                       f"before {before['arguments']}")

    def check_NodeStageVolume(self, request):
        before = self.staged.get(request.volume_id)
        if not self.has_stage():
            self.shout("NodeStageVolume", request, "the driver has no STAGE_UNSTAGE_VOLUME")
        if before and before["path"] != request.staging_target_path:
            self.shout("NodeStageVolume", request, f"at another path than {before['path']}, which is not unstaged")
        elif self.live(request.volume_id) and not (before and before["sure"]):
            self.shout("NodeStageVolume", request, f"while published at {self.live(request.volume_id)}")
        else:
            self.check_repetition("NodeStageVolume", request, before)

    def check_NodeUnstageVolume(self, request):
        before = self.staged.get(request.volume_id)
        if self.live(request.volume_id):
            self.shout("NodeUnstageVolume", request, f"still published at {self.live(request.volume_id)}")
        if before and before["path"] != request.staging_target_path:
            self.shout("NodeUnstageVolume", request, f"at {request.staging_target_path}, staged at {before['path']}")

    def check_NodePublishVolume(self, request):
        before, stage = self.published.get(request.target_path), self.staged.get(request.volume_id)
        ephemeral = request.volume_context.get("csi.storage.k8s.io/ephemeral") == "true"
        if before and before["volume"] != request.volume_id:
            self.shout("NodePublishVolume", request, f"on {request.target_path}, where '{before['volume']}' is")
        if self.has_stage() and not ephemeral:
            if not stage or not stage["sure"]:
                self.shout("NodePublishVolume", request, "not staged")
            elif stage["path"] != request.staging_target_path:
                self.shout("NodePublishVolume", request, f"from {request.staging_target_path}, "
                           f"staged at {stage['path']}")
        elif request.staging_target_path and not request.volume_capability.HasField("block"):
            self.shout("NodePublishVolume", request, "with a staging path, which nothing was staged at")
        self.check_repetition("NodePublishVolume", request, before)

    def check_NodeUnpublishVolume(self, request):
        before = self.published.get(request.target_path)
        if before and before["volume"] != request.volume_id:
            self.shout("NodeUnpublishVolume", request, f"at {request.target_path}, where '{before['volume']}' is")

    def begin(self, method, request):
        """Counts what begins, before anything is done. Returns whether it was sure before."""
        with self.memory.lock:
            table, key = self.place(method, request)
            if table is None:
                return False
            before = table.get(key)
            sure = bool(before and before["sure"])
            if method in ("NodeStageVolume", "NodePublishVolume"):
                table[key] = {"volume": request.volume_id, "path": request.staging_target_path,
                              "arguments": before["arguments"] if before else as_arguments(request), "sure": sure}
            elif before:
                before["sure"] = False
            self.memory.save()
            return sure

    def place(self, method, request):
        if method in ("NodeStageVolume", "NodeUnstageVolume"):
            return self.staged, request.volume_id
        if method in ("NodePublishVolume", "NodeUnpublishVolume"):
            return self.published, request.target_path
        return None, None

    def end(self, method, request, failed_for_good, heard):
        """@failed_for_good: None when it ended with OK, else whether the error is final; @heard: the caller
        still listens."""
        with self.memory.lock:
            table, key = self.place(method, request)
            if table is None or key not in table:
                return
            if method in ("NodeStageVolume", "NodePublishVolume"):
                if failed_for_good is None and heard:
                    table[key]["sure"] = True
                elif failed_for_good and heard and not table[key]["sure"]:
                    del table[key]
            elif failed_for_good is None and heard:
                del table[key]
            self.memory.save()
