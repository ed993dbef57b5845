/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_other_kubelet - kubelets of a made-up /proc: on our root, on another, with and without the
 * option
 */
#include "other_kubelet.h"

#include "base/cleanup.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static int setup(void **state)
{
	char *proc = strdup("/tmp/podvol-proc-XXXXXX");

	assert_non_null(mkdtemp(proc));
	*state = proc;
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	assert_int_equal(nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(*state);
	return 0;
}

static void write_file(const char *proc, const char *pid, const char *name, const char *bytes,
		       size_t length)
{
	char path[128];
	FILE *file;

	(void) snprintf(path, sizeof(path), "%s/%s", proc, pid);
	(void) mkdir(path, 0700);
	(void) snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

#define PROCESS(proc, pid, comm, words)                                                            \
	do {                                                                                       \
		write_file(proc, pid, "comm", comm, strlen(comm));                                 \
		write_file(proc, pid, "cmdline", words, sizeof(words));                            \
	} while (0)

static int check(const char *proc, const char *root, struct failure *failure)
{
	return other_kubelet_check(proc, root, failure);
}

static void test_no_kubelet(void **state)
{
	PROCESS(*state, "1", "systemd\n", "/sbin/init");
	PROCESS(*state, "12", "kubelet-helper\n", "kubelet-helper\0--root-dir=/r");
	assert_int_equal(check(*state, "/r", NULL), 0);
}

static void test_kubelet_on_our_root_is_named(void **state)
{
	struct failure failure;

	PROCESS(*state, "77", "kubelet\n", "/usr/bin/kubelet\0--v=2\0--root-dir=/r/\0--x");
	assert_int_equal(check(*state, "/r", &failure), -EBUSY);
	assert_non_null(strstr(failure.text, "pid 77"));
	assert_non_null(strstr(failure.text, "'/r'"));
	assert_int_equal(check(*state, "/other", NULL), 0);
}

static void test_option_in_two_words(void **state)
{
	PROCESS(*state, "78", "kubelet\n", "kubelet\0-root-dir\0/r");
	assert_int_equal(check(*state, "/r", NULL), -EBUSY);
	assert_int_equal(check(*state, "/var/lib/kubelet", NULL), 0);
}

static void test_default_root(void **state)
{
	PROCESS(*state, "79", "kubelet\n", "kubelet\0--root-dir-x=/r");
	assert_int_equal(check(*state, "/var/lib/kubelet", NULL), -EBUSY);
	assert_int_equal(check(*state, "/r", NULL), 0);
}

static void test_processes_that_vanish_are_passed_over(void **state)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "%s/80", (char *) *state);
	assert_return_code(mkdir(path, 0700), errno);
	assert_int_equal(check(*state, "/r", NULL), 0);
	assert_int_equal(check("/nonexistent", "/r", NULL), -ENOENT);
}

#define WITH_PROC(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PROC(test_no_kubelet),
		WITH_PROC(test_kubelet_on_our_root_is_named),
		WITH_PROC(test_option_in_two_words),
		WITH_PROC(test_default_root),
		WITH_PROC(test_processes_that_vanish_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
