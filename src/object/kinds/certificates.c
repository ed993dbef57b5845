/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates - see certificates.h
 */
#include "object/kinds/certificates.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "object/json/base64.h"

#include <assert.h>
#include <gnutls/x509.h>
#include <string.h>

#define BEGIN  "-----BEGIN "
#define DASHES "-----"
#define TYPE   "CERTIFICATE"

enum { LINE_DIGITS = 64 };

void certificates_done(struct certificate_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->certificates[i].der);
	free(list->certificates);
	*list = (struct certificate_list){ .certificates = NULL };
}

/* ---- reading ---- */

/* One block: what is between "BEGIN x" and "END x". */
struct block {
	const char *type, *body;
	size_t type_length, body_length;
};

/* Return: 1 a block, and @at behind it; 0 there is none any more; -EINVAL it has no end. */
static int next_block(const char **at, struct block *ret)
{
	const char *begin = *at, *end;
	char marker[128];

	/* At the beginning of a line only. */
	while ((begin = strstr(begin, BEGIN)) && begin != *at && begin[-1] != '\n')
		begin++;
	if (!begin)
		return 0;
	ret->type = begin + strlen(BEGIN);
	end = strstr(ret->type, DASHES);
	ret->type_length = end ? (size_t) (end - ret->type) : 0;
	if (!end || ret->type_length > 64)
		return -EINVAL;
	ret->body = end + strlen(DASHES);
	(void) snprintf(marker, sizeof(marker), "-----END %.*s-----", (int) ret->type_length,
			ret->type);
	end = strstr(ret->body, marker);
	if (!end)
		return -EINVAL;
	ret->body_length = (size_t) (end - ret->body);
	*at = end + strlen(marker);
	return 1;
}

/* NULL: it is no certificate, or there is no memory. */
static gnutls_x509_crt_t read_x509(const struct certificate *certificate)
{
	const gnutls_datum_t der = { .data = (unsigned char *) certificate->der,
				     .size = (unsigned int) certificate->length };
	gnutls_x509_crt_t x509;

	if (gnutls_begin() < 0 || gnutls_x509_crt_init(&x509) < 0)
		return NULL;
	if (gnutls_x509_crt_import(x509, &der, GNUTLS_X509_FMT_DER) == 0)
		return x509;
	gnutls_x509_crt_deinit(x509);
	return NULL;
}

static int add(struct certificate_list *list, struct certificate *certificate)
{
	if (list->count == CERTIFICATES_MAX)
		return -E2BIG;
	if (ARRAY_ROOM(list->certificates, list->count, list->capacity, 8) < 0)
		return -ENOMEM;
	list->certificates[list->count++] = *certificate;
	return 0;
}

static int add_block(struct certificate_list *list, const struct block *block, size_t entry,
		     struct failure *reterr)
{
	cleanup_free char *body = strndup(block->body, block->body_length);
	struct certificate certificate = { .der = NULL };
	gnutls_x509_crt_t x509;
	int r;

	if (!body)
		return failed(reterr, -ENOMEM, "cannot read certificates");
	if (block->type_length != strlen(TYPE) || memcmp(block->type, TYPE, strlen(TYPE)) != 0)
		return failed_plain(reterr, -EINVAL, "entry %zu has bad block type: %.*s", entry,
				    (int) block->type_length, block->type);
	if (strchr(body, ':'))
		return failed_plain(reterr, -EINVAL, "entry %zu has PEM block headers", entry);
	r = base64_decode(body, &certificate.der, &certificate.length);
	x509 = r == 0 ? read_x509(&certificate) : NULL;
	if (!x509) {
		free(certificate.der);
		return failed_plain(reterr, r == -ENOMEM ? r : -EINVAL,
				    "entry %zu does not parse as X.509", entry);
	}
	gnutls_x509_crt_deinit(x509);
	r = add(list, &certificate);
	if (r < 0) {
		free(certificate.der);
		return failed(reterr, r, "cannot keep entry %zu", entry);
	}
	return 0;
}

int certificates_add(struct certificate_list *list, const char *pem, struct failure *reterr)
{
	const char *at = pem;
	struct block block;
	int r;

	assert(list && pem);
	for (size_t entry = 0; (r = next_block(&at, &block)) > 0; entry++) {
		r = add_block(list, &block, entry, reterr);
		if (r < 0)
			return r;
	}
	return r < 0 ? failed_plain(reterr, r, "a PEM block has no end") : 0;
}

/* Without the extension that says so, a key may be used for anything. */
static bool may_sign_certificates(gnutls_x509_crt_t x509)
{
	unsigned int usage, critical;
	int code = gnutls_x509_crt_get_key_usage(x509, &usage, &critical);

	return code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ||
	       (code == 0 && (usage & GNUTLS_KEY_KEY_CERT_SIGN));
}

bool certificate_is_authority(const struct certificate *certificate)
{
	gnutls_x509_crt_t x509 = read_x509(certificate);
	bool is;

	if (!x509)
		return false;
	is = gnutls_x509_crt_get_ca_status(x509, NULL) > 0 && may_sign_certificates(x509);
	gnutls_x509_crt_deinit(x509);
	return is;
}

/* ---- order ---- */

static int compare(const void *a, const void *b)
{
	const struct certificate *left = a, *right = b;
	size_t shorter = left->length < right->length ? left->length : right->length;
	int order = memcmp(left->der, right->der, shorter);

	return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

void certificates_sort(struct certificate_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->certificates, list->count, sizeof(*list->certificates), compare);
	for (size_t i = 1; i < list->count; i++) {
		if (compare(&list->certificates[kept], &list->certificates[i]) == 0)
			free(list->certificates[i].der);
		else
			list->certificates[++kept] = list->certificates[i];
	}
	list->count = kept + 1;
}

/* ---- writing ---- */

static int print_one(FILE *file, const struct certificate *certificate)
{
	cleanup_free char *digits = base64_encode(certificate->der, certificate->length);

	if (!digits)
		return -ENOMEM;
	(void) fprintf(file, BEGIN TYPE DASHES "\n");
	for (const char *at = digits; *at; at += strnlen(at, LINE_DIGITS))
		(void) fprintf(file, "%.*s\n", LINE_DIGITS, at);
	(void) fprintf(file, "-----END " TYPE DASHES "\n");
	return 0;
}

char *certificates_print(const struct certificate_list *list)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	int r = file ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->count && r == 0; i++)
		r = print_one(file, &list->certificates[i]);
	if (file && (ferror(file) | fclose(file)) != 0)
		r = -ENOMEM;
	if (r == 0)
		return text;
	free(text);
	return NULL;
}
