/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cluster_trust_bundle - what a bundle may hold and be called; certificates once, and in order
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "object/kinds/certificates.h"
#include "tests/unit/api/certificate_text.h"
#include "tests/unit/object/object_text.h"

#include <string.h>

static char *a, *b, *leaf;

static int make_certificates(void **state)
{
	a = certificate_text("a", true);
	b = certificate_text("b", true);
	leaf = certificate_text("leaf", false);
	return 0;
}

static int free_certificates(void **state)
{
	free(a);
	free(b);
	free(leaf);
	return 0;
}

/* ---- certificates ---- */

static char *normal(const char *text)
{
	struct certificate_list list = { .certificates = NULL };
	char *printed;

	assert_int_equal(certificates_add(&list, text, NULL), 0);
	certificates_sort(&list);
	printed = certificates_print(&list);
	certificates_done(&list);
	return printed;
}

static char *join(const char *first, const char *between, const char *second)
{
	char *text = NULL;

	assert_true(asprintf(&text, "%s%s%s", first, between, second) > 0);
	return text;
}

static void test_once_and_in_order(void **state)
{
	cleanup_free char *both = join(a, "", b), *turned = join(b, "a comment: 1\n", a);
	cleanup_free char *thrice = join(both, "\n\n", a);
	cleanup_free char *first = normal(both), *second = normal(turned), *third = normal(thrice);

	assert_string_equal(first, second);
	assert_string_equal(first, third);
	assert_int_equal(strlen(first), strlen(a) + strlen(b));
	assert_non_null(strstr(first, "-----BEGIN CERTIFICATE-----\nMII"));
}

static void test_nothing_is_nothing(void **state)
{
	cleanup_free char *text = normal("no block at all\n x -----BEGIN CERTIFICATE-----\n");

	assert_string_equal(text, "");
}

static void refused(const char *text, const char *wanted)
{
	struct certificate_list list = { .certificates = NULL };
	struct failure why;

	assert_int_equal(certificates_add(&list, text, &why), -EINVAL);
	assert_string_equal(why.text, wanted);
	certificates_done(&list);
}

static void test_what_is_no_certificate(void **state)
{
	cleanup_free char *late =
		join(a, "-----BEGIN CERTIFICATE-----\nAAAA\n", "-----END CERTIFICATE-----\n");
	cleanup_free char *cut = strndup(a, strlen(a) - 30);

	refused(late, "entry 1 does not parse as X.509");
	refused(cut, "a PEM block has no end");
	refused("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
		"entry 0 does not parse as X.509");
	refused("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
		"entry 0 does not parse as X.509");
	refused("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"entry 0 has bad block type: PRIVATE KEY");
	refused("-----BEGIN CERTIFICATE-----\nA: b\n\nAAAA\n-----END CERTIFICATE-----\n",
		"entry 0 has PEM block headers");
	refused("-----BEGIN CERTIFICATE", "a PEM block has no end");
}

/* ---- bundles ---- */

static void accepted(const char *name, const char *head, const char *signer)
{
	cleanup_free char *yaml = trust_bundle_text(name, "", head, (const char *[]){ a, b, NULL });
	const struct object *object = object_of(yaml);

	assert_int_equal(object->kind, KIND_CLUSTER_TRUST_BUNDLE);
	assert_string_equal(object->cluster_trust_bundle->signer_name, signer);
	assert_non_null(strstr(object->cluster_trust_bundle->trust_bundle, "BEGIN CERTIFICATE"));
	(void) object_unref(object);
}

/* Served as v1beta1 alone: a difference from Kubernetes 1.32. */
static void test_names(void **state)
{
	accepted("plain", "", "");
	accepted("example.com:foo:x.y", "  signerName: example.com/foo\n", "example.com/foo");
}

#define INVALID_NAME "metadata.name: Invalid value: "

static void wrong(const char *name, const char *head, const char *const *texts, const char *text)
{
	cleanup_free char *yaml = trust_bundle_text(name, "", head, texts);

	assert_refused(yaml, text);
}

static void test_names_that_do_not_fit(void **state)
{
	const char *const texts[] = { a, NULL };

	wrong("a:b", "", texts,
	      INVALID_NAME "\"a:b\": ClusterTrustBundle without signer name must not have \":\" in "
			   "its name");
	wrong("plain", "  signerName: example.com/foo\n", texts,
	      INVALID_NAME "\"plain\": ClusterTrustBundle for a signer must be named with the "
			   "signer, ':' in place of '/', and ':' as prefix");
	wrong("plain", "  signerName: example.com\n", texts,
	      "spec.signerName: Invalid value: \"example.com\": must be a fully qualified domain "
	      "and path of the form 'example.com/signer-name'");
}

static void test_what_cannot_be_trusted(void **state)
{
	wrong("x", "", (const char *[]){ a, leaf, NULL },
	      "spec.trustBundle: Invalid value: \"<value omitted>\": entry 1 does not have the CA "
	      "bit set");
	wrong("x", "", (const char *[]){ a, b, a, NULL },
	      "spec.trustBundle: Invalid value: \"<value omitted>\": duplicate trust anchor");
	wrong("x", "", (const char *[]){ "words\n", NULL },
	      "spec.trustBundle: Invalid value: \"<value omitted>\": at least one trust anchor "
	      "must be provided");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_and_in_order),
		cmocka_unit_test(test_nothing_is_nothing),
		cmocka_unit_test(test_what_is_no_certificate),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_that_do_not_fit),
		cmocka_unit_test(test_what_cannot_be_trusted),
	};

	return cmocka_run_group_tests_name("cluster_trust_bundle", tests, make_certificates,
					   free_certificates);
}
