/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_look_cases - see mount_look_cases.h
 */
#include "mount_look_cases.h"

#include "base/cleanup.h"
#include "mount/table/mount_compare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

static void bind_on(const char *target, unsigned long flags)
{
	sandbox_mkdir(target, 0755);
	assert_return_code(mount(sandbox_path("source"), sandbox_path(target), NULL, MS_BIND, NULL),
			   errno);
	if (flags)
		assert_return_code(
			mount(NULL, sandbox_path(target), NULL, MS_REMOUNT | MS_BIND | flags, NULL),
			errno);
}

static void take(const char *target)
{
	assert_return_code(umount2(sandbox_path(target), 0), errno);
}

static uint64_t id_of(const char *target)
{
	cleanup_close int fd = open(sandbox_path(target), O_PATH | O_CLOEXEC);
	struct mount_facts facts;

	assert_return_code(fd, errno);
	assert_int_equal(fd_facts(fd, &facts, NULL), 0);
	return facts.mount_id;
}

static struct known_mount known_at(const char *target)
{
	return (struct known_mount){ .mount_id = id_of(target),
				     .place = mount_place_sum(sandbox_path(target)) };
}

static void look(struct known_mount *known, size_t count, struct table_entries *ret)
{
	struct failure failure;

	if (mount_compare_all(known, count, sandbox_path("root"), id_of("root"), ret, &failure) < 0)
		fail_msg("%s", failure.text);
}

static void make_root(void)
{
	sandbox_mkdir("source", 0755);
	bind_on("root", 0);
}

void test_fates_of_known_mounts(void **state)
{
	struct table_entries others;
	struct known_mount known[3];

	make_root();
	bind_on("root/a", 0);
	bind_on("root/b", 0);
	bind_on("root/c", 0);
	sandbox_mkdir("root/d", 0755);
	known[0] = known_at("root/c"); /* in no order */
	known[1] = known_at("root/a");
	known[2] = known_at("root/b");
	take("root/a");
	assert_return_code(
		mount(sandbox_path("root/b"), sandbox_path("root/d"), NULL, MS_MOVE, NULL), errno);
	look(known, 3, &others);
	assert_int_equal(known[0].fate, MOUNT_THERE);
	assert_int_equal(known[1].fate, MOUNT_GONE);
	assert_int_equal(known[2].fate, MOUNT_MOVED);
	assert_int_equal(others.count, 0);
	table_entries_done(&others);

	assert_int_equal(mount_look_at_known(known, 3, NULL), 0);
	assert_int_equal(known[0].fate, MOUNT_THERE);
	assert_int_equal(known[1].fate, MOUNT_GONE);
	take("root/c");
	take("root/d");
	take("root");
}

void test_expected_attributes(void **state)
{
	struct known_mount known[2];
	struct table_entries others;

	make_root();
	bind_on("root/a", MS_RDONLY);
	bind_on("root/b", MS_RDONLY);
	known[0] = known_at("root/a");
	known[1] = known_at("root/b");
	for (int by_all = 0; by_all < 2; by_all++) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			known[i].expects = true;
		known[0].attributes = MOUNT_ATTR_RDONLY;
		known[1].attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
		if (by_all)
			look(known, 2, &others);
		else
			assert_int_equal(mount_look_at_known(known, 2, NULL), 0);
		assert_int_equal(known[0].fate, MOUNT_SAME);
		assert_int_equal(known[1].fate, MOUNT_THERE);
		assert_int_equal(known[1].attributes, MOUNT_ATTR_RDONLY);
	}
	table_entries_done(&others);
	take("root/a");
	take("root/b");
	take("root");
}

