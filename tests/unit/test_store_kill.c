/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_kill - kill -9 a writer at any moment: what it was told is stored is stored
 *
 * The child creates volumes and changes them over and over; its answers come through a pipe. The
 * parent kills it after so many answers, opens the store and compares.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "object/json.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KILLS = 20,
	VOLUMES = 40,
	AHEAD = 100, /* writes under way at the same time */
};

/* One answered write. */
struct report {
	unsigned int volume, edition;
};

/* ---- the child ---- */

struct child {
	struct store *store;
	int pipe_fd;
	unsigned int next;          /* number of the next write */
	unsigned int first_edition; /* above those of earlier children */
};

struct child_write {
	struct child *child;
	struct report report;
};

static void write_next(struct child *child);

static void on_answer(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct child_write *done = userdata;
	struct child *child = done->child;

	if (error < 0 ||
	    write(child->pipe_fd, &done->report, sizeof(done->report)) != sizeof(done->report))
		_exit(1);
	free(done);
	write_next(child);
}

static void write_next(struct child *child)
{
	struct child_write *next = calloc(1, sizeof(*next));
	unsigned int number = child->next++;
	char name[16], label[16];
	int r;

	if (!next)
		_exit(1);
	next->child = child;
	next->report.volume = number % VOLUMES;
	next->report.edition = child->first_edition + number / VOLUMES;
	(void) snprintf(name, sizeof(name), "v%u", next->report.volume);
	(void) snprintf(label, sizeof(label), "e%u", next->report.edition);
	cleanup_object const struct object *volume = make_volume(name, label);

	/* Those of earlier children are there already. */
	r = store_get(child->store, volume->kind, "", name) || number >= VOLUMES
		    ? store_update(child->store, volume, NULL, on_answer, next)
		    : store_create(child->store, volume, on_answer, next);
	if (r < 0)
		_exit(1);
}

static _Noreturn void run_child(const char *directory, int pipe_fd, unsigned int first_edition)
{
	struct child child = { .pipe_fd = pipe_fd, .first_edition = first_edition };
	struct failure failure;
	sd_event *event;

	if (sd_event_new(&event) < 0 ||
	    store_open_embedded(event, directory, &child.store, &failure) < 0)
		_exit(1);
	for (unsigned int i = 0; i < AHEAD; i++)
		write_next(&child);
	(void) sd_event_loop(event);
	_exit(1);
}

/* ---- the parent ---- */

/* Read answers until @count came, then kill; those that were still in the pipe count, too. */
static void kill_after(pid_t pid, int pipe_fd, unsigned int count, int editions[VOLUMES])
{
	struct report report;
	int status;

	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(read(pipe_fd, &report, sizeof(report)), sizeof(report));
		editions[report.volume] = (int) report.edition;
	}
	assert_return_code(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(pipe_fd, &report, sizeof(report)) == sizeof(report))
		editions[report.volume] = (int) report.edition;
}

static int edition_of(const struct object *volume)
{
	const char *label = strstr(volume->json, "\"test\":\"e");

	assert_non_null(label);
	return (int) strtol(label + strlen("\"test\":\"e"), NULL, 10);
}

static void assert_stored(struct store_world *world, const int editions[VOLUMES])
{
	for (unsigned int i = 0; i < VOLUMES; i++) {
		const struct object *volume;
		char name[16];

		(void) snprintf(name, sizeof(name), "v%u", i);
		volume = store_get(world->store, KIND_PERSISTENT_VOLUME, "", name);
		if (editions[i] < 0)
			continue;
		assert_non_null(volume);
		/* Later writes, not answered yet, may have been committed with it. */
		assert_true(edition_of(volume) >= editions[i]);
		assert_true(volume->meta.resource_version <= store_resource_version(world->store));
	}
}

static void answered_writes_survive_a_kill(void **state)
{
	struct store_world world = { .store = NULL };

	store_world_open(&world);
	for (unsigned int kill_number = 0; kill_number < KILLS; kill_number++) {
		int editions[VOLUMES], pipe_fds[2];
		uint64_t version = store_resource_version(world.store);
		pid_t pid;

		memset(editions, -1, sizeof(editions));
		world.store = store_free(world.store);
		assert_return_code(pipe(pipe_fds), 0);
		pid = fork();
		assert_return_code(pid, 0);
		if (pid == 0)
			run_child(world.directory, pipe_fds[1], kill_number * 10000);
		assert_return_code(close(pipe_fds[1]), 0);
		kill_after(pid, pipe_fds[0], kill_number * 37 % 211, editions);
		assert_return_code(close(pipe_fds[0]), 0);
		store_world_reopen(&world);
		assert_stored(&world, editions);
		assert_true(store_resource_version(world.store) >= version);
	}
	assert_true(store_resource_version(world.store) > VOLUMES);
	store_world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered_writes_survive_a_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
