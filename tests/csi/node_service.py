# SPDX-License-Identifier: Apache-2.0
"""The Node and Identity services of the test driver: real mounts of real storage.

volume_context chooses what a volume is: "kind" dir (default), tmpfs or loop; "bytes". A handle that was not created
comes into being when it is first used, as long as control.json does not say "auto_create": false.
"""
import os

import backing
from csi_messages import csi
from faults import Status

INVALID, NOT_FOUND, EXISTS, PRECONDITION, UNIMPLEMENTED = 3, 5, 6, 9, 12
NODE_CAPABILITIES = ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME", "VOLUME_CONDITION",
                     "SINGLE_NODE_MULTI_WRITER"]
NEEDED = {"NodeStageVolume": "STAGE_UNSTAGE_VOLUME", "NodeUnstageVolume": "STAGE_UNSTAGE_VOLUME",
          "NodeGetVolumeStats": "GET_VOLUME_STATS", "NodeExpandVolume": "EXPAND_VOLUME"}
EPHEMERAL = "csi.storage.k8s.io/ephemeral"
DEFAULT_BYTES = 16 << 20


class NodeService:
    """Each method takes a request and returns a reply or raises Status; undo_... takes back a stage or publish."""

    def __init__(self, name, memory, storage):
        self.name, self.memory, self.storage = name, memory, storage

    def capabilities(self):
        return self.memory.control().get("node_capabilities", NODE_CAPABILITIES)

    def has(self, capability):
        return capability in self.capabilities()

    def volume(self, request):
        """The volume that a request names, made now where that is allowed."""
        volumes = self.memory.state["volumes"]
        if request.volume_id not in volumes:
            if not self.memory.control().get("auto_create", True):
                raise Status(NOT_FOUND, f"no volume '{request.volume_id}'")
            context = getattr(request, "volume_context", {})
            volumes[request.volume_id] = {"id": request.volume_id, "kind": context.get("kind", "dir"),
                                          "bytes": int(context.get("bytes", DEFAULT_BYTES)), "parameters": {}}
        volume = volumes[request.volume_id]
        self.storage.create(volume)
        return volume

    # -- Identity --

    def GetPluginInfo(self, _):
        return csi.GetPluginInfoResponse(name=self.memory.control().get("name", self.name), vendor_version="1.0.0")

    def GetPluginCapabilities(self, _):
        service, expansion = csi.PluginCapability.Service, csi.PluginCapability.VolumeExpansion
        return csi.GetPluginCapabilitiesResponse(capabilities=[
            csi.PluginCapability(service=service(type=service.Type.Value(name)))
            for name in self.memory.control().get("plugin_capabilities", [
                "CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"])
        ] + [csi.PluginCapability(volume_expansion=expansion(type=expansion.Type.Value(name)))
             for name in self.memory.control().get("expansion", ["ONLINE"])])

    def Probe(self, _):
        reply = csi.ProbeResponse()
        reply.ready.value = self.memory.control().get("ready", True)
        return reply

    # -- Node: what it is --

    def NodeGetInfo(self, _):
        control = self.memory.control()
        reply = csi.NodeGetInfoResponse(node_id=control.get("node_id", "node-of-" + self.name),
                                        max_volumes_per_node=control.get("max_volumes", 0))
        if control.get("topology"):
            reply.accessible_topology.segments.update(control["topology"])
        return reply

    def NodeGetCapabilities(self, _):
        rpc = csi.NodeServiceCapability.RPC
        return csi.NodeGetCapabilitiesResponse(capabilities=[
            csi.NodeServiceCapability(rpc=rpc(type=rpc.Type.Value(name))) for name in self.capabilities()])

    # -- Node: stage and publish --

    def NodeStageVolume(self, request):
        volume, capability = self.volume(request), request.volume_capability
        if capability.HasField("block"):
            self.storage.device(self.must_be_device(volume))
        else:
            if not os.path.isdir(request.staging_target_path):
                raise Status(PRECONDITION, "the staging directory is missing")
            self.storage.mount_at(volume, request.staging_target_path, capability.mount.fs_type)
        return csi.NodeStageVolumeResponse()

    def undo_NodeStageVolume(self, request):
        self.unstage(request)

    def NodeUnstageVolume(self, request):
        self.unstage(request)
        return csi.NodeUnstageVolumeResponse()

    def unstage(self, request):
        backing.unmount_all(request.staging_target_path)
        volume = self.memory.state["volumes"].get(request.volume_id)
        if volume:
            self.storage.detach(volume)

    def must_be_device(self, volume):
        if volume["kind"] != "loop":
            raise Status(INVALID, f"volume '{volume['id']}' is no device")
        return volume

    def check_mode(self, request):
        """CSI's table for a second publish on one node."""
        mode = csi.VolumeCapability.AccessMode
        published = self.memory.state["published"]
        others = [t for t, entry in published.items()
                  if entry["volume"] == request.volume_id and t != request.target_path and entry["sure"]]
        if others and request.volume_capability.access_mode.mode == mode.SINGLE_NODE_SINGLE_WRITER:
            raise Status(PRECONDITION, f"published at {others[0]} already")

    def NodePublishVolume(self, request):
        volume, target = self.volume(request), request.target_path
        self.check_mode(request)
        if not os.path.isdir(os.path.dirname(target)):
            raise Status(INVALID, "the parent of the target is missing")
        if request.volume_capability.HasField("block"):
            self.storage.device_at(self.must_be_device(volume), target)
        elif request.staging_target_path:
            if not backing.is_mounted(request.staging_target_path):
                raise Status(PRECONDITION, "nothing is staged there")
            backing.bind(request.staging_target_path, target, request.readonly)
        else:
            os.makedirs(target, mode=0o750, exist_ok=True)
            self.storage.mount_at(volume, target, request.volume_capability.mount.fs_type)
            if request.readonly:
                backing.mount("none", target, "none", backing.MS_BIND | backing.MS_REMOUNT | backing.MS_RDONLY)
        if request.volume_context.get(EPHEMERAL) == "true":
            volume["ephemeral"] = True
        return csi.NodePublishVolumeResponse()

    def undo_NodePublishVolume(self, request):
        backing.remove_target(request.target_path)

    def NodeUnpublishVolume(self, request):
        backing.remove_target(request.target_path)
        volume = self.memory.state["volumes"].get(request.volume_id)
        if volume and volume.get("ephemeral"):
            self.storage.delete(volume)
            del self.memory.state["volumes"][request.volume_id]
        elif volume and not self.has("STAGE_UNSTAGE_VOLUME"):
            self.storage.detach(volume)
        return csi.NodeUnpublishVolumeResponse()

    # -- Node: afterwards --

    def NodeGetVolumeStats(self, request):
        reply, unit = csi.NodeGetVolumeStatsResponse(), csi.VolumeUsage
        if not os.path.lexists(request.volume_path):
            raise Status(NOT_FOUND, f"nothing at {request.volume_path}")
        if os.path.isdir(request.volume_path):
            found = os.statvfs(request.volume_path)
            size = found.f_frsize
            reply.usage.add(unit=unit.BYTES, total=found.f_blocks * size, available=found.f_bavail * size,
                            used=(found.f_blocks - found.f_bfree) * size)
            reply.usage.add(unit=unit.INODES, total=found.f_files, available=found.f_favail,
                            used=found.f_files - found.f_ffree)
        else:
            reply.usage.add(unit=unit.BYTES, total=self.volume(request)["bytes"])
        if self.has("VOLUME_CONDITION"):
            bad = self.memory.control().get("abnormal", {}).get(request.volume_id)
            reply.volume_condition.abnormal, reply.volume_condition.message = bool(bad), bad or "fine"
        return reply

    def NodeExpandVolume(self, request):
        volume = self.volume(request)
        self.storage.grow(volume, request.capacity_range.required_bytes)
        if not request.volume_capability.HasField("block"):
            self.storage.grow_file_system(volume)
        return csi.NodeExpandVolumeResponse(capacity_bytes=volume["bytes"])
