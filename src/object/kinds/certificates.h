/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates - ClusterTrustBundles, decoded, and the X.509 authorities that they hold; pure
 *
 * Only blocks of type CERTIFICATE without headers; text between blocks is a comment, as with
 * other readers of such files. X.509 is read by GnuTLS.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>

/* certificates.k8s.io ClusterTrustBundle. Strings are "" where absent and live as long as the
 * object. */
struct cluster_trust_bundle {
	const char *signer_name;  /* "example.com/foo"; "" of no signer */
	const char *trust_bundle; /* PEM */
};

struct certificate {
	char *der; /* owned by the list */
	size_t length;
};

struct certificate_list {
	struct certificate *certificates;
	size_t count, capacity;
};

enum { CERTIFICATES_MAX = 4096 }; /* in one bundle, or one file */

/**
 * certificates_add - all certificates of a text, after those that the list holds
 * @reterr: which entry is wrong, counted from 0
 *
 * Return: 0; -EINVAL a block is broken, of another type, has headers or holds no certificate;
 * -E2BIG; -ENOMEM.
 */
int certificates_add(struct certificate_list *list, const char *pem, struct failure *reterr);

/* May it sign others? */
bool certificate_is_authority(const struct certificate *certificate);

/* By bytes; of equal ones the first is left. */
void certificates_sort(struct certificate_list *list);

/* As PEM; "" for none. Freed with free(); NULL: no memory. */
char *certificates_print(const struct certificate_list *list);

/* Frees what it holds; an empty list is fine. */
void certificates_done(struct certificate_list *list);
