/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_kill - kill -9 a writer at any moment: what was acknowledged is stored
 *
 * The child creates volumes as fast as it can; each answer comes through a pipe as the volume's
 * number. The parent kills it after so many answers, opens the store and looks for all of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KILLS = 20,
	AHEAD = 20,         /* writes under way at the same time */
	ANSWERS_MAX = 8192, /* of one child: more than fit between an answer and the kill */
};

/* ---- the child ---- */

struct child {
	struct store *store;
	int pipe_fd;
	unsigned int number; /* of the next volume */
};

struct child_write {
	struct child *child;
	unsigned int number;
};

static void write_next(struct child *child);

static void on_answer(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct child_write *done = userdata;
	struct child *child = done->child;

	if (error < 0 ||
	    write(child->pipe_fd, &done->number, sizeof(done->number)) != sizeof(done->number))
		_exit(1);
	free(done);
	write_next(child);
}

static void write_next(struct child *child)
{
	struct child_write *next = calloc(1, sizeof(*next));
	char name[16];

	if (!next)
		_exit(1);
	next->child = child;
	next->number = child->number++;
	(void) snprintf(name, sizeof(name), "v%u", next->number);
	cleanup_object const struct object *volume = make_volume(name, "a");

	if (store_create(child->store, volume, on_answer, next) < 0)
		_exit(1);
}

static _Noreturn void run_child(const char *directory, int pipe_fd, unsigned int first)
{
	struct child child = { .pipe_fd = pipe_fd, .number = first };
	struct failure failure;
	sd_event *event;

	if (sd_event_new(&event) < 0 ||
	    store_open_embedded(event, store_open_begin(directory), &child.store, &failure) < 0)
		_exit(1);
	for (unsigned int i = 0; i < AHEAD; i++)
		write_next(&child);
	(void) sd_event_loop(event);
	_exit(1);
}

/* ---- the parent ---- */

/* Read answers until @count came, then kill; those that were still in the pipe count, too.
 * Return: how many there were. */
static unsigned int kill_after(pid_t pid, int pipe_fd, unsigned int count,
			       unsigned int answers[ANSWERS_MAX])
{
	unsigned int taken = 0;
	int status;

	for (; taken < count; taken++)
		assert_int_equal(read(pipe_fd, &answers[taken], sizeof(answers[0])),
				 sizeof(answers[0]));
	assert_return_code(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (taken < ANSWERS_MAX &&
	       read(pipe_fd, &answers[taken], sizeof(answers[0])) == sizeof(answers[0]))
		taken++;
	return taken;
}

static void assert_stored(struct store_world *world, const unsigned int *answers,
			  unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct object *volume;
		char name[16];

		(void) snprintf(name, sizeof(name), "v%u", answers[i]);
		volume = store_get(world->store, KIND_PERSISTENT_VOLUME, "", name);
		assert_non_null(volume);
		assert_true(volume->meta.resource_version <= store_resource_version(world->store));
	}
}

/* One life of a child. Return: how many writes were acknowledged. */
static unsigned int live_and_die(struct store_world *world, unsigned int first, unsigned int count,
				 unsigned int answers[ANSWERS_MAX])
{
	unsigned int taken;
	int pipe_fds[2];
	pid_t pid;

	world->store = store_free(world->store);
	assert_return_code(pipe(pipe_fds), 0);
	pid = fork();
	assert_return_code(pid, 0);
	if (pid == 0)
		run_child(world->directory, pipe_fds[1], first);
	assert_return_code(close(pipe_fds[1]), 0);
	taken = kill_after(pid, pipe_fds[0], count, answers);
	assert_return_code(close(pipe_fds[0]), 0);
	store_world_reopen(world);
	return taken;
}

static void answered_writes_survive_a_kill(void **state)
{
	static unsigned int answers[ANSWERS_MAX];
	struct store_world world = { .store = NULL };
	unsigned int all = 0;

	store_world_open(&world);
	for (unsigned int i = 0; i < KILLS; i++) {
		unsigned int count = live_and_die(&world, i * 100000, i * 97 % 301, answers);

		assert_stored(&world, answers, count);
		all += count;
		assert_true(store_resource_version(world.store) >= all);
	}
	assert_true(all > KILLS);
	store_world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered_writes_survive_a_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
