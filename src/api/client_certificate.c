/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_certificate - verified against the authorities of one file; see client_certificate.h
 *
 * The handshake has proven that the client holds the key; all else is found out here.
 */
#include "api/client_certificate.h"

#include "api/auth/authorize.h"
#include "base/clock.h"
#include "base/gnutls_begin.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <string.h>

#define ROLE_PREFIX "podvol:"

enum { CHAIN_MAX = 8, ORGANIZATIONS_MAX = 16, ORGANIZATION_BYTES = 128 };

struct client_authority {
	gnutls_x509_trust_list_t trusted;
};

int client_authority_load(const char *file, struct client_authority **ret, struct failure *reterr)
{
	struct client_authority *authority = calloc(1, sizeof(*authority));
	int code;

	assert(file && *file && ret);
	if (!authority || gnutls_begin() < 0 ||
	    gnutls_x509_trust_list_init(&authority->trusted, 0) < 0) {
		free(authority);
		return failed(reterr, -ENOMEM, "cannot read '%s'", file);
	}
	code = gnutls_x509_trust_list_add_trust_file(authority->trusted, file, NULL,
						     GNUTLS_X509_FMT_PEM, 0, 0);
	if (code <= 0) {
		(void) client_authority_free(authority);
		return failed_plain(reterr, -EINVAL, "client-ca-file: '%s' %s", file,
				    code == GNUTLS_E_FILE_ERROR ? "cannot be read"
								: "holds no certificate in PEM");
	}
	*ret = authority;
	return 0;
}

struct client_authority *client_authority_free(struct client_authority *authority)
{
	if (!authority)
		return NULL;
	gnutls_x509_trust_list_deinit(authority->trusted, 1);
	free(authority);
	return NULL;
}

/* ---- reading ---- */

/* The first value of an attribute that fits; false: none, or one with a NUL or a control
 * character. */
static bool read_name(gnutls_x509_crt_t certificate, const char *oid, unsigned int index, char *ret,
		      size_t bytes)
{
	size_t length = bytes;

	if (gnutls_x509_crt_get_dn_by_oid(certificate, oid, index, 0, ret, &length) < 0)
		return false;
	if (length == 0 || strlen(ret) != length)
		return false;
	for (const char *at = ret; *at; at++)
		if ((unsigned char) *at < ' ' || *at == 0x7f)
			return false;
	return true;
}

static unsigned int rights_of(gnutls_x509_crt_t certificate)
{
	char name[ORGANIZATION_BYTES];
	unsigned int rights = 0;

	for (unsigned int i = 0; i < ORGANIZATIONS_MAX; i++)
		if (read_name(certificate, GNUTLS_OID_X520_ORGANIZATION_NAME, i, name,
			      sizeof(name)) &&
		    strncmp(name, ROLE_PREFIX, strlen(ROLE_PREFIX)) == 0)
			rights |= role_rights(name + strlen(ROLE_PREFIX));
	return rights;
}

static uint64_t usec_of(time_t time)
{
	return time > 0 ? (uint64_t) time * USEC_PER_SEC : 0;
}

/* NULL: it is by an authority that is trusted, for clients. Times are looked at later. */
static const char *verify(const struct client_authority *authority, gnutls_x509_crt_t *chain,
			  unsigned int count)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *) (uintptr_t) GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned int status = 0;

	if (gnutls_x509_trust_list_verify_crt2(authority->trusted, chain, count, &purpose, 1,
					       GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status,
					       NULL) < 0 ||
	    status != 0)
		return "a certificate that is not trusted";
	return NULL;
}

static const char *read_chain(const struct client_authority *authority, gnutls_x509_crt_t *chain,
			      unsigned int count, struct client_certificate *ret)
{
	const char *problem = verify(authority, chain, count);

	if (problem)
		return problem;
	if (!read_name(chain[0], GNUTLS_OID_X520_COMMON_NAME, 0, ret->user, sizeof(ret->user)))
		return "a certificate without a name of 1 to 63 bytes";
	ret->begins_usec = usec_of(gnutls_x509_crt_get_activation_time(chain[0]));
	ret->expires_usec = usec_of(gnutls_x509_crt_get_expiration_time(chain[0]));
	for (unsigned int i = 1; i < count; i++) {
		uint64_t expires_usec = usec_of(gnutls_x509_crt_get_expiration_time(chain[i]));

		if (expires_usec < ret->expires_usec)
			ret->expires_usec = expires_usec;
	}
	ret->rights = rights_of(chain[0]);
	return ret->rights ? NULL : "a certificate without a role";
}

void client_certificate_read(const struct client_authority *authority, gnutls_session_t session,
			     struct client_certificate *ret)
{
	gnutls_x509_crt_t chain[CHAIN_MAX];
	const gnutls_datum_t *shown;
	unsigned int count = 0, read = 0;

	*ret = (struct client_certificate){ .problem = "no credential" };
	shown = authority ? gnutls_certificate_get_peers(session, &count) : NULL;
	if (!shown || count == 0)
		return;
	ret->problem = "a certificate that cannot be read";
	if (count > CHAIN_MAX)
		return;
	for (; read < count && gnutls_x509_crt_init(&chain[read]) == 0; read++)
		if (gnutls_x509_crt_import(chain[read], &shown[read], GNUTLS_X509_FMT_DER) < 0) {
			gnutls_x509_crt_deinit(chain[read]);
			break;
		}
	if (read == count)
		ret->problem = read_chain(authority, chain, count, ret);
	while (read > 0)
		gnutls_x509_crt_deinit(chain[--read]);
}

/* ---- using ---- */

const char *client_certificate_problem(const struct client_certificate *certificate,
				       const struct token_list *list, uint64_t now_usec)
{
	if (certificate->problem)
		return certificate->problem;
	if (now_usec < certificate->begins_usec)
		return "a certificate that is not valid yet";
	if (now_usec >= certificate->expires_usec)
		return "an expired certificate";
	if (token_list_revokes(list, certificate->user, certificate->begins_usec))
		return "a revoked certificate";
	return NULL;
}
