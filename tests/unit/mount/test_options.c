/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_options - joining mount options, and telling a mount's words from a file system's
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "mount/mount.h"

#include <string.h>
#include <sys/mount.h>

/* ---- joining ---- */

static void assert_joined(const char *const *options, size_t count, const char *plugin_options,
			  const char *expected)
{
	cleanup_free char *joined = mount_options_join(options, count, plugin_options);

	assert_non_null(joined);
	assert_string_equal(joined, expected);
}

static void test_case_053_once_and_sorted(void **state)
{
	static const char *const options[] = { "noexec", "ro", "noexec" };

	assert_joined(options, 3, "", "noexec,ro");
}

static void test_case_096_annotation_and_plugin(void **state)
{
	static const char *const options[] = { "ro", "nfsvers=3" };

	assert_joined(options, 2, "fsid=100,hard", "fsid=100,hard,nfsvers=3,ro");
}

static void test_case_097_both_say_ro(void **state)
{
	static const char *const options[] = { "ro,nfsvers=3" };

	assert_joined(options, 1, "fsid=100,ro", "fsid=100,nfsvers=3,ro");
}

/* case 98, that the empty annotation wins over spec.mountOptions is decided by the object's
 * accessor; here it must not become an empty word. */
static void test_empty_words_are_dropped(void **state)
{
	static const char *const empty[] = { "" };
	static const char *const holes[] = { ",hard,,", " ", "ro " };

	assert_joined(empty, 1, "", "");
	assert_joined(empty, 1, "hard", "hard");
	assert_joined(NULL, 0, NULL, "");
	assert_joined(holes, 3, ",bg,", "bg,hard,ro");
}

static void test_a_quoted_comma_does_not_split(void **state)
{
	static const char *const options[] = { "context=\"a:b:c1,c2\",ro" };

	assert_joined(options, 1, "", "context=\"a:b:c1,c2\",ro");
}

/* It would swallow what is sorted behind it: a plugin's "ro". */
static void test_an_unpaired_quote_swallows_nothing(void **state)
{
	static const char *const one[] = { "\"" };
	static const char *const two[] = { "\"a", "z\"" };
	static const char *const four[] = { "a\"x,y\"c\"d" };
	static const char *const three[] = { "a=\"b\",\"c,hard" };

	assert_joined(one, 1, "ro", "ro");
	assert_joined(two, 2, "ro", "a,ro,z");
	assert_joined(three, 1, "ro", "a=\"b\",c,hard,ro");
	assert_joined(four, 1, "ro", "ax,ro,ycd");
}

/* ---- splitting ---- */

struct split_row {
	const char *options;
	uint64_t set, clear, propagation;
	const char *data;
};

static void assert_split(const struct split_row *row)
{
	struct mount_attributes attributes;
	cleanup_free char *data = NULL;
	struct failure failure = { 0 };

	if (mount_options_split(row->options, &attributes, &data, &failure) != 0)
		fail_msg("'%s': %s", row->options, failure.text);
	if (attributes.set != row->set || attributes.clear != row->clear ||
	    attributes.propagation != row->propagation)
		fail_msg("'%s': set %#llx, clear %#llx, propagation %#llx", row->options,
			 (unsigned long long) attributes.set, (unsigned long long) attributes.clear,
			 (unsigned long long) attributes.propagation);
	assert_string_equal(data, row->data);
}

