/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_mounts - podvolctl mounts: what it asks for each format, and what it prints
 */
#include "cli_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ROW(container, path) "{\"cells\":[\"" container "\",\"" path "\",\"extra\"]}"
static const char table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Container\",\"priority\":0},"
	"{\"name\":\"Container Path\",\"priority\":0},{\"name\":\"Options\",\"priority\":1}],"
	"\"rows\":[" ROW("init", "/a") "," ROW("main", "/b") "]}";

static void test_requests(void **state)
{
	static const char *const rows[][2] = {
		{ "podvolctl mounts web",
		  "POST /podvol/v1/pods/web/mounts?timeout=0ms&format=table\n" },
		{ "podvolctl mounts -n x web --format wide",
		  "POST /podvol/v1/pods/x/web/mounts?timeout=0ms&format=table\n" },
		{ "podvolctl mounts y/web -n x --container c --format podman --wait",
		  "POST /podvol/v1/pods/y/web/wait?for=mounted&timeout=0ms\n"
		  "GET /podvol/v1/pods/y/web/volumes\n"
		  "POST /podvol/v1/pods/y/web/mounts?timeout=30000ms&format=podman&container=c\n" },
		{ "podvolctl mounts web --container=c --format=oci --timeout=2s",
		  "POST /podvol/v1/pods/web/wait?for=mounted&timeout=0ms\n"
		  "GET /podvol/v1/pods/web/volumes\n"
		  "POST /podvol/v1/pods/web/mounts?timeout=2000ms&format=oci&container=c\n" },
		{ "podvolctl mounts web --format cri --user-namespace 65536:65536",
		  "POST "
		  "/podvol/v1/pods/web/"
		  "mounts?timeout=0ms&format=cri&userNamespace=65536%3A65536\n" },
	};
	const struct answer list[] = { { "POST ", 0, 200, table } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(run_with(list, 1, rows[i][0]), EXIT_DONE);
		assert_string_equal(sent, rows[i][1]);
	}
}

static void test_tables(void **state)
{
	const struct answer list[] = { { "POST ", 0, 200, table } };
	const struct answer none[] = { { "POST ", 0, 200,
					 "{\"kind\":\"Table\",\"columnDefinitions\":[],"
					 "\"rows\":[]}" } };

	assert_int_equal(RUN(list, "mounts web"), EXIT_DONE);
	assert_string_equal(out_text, "CONTAINER   CONTAINER PATH\n"
				      "init        /a\n"
				      "main        /b\n");
	assert_int_equal(RUN(list, "mounts web --format wide"), EXIT_DONE);
	assert_non_null(strstr(out_text, "extra"));
	assert_int_equal(RUN(none, "mounts web"), EXIT_DONE);
	assert_string_equal(out_text, "");
	assert_string_equal(err_text, "No container of pod 'default/web' mounts a volume.\n");
}

/* As it came: no line more, and one where the daemon wrote none. */
static void test_words(void **state)
{
	const struct answer words[] = { { "POST ", 0, 200, "--bind=/a:/b\n--bind=/c:/d\n" } };
	const struct answer json[] = { { "POST ", 0, 200, "{\"mounts\":[]}" } };
	const struct answer nothing[] = { { "POST ", 0, 200, "" } };

	assert_int_equal(RUN(words, "mounts web --format nspawn"), EXIT_DONE);
	assert_string_equal(out_text, "--bind=/a:/b\n--bind=/c:/d\n");
	assert_int_equal(RUN(json, "mounts web --format oci"), EXIT_DONE);
	assert_string_equal(out_text, "{\"mounts\":[]}\n");
	assert_int_equal(RUN(nothing, "mounts web --format podman"), EXIT_DONE);
	assert_string_equal(out_text, "");
}

static void test_failures(void **state)
{
	const struct answer busy[] = { { "POST ", -EBUSY, 409, "volume 'v' is not mounted" } };
	const struct answer late[] = {
		{ "POST /podvol/v1/pods/web/wait", 0, 200, "" },
		{ "POST ", -ETIMEDOUT, 504, "volume 'v' is not mounted" },
	};

	assert_int_equal(RUN(busy, "mounts web"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: pod 'default/web': volume 'v' is not mounted\n");
	assert_int_equal(RUN(late, "mounts web --format cri --wait"), EXIT_TIMED_OUT);
	assert_int_equal(RUN(busy, "mounts web --format runc"), EXIT_USAGE);
	assert_string_equal(sent, "");
	assert_string_equal(err_text, "podvolctl: --format 'runc' is none of table wide json oci "
				      "cri podman kube docker nspawn\n");
	assert_int_equal(RUN(busy, "mounts web --format wid"), EXIT_USAGE);
	assert_int_equal(RUN(busy, "mounts web --user-namespace 1:1"), EXIT_USAGE);
	assert_string_equal(err_text, "podvolctl: --user-namespace is for --format cri\n");
	assert_int_equal(RUN(busy, "mounts"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
