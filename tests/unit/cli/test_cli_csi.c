/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_csi - podvolctl csi call: what it sends, prints and refuses
 */
#include "cli_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PATH "POST /podvol/v1/drivers/csi.example.com/call?method="
#define OK                                                                                         \
	"{\"code\":0,\"codeName\":\"OK\",\"fromDriver\":true,\"reply\":{\"nodeId\":\"n1\","        \
	"\"maxVolumesPerNode\":\"16\"}}"
#define NOT_FOUND                                                                                  \
	"{\"code\":5,\"codeName\":\"NotFound\",\"message\":\"no volume 'v'\",\"fromDriver\":true}"
#define NOBODY                                                                                     \
	"{\"code\":14,\"codeName\":\"Unavailable\",\"message\":\"cannot connect\",\"fromDriver\":" \
	"false}"

static int set_up(void **state)
{
	direct_result = 0;
	direct_answer = OK;
	return 0;
}

static void test_by_the_daemon(void **state)
{
	const struct answer list[] = {
		{ PATH "NodeGetInfo&timeout=30000ms", 0, 200, OK },
		{ PATH "Probe&timeout=2000ms", 0, 200, NOT_FOUND },
	};

	assert_int_equal(RUN(list, "csi call csi.example.com NodeGetInfo"), EXIT_DONE);
	assert_string_equal(out_text, "{\"nodeId\":\"n1\",\"maxVolumesPerNode\":\"16\"}\n");
	assert_string_equal(sent_body, "");
	assert_int_equal(RUN(list, "csi call csi.example.com NodeGetInfo {\"a\":1} -o yaml"),
			 EXIT_DONE);
	assert_string_equal(out_text, "nodeId: n1\nmaxVolumesPerNode: \"16\"\n");
	assert_string_equal(sent_body, "{\"a\":1}");
	assert_int_equal(RUN(list, "csi call csi.example.com Probe --timeout 2s"), EXIT_FAILED);
	assert_string_equal(out_text, "");
	assert_string_equal(err_text, "podvolctl: csi.example.com answered NotFound (5): "
				      "no volume 'v'\n");
}

static void test_refused_by_the_daemon(void **state)
{
	const struct answer list[] = {
		{ PATH "Probe", -ENOENT, 404, "no driver 'csi.example.com' is ready" },
		{ PATH "NodeGetInfo", 0, 200, "{}" },
	};

	assert_int_equal(RUN(list, "csi call csi.example.com Probe"), EXIT_NOT_FOUND);
	assert_non_null(strstr(err_text, "no driver 'csi.example.com' is ready"));
	assert_int_equal(RUN(list, "csi call csi.example.com NodeGetInfo"), EXIT_FAILED);
	assert_non_null(strstr(err_text, "not understood"));
}

static void test_without_a_daemon(void **state)
{
	assert_int_equal(RUN_ALONE("csi call --endpoint /run/csi.sock NodeGetInfo {}"), EXIT_DONE);
	assert_string_equal(direct_call, "/run/csi.sock NodeGetInfo {} 30000000");
	assert_string_equal(sent, "");
	assert_string_equal(out_text, "{\"nodeId\":\"n1\",\"maxVolumesPerNode\":\"16\"}\n");
	direct_answer = NOBODY;
	assert_int_equal(RUN_ALONE("csi call --endpoint=/run/csi.sock Probe"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: /run/csi.sock gave no answer: Unavailable (14): "
				      "cannot connect\n");
	direct_result = -EINVAL;
	assert_int_equal(RUN_ALONE("csi call --endpoint=/run/csi.sock Prob"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: 'Prob' is not a method\n");
}

/* Secrets stand in a file; nothing shows them again. */
static void test_messages_from_files(void **state)
{
	char path[] = "/tmp/podvol-csi-XXXXXX", words[128];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"secrets\":{\"k\":\"geheim\"}}", 26), 26);
	(void) close(fd);
	(void) snprintf(words, sizeof(words), "podvolctl csi call --endpoint /s Probe @%s", path);
	assert_int_equal(run_with(NULL, 0, words), EXIT_DONE);
	assert_string_equal(direct_call, "/s Probe {\"secrets\":{\"k\":\"geheim\"}} 30000000");
	assert_null(strstr(out_text, "geheim"));
	assert_string_equal(err_text, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(run_with(NULL, 0, words), EXIT_FAILED);
	assert_non_null(strstr(err_text, "No such file"));
}

static void test_unclear_words_are_refused(void **state)
{
	assert_int_equal(RUN_ALONE("csi"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("csi list a b"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("csi call csi.example.com"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("csi call a b c d"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("csi call --endpoint /s a b c"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("csi call --endpoint csi.sock Probe"), EXIT_USAGE);
	assert_string_equal(err_text, "podvolctl: --endpoint 'csi.sock' is not an absolute path\n");
	assert_int_equal(RUN_ALONE("csi call a Probe -o table"), EXIT_USAGE);
	assert_string_equal(direct_call, "");
}

static void test_of_a_plugin(void **state)
{
	direct_result = 0;
	assert_int_equal(RUN_ALONE("plugin test luks /mnt -f pv.yaml"), EXIT_DONE);
	assert_string_equal(direct_call, "plugin luks /mnt pv.yaml");
	assert_string_equal(out_text, "ok     publish    mounted nothing\n");
	direct_result = 2;
	assert_int_equal(RUN_ALONE("plugin test luks /mnt"), EXIT_FAILED);
	assert_string_equal(out_text, "wrong  publish    mounted nothing\n");
	assert_string_equal(err_text, "podvolctl: plugin 'luks' does 2 things wrong; see "
				      "podvol-plugins(8)\n");
	direct_result = -ENOENT;
	assert_int_equal(RUN_ALONE("plugin test luks /mnt"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: no such plugin\n");
	assert_int_equal(RUN_ALONE("plugin list luks /mnt"), EXIT_USAGE);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_by_the_daemon),
		TEST(test_refused_by_the_daemon),
		TEST(test_without_a_daemon),
		TEST(test_messages_from_files),
		TEST(test_unclear_words_are_refused),
		TEST(test_of_a_plugin),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(out_text);
	free(err_text);
	return result;
}
