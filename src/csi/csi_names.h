/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_names - names that kubelet, controllers and drivers' records must agree on to the letter;
 * pure
 */
#ifndef PODVOL_CSI_CSI_NAMES_H
#define PODVOL_CSI_CSI_NAMES_H

#define CSI_PLUGIN_NAME "kubernetes.io/csi"

enum { CSI_HASH_TEXT_BYTES = 2 * 32 + 1 };

/* SHA-256 in hexadecimal. Return: 0 or -ENOMEM. */
int csi_hash_text(const char *text, char ret[CSI_HASH_TEXT_BYTES]);
/* "csi-" and that hash. NULL: no memory. Freed with free(); so are those below. */
char *csi_hashed_name(const char *text);
/* Of handle, driver and node, one behind the other: the name of the VolumeAttachment. */
char *csi_attachment_name(const char *handle, const char *driver, const char *node_name);
/* "kubernetes.io/csi/<driver>^<handle>": of a volume that a PersistentVolume describes. */
char *csi_unique_name(const char *driver, const char *handle);

#endif
