/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_credentials - what a kubeconfig's certificates, keys and tokens are now, from data or
 * files
 *
 * Files are rotated while podvold runs (a client certificate that kubelet or cert-manager renews, a
 * projected token), so they are read as a whole each time and compared. Links are followed: a
 * rotated file is one. A file that another user than root could have written is refused; so is a
 * key that others may read. A certificate that does not belong to its key, as in the middle of a
 * rotation of two files, is found by the reader's TLS library and not here.
 */
#pragma once

#include "store/remote/kubeconfig.h"

/* Texts, owned; NULL: none. A PEM text ends with a newline or not, as in its file. */
struct client_credentials {
	char *authority, *certificate, *key;
	char *token; /* one line, without its newline */
};

enum { CREDENTIAL_FILE_BYTES = 1048576 }; /* a bundle of authorities is a quarter of it */

/**
 * client_credentials_read - read what is in files, copy what is not
 * @ret: given to client_credentials_done(); after a failure empty
 *
 * Blocks on the disk: at start, or on a worker. Return: 0; -EPERM others could have written it, or
 * may read the key; -EINVAL no regular file, empty, too long or not text; -ENOMEM; else what a
 * system call gave.
 */
int client_credentials_read(const struct kubeconfig *kubeconfig, struct client_credentials *ret,
			    struct failure *reterr);

/* It becomes the value of a header: one word without control characters; blanks at its end are cut
 * off. Return: 0; -EINVAL. */
int client_credentials_check_token(char *token, struct failure *reterr);

/* Has nothing changed? In the time of its length, whatever differs. */
bool client_credentials_equal(const struct client_credentials *a,
			      const struct client_credentials *b);

/* Overwrites and frees; an empty one is fine. */
void client_credentials_done(struct client_credentials *credentials);
