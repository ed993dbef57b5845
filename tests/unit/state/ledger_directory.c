/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_directory - a ledger in a directory of its own; see ledger_directory.h
 *
 * Touches nothing outside of the directory that it made.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ledger_directory.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>

const struct ledger_identity this_boot = { .boot_id = "b00t", .mount_namespace = 4026531841 };

static const struct volume_plugin plugin = { .name = "example.com/fake" };

int new_directory(void **state)
{
	char template[] = "/tmp/podvol-ledger-XXXXXX";

	assert_non_null(mkdtemp(template));
	*state = strdup(template);
	return *state ? 0 : -1;
}

int remove_directory_tree(void **state)
{
	cleanup_free char *path = *state;
	cleanup_closedir DIR *directory = opendir(path);
	const struct dirent *entry;

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			assert_int_equal(unlinkat(dirfd(directory), entry->d_name, 0), 0);
	assert_int_equal(unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
	return 0;
}

struct ledger *open_ledger(const char *directory, int expected)
{
	struct failure failure = { 0 };
	struct ledger *ledger = NULL;
	int opened = ledger_open_as(directory, &this_boot, &ledger, &failure);

	if (opened != expected)
		print_error("# %s\n", failure.text);
	assert_int_equal(opened, expected);
	assert_int_equal(failure.text[0] != '\0', expected == 1);
	return ledger;
}

void put(struct ledger *ledger, const char *unique_name, const char *pod_uid,
	 enum mount_state state)
{
	struct ledger_row row = { .entry = { .unique_name = unique_name,
					     .plugin = &plugin,
					     .spec_name = "pv",
					     .pod_uid = pod_uid },
				  .state = state };

	assert_int_equal(ledger_put(ledger, &row), 0);
}

struct names {
	char text[4096];
	size_t length;
};

static int append_name(const struct ledger_row *row, void *userdata)
{
	struct names *names = userdata;
	const char *pod_uid = row->entry.pod_uid ? row->entry.pod_uid : "-";

	static const char *const unfinished[] = { [UNFINISHED_NOTHING] = "",
						  [UNFINISHED_SET_UP] = "+set-up",
						  [UNFINISHED_FORMAT] = "+format",
						  [UNFINISHED_OWNERSHIP] = "+ownership",
						  [UNFINISHED_TEARDOWN] = "+teardown" };

	names->length += (size_t) snprintf(
		names->text + names->length, sizeof(names->text) - names->length, "%s:%s=%d%s ",
		row->entry.unique_name, pod_uid, (int) row->state, unfinished[row->unfinished]);
	assert_true(names->length < sizeof(names->text));
	return 0;
}

void expect_names(struct ledger *ledger, const char *expected)
{
	struct names names = { .text = "" };

	assert_int_equal(ledger_walk(ledger, append_name, &names), 0);
	assert_string_equal(names.text, expected);
}
