/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_version - which of the versions that a registrar offers is used; pure
 *
 * The rule is kubelet's (spec: CSI, 1.4): a leading v is passed over, what cannot be read or has a
 * major number above 1 too, and the highest of the rest must be a 1.x.
 */
#pragma once

#include "base/failure.h"

#include <stddef.h>
#include <stdint.h>

enum { CSI_VERSION_PARTS = 8, CSI_VERSION_BYTES = 168 };

struct csi_version {
	uint64_t parts[CSI_VERSION_PARTS];
	unsigned int count; /* at least 2; parts behind are 0 */
};

/* "v1.2.3-rc1" is 1.2.3. Return: 0 or -EINVAL. */
int csi_version_parse(const char *text, struct csi_version *ret);
/* Less than, equal to or greater than 0; 1.0 and 1.0.0 are equal. */
int csi_version_compare(const struct csi_version *a, const struct csi_version *b);
void csi_version_print(const struct csi_version *version, char text[CSI_VERSION_BYTES]);

/**
 * csi_version_choose - the version to use with a driver
 * @offered: as the registrar tells them
 *
 * Return: 0; -EPROTO none of them will do, and @reterr says what was offered.
 */
int csi_version_choose(const char *const *offered, size_t count, struct csi_version *ret,
		       struct failure *reterr);
