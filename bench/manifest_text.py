# SPDX-License-Identifier: Apache-2.0
"""The pods that benchmarks write, and a file system in memory for them: a disk's time differs by threefold."""
import contextlib
import os
import subprocess
import tempfile

import node

TEXT = """---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: v-{0}
spec:
  capacity:
    storage: 1Gi
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  persistentVolumeReclaimPolicy: Retain
  local:
    path: {1}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - key: kubernetes.io/os
          operator: In
          values: [linux]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: c-{0}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  volumeName: v-{0}
  resources:
    requests:
      storage: 1Gi
---
apiVersion: v1
kind: Pod
metadata:
  name: p-{0}
spec:
  containers:
  - name: main
    image: none
    volumeMounts:
    - name: data
      mountPath: /data
  volumes:
  - name: data
    persistentVolumeClaim:
      claimName: c-{0}
"""


def manifest(numbers, sources):
    """Pods with claim and volume, one for each number; its source is the one of that place in the list."""
    return "\n".join(TEXT.format(number, sources[number]) for number in numbers)


def make_sources(where, count):
    sources = [os.path.join(where, f"source-{number}") for number in range(count)]
    for source in sources:
        os.mkdir(source)
    return sources


@contextlib.contextmanager
def in_memory():
    """A tmpfs, in which nodes are made meanwhile; gives its path."""
    before, where = node.TEMPORARY, tempfile.mkdtemp(prefix="podvol-bench.", dir=node.TEMPORARY)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=0", "tmpfs", where], check=True)
    node.TEMPORARY = where
    try:
        yield where
    finally:
        node.TEMPORARY = before
        subprocess.run(["umount", "-l", where], check=True)
        os.rmdir(where)
