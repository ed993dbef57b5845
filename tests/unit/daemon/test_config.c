/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_config - defaults, file and command line; who wins, and the error for a wrong word
 */
#include "config.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <syslog.h>

#include <cmocka.h>

struct fixture {
	char file[64];
	struct config config;
	struct failure failure;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	(void) snprintf(fixture->file, sizeof(fixture->file), "/tmp/podvol-config-XXXXXX");
	assert_return_code(close(mkstemp(fixture->file)), errno);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	config_done(&fixture->config);
	(void) unlink(fixture->file);
	free(fixture);
	return 0;
}

static void write_file(const struct fixture *fixture, const char *text)
{
	FILE *file = fopen(fixture->file, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

/* Loads with the fixture's file and up to two more words. */
static int load(struct fixture *fixture, const char *first, const char *second)
{
	const char *argv[] = { "podvold", "--config", fixture->file, first, second, NULL };
	int argc = first ? (second ? 5 : 4) : 3;

	config_done(&fixture->config);
	return config_load(argc, (char **) argv, &fixture->config, &fixture->failure);
}

static void assert_told(const struct fixture *fixture, const char *words)
{
	if (!strstr(fixture->failure.text, words))
		fail_msg("'%s' does not say '%s'", fixture->failure.text, words);
}

static void test_defaults(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_string_equal(fixture->config.root_dir, "/var/lib/kubelet");
	assert_string_equal(fixture->config.state_dir, "/var/lib/podvol");
	assert_string_equal(fixture->config.run_dir, "/run/podvol");
	assert_string_equal(fixture->config.manifest_dir, "/etc/podvol/manifests");
	assert_true(strlen(fixture->config.node_name) > 0);
	assert_int_equal(fixture->config.worker_threads, 2);
	assert_false(fixture->config.drain);
}

static void test_every_row_is_whole(void **state)
{
	const struct config_row *rows = config_rows;

	assert_true(config_row_count >= 10);
	for (size_t i = 0; i < config_row_count; i++) {
		assert_true(strlen(rows[i].help) > 0);
		assert_true((rows[i].kind == CONFIG_FLAG) == (rows[i].argument == NULL));
		assert_true(rows[i].kind != CONFIG_INTEGER || rows[i].minimum < rows[i].maximum);
	}
}

static void test_file_wins_over_default(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "# ours\nroot-dir: /srv/root\nworker-threads: 7\n");
	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_string_equal(fixture->config.root_dir, "/srv/root");
	assert_int_equal(fixture->config.worker_threads, 7);
	assert_string_equal(fixture->config.run_dir, "/run/podvol");
}

static void test_command_line_wins_over_file(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "root-dir: /srv/root\n");
	assert_int_equal(load(fixture, "--root-dir=/srv/other", NULL), CONFIG_RUN);
	assert_string_equal(fixture->config.root_dir, "/srv/other");
	assert_int_equal(load(fixture, "--root-dir", "/srv/third"), CONFIG_RUN);
	assert_string_equal(fixture->config.root_dir, "/srv/third");
}

static void test_file_errors(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "root-dri: /srv/root\n", "line 1: unknown key 'root-dri'" },
		{ "run-dir: /x\n# no\nroot-dri: y\n", "line 3: unknown key 'root-dri'" },
		{ "drain: true\n", "command line only" },
		{ "root-dir: /srv/root\nrun-dir: [a\n", "line" },
		{ "root-dir: [/srv/root]\n", "root-dir" },
		{ "- root-dir\n", "mapping" },
		{ "worker-threads: many\n", "line 1: worker-threads: 'many' is not a number" },
		{ "{ root-dri: /srv/root }\n", ": unknown key 'root-dri'" },
		{ "log-level: info\n---\nlog-level: debug\n", "line 3: a second document" },
		{ "log-level: info\n---\nrun-dir: [a\n", "line" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		write_file(fixture, rows[i].text);
		assert_int_equal(load(fixture, NULL, NULL), -EINVAL);
		assert_told(fixture, rows[i].words);
		assert_told(fixture, fixture->file);
	}
}

static void test_empty_file(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "# nothing\n");
	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
}

static void test_numbers_have_bounds(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "--worker-threads=0", NULL), -EINVAL);
	assert_string_equal(fixture->failure.text,
			    "command line: worker-threads: 0 is not between 1 and 64");
	assert_int_equal(load(fixture, "--worker-threads=2x", NULL), -EINVAL);
	assert_told(fixture, "'2x' is not a number");
	assert_int_equal(load(fixture, "--worker-threads=", NULL), -EINVAL);
	assert_int_equal(load(fixture, "--worker-threads=64", NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.worker_threads, 64);
}

static void test_usage_errors(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "--rood-dir=/x", NULL), -EINVAL);
	assert_told(fixture, "unknown option '--rood-dir=/x'");
	assert_int_equal(load(fixture, "--root-dir", NULL), -EINVAL);
	assert_told(fixture, "a value must follow '--root-dir'");
	assert_int_equal(load(fixture, "manifests", NULL), -EINVAL);
	assert_told(fixture, "unexpected argument 'manifests'");
	assert_int_equal(load(fixture, "--drain=yes", NULL), -EINVAL);
	assert_told(fixture, "no value is taken by the option in '--drain=yes'");
	assert_int_equal(load(fixture, "--version=2", NULL), -EINVAL);
	assert_told(fixture, "no value is taken by the option in '--version=2'");
	assert_int_equal(load(fixture, "-x", NULL), -EINVAL);
	assert_told(fixture, "unknown option '-x'");
}

