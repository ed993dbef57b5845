/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate - the node's certificate authority and what it signs; see certificate.h
 */
#include "api/auth/certificate.h"

#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "base/secret_file.h"

#include <arpa/inet.h>
#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <string.h>

#define AUTHORITY_FILE "ca.pem"

enum { SERIAL_BYTES = 16, KEY_ID_BYTES = 64, SECONDS_PER_DAY = 86400 };

struct authority {
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
	char *pem; /* of the certificate */
};

/* GnuTLS' error in our words. */
static int library_failed(int code, const char *what, struct failure *reterr)
{
	int error = code == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EIO;

	return failed_plain(reterr, error, "cannot %s: %s", what, gnutls_strerror(code));
}

static int make_key(gnutls_x509_privkey_t *ret)
{
	gnutls_x509_privkey_t key = NULL;
	int code = gnutls_begin();

	if (code == 0)
		code = gnutls_x509_privkey_init(&key);
	if (code == 0)
		code = gnutls_x509_privkey_generate(
			key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (code < 0 && key)
		gnutls_x509_privkey_deinit(key);
	else if (code == 0)
		*ret = key;
	return code;
}

/* What every certificate has. The serial number is random: nothing need be remembered for it. */
static int fill_common(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *name)
{
	unsigned char serial[SERIAL_BYTES], key_id[KEY_ID_BYTES];
	size_t key_id_bytes = sizeof(key_id);
	int code = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (unsigned char) ((serial[0] & 0x7f) | 0x40); /* positive, of full length */
	if (code >= 0)
		code = gnutls_x509_crt_set_version(certificate, 3);
	if (code >= 0)
		code = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
	if (code >= 0)
		code = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0,
						     name, (unsigned int) strlen(name));
	if (code >= 0)
		code = gnutls_x509_crt_set_key(certificate, key);
	if (code >= 0)
		code = gnutls_x509_crt_get_key_id(certificate, 0, key_id, &key_id_bytes);
	if (code >= 0)
		code = gnutls_x509_crt_set_subject_key_id(certificate, key_id, key_id_bytes);
	return code;
}

/* ---- the authority ---- */

struct authority *authority_free(struct authority *authority)
{
	if (!authority)
		return NULL;
	if (authority->certificate)
		gnutls_x509_crt_deinit(authority->certificate);
	if (authority->key)
		gnutls_x509_privkey_deinit(authority->key);
	free(authority->pem);
	free(authority);
	return NULL;
}

/* Valid from 1970 to 2106, the last that GnuTLS can write: who trusts it has copied it, and a
 * machine whose clock was wrong at its first start is trusted later, too. */
static int sign_authority(struct authority *authority, const char *node_name)
{
	gnutls_x509_crt_t certificate = authority->certificate;
	char name[80];
	int code;

	(void) snprintf(name, sizeof(name), "podvol on %.50s", node_name);
	code = fill_common(certificate, authority->key, name);
	if (code >= 0)
		code = gnutls_x509_crt_set_activation_time(certificate, 0);
	if (code >= 0)
		code = gnutls_x509_crt_set_expiration_time(certificate,
							   GNUTLS_X509_NO_WELL_DEFINED_EXPIRATION);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(certificate, 1, 0);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_KEY_CERT_SIGN |
									  GNUTLS_KEY_CRL_SIGN);
	if (code >= 0)
		code = gnutls_x509_crt_sign2(certificate, certificate, authority->key,
					     GNUTLS_DIG_SHA256, 0);
	return code;
}

static int export_certificate(gnutls_x509_crt_t certificate, char **ret)
{
	gnutls_datum_t text = { .data = NULL };
	int code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text);

	if (code < 0)
		return code;
	*ret = strndup((const char *) text.data, text.size);
	gnutls_free(text.data);
	return *ret ? 0 : GNUTLS_E_MEMORY_ERROR;
}

static int write_authority(const struct authority *authority, int directory_fd,
			   struct failure *reterr)
{
	gnutls_datum_t key = { .data = NULL };
	char *text = NULL;
	int code = gnutls_x509_privkey_export2(authority->key, GNUTLS_X509_FMT_PEM, &key);
	int r;

	if (code < 0)
		return library_failed(code, "write the authority's key", reterr);
	r = asprintf(&text, "%.*s%s", (int) key.size, (const char *) key.data, authority->pem);
	gnutls_memset(key.data, 0, key.size);
	gnutls_free(key.data);
	if (r < 0)
		return failed(reterr, -ENOMEM, "cannot write the authority");
	r = secret_file_write(directory_fd, AUTHORITY_FILE, text, reterr);
	(void) secret_text_free(text);
	return r;
}

