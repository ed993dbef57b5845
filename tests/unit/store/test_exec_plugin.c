/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exec_plugin - what a credential plugin is given, and which answers of it are taken
 *
 * Plugins are scripts of the shell, run by the loop.
 */
#include "store/remote/exec_plugin.h"

#include "base/cleanup.h"
#include "base/trusted_path.h"
#include "object/timestamp.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define V1     "client.authentication.k8s.io/v1"
#define ANSWER "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{"

struct fixture {
	char directory[32], program[64];
	sd_event *event;
	struct kubeconfig config;
	struct exec_credential credential;
	struct exec_plugin *plugin;
	struct failure why;
	int error;
	bool is_done;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	(void) snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/podvol-exec-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	(void) snprintf(fixture->program, sizeof(fixture->program), "%s/plugin",
			fixture->directory);
	assert_int_equal(sd_event_new(&fixture->event), 0);
	fixture->config.server = (char *) (uintptr_t) "https://127.0.0.1:6443";
	fixture->config.exec.api_version = (char *) (uintptr_t) V1;
	fixture->config.exec.command = fixture->program;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	client_credentials_done(&fixture->credential.credentials);
	sd_event_unref(fixture->event);
	(void) unlink(fixture->program);
	(void) rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void on_done(void *userdata, int error, struct exec_credential *credential,
		    const struct failure *why)
{
	struct fixture *fixture = userdata;

	fixture->is_done = true;
	fixture->error = error;
	fixture->why = *why;
	if (!credential)
		return;
	fixture->credential = *credential;
	*credential = (struct exec_credential){ 0 };
}

static void write_program(const struct fixture *fixture, const char *text, mode_t mode)
{
	cleanup_close int fd =
		open(fixture->program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(dprintf(fd, "#!/bin/sh\n%s\n", text), (int) strlen(text) + 11);
	assert_int_equal(fchmod(fd, mode), 0);
}

static int start(struct fixture *fixture, const char *authority)
{
	const struct exec_plugin_order order = { .event = fixture->event,
						 .kubeconfig = &fixture->config,
						 .authority = authority,
						 .done = on_done,
						 .userdata = fixture };

	fixture->is_done = false;
	client_credentials_done(&fixture->credential.credentials);
	return exec_plugin_run(&order, &fixture->plugin, &fixture->why);
}

static int run(struct fixture *fixture, const char *text)
{
	write_program(fixture, text, 0700);
	assert_int_equal(start(fixture, "the authority"), 0);
	while (!fixture->is_done)
		assert_true(sd_event_run(fixture->event, 30000000) > 0);
	return fixture->error;
}

static void expect_token(const struct fixture *fixture, const char *token)
{
	assert_int_equal(fixture->error, 0);
	assert_string_equal(fixture->credential.credentials.token, token);
}

static void test_a_token_and_when_it_expires(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(run(fixture, ANSWER "\"token\":\"abc\",\"expirationTimestamp\":"
					     "\"2030-01-02T03:04:05Z\"}}'"),
			 0);
	expect_token(fixture, "abc");
	assert_true(fixture->credential.expires_usec == timestamp_parse("2030-01-02T03:04:05Z"));
	assert_null(fixture->credential.credentials.certificate);
}

static void test_a_certificate(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(run(fixture, ANSWER "\"clientCertificateData\":\"c\",\"clientKeyData\":"
					     "\"k\"}}'"),
			 0);
	assert_string_equal(fixture->credential.credentials.certificate, "c");
	assert_string_equal(fixture->credential.credentials.key, "k");
	assert_null(fixture->credential.credentials.token);
	assert_true(fixture->credential.expires_usec == 0);
}

/* Nothing of this process but what is listed; what the kubeconfig says wins. */
static void test_its_environment_and_arguments(void **state)
{
	struct fixture *fixture = *state;
	char *arguments[] = { (char *) (uintptr_t) "get-token", NULL };
	char *environment[] = { (char *) (uintptr_t) "HOME=/there", (char *) (uintptr_t) "A=b",
				NULL };

	assert_int_equal(setenv("PODVOL_TEST_SECRET", "secret", 1), 0);
	fixture->config.exec.arguments = arguments;
	fixture->config.exec.environment = environment;
	assert_int_equal(run(fixture, "t=\"$1,$HOME,$A,$PODVOL_TEST_SECRET,$(env | cut -d= -f1 | "
				      "sort | tr '\\n' ,)\"\n"
				      "cat; " ANSWER "\"token\":\"'\"$t\"'\"}}'"),
			 0);
	expect_token(fixture, "get-token,/there,b,,A,HOME,KUBERNETES_EXEC_INFO,LC_ALL,PATH,PWD,");
}

static void test_what_it_is_told_of_the_cluster(void **state)
{
	struct fixture *fixture = *state;
	static const char show[] = "t=$(echo \"$KUBERNETES_EXEC_INFO\" | tr -d '\"')\n" ANSWER
				   "\"token\":\"'\"$t\"'\"}}'";

	assert_int_equal(run(fixture, show), 0);
	expect_token(fixture, "{kind:ExecCredential,apiVersion:" V1 ",spec:{interactive:false}}");
	fixture->config.exec.provides_cluster = true;
	fixture->config.exec.cluster_config = (char *) (uintptr_t) "{\"audience\":\"x\"}";
	assert_int_equal(run(fixture, show), 0);
	expect_token(fixture, "{kind:ExecCredential,apiVersion:" V1 ",spec:{interactive:false,"
			      "cluster:{server:https://127.0.0.1:6443,certificate-authority-data:"
			      "dGhlIGF1dGhvcml0eQ==,config:{audience:x}}}}");
}

struct refusal {
	const char *script, *text;
	int error;
};

static const struct refusal refusals[] = {
	{ "echo no such account >&2; exit 3", "exit status 3: no such account", -EPROTO },
	{ "kill -9 $$", "signal 9", -EPROTO },
	{ "echo hello", "", -EINVAL },
	{ "true", "", -EINVAL },
	{ "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
	  "v1beta1\",\"status\":{\"token\":\"a\"}}'",
	  "not an ExecCredential of " V1, -EPROTO },
	{ ANSWER "}}'", "neither token nor clientCertificateData", -EPROTO },
	{ ANSWER "\"clientKeyData\":\"k\"}}'", "must be given together", -EPROTO },
	{ ANSWER "\"token\":\"a b\"}}'", "has a blank", -EINVAL },
	{ ANSWER "\"token\":\"a\",\"expirationTimestamp\":\"soon\"}}'", "'soon' is not a time",
	  -EPROTO },
	{ "head -c 1048577 /dev/zero | tr '\\0' a; sleep 1000", "longer than 1048576 bytes",
	  -E2BIG },
};

static void test_what_is_refused(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		assert_int_equal(run(fixture, refusals[i].script), refusals[i].error);
		if (!strstr(fixture->why.text, refusals[i].text))
			assert_string_equal(fixture->why.text, refusals[i].text);
		assert_null(fixture->credential.credentials.token);
	}
}

/* One that ends is over, also while what it began holds its output. */
static void test_what_it_leaves_behind_is_ended(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(run(fixture, "sleep 1000 & " ANSWER "\"token\":\"'$!'\"}}'"), 0);
	while (kill((pid_t) strtol(fixture->credential.credentials.token, NULL, 10), 0) == 0) {
		char path[64], line[256] = "";
		FILE *file;

		(void) snprintf(path, sizeof(path), "/proc/%s/stat",
				fixture->credential.credentials.token);
		file = fopen(path, "re");
		if (!file || !fgets(line, sizeof(line), file) || strstr(line, ") Z"))
			break; /* its parent, process 1, has not looked */
		(void) fclose(file);
	}
}

static void test_programs_that_are_not_run(void **state)
{
	struct fixture *fixture = *state;

	write_program(fixture, "true", 0722);
	assert_int_equal(start(fixture, NULL), -EPERM);
	assert_non_null(strstr(fixture->why.text, "can be written by others (mode 0722"));
	write_program(fixture, "true", 0600);
	assert_int_equal(start(fixture, NULL), -EACCES);
	fixture->config.exec.command = (char *) (uintptr_t) "podvol-no-such-plugin";
	fixture->config.exec.install_hint = (char *) (uintptr_t) "install it";
	assert_int_equal(start(fixture, NULL), -ENOENT);
	assert_non_null(strstr(fixture->why.text, "/usr/local/bin"));
	assert_non_null(strstr(fixture->why.text, ": install it"));
}

/* Who can replace a directory or link on the way to it replaces the program. */
static void test_programs_that_others_could_replace(void **state)
{
	struct fixture *fixture = *state;
	char open_directory[256], inner[320], away[320];

	write_program(fixture, "true", 0700);
	(void) snprintf(open_directory, sizeof(open_directory), "%s.open", fixture->program);
	(void) snprintf(inner, sizeof(inner), "%s/inner", open_directory);
	(void) snprintf(away, sizeof(away), "%s.away", fixture->program);
	assert_int_equal(mkdir(open_directory, 0700), 0);
	assert_int_equal(symlink(fixture->program, inner), 0);
	assert_int_equal(symlink(inner, away), 0);
	assert_int_equal(trusted_path_check(away, TRUST_USER, &fixture->why), 0);
	assert_int_equal(trusted_path_check(away, TRUST_ROOT, &fixture->why), -EPERM);
	assert_int_equal(chmod(open_directory, 0777), 0);
	fixture->config.exec.command = away;
	assert_int_equal(start(fixture, NULL), -EPERM);
	assert_non_null(strstr(fixture->why.text, ".open' can be written by others (mode 0777"));
	assert_int_equal(chmod(open_directory, 01777), 0);
	assert_int_equal(trusted_path_check(away, TRUST_USER, &fixture->why), 0);
	assert_int_equal(unlink(inner), 0);
	assert_int_equal(symlink(away, inner), 0);
	assert_int_equal(start(fixture, NULL), -ELOOP);
	assert_int_equal(unlink(inner), 0);
	assert_int_equal(rmdir(open_directory), 0);
	assert_int_equal(unlink(away), 0);
}

static void test_a_run_is_cancelled(void **state)
{
	struct fixture *fixture = *state;

	write_program(fixture, "exec sleep 1000", 0700);
	assert_int_equal(start(fixture, NULL), 0);
	assert_null(exec_plugin_cancel(fixture->plugin));
	assert_false(fixture->is_done);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_token_and_when_it_expires, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_certificate, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_its_environment_and_arguments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_it_is_told_of_the_cluster, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_it_leaves_behind_is_ended, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_programs_that_are_not_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_programs_that_others_could_replace, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_run_is_cancelled, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
