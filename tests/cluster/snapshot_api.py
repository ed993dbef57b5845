# SPDX-License-Identifier: Apache-2.0
"""The API of snapshots as CustomResourceDefinitions, for a real kube-apiserver: the fields of snapshot.storage.k8s.io/v1 that
podvol reads and writes. A field that is not here the server drops, as it does with external-snapshotter's own."""
GROUP = "snapshot.storage.k8s.io"
TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer", "format": "int64"}
SIZE = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
TIME = {"type": "string", "format": "date-time"}


def fields(*required, **properties):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


ERROR = fields(message=TEXT, time=TIME)
REFERENCE = fields(apiVersion=TEXT, kind=TEXT, name=TEXT, namespace=TEXT, uid=TEXT, resourceVersion=TEXT, fieldPath=TEXT)
KINDS = {
    "VolumeSnapshot": ("volumesnapshots", "Namespaced", {
        "spec": fields("source", volumeSnapshotClassName=TEXT, source=fields(persistentVolumeClaimName=TEXT, volumeSnapshotContentName=TEXT)),
        "status": fields(boundVolumeSnapshotContentName=TEXT, creationTime=TIME, readyToUse=FLAG, restoreSize=SIZE, error=ERROR)}),
    "VolumeSnapshotContent": ("volumesnapshotcontents", "Cluster", {
        "spec": fields("deletionPolicy", "driver", "source", "volumeSnapshotRef", deletionPolicy={"type": "string", "enum": ["Delete", "Retain"]},
                       driver=TEXT, source=fields(volumeHandle=TEXT, snapshotHandle=TEXT), sourceVolumeMode=TEXT,
                       volumeSnapshotClassName=TEXT, volumeSnapshotRef=REFERENCE),
        "status": fields(snapshotHandle=TEXT, creationTime=NUMBER, readyToUse=FLAG, restoreSize=NUMBER, error=ERROR)}),
    "VolumeSnapshotClass": ("volumesnapshotclasses", "Cluster", {
        "driver": TEXT, "deletionPolicy": {"type": "string", "enum": ["Delete", "Retain"]},
        "parameters": {"type": "object", "additionalProperties": TEXT}}),
}


def definition(kind):
    plural, scope, properties = KINDS[kind]
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}, **properties}}}}
    if "status" in properties:
        version["subresources"] = {"status": {}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {"group": GROUP, "scope": scope, "versions": [version],
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}}}


def definitions():
    return [definition(kind) for kind in KINDS]
