/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi - the rule for names of CSI drivers, which many kinds hold
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_CSI_H
#define PODVOL_OBJECT_CSI_H

#include "object/schema/field.h"

/* At most 63 bytes, a subdomain but for upper case letters. Absent: required. */
int csi_driver_name_validate(const char *name, const struct field *field, struct violations *found);

#endif