static int make_authority(struct authority *authority, int directory_fd, const char *node_name,
			  struct failure *reterr)
{
	int code = make_key(&authority->key);

	if (code == 0)
		code = gnutls_x509_crt_init(&authority->certificate);
	if (code == 0)
		code = sign_authority(authority, node_name);
	if (code == 0)
		code = export_certificate(authority->certificate, &authority->pem);
	if (code < 0)
		return library_failed(code, "make a certificate authority", reterr);
	return write_authority(authority, directory_fd, reterr);
}

static int import_authority(struct authority *authority, const char *text)
{
	const gnutls_datum_t pem = { .data = (unsigned char *) (uintptr_t) text,
				     .size = (unsigned int) strlen(text) };
	int code = gnutls_begin();

	if (code == 0)
		code = gnutls_x509_privkey_init(&authority->key);
	if (code == 0)
		code = gnutls_x509_privkey_import(authority->key, &pem, GNUTLS_X509_FMT_PEM);
	if (code == 0)
		code = gnutls_x509_crt_init(&authority->certificate);
	if (code == 0)
		code = gnutls_x509_crt_import(authority->certificate, &pem, GNUTLS_X509_FMT_PEM);
	if (code == 0)
		code = export_certificate(authority->certificate, &authority->pem);
	return code;
}

static bool is_pair(const struct authority *authority)
{
	unsigned char of_certificate[KEY_ID_BYTES], of_key[KEY_ID_BYTES];
	size_t certificate_bytes = sizeof(of_certificate), key_bytes = sizeof(of_key);

	return gnutls_x509_crt_get_key_id(authority->certificate, 0, of_certificate,
					  &certificate_bytes) == 0 &&
	       gnutls_x509_privkey_get_key_id(authority->key, 0, of_key, &key_bytes) == 0 &&
	       certificate_bytes == key_bytes && memcmp(of_certificate, of_key, key_bytes) == 0;
}

static int check_authority(const struct authority *authority, time_t now, struct failure *reterr)
{
	if (!is_pair(authority) || gnutls_x509_crt_get_ca_status(authority->certificate, NULL) <= 0)
		return failed_plain(reterr, -EINVAL,
				    "'" AUTHORITY_FILE "' holds no certificate authority with its "
				    "key: move it away, then a new one is made");
	if (gnutls_x509_crt_get_expiration_time(authority->certificate) <= now)
		return failed_plain(reterr, -EKEYEXPIRED,
				    "the certificate authority in '" AUTHORITY_FILE
				    "' has expired: "
				    "move it away, then a new one is made");
	return 0;
}

static int read_authority(struct authority *authority, int directory_fd, time_t now,
			  struct failure *reterr)
{
	char *text = NULL;
	int r = secret_file_read(directory_fd, AUTHORITY_FILE, &text, reterr);
	int code;

	if (r < 0)
		return r;
	code = import_authority(authority, text);
	(void) secret_text_free(text);
	if (code < 0)
		return failed_plain(reterr, -EINVAL,
				    "'" AUTHORITY_FILE "' cannot be read: %s: move it away, then a "
				    "new one is made",
				    gnutls_strerror(code));
	return check_authority(authority, now, reterr);
}

int authority_load(int directory_fd, const char *node_name, time_t now, struct authority **ret,
		   struct failure *reterr)
{
	struct authority *authority = calloc(1, sizeof(*authority));
	int r;

	assert(directory_fd >= 0 && node_name && ret);
	if (!authority)
		return failed(reterr, -ENOMEM, "cannot read the certificate authority");
	r = read_authority(authority, directory_fd, now, reterr);
	if (r == -ENOENT)
		r = make_authority(authority, directory_fd, node_name, reterr);
	if (r < 0)
		(void) authority_free(authority);
	else
		*ret = authority;
	return r;
}

char *authority_read_certificate(int directory_fd)
{
	static const char begin[] = "-----BEGIN CERTIFICATE-----\n",
			  end[] = "-----END CERTIFICATE-----\n";
	char *text = NULL, *certificate = NULL;
	const char *from, *to;

	assert(directory_fd >= 0);
	if (secret_file_read(directory_fd, AUTHORITY_FILE, &text, NULL) < 0)
		return NULL;
	from = strstr(text, begin);
	to = from ? strstr(from, end) : NULL;
	if (to)
		certificate = strndup(from, (size_t) (to - from) + strlen(end));
	(void) secret_text_free(text);
	return certificate;
}

const char *authority_certificate(const struct authority *authority)
{
	assert(authority && authority->pem);
	return authority->pem;
}

/* ---- what it signs ---- */

static bool is_name(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && length < sizeof(((struct server_name *) NULL)->name) &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
				 "*")] == '\0';
}

