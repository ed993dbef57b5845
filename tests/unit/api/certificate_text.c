/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_text - see certificate_text.h
 */
#include "tests/unit/api/certificate_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_constraints(X509 *x509)
{
	X509_EXTENSION *extension =
		X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");

	assert_non_null(extension);
	assert_int_equal(X509_add_ext(x509, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

char *certificate_text(const char *name, bool is_authority)
{
	EVP_PKEY *key = EVP_EC_gen("prime256v1");
	X509 *x509 = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes, *text;
	long length;

	assert_non_null(key);
	(void) X509_set_version(x509, X509_VERSION_3);
	(void) X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
					  (const unsigned char *) name, -1, -1, 0);
	(void) X509_set_issuer_name(x509, X509_get_subject_name(x509));
	(void) X509_gmtime_adj(X509_getm_notBefore(x509), 0);
	(void) X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
	(void) X509_set_pubkey(x509, key);
	if (is_authority)
		add_constraints(x509);
	assert_true(X509_sign(x509, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509(bio, x509), 1);
	length = BIO_get_mem_data(bio, &bytes);
	text = strndup(bytes, (size_t) length);
	(void) BIO_free(bio);
	X509_free(x509);
	EVP_PKEY_free(key);
	return text;
}

static void print_indented(FILE *file, const char *text)
{
	for (size_t length; *text; text += length + (text[length] != '\0')) {
		length = strcspn(text, "\n");
		(void) fprintf(file, "    %.*s\n", (int) length, text);
	}
}

char *trust_bundle_text(const char *name, const char *labels, const char *head,
			const char *const *texts)
{
	char *yaml = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&yaml, &length);

	assert_non_null(file);
	(void) fprintf(file,
		       "apiVersion: certificates.k8s.io/v1beta1\nkind: ClusterTrustBundle\n"
		       "metadata: {name: '%s', labels: {%s}}\nspec:\n%s  trustBundle: |\n",
		       name, labels, head);
	for (; *texts; texts++)
		print_indented(file, *texts);
	(void) fclose(file);
	return yaml;
}
