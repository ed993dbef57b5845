/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_names - names that others must agree on; see csi_drivers.h
 */
#include "csi/csi_drivers.h"

#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>

enum { HASH_BYTES = (CSI_HASH_TEXT_BYTES - 1) / 2 };

int csi_hash_text(const char *text, char ret[CSI_HASH_TEXT_BYTES])
{
	unsigned char hash[HASH_BYTES];

	assert(text && ret);
	if (gnutls_begin() < 0 || gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), hash) < 0)
		return -ENOMEM;
	print_hex(hash, sizeof(hash), ret);
	return 0;
}

char *csi_hashed_name(const char *text)
{
	char hash[CSI_HASH_TEXT_BYTES], *name;

	assert(text);
	if (csi_hash_text(text, hash) < 0 || asprintf(&name, "csi-%s", hash) < 0)
		return NULL;
	return name;
}

char *csi_attachment_name(const char *handle, const char *driver, const char *node_name)
{
	cleanup_free char *text = NULL;

	assert(handle && driver && node_name);
	text = new_text("%s%s%s", handle, driver, node_name);
	if (!text)
		return NULL;
	return csi_hashed_name(text);
}

char *csi_unique_name(const char *driver, const char *handle)
{
	char *name;

	assert(driver && handle);
	return asprintf(&name, CSI_PLUGIN_NAME "/%s^%s", driver, handle) < 0 ? NULL : name;
}
