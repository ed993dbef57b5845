/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix_acl - access lists between the kernel's extended attribute and an archive's entry
 */
#ifndef PODVOL_MOUNT_POSIX_ACL_H
#define PODVOL_MOUNT_POSIX_ACL_H

#include "mount/bind/attributes.h"

struct archive_entry;

#define POSIX_ACL_ACCESS  "system.posix_acl_access"
#define POSIX_ACL_DEFAULT "system.posix_acl_default"

/* Into the entry. Return: 0; -EINVAL no such list. */
int posix_acl_to_entry(const struct extended_attribute *attribute, struct archive_entry *entry);

/* Both lists of the entry, where it has them. A user or group that stands there by name alone is
 * looked up here. Return: 0; -EINVAL no POSIX list, or nobody of that name; -ENOMEM. */
int posix_acl_from_entry(struct archive_entry *entry, struct attributes *attributes,
			 struct failure *reterr);

#endif
