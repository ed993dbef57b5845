/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_certificate - certificates of TLS clients: whose they are, and which role they give
 *
 * As kube-apiserver reads them: the common name is the user, organizations are groups. The groups
 * "podvol:view", "podvol:edit", "podvol:operator" and "podvol:admin" are roles; of several the
 * rights of all count, others are passed over. A certificate is one for clients (extended key usage
 * clientAuth), by an authority of client-ca-file, in its time. The loop only; blocks on nothing but
 * when the file is read.
 */
#pragma once

#include "api/auth/token_list.h"
#include "base/failure.h"

#include <gnutls/gnutls.h>
#include <stdint.h>

struct client_authority;

/* Certificates of authorities, PEM. Return: 0; -EINVAL it holds none; else what a system call gave.
 */
int client_authority_load(const char *file, struct client_authority **ret, struct failure *reterr);
/* @authority may be NULL. Return: NULL. */
struct client_authority *client_authority_free(struct client_authority *authority);

struct client_certificate {
	char user[TOKEN_NAME_BYTES];
	unsigned int rights;                /* 0: it gives none, @problem says why */
	uint64_t begins_usec, expires_usec; /* real time */
	const char *problem;                /* static; NULL: there is none */
};

/* What the client has shown in its handshake; @problem "no credential" when that is nothing. */
void client_certificate_read(const struct client_authority *authority, gnutls_session_t session,
			     struct client_certificate *ret);

/* What is wrong with it at @now_usec; NULL: it is in its time and not revoked. Static. */
const char *client_certificate_problem(const struct client_certificate *certificate,
				       const struct token_list *list, uint64_t now_usec);