static void test_words_of_the_mount(void **state)
{
	static const struct split_row rows[] = {
		{ "", 0, 0, 0, "" },
		{ "ro", MOUNT_ATTR_RDONLY, 0, 0, "" },
		{ "rw", 0, MOUNT_ATTR_RDONLY, 0, "" },
		{ "nosuid,nodev,noexec", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		  0, 0, "" },
		{ "suid,dev,exec", 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, 0,
		  "" },
		{ "nodiratime,nosymfollow", MOUNT_ATTR_NODIRATIME | MOUNT_ATTR_NOSYMFOLLOW, 0, 0,
		  "" },
		{ "noatime", MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME, 0, "" },
		{ "strictatime", MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME, 0, "" },
		{ "relatime", MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME, 0, "" },
		{ "noatime,relatime", MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME, 0, "" },
		{ "silent,loud,noiversion", 0, 0, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_split(&rows[i]);
}

/* They come sorted, so "rw" of a PersistentVolume would always come after a plugin's "ro". */
static void test_the_stricter_word_wins(void **state)
{
	static const struct split_row rows[] = {
		{ "ro,rw", MOUNT_ATTR_RDONLY, 0, 0, "" },
		{ "rw,ro", MOUNT_ATTR_RDONLY, 0, 0, "" },
		{ "nosuid,suid", MOUNT_ATTR_NOSUID, 0, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_split(&rows[i]);
}

static void test_words_of_the_file_system(void **state)
{
	static const struct split_row rows[] = {
		{ "size=1m,mode=0700", 0, 0, 0, "size=1m,mode=0700" },
		{ "ro,errors=continue,nosuid", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0,
		  "errors=continue" },
		{ "sync,dirsync", 0, 0, 0, "sync,dirsync" }, /* of the superblock, not the mount */
		{ "context=\"a:b:c1,c2\",ro", MOUNT_ATTR_RDONLY, 0, 0, "context=\"a:b:c1,c2\"" },
		{ "ro=recursive", 0, 0, 0, "ro=recursive" }, /* not the word "ro" */
		{ "nosuidx", 0, 0, 0, "nosuidx" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_split(&rows[i]);
}

/* case 94, what only mount(8) and systemd act on is neither an attribute nor the file system's. */
static void test_words_of_user_space(void **state)
{
	static const struct split_row rows[] = {
		{ "defaults,_netdev,noauto,nofail", 0, 0, 0, "" },
		{ "x-systemd.automount,X-mount.mkdir=0755,x-foo", 0, 0, 0, "" },
		{ "comment=hello,vers=2", 0, 0, 0, "vers=2" },
		{ "user", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, 0, 0, "" },
		{ "owner", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, "" },
		{ "nouser", 0, 0, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_split(&rows[i]);
}

static void test_propagation_and_bind(void **state)
{
	static const struct split_row rows[] = {
		{ "bind,private", 0, 0, MS_PRIVATE, "" },
		{ "bind,rslave", 0, 0, MS_SLAVE, "" },
		{ "shared", 0, 0, MS_SHARED, "" },
	};
	struct mount_attributes attributes;
	cleanup_free char *data = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_split(&rows[i]);
	assert_int_equal(mount_options_split("rbind,ro", &attributes, &data, NULL), 0);
	assert_true(attributes.recursive);
}

static void test_what_cannot_be_honoured_is_refused(void **state)
{
	static const char *const refused[] = {
		"remount,ro",        "\",ro", "\"", "loop", "loop=/dev/loop7", "ro,offset=512",
		"verity.roothash=00"
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct mount_attributes attributes;
		struct failure failure = { 0 };
		char *data = NULL;

		if (mount_options_split(refused[i], &attributes, &data, &failure) != -EINVAL)
			fail_msg("'%s' was accepted", refused[i]);
		assert_null(data);
		assert_non_null(strstr(failure.text, "is not supported"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_case_053_once_and_sorted),
		cmocka_unit_test(test_case_096_annotation_and_plugin),
		cmocka_unit_test(test_case_097_both_say_ro),
		cmocka_unit_test(test_empty_words_are_dropped),
		cmocka_unit_test(test_a_quoted_comma_does_not_split),
		cmocka_unit_test(test_an_unpaired_quote_swallows_nothing),
		cmocka_unit_test(test_words_of_the_mount),
		cmocka_unit_test(test_the_stricter_word_wins),
		cmocka_unit_test(test_words_of_the_file_system),
		cmocka_unit_test(test_words_of_user_space),
		cmocka_unit_test(test_propagation_and_bind),
		cmocka_unit_test(test_what_cannot_be_honoured_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
