/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gnutls_begin - GnuTLS is initialized when it is needed, and by others that need it
 */
#include "base/gnutls_begin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/* A certificate is made of tables that the initialization fills. */
static void test_first_use(void **state)
{
	gnutls_x509_crt_t certificate = NULL;

	assert_true(gnutls_x509_crt_init(&certificate) < 0);
	assert_int_equal(gnutls_begin(), 0);
	assert_int_equal(gnutls_begin(), 0);
	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	gnutls_x509_crt_deinit(certificate);
}

/* What is loaded later may initialize it, too, and may end that again. */
static void test_another_user(void **state)
{
	gnutls_x509_crt_t certificate = NULL;

	assert_int_equal(gnutls_global_init(), 0);
	gnutls_global_deinit();
	assert_int_equal(gnutls_begin(), 0);
	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	gnutls_x509_crt_deinit(certificate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_use),
		cmocka_unit_test(test_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
