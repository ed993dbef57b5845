# SPDX-License-Identifier: Apache-2.0
"""The controller services of the test driver: volumes by name, attachments, snapshots, all kept in state.json."""
import hashlib
import time

from csi_messages import csi
from faults import Status
from rules import as_arguments

INVALID, NOT_FOUND, EXISTS, EXHAUSTED, PRECONDITION, ABORTED, RANGE = 3, 5, 6, 8, 9, 10, 11
CONTROLLER_CAPABILITIES = ["CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "LIST_VOLUMES", "GET_CAPACITY",
                           "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS", "CLONE_VOLUME", "EXPAND_VOLUME",
                           "LIST_VOLUMES_PUBLISHED_NODES", "VOLUME_CONDITION", "GET_VOLUME",
                           "SINGLE_NODE_MULTI_WRITER", "MODIFY_VOLUME"]
NEEDED = {"CreateVolume": "CREATE_DELETE_VOLUME", "DeleteVolume": "CREATE_DELETE_VOLUME",
          "ControllerPublishVolume": "PUBLISH_UNPUBLISH_VOLUME", "ControllerUnpublishVolume": "PUBLISH_UNPUBLISH_VOLUME",
          "ListVolumes": "LIST_VOLUMES", "GetCapacity": "GET_CAPACITY", "CreateSnapshot": "CREATE_DELETE_SNAPSHOT",
          "DeleteSnapshot": "CREATE_DELETE_SNAPSHOT", "ListSnapshots": "LIST_SNAPSHOTS",
          "GetSnapshot": "GET_SNAPSHOT", "ControllerExpandVolume": "EXPAND_VOLUME",
          "ControllerGetVolume": "GET_VOLUME", "ControllerModifyVolume": "MODIFY_VOLUME"}
DEFAULT_BYTES, CAPACITY = 16 << 20, 1 << 40
PAGE = 100