void test_attributes_of_known_mounts(void **state)
{
	struct table_entries others;
	struct known_mount known[3];

	make_root();
	bind_on("root/a", MS_RDONLY | MS_NOSUID);
	bind_on("root/b", MS_NODEV | MS_NOEXEC | MS_NOATIME);
	bind_on("root/c", 0);
	known[0] = known_at("root/a");
	known[1] = known_at("root/b");
	known[2] = known_at("root/c");
	for (int by_all = 0; by_all < 2; by_all++) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			known[i].attributes = UINT64_MAX;
		if (by_all)
			look(known, 3, &others);
		else
			assert_int_equal(mount_look_at_known(known, 3, NULL), 0);
		assert_int_equal(known[0].attributes, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
		assert_int_equal(known[1].attributes, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
		assert_int_equal(known[2].attributes, 0);
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			assert_int_equal(known[i].fate, MOUNT_THERE);
	}
	table_entries_done(&others);
	take("root/a");
	take("root/b");
	take("root/c");
	take("root");
}

void test_others_below_and_above_the_root(void **state)
{
	struct table_entries others;
	struct known_mount known;

	sandbox_mkdir("source", 0755);
	sandbox_mkdir("source/root", 0755);
	bind_on("above", 0); /* before the root: what it stands on */
	assert_return_code(
		mount(sandbox_path("source"), sandbox_path("above/root"), NULL, MS_BIND, NULL),
		errno);
	assert_return_code(symlink("above/root", sandbox_path("root")), errno);
	bind_on("aside", 0);
	sandbox_mkdir("source/a", 0755);
	assert_return_code(
		mount(sandbox_path("source"), sandbox_path("above/root/a"), NULL, MS_BIND, NULL),
		errno);
	known = known_at("above/root/a");
	assert_return_code(mount("none", sandbox_path("above/root/a"), "tmpfs", 0, NULL), errno);
	assert_int_equal(mount_compare_all(&known, 1, sandbox_path("above/root"),
					   id_of("above/root"), &others, NULL),
			 0);
	assert_int_equal(known.fate, MOUNT_THERE);
	assert_int_equal(others.count, 1);
	assert_string_equal(others.items[0]->entry.mount_point, sandbox_path("above/root/a"));
	assert_string_equal(others.items[0]->entry.type, "tmpfs");
	assert_int_equal(others.items[0]->entry.parent_id, known.mount_id);
	table_entries_done(&others);
	take("above/root/a");
	take("above/root/a");

	/* What hides the root directory is reported, wherever above it. */
	known.mount_id = id_of("above/root");
	assert_return_code(mount("none", sandbox_path("above"), "tmpfs", 0, NULL), errno);
	assert_int_equal(mount_compare_all(NULL, 0, sandbox_path("above/root"), known.mount_id,
					   &others, NULL),
			 0);
	assert_int_equal(others.count, 1);
	assert_string_equal(others.items[0]->entry.mount_point, sandbox_path("above"));
	table_entries_done(&others);
	take("above");
	take("above/root");
	take("above");
	take("aside");
}

static struct place place_of(const char *name)
{
	struct place place = PLACE_EMPTY; /* borrows all */

	place.parent_fd = sandbox_fd();
	place.name = place.path = (char *) name;
	return place;
}

static unsigned long flags_of(const char *relative)
{
	struct statvfs status;

	assert_return_code(statvfs(sandbox_path(relative), &status), errno);
	return status.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME);
}

void test_attributes_are_set_back(void **state)
{
	static const unsigned int taken[] = { 0, WITHOUT_MOUNT_SETATTR };
	struct place place = place_of("target");
	struct failure failure;

	sandbox_mkdir("source", 0755);
	bind_on("target", MS_NODEV | MS_NOATIME);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		bool without_listmount = !mount_ids_are_unique();

		kernel_calls_take_away(taken[i] | (without_listmount ? WITHOUT_LISTMOUNT : 0));
		if (mount_set_back(&place, id_of("target"), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID,
				   &failure) < 0)
			fail_msg("%s", failure.text);
		/* What is not watched stays as it is. */
		assert_int_equal(flags_of("target"), ST_RDONLY | ST_NOSUID | ST_NOATIME);
		assert_int_equal(mount_set_back(&place, id_of("target"), MOUNT_ATTR_NODEV, NULL),
				 0);
		assert_int_equal(flags_of("target"), ST_NODEV | ST_NOATIME);
	}
	take("target");
}

void test_another_mount_is_not_set_back(void **state)
{
	struct place place = place_of("target"), plain = place_of("source");
	uint64_t id;

	sandbox_mkdir("source", 0755);
	bind_on("target", 0);
	id = id_of("target");
	assert_return_code(mount("none", sandbox_path("target"), "tmpfs", 0, NULL), errno);
	assert_int_equal(mount_set_back(&place, id, MOUNT_ATTR_RDONLY, NULL), -ESTALE);
	assert_int_equal(flags_of("target"), 0);
	assert_int_equal(mount_set_back(&plain, id_of("source"), MOUNT_ATTR_RDONLY, NULL), -ESTALE);
	take("target");
	take("target");
	assert_int_equal(mount_set_back(&place, id, MOUNT_ATTR_RDONLY, NULL), -ESTALE);
}
