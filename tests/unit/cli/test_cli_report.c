/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_report - what a report leaves out, also when it may not read Secrets
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli_world.h"

#include "base/cleanup.h"
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#define EVENTS(message)                                                                            \
	{                                                                                          \
		"GET /podvol/v1/manifests", 0, 200,                                                \
			"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Problem\","        \
			"\"priority\":0}],\"rows\":[{\"cells\":[\"" message "\"]}]}"               \
	}

static const char secrets[] =
	"{\"items\":[{\"data\":{\"a\":\"aHVudGVyMjI=\",\"short\":\"YWJjZGU=\","
	"\"bytes\":\"/wD/AP8A/wA=\",\"broken\":\"no "
	"base64!\",\"with-more\":\"aHVudGVyMjItYWdhaW4=\"}}]}";

static void expect_problem(const char *text)
{
	assert_non_null(strstr(out_text, "<h2>Refused manifests</h2>"));
	assert_non_null(strstr(strstr(out_text, "<h2>Refused manifests</h2>"), text));
}

static void test_values_of_secrets(void **state)
{
	const struct answer list[] = {
		{ "GET /api/v1/secrets", 0, 200, secrets },
		EVENTS("<hunter22> hunter22-again aHVudGVyMjI= abcde /wD/AP8A/wA= hunter2")
	};

	assert_int_equal(RUN(list, "report"), EXIT_DONE);
	/* The longer one as a whole; what is too short to be distinguished from other words stays.
	 */
	expect_problem("&#60;[left out]&#62; [left out] [left out] abcde [left out] hunter2\n");
	assert_null(strstr(out_text, "were not looked for"));
}

static void test_words_before_secrets(void **state)
{
	const struct answer list[] = {
		{ "GET /api/v1/secrets", 0, 200, "{\"items\":[]}" },
		EVENTS("username=u,PassWord=p1,ro password: p2 pass=p3;token=p4&x key='p5' "
		       "passwords of keys, a token; pass: it on nfs://host/path://u@h smb://u:p6@h "
		       "eyJa.b.c eyJa.b secret= end"),
	};

	assert_int_equal(RUN(list, "report"), EXIT_DONE);
	expect_problem(
		"username=u,PassWord=[left out],ro password: [left out] pass=[left out];"
		"token=[left out]&#38;x key=&#39;[left out]&#39; passwords of keys, a token; "
		"pass: it on nfs://host/path://u@h smb://u:[left out]@h [left out] eyJa.b ");
}

static void test_secrets_that_may_not_be_read(void **state)
{
	const struct answer list[] = {
		{ "GET /api/v1/secrets", -EACCES, 403, "secrets is <forbidden>" },
		EVENTS("password=p1"),
	};

	assert_int_equal(RUN(list, "report"), EXIT_DONE);
	assert_non_null(strstr(out_text, "Values of Secrets were not looked for: secrets is "
					 "&#60;forbidden&#62;"));
	expect_problem("password=[left out]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_secrets),
		cmocka_unit_test(test_words_before_secrets),
		cmocka_unit_test(test_secrets_that_may_not_be_read),
	};

	return cmocka_run_group_tests_name("cli_report", tests, NULL, NULL);
}
