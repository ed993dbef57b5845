/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_mount - the manifests' file system is unmounted or mounted over, under a running
 * source and while none runs, and comes back: neither pods nor objects go with it
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/source.h"
#include "store/embedded.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

struct world {
	sd_event *event;
	struct store *store;
	struct manifest_source *source;
};

static const char *const pods[] = { "a", "b" };

static void write_pods(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		char name[64], text[256];

		(void) snprintf(name, sizeof(name), "manifests/%s.yaml", pods[i]);
		(void) snprintf(text, sizeof(text),
				"apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"
				"spec: {containers: [{name: c, image: i}]}\n",
				pods[i]);
		sandbox_write(name, text);
	}
}

static void mount_manifests(void)
{
	assert_int_equal(mount("none", sandbox_path("manifests"), "tmpfs", 0, "size=1m"), 0);
}

static int has_text(const struct manifest_problem *problem, void *userdata)
{
	return strstr(problem->text, userdata) != NULL;
}

static bool is_stored(struct world *world, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		const struct object *pod = store_get(world->store, KIND_POD, "default", pods[i]);

		if (!pod || (strstr(pod->json, "\"gone\"") != NULL) != (text != NULL))
			return false;
	}
	return !text || manifest_source_problems(world->source, has_text, (void *) text) > 0;
}

/* Until both pods are there: marked as gone, with this problem, or (NULL) unmarked. */
static void run_until(struct world *world, const char *text)
{
	uint64_t deadline = monotonic_usec() + 100 * USEC_PER_SEC;

	while (!is_stored(world, text)) {
		assert_true(monotonic_usec() < deadline);
		assert_return_code(sd_event_run(world->event, 100 * USEC_PER_MSEC), 0);
	}
}

static void test_unmounted_directory_keeps_its_pods(void **state)
{
	struct manifest_source_options options = {
		.node_name = "n",
		.settle_usec = 20 * USEC_PER_MSEC,
	};
	struct world world = { .store = NULL };

	sandbox_mkdir("state", 0700);
	sandbox_mkdir("manifests", 0755);
	mount_manifests();
	write_pods();
	options.directory = sandbox_path("manifests");
	assert_return_code(sd_event_new(&world.event), 0);
	assert_int_equal(store_open_embedded(world.event, store_open_begin(sandbox_path("state")),
					     &world.store, NULL),
			 0);
	assert_int_equal(
		manifest_source_new(world.event, world.store, &options, &world.source, NULL), 0);
	run_until(&world, NULL);

	/* The source does not stand in the way, and sees an empty directory that is another one. */
	assert_int_equal(umount(sandbox_path("manifests")), 0);
	run_until(&world, "vanished all at once");
	mount_manifests();
	write_pods();
	/* A mount has no event of its own: the next process, or the next event below, sees it. */
	world.source = manifest_source_free(world.source);
	assert_int_equal(
		manifest_source_new(world.event, world.store, &options, &world.source, NULL), 0);
	run_until(&world, NULL);

	world.source = manifest_source_free(world.source);
	world.store = store_free(world.store);
	sd_event_unref(world.event);
	assert_int_equal(umount(sandbox_path("manifests")), 0);
}

/* ---- file systems that go, or that come where they should not ---- */

static void detach(void)
{
	assert_int_equal(umount2(sandbox_path("manifests"), MNT_DETACH), 0);
}

static void mount_over(void)
{
	mount_manifests(); /* another one, without files */
}

static void mount_over_a_file(void)
{
	sandbox_write("empty", "");
	assert_int_equal(
		mount(sandbox_path("empty"), sandbox_path("manifests/a.yaml"), NULL, MS_BIND, NULL),
		0);
}

/* One manifest is a link to another file system. */
static void unmount_behind_a_link(void)
{
	assert_int_equal(umount(sandbox_path("other")), 0);
}

static void link_to_other(void)
{
	sandbox_mkdir("other", 0755);
	assert_int_equal(mount("none", sandbox_path("other"), "tmpfs", 0, "size=1m"), 0);
	sandbox_write("other/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
				      "spec: {containers: [{name: c, image: i}]}\n");
	assert_int_equal(remove(sandbox_path("manifests/a.yaml")), 0);
	assert_int_equal(symlink("../other/a.yaml", sandbox_path("manifests/a.yaml")), 0);
}

static bool has_problem(struct world *world)
{
	return manifest_source_problems(world->source, has_text, "") > 0;
}

/* Until something is reported and time for a judgement went by: both pods are the same ones. */
static void assert_pods_stay(struct world *world)
{
	uint64_t deadline = monotonic_usec() + 100 * USEC_PER_SEC, quiet = UINT64_MAX;

	while (monotonic_usec() < quiet) {
		assert_true(monotonic_usec() < deadline);
		assert_return_code(sd_event_run(world->event, 10 * USEC_PER_MSEC), 0);
		if (has_problem(world) && quiet == UINT64_MAX)
			quiet = monotonic_usec() + 60 * USEC_PER_MSEC;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		const struct object *pod = store_get(world->store, KIND_POD, "default", pods[i]);

		assert_non_null(pod);
		assert_false(pod->meta.deletes);
	}
}

/* Found by the source that runs, where the kernel tells of it, and by the next one. */
static void try_way(void (*prepare)(void), void (*damage)(void), bool is_told)
{
	struct manifest_source_options options = { .node_name = "n",
						   .settle_usec = 20 * USEC_PER_MSEC };
	struct world world = { .store = NULL };

	sandbox_mkdir("state", 0700);
	sandbox_mkdir("manifests", 0755);
	mount_manifests();
	write_pods();
	if (prepare)
		prepare();
	options.directory = sandbox_path("manifests");
	assert_return_code(sd_event_new(&world.event), 0);
	assert_int_equal(store_open_embedded(world.event, store_open_begin(sandbox_path("state")),
					     &world.store, NULL),
			 0);
	assert_int_equal(
		manifest_source_new(world.event, world.store, &options, &world.source, NULL), 0);
	run_until(&world, NULL);
	damage();
	if (is_told)
		assert_pods_stay(&world);
	world.source = manifest_source_free(world.source);
	assert_int_equal(
		manifest_source_new(world.event, world.store, &options, &world.source, NULL), 0);
	assert_pods_stay(&world);
	world.source = manifest_source_free(world.source);
	world.store = store_free(world.store);
	sd_event_unref(world.event);
	while (umount2(sandbox_path("manifests"), MNT_DETACH) == 0)
		;
	(void) umount(sandbox_path("other"));
}

static void test_detached_directory_keeps_its_pods(void **state)
{
	try_way(NULL, detach, true);
}

static void test_directory_that_is_mounted_over_keeps_its_pods(void **state)
{
	try_way(NULL, mount_over, false);
}

static void test_file_that_is_mounted_over_keeps_its_pod(void **state)
{
	try_way(NULL, mount_over_a_file, false);
}

static void test_link_to_what_is_not_mounted_keeps_its_pod(void **state)
{
	try_way(link_to_other, unmount_behind_a_link, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_detached_directory_keeps_its_pods),
		SANDBOX_TEST(test_directory_that_is_mounted_over_keeps_its_pods),
		SANDBOX_TEST(test_file_that_is_mounted_over_keeps_its_pod),
		SANDBOX_TEST(test_link_to_what_is_not_mounted_keeps_its_pod),
		SANDBOX_TEST(test_unmounted_directory_keeps_its_pods),
	};

	return sandbox_run("manifest_mount", tests, ARRAY_SIZE(tests));
}
