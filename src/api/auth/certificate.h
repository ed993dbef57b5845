/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate - a certificate authority of one node and the server certificates it signs
 *
 * EC P-256 throughout. The authority lives in one file, key and certificate together, so that no
 * crash can leave a pair that does not match; it is not replaced in our time, for who trusts it has
 * copied it into a kubeconfig. A server's key lives in memory only. No function here looks at a
 * clock.
 */
#pragma once

#include "base/failure.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <time.h>

enum {
	CERTIFICATE_NAMES_MAX = 64, /* names and addresses in one certificate */
	CERTIFICATE_DAYS = 365,     /* a server certificate is valid for so long, */
	CERTIFICATE_RENEW_DAYS = 60 /* and replaced when so little of it is left */
};

struct authority;

/* Whom a server certificate is for. */
struct server_names {
	struct server_name {
		unsigned char bytes[16]; /* of an address */
		unsigned int length;     /* 4, 16; 0: it is a name */
		char name[256];
	} names[CERTIFICATE_NAMES_MAX];
	size_t count;
};

/* A server certificate and its key, as GnuTLS wants them for a handshake. */
struct server_certificate {
	gnutls_pcert_st certificate;
	gnutls_privkey_t key;
	time_t renew_from, renew_until; /* it is to be replaced outside of these */
};

/**
 * authority_load - read the authority, or make one
 * @directory_fd: of secret_directory_open(); there it is called "ca.pem"
 * @node_name:    goes into a new authority's name
 * @now:          seconds; whether it is valid
 *
 * Return: 0; -EINVAL the file holds something else, or a key that is not the certificate's;
 * -EKEYEXPIRED; -ENOMEM; else as secret_file_read() and secret_file_write().
 */
int authority_load(int directory_fd, const char *node_name, time_t now, struct authority **ret,
		   struct failure *reterr);
/* The certificate alone, as it stands in the file: without GnuTLS, so that it is to be compared and
 * no more. Return: PEM, the caller's; NULL: it cannot be read, or is written in another form. */
char *authority_read_certificate(int directory_fd);
/* @authority may be NULL. Return: NULL. */
struct authority *authority_free(struct authority *authority);
/* Its certificate as PEM, without the key; as long as the authority. */
const char *authority_certificate(const struct authority *authority);

/* Adds a name, or an address in text; one that is there already is not added again. Return: 0;
 * -EINVAL it is neither; -E2BIG. */
int server_names_add(struct server_names *names, const char *text);

/**
 * server_certificate_new - make a key and sign a certificate for it
 *
 * About a millisecond. Return: 0; -EIO GnuTLS could not; -ENOMEM.
 */
int server_certificate_new(const struct authority *authority, const struct server_names *names,
			   time_t now, struct server_certificate **ret, struct failure *reterr);
/* @certificate may be NULL. Return: NULL. */
struct server_certificate *server_certificate_free(struct server_certificate *certificate);