int server_names_add(struct server_names *names, const char *text)
{
	struct server_name name = { .length = 0 };

	assert(names && text);
	if (inet_pton(AF_INET, text, name.bytes) == 1)
		name.length = 4;
	else if (inet_pton(AF_INET6, text, name.bytes) == 1)
		name.length = 16;
	else if (!is_name(text))
		return -EINVAL;
	else
		memcpy(name.name, text, strlen(text));
	for (size_t i = 0; i < names->count; i++)
		if (memcmp(&names->names[i], &name, sizeof(name)) == 0)
			return 0;
	if (names->count == CERTIFICATE_NAMES_MAX)
		return -E2BIG;
	names->names[names->count++] = name;
	return 0;
}

static int set_names(gnutls_x509_crt_t certificate, const struct server_names *names)
{
	int code = 0;

	for (size_t i = 0; i < names->count && code >= 0; i++) {
		const struct server_name *name = &names->names[i];
		bool is_address = name->length > 0;

		code = gnutls_x509_crt_set_subject_alt_name(
			certificate, is_address ? GNUTLS_SAN_IPADDRESS : GNUTLS_SAN_DNSNAME,
			is_address ? (const void *) name->bytes : name->name,
			is_address ? name->length : (unsigned int) strlen(name->name),
			GNUTLS_FSAN_APPEND);
	}
	return code;
}

/* A day before now: clocks of clients may be behind. */
static int sign_server(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key,
		       const struct authority *authority, const struct server_names *names,
		       time_t now)
{
	unsigned char key_id[KEY_ID_BYTES];
	size_t key_id_bytes = sizeof(key_id);
	int code = fill_common(certificate, key, "podvold");

	if (code >= 0)
		code = gnutls_x509_crt_set_activation_time(certificate, now - SECONDS_PER_DAY);
	if (code >= 0)
		code = gnutls_x509_crt_set_expiration_time(
			certificate, now + (time_t) CERTIFICATE_DAYS * SECONDS_PER_DAY);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER,
							   0);
	if (code >= 0)
		code = set_names(certificate, names);
	if (code >= 0)
		code = gnutls_x509_crt_get_key_id(authority->certificate, 0, key_id, &key_id_bytes);
	if (code >= 0)
		code = gnutls_x509_crt_set_authority_key_id(certificate, key_id, key_id_bytes);
	if (code >= 0)
		code = gnutls_x509_crt_sign2(certificate, authority->certificate, authority->key,
					     GNUTLS_DIG_SHA256, 0);
	return code;
}

/* Key and certificate in the forms of a handshake; both are copied. */
static int fill_server(struct server_certificate *server, gnutls_x509_crt_t certificate,
		       gnutls_x509_privkey_t key)
{
	int code = gnutls_pcert_import_x509(&server->certificate, certificate, 0);

	if (code >= 0)
		code = gnutls_privkey_init(&server->key);
	if (code >= 0)
		code = gnutls_privkey_import_x509(server->key, key, GNUTLS_PRIVKEY_IMPORT_COPY);
	return code;
}

int server_certificate_new(const struct authority *authority, const struct server_names *names,
			   time_t now, struct server_certificate **ret, struct failure *reterr)
{
	struct server_certificate *server = calloc(1, sizeof(*server));
	gnutls_x509_crt_t certificate = NULL;
	gnutls_x509_privkey_t key = NULL;
	int code;

	assert(authority && names && ret);
	if (!server)
		return failed(reterr, -ENOMEM, "cannot create a server certificate");
	code = make_key(&key);
	if (code >= 0)
		code = gnutls_x509_crt_init(&certificate);
	if (code >= 0)
		code = sign_server(certificate, key, authority, names, now);
	if (code >= 0)
		code = fill_server(server, certificate, key);
	if (certificate)
		gnutls_x509_crt_deinit(certificate);
	if (key)
		gnutls_x509_privkey_deinit(key);
	if (code < 0) {
		(void) server_certificate_free(server);
		return library_failed(code, "make a server certificate", reterr);
	}
	/* A clock that goes back by more than a day makes it invalid as well. */
	server->renew_from = now - SECONDS_PER_DAY;
	server->renew_until =
		now + (time_t) (CERTIFICATE_DAYS - CERTIFICATE_RENEW_DAYS) * SECONDS_PER_DAY;
	*ret = server;
	return 0;
}

struct server_certificate *server_certificate_free(struct server_certificate *certificate)
{
	if (!certificate)
		return NULL;
	gnutls_pcert_deinit(&certificate->certificate);
	if (certificate->key)
		gnutls_privkey_deinit(certificate->key);
	free(certificate);
	return NULL;
}