class ControllerService:
    def __init__(self, memory, storage, order):
        self.memory, self.storage, self.order = memory, storage, order

    @property
    def volumes(self):
        return self.memory.state["volumes"]

    @property
    def snapshots(self):
        return self.memory.state["snapshots"]

    def capabilities(self):
        return self.memory.control().get("controller_capabilities", CONTROLLER_CAPABILITIES)

    def has(self, capability):
        return capability in self.capabilities()

    def volume(self, identifier):
        if identifier not in self.volumes:
            raise Status(NOT_FOUND, f"no volume '{identifier}'")
        return self.volumes[identifier]

    def ControllerGetCapabilities(self, _):
        rpc = csi.ControllerServiceCapability.RPC
        return csi.ControllerGetCapabilitiesResponse(capabilities=[
            csi.ControllerServiceCapability(rpc=rpc(type=rpc.Type.Value(name))) for name in self.capabilities()])

    # -- volumes --

    def as_volume(self, volume):
        found = csi.Volume(volume_id=volume["id"], capacity_bytes=volume["bytes"],
                           volume_context={"kind": volume["kind"], "bytes": str(volume["bytes_first"])})
        if self.memory.control().get("topology"):
            found.accessible_topology.add(segments=self.memory.control()["topology"])
        return found

    def source(self, request):
        """What a new volume is a copy of; None: of nothing."""
        wanted = request.volume_content_source
        if wanted.HasField("snapshot"):
            if wanted.snapshot.snapshot_id not in self.snapshots:
                raise Status(NOT_FOUND, f"no snapshot '{wanted.snapshot.snapshot_id}'")
            return wanted.snapshot.snapshot_id
        return self.volume(wanted.volume.volume_id)["id"] if wanted.HasField("volume") else None

    def CreateVolume(self, request):
        size = request.capacity_range.required_bytes or DEFAULT_BYTES
        if request.capacity_range.limit_bytes and size > request.capacity_range.limit_bytes or size > CAPACITY:
            raise Status(RANGE, f"{size} bytes are not to be had")
        identifier = "vol-" + hashlib.sha256(request.name.encode()).hexdigest()[:24]
        arguments = as_arguments(request)
        if identifier in self.volumes:
            if self.volumes[identifier].get("arguments") != arguments:
                raise Status(EXISTS, f"volume '{request.name}' is another one")
        else:
            if size > self.room():
                raise Status(EXHAUSTED, f"{size} bytes are not left")
            self.volumes[identifier] = {"id": identifier, "name": request.name, "bytes": size, "bytes_first": size,
                                        "kind": request.parameters.get("kind", "dir"), "arguments": arguments,
                                        "source": self.source(request), "parameters": dict(request.parameters)}
            if self.volumes[identifier]["source"]:
                self.storage.copy({"id": self.volumes[identifier]["source"]}, self.volumes[identifier])
            self.storage.create(self.volumes[identifier])
        reply = csi.CreateVolumeResponse(volume=self.as_volume(self.volumes[identifier]))
        if request.HasField("volume_content_source"):
            reply.volume.content_source.CopyFrom(request.volume_content_source)
        return reply

    def DeleteVolume(self, request):
        volume, identifier = self.volumes.get(request.volume_id), request.volume_id
        if self.order.live(identifier) or identifier in self.order.staged:
            self.memory.shout(f"DeleteVolume of '{identifier}' while staged or published")
            raise Status(PRECONDITION, "in use")
        if self.memory.state["attached"].get(identifier):
            self.memory.shout(f"DeleteVolume of '{identifier}' while attached")
            raise Status(PRECONDITION, "attached")
        if volume:
            self.storage.delete(volume)
            del self.volumes[identifier]
        return csi.DeleteVolumeResponse()

    def ValidateVolumeCapabilities(self, request):
        self.volume(request.volume_id)
        confirmed = csi.ValidateVolumeCapabilitiesResponse.Confirmed(
            volume_context=request.volume_context, volume_capabilities=request.volume_capabilities,
            parameters=request.parameters)
        return csi.ValidateVolumeCapabilitiesResponse(confirmed=confirmed)

    def page(self, items, request):
        """(some of the items, next token)"""
        try:
            begin = int(request.starting_token or 0)
        except ValueError:
            raise Status(ABORTED, "no such token") from None
        end = begin + (request.max_entries or PAGE)
        return items[begin:end], str(end) if end < len(items) else ""

    def ListVolumes(self, request):
        some, token = self.page(sorted(self.volumes), request)
        reply = csi.ListVolumesResponse(next_token=token)
        for identifier in some:
            entry = reply.entries.add(volume=csi.Volume(volume_id=identifier,
                                                        capacity_bytes=self.volumes[identifier]["bytes"]))
            entry.status.published_node_ids.extend(self.memory.state["attached"].get(identifier, {}))
        return reply

    def room(self):
        return self.memory.control().get("capacity", CAPACITY) - sum(v["bytes"] for v in self.volumes.values())

    def GetCapacity(self, _):
        reply = csi.GetCapacityResponse(available_capacity=self.room())
        if "maximum_volume_size" in self.memory.control():
            reply.maximum_volume_size.value = self.memory.control()["maximum_volume_size"]
        return reply

    def ControllerGetVolume(self, request):
        volume = self.volume(request.volume_id)
        reply = csi.ControllerGetVolumeResponse(volume=csi.Volume(volume_id=volume["id"],
                                                                  capacity_bytes=volume["bytes"]))
        reply.status.published_node_ids.extend(self.memory.state["attached"].get(volume["id"], {}))
        return reply

    def ControllerExpandVolume(self, request):
        volume = self.volume(request.volume_id)
        if request.capacity_range.required_bytes > CAPACITY:
            raise Status(RANGE, "too large")
        volume["bytes"] = max(volume["bytes"], request.capacity_range.required_bytes)
        return csi.ControllerExpandVolumeResponse(
            capacity_bytes=volume["bytes"],
            node_expansion_required=self.memory.control().get("node_expansion", True))

    def ControllerModifyVolume(self, request):
        self.volume(request.volume_id)["parameters"].update(request.mutable_parameters)
        return csi.ControllerModifyVolumeResponse()

    # -- attachments --

    def ControllerPublishVolume(self, request):
        if request.volume_id not in self.volumes and not self.memory.control().get("auto_create", True):
            raise Status(NOT_FOUND, f"no volume '{request.volume_id}'")
        nodes = self.memory.state["attached"].setdefault(request.volume_id, {})
        before = nodes.get(request.node_id)
        if before and before != as_arguments(request):
            self.memory.shout(f"ControllerPublishVolume of '{request.volume_id}' again with other arguments")
            raise Status(EXISTS, "attached otherwise")
        nodes[request.node_id] = as_arguments(request)
        return csi.ControllerPublishVolumeResponse(publish_context={"device": f"disk-of-{request.volume_id}"})

    def ControllerUnpublishVolume(self, request):
        if request.volume_id in self.order.staged or self.order.live(request.volume_id):
            self.memory.shout(f"ControllerUnpublishVolume of '{request.volume_id}' while staged or published")
        nodes = self.memory.state["attached"].get(request.volume_id, {})
        for node in [request.node_id] if request.node_id else list(nodes):
            nodes.pop(node, None)
        return csi.ControllerUnpublishVolumeResponse()

    # -- snapshots --

    def as_snapshot(self, snapshot):
        found = csi.Snapshot(snapshot_id=snapshot["id"], source_volume_id=snapshot["source"],
                             size_bytes=snapshot["bytes"], ready_to_use=True, group_snapshot_id=snapshot["group"])
        found.creation_time.FromSeconds(snapshot["made"])
        return found

    def make_snapshot(self, name, volume, group=""):
        identifier = "snap-" + hashlib.sha256(name.encode()).hexdigest()[:24]
        before = self.snapshots.get(identifier)
        if before and before["source"] != volume["id"]:
            raise Status(EXISTS, "a snapshot of another volume")
        if not before:
            self.snapshots[identifier] = {"id": identifier, "source": volume["id"], "bytes": volume["bytes"],
                                          "kind": volume["kind"], "made": int(time.time()), "group": group}
            self.storage.copy(volume, self.snapshots[identifier])
        return self.snapshots[identifier]

    def CreateSnapshot(self, request):
        snapshot = self.make_snapshot(request.name, self.volume(request.source_volume_id))
        return csi.CreateSnapshotResponse(snapshot=self.as_snapshot(snapshot))

    def DeleteSnapshot(self, request):
        if self.snapshots.get(request.snapshot_id, {}).get("group"):
            raise Status(INVALID, "it is part of a group snapshot")
        snapshot = self.snapshots.pop(request.snapshot_id, None)
        if snapshot:
            self.storage.delete(snapshot)
        return csi.DeleteSnapshotResponse()

    def GetSnapshot(self, request):
        if request.snapshot_id not in self.snapshots:
            raise Status(NOT_FOUND, "no such snapshot")
        return csi.GetSnapshotResponse(snapshot=self.as_snapshot(self.snapshots[request.snapshot_id]))

    def ListSnapshots(self, request):
        wanted = [s for _, s in sorted(self.snapshots.items())
                  if request.snapshot_id in ("", s["id"]) and request.source_volume_id in ("", s["source"])]
        some, token = self.page(wanted, request)
        reply = csi.ListSnapshotsResponse(next_token=token)
        for snapshot in some:
            reply.entries.add(snapshot=self.as_snapshot(snapshot))
        return reply

    # -- snapshots of several volumes --

    def GroupControllerGetCapabilities(self, _):
        rpc = csi.GroupControllerServiceCapability.RPC
        return csi.GroupControllerGetCapabilitiesResponse(capabilities=[csi.GroupControllerServiceCapability(
            rpc=rpc(type=rpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT))])

    def as_group(self, identifier):
        members = [s for _, s in sorted(self.snapshots.items()) if s["group"] == identifier]
        members = members[self.memory.control().get("group_leaves_out", 0):]
        found = csi.VolumeGroupSnapshot(group_snapshot_id=identifier, ready_to_use=True,
                                        snapshots=[self.as_snapshot(s) for s in members])
        found.creation_time.FromSeconds(min((s["made"] for s in members), default=0))
        return found

    def CreateVolumeGroupSnapshot(self, request):
        identifier = "group-" + hashlib.sha256(request.name.encode()).hexdigest()[:24]
        volumes = [self.volume(handle) for handle in request.source_volume_ids]
        before = {s["source"] for s in self.snapshots.values() if s["group"] == identifier}
        if before and before != set(request.source_volume_ids):
            raise Status(EXISTS, "a group snapshot of other volumes")
        for volume in volumes:
            self.make_snapshot(f"{request.name} {volume['id']}", volume, identifier)
        return csi.CreateVolumeGroupSnapshotResponse(group_snapshot=self.as_group(identifier))

    def DeleteVolumeGroupSnapshot(self, request):
        members = {s["id"] for s in self.snapshots.values() if s["group"] == request.group_snapshot_id}
        named = {s.snapshot_id for s in self.as_group(request.group_snapshot_id).snapshots}
        if members and named != set(request.snapshot_ids):
            raise Status(INVALID, "the group snapshot has other snapshots")
        for identifier in members:
            self.storage.delete(self.snapshots.pop(identifier))
        return csi.DeleteVolumeGroupSnapshotResponse()

    def GetVolumeGroupSnapshot(self, request):
        if not any(s["group"] == request.group_snapshot_id for s in self.snapshots.values()):
            raise Status(NOT_FOUND, "no such group snapshot")
        return csi.GetVolumeGroupSnapshotResponse(group_snapshot=self.as_group(request.group_snapshot_id))