static void test_log_level(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.log_priority, LOG_INFO);
	assert_int_equal(load(fixture, "--log-level=error", NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.log_priority, LOG_ERR);
	assert_int_equal(load(fixture, "--log-level=loud", NULL), -EINVAL);
	assert_told(fixture, "log-level: 'loud' is not error, warning, notice, info or debug");
}

static void test_stuck_unmount(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.stuck_unmount.manner, CONFIG_UNMOUNT_WAIT);
	assert_int_equal(fixture->config.stuck_unmount.seconds, 300);
	assert_int_equal(load(fixture, "--stuck-unmount=lazy", NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.stuck_unmount.manner, CONFIG_UNMOUNT_LAZY);
	assert_int_equal(load(fixture, "--stuck-unmount=force", NULL), CONFIG_RUN);
	assert_int_equal(fixture->config.stuck_unmount.manner, CONFIG_UNMOUNT_FORCE);
	assert_int_equal(load(fixture, "--stuck-unmount=now", NULL), -EINVAL);
	assert_told(fixture, "stuck-unmount: 'now' is not wait, lazy or force");
}

static void test_drift(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_true(fixture->config.drift.heals);
	assert_int_equal(load(fixture, "--drift=report", NULL), CONFIG_RUN);
	assert_false(fixture->config.drift.heals);
	assert_int_equal(load(fixture, "--drift=yes", NULL), -EINVAL);
	assert_told(fixture, "drift: 'yes' is not heal or report");
}

static void test_csi_controllers(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL, NULL), CONFIG_RUN);
	assert_false(fixture->config.csi_controllers.external);
	assert_int_equal(load(fixture, "--csi-controllers=external", NULL), CONFIG_RUN);
	assert_true(fixture->config.csi_controllers.external);
	assert_int_equal(load(fixture, "--csi-controllers=none", NULL), -EINVAL);
	assert_told(fixture, "csi-controllers: 'none' is not podvol or external");
}

static void test_node_name(void **state)
{
	static const char *const wrong[] = { "--node-name=", "--node-name=Edge",
					     "--node-name=a b" };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(load(fixture, wrong[i], NULL), -EINVAL);
		assert_told(fixture, "node-name: '");
	}
	assert_int_equal(load(fixture, "--node-name=rack_7.edge-1", NULL), CONFIG_RUN);
}

static void test_named_file_must_exist(void **state)
{
	struct fixture *fixture = *state;

	assert_return_code(unlink(fixture->file), errno);
	assert_int_equal(load(fixture, NULL, NULL), -ENOENT);
	assert_told(fixture, fixture->file);
}

static void test_directories_must_be_absolute(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "--root-dir=var", NULL), -EINVAL);
	assert_told(fixture, "'var' is not an absolute path");
	assert_int_equal(load(fixture, "--run-dir=/", NULL), -EINVAL);
}

static const char *label(const struct config *config, const char *key)
{
	for (size_t i = 0; i < config->labels.count; i++)
		if (strcmp(config->labels.labels[i].key, key) == 0)
			return config->labels.labels[i].value;
	return NULL;
}

static void test_labels(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "--node-name=edge-1", "--node-labels=zone=a,,rack=7"),
			 CONFIG_RUN);
	assert_string_equal(label(&fixture->config, "zone"), "a");
	assert_string_equal(label(&fixture->config, "rack"), "7");
	assert_string_equal(label(&fixture->config, "kubernetes.io/hostname"), "edge-1");
	assert_string_equal(label(&fixture->config, "kubernetes.io/os"), "linux");
	assert_int_equal(fixture->config.labels.count, 5);

	assert_int_equal(load(fixture, "--node-labels=kubernetes.io/hostname=other", NULL),
			 CONFIG_RUN);
	assert_string_equal(label(&fixture->config, "kubernetes.io/hostname"), "other");
	assert_int_equal(fixture->config.labels.count, 3);

	assert_int_equal(load(fixture, "--node-labels=zone", NULL), -EINVAL);
	assert_told(fixture, "'zone' is not key=value");
}

static void test_drain_flag(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "--drain", NULL), CONFIG_RUN);
	assert_true(fixture->config.drain);
	assert_int_equal(load(fixture, "--hand-back", NULL), CONFIG_RUN);
	assert_true(fixture->config.hand_back && config_has_no_store(&fixture->config));
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(test_defaults),
		cmocka_unit_test(test_every_row_is_whole),
		WITH_FILE(test_file_wins_over_default),
		WITH_FILE(test_command_line_wins_over_file),
		WITH_FILE(test_file_errors),
		WITH_FILE(test_empty_file),
		WITH_FILE(test_numbers_have_bounds),
		WITH_FILE(test_usage_errors),
		WITH_FILE(test_named_file_must_exist),
		WITH_FILE(test_directories_must_be_absolute),
		WITH_FILE(test_log_level),
		WITH_FILE(test_stuck_unmount),
		WITH_FILE(test_drift),
		WITH_FILE(test_csi_controllers),
		WITH_FILE(test_node_name),
		WITH_FILE(test_labels),
		WITH_FILE(test_drain_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
