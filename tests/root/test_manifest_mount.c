/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_mount - the manifests' file system is unmounted under a running source, and comes
 * back: neither pods nor objects go with it
 */
#include "sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/source.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

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
	uint64_t deadline = monotonic_usec() + 10 * USEC_PER_SEC;

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
	assert_int_equal(
		store_open_embedded(world.event, sandbox_path("state"), &world.store, NULL), 0);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_unmounted_directory_keeps_its_pods),
	};

	return sandbox_run("manifest_mount", tests, ARRAY_SIZE(tests));
}
