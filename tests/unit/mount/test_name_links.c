/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_name_links - what a link's removal takes along, and what it leaves: others' links and files
 */
#include "mount/files/name_links.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define OLD "/pods/old/v"
#define NEW "/pods/new/v"

static const struct link_name data = { "default", "web", "data" },
			      again = { "default", "web", "again" },
			      all = { "default", "web", NULL };

struct world {
	char run[64];
	int fd; /* of by-name */
};

static int set_up(void **state)
{
	static struct world world;

	(void) umask(022);
	(void) snprintf(world.run, sizeof(world.run), "/tmp/name-links-XXXXXX");
	if (!mkdtemp(world.run))
		return -1;
	world.fd = name_links_open(world.run, NULL);
	*state = &world;
	return world.fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"default/web/data",   "default/web/again", "default/web/.new", "default/web",
		"default/other/data", "default/other",     "default"
	};
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (unlinkat(world->fd, names[i], 0) < 0)
			(void) unlinkat(world->fd, names[i], AT_REMOVEDIR);
	(void) unlinkat(world->fd, "../by-name", AT_REMOVEDIR);
	(void) close(world->fd);
	return rmdir(world->run);
}

static void make(const struct world *world, const struct link_name *name, const char *target)
{
	assert_int_equal(name_link_make(world->fd, name, target, NULL), 0);
}

/* NULL: nothing is there. */
static void expect(const struct world *world, const char *name, const char *target)
{
	char text[PATH_MAX] = "";

	if (!target) {
		assert_int_equal(faccessat(world->fd, name, F_OK, AT_SYMLINK_NOFOLLOW), -1);
		assert_int_equal(errno, ENOENT);
		return;
	}
	assert_true(readlinkat(world->fd, name, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, target);
}

static void the_directories_go_with_the_last_link(void **state)
{
	const struct link_name other = { "default", "other", "data" };
	const struct world *world = *state;

	make(world, &data, OLD);
	make(world, &other, OLD);
	assert_int_equal(name_links_remove(world->fd, &data, OLD, NULL), 0);
	expect(world, "default/web", NULL);
	expect(world, "default/other/data", OLD);
	assert_int_equal(name_links_remove(world->fd, &other, OLD, NULL), 0);
	expect(world, "default", NULL);
	assert_int_equal(name_links_remove(world->fd, &other, OLD, NULL), 0);
}

static void by_its_name_only_that_link_goes(void **state)
{
	const struct world *world = *state;

	make(world, &data, OLD);
	make(world, &again, OLD);
	assert_int_equal(name_links_remove(world->fd, &data, OLD, NULL), 0);
	expect(world, "default/web/data", NULL);
	expect(world, "default/web/again", OLD);
}

static void without_a_name_all_that_lead_there_go(void **state)
{
	const struct world *world = *state;

	make(world, &data, OLD);
	make(world, &again, OLD);
	assert_int_equal(name_links_remove(world->fd, &all, OLD, NULL), 0);
	expect(world, "default", NULL);
}

/* The pod was made again: the new one's volume is mounted before the old one's is unmounted. */
static void what_the_next_pod_of_the_name_took_over_stays(void **state)
{
	const struct world *world = *state;

	make(world, &data, OLD);
	make(world, &data, NEW);
	assert_int_equal(name_links_remove(world->fd, &data, OLD, NULL), 0);
	expect(world, "default/web/data", NEW);
	assert_int_equal(name_links_remove(world->fd, &all, OLD, NULL), 0);
	expect(world, "default/web/data", NEW);
}

static void what_is_not_a_link_stays(void **state)
{
	const struct world *world = *state;
	cleanup_close int file = -EBADF;

	make(world, &again, OLD);
	file = openat(world->fd, "default/web/data", O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(name_links_remove(world->fd, &data, OLD, NULL), 0);
	assert_int_equal(name_links_remove(world->fd, &again, OLD, NULL), 0);
	assert_int_equal(faccessat(world->fd, "default/web/data", F_OK, 0), 0);
	expect(world, "default/web/again", NULL);
}

/* A link in the place of the pod's directory. */
static void what_lies_behind_a_link_stays(void **state)
{
	const struct link_name other = { "default", "other", "data" };
	const struct world *world = *state;

	make(world, &other, OLD);
	assert_int_equal(symlinkat("other", world->fd, "default/web"), 0);
	assert_int_equal(name_links_remove(world->fd, &data, OLD, NULL), 0);
	expect(world, "default/other/data", OLD);
	expect(world, "default/web", "other");
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WORLD(the_directories_go_with_the_last_link),
		WORLD(by_its_name_only_that_link_goes),
		WORLD(without_a_name_all_that_lead_there_go),
		WORLD(what_the_next_pod_of_the_name_took_over_stays),
		WORLD(what_is_not_a_link_stays),
		WORLD(what_lies_behind_a_link_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
