/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_full - a store on a tmpfs without room: every write is answered, nothing is lost
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

struct world {
	sd_event *event;
	struct store *store;
};

struct answer {
	bool came;
	int error;
};

static void on_answer(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct answer *answer = userdata;

	assert_int_equal(error < 0, why != NULL);
	answer->came = true;
	answer->error = error;
}

static int create(struct world *world, const char *name, const char *filler)
{
	cleanup_object const struct object *object = NULL;
	struct answer answer = { .came = false };
	cleanup_free char *text = NULL;
	int length;

	length = asprintf(&text,
			  "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\","
			  "\"metadata\":{\"name\":\"%s\",\"annotations\":{\"fill\":\"%s\"}},"
			  "\"provisioner\":\"example.com/p\"}",
			  name, filler);
	assert_true(length > 0);
	assert_int_equal(object_parse_json(text, (size_t) length, &object, NULL), 0);
	assert_int_equal(store_create(world->store, object, on_answer, &answer), 0);
	while (!answer.came)
		assert_return_code(sd_event_run(world->event, UINT64_MAX), 0);
	return answer.error;
}

static void open_store(struct world *world)
{
	struct failure failure = { 0 };

	if (store_open_embedded(world->event, store_open_begin(sandbox_path("state")),
				&world->store, &failure) < 0)
		fail_msg("%s", failure.text);
}

static void fill_disk(void)
{
	static const char zeros[4096];
	cleanup_close int fd =
		open(sandbox_path("state/filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

static bool is_there(struct world *world, const char *name)
{
	return store_get(world->store, KIND_STORAGE_CLASS, "", name) != NULL;
}

static void test_writes_fail_and_succeed_later(void **state)
{
	struct world world = { .store = NULL };
	char filler[20001];

	memset(filler, 'x', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	sandbox_mkdir("state", 0700);
	assert_int_equal(mount("none", sandbox_path("state"), "tmpfs", 0, "size=1m"), 0);
	assert_return_code(sd_event_new(&world.event), 0);
	open_store(&world);
	assert_int_equal(create(&world, "before", filler), 0);

	fill_disk();
	assert_int_equal(create(&world, "during", filler), -ENOSPC);
	assert_int_equal(create(&world, "during", filler), -ENOSPC);
	assert_false(is_there(&world, "during"));
	assert_true(is_there(&world, "before"));

	/* A full disk at the start is no reason not to serve what there is, or to lose it. */
	world.store = store_free(world.store);
	open_store(&world);
	assert_true(is_there(&world, "before"));
	assert_int_equal(create(&world, "during", filler), -ENOSPC);

	assert_int_equal(unlink(sandbox_path("state/filler")), 0);
	assert_int_equal(create(&world, "after", filler), 0);
	world.store = store_free(world.store);
	open_store(&world);
	assert_true(is_there(&world, "before"));
	assert_true(is_there(&world, "after"));
	assert_false(is_there(&world, "during"));
	world.store = store_free(world.store);
	sd_event_unref(world.event);
	assert_int_equal(umount(sandbox_path("state")), 0);
}

static void test_no_room_for_a_new_store(void **state)
{
	struct failure failure = { 0 };
	struct world world = { .store = NULL };

	sandbox_mkdir("state", 0700);
	assert_int_equal(mount("none", sandbox_path("state"), "tmpfs", 0, "size=64k"), 0);
	fill_disk();
	assert_return_code(sd_event_new(&world.event), 0);
	assert_int_equal(store_open_embedded(world.event, store_open_begin(sandbox_path("state")),
					     &world.store, &failure),
			 -ENOSPC);
	assert_non_null(strstr(failure.text, "store.db"));
	sd_event_unref(world.event);
	assert_int_equal(umount(sandbox_path("state")), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_writes_fail_and_succeed_later),
		SANDBOX_TEST(test_no_room_for_a_new_store),
	};

	return sandbox_run("store_full", tests, ARRAY_SIZE(tests));
}
