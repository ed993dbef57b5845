/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_watch - what others do to mounts is reported, what this process does is not
 *
 * The others are children in the same namespace. Where the kernel reports no mounts the same acts
 * are one "look at everything" each.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/table/mount_list.h"
#include "mount/table/mount_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { HEARD_MAX = 64, QUEUE_EVENTS = 16384 };

/* What one test heard. */
struct ear {
	sd_event *event;
	struct mount_watch *watch;
	struct mount_change changes[HEARD_MAX];
	size_t count;
	unsigned int lost, sure, unsure, wakes;
};

static void hear_changes(void *userdata, const struct mount_change *changes, size_t count)
{
	struct ear *ear = userdata;

	for (size_t i = 0; i < count; i++, ear->count++)
		if (ear->count < HEARD_MAX)
			ear->changes[ear->count] = changes[i];
}

static void hear_lost(void *userdata)
{
	struct ear *ear = userdata;

	ear->lost++;
}

static void hear_altered(void *userdata, bool sure)
{
	struct ear *ear = userdata;

	ear->sure += sure;
	ear->unsure += !sure;
}

static void open_ear(struct ear *ear)
{
	const struct mount_watch_options options = {
		.changed = hear_changes, .lost = hear_lost, .altered = hear_altered, .userdata = ear
	};
	struct mount_watch_options with_event = options;
	struct failure failure;

	*ear = (struct ear){ 0 };
	assert_return_code(sd_event_new(&ear->event), 0);
	with_event.event = ear->event;
	if (mount_watch_new(&with_event, &ear->watch, &failure) < 0)
		fail_msg("%s", failure.text);
}

static void close_ear(struct ear *ear)
{
	assert_null(mount_watch_free(ear->watch));
	ear->event = sd_event_unref(ear->event);
}

/* Until nothing happens for 150 ms, which is longer than any interval of the watch. */
static void listen(struct ear *ear)
{
	int r;

	do {
		r = sd_event_run(ear->event, 150000); /* 0: the time ran out, and nothing is left */
		assert_true(r >= 0);
		ear->wakes++;
	} while (r > 0);
}

/* In a child, so that it is another process; its pid. */
static pid_t let_another(void (*act)(void))
{
	pid_t pid = fork();
	int status;

	assert_return_code(pid, errno);
	if (pid == 0) {
		act();
		_exit(errno != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

/* The loop turns meanwhile. */
static void let_another_meanwhile(struct ear *ear, void (*act)(void))
{
	pid_t pid = fork();
	int status;

	assert_return_code(pid, errno);
	if (pid == 0) {
		act();
		_exit(errno != 0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		assert_true(sd_event_run(ear->event, 150000) >= 0);
		ear->wakes++;
	}
	assert_int_equal(status, 0);
}

static void bind_target(void)
{
	errno = 0;
	(void) mount(sandbox_path("source"), sandbox_path("target"), NULL, MS_BIND, NULL);
}

static void unmount_target(void)
{
	errno = 0;
	(void) umount2(sandbox_path("target"), 0);
}

static void move_target(void)
{
	errno = 0;
	(void) mount(sandbox_path("target"), sandbox_path("elsewhere"), NULL, MS_MOVE, NULL);
}

static void remount_target(void)
{
	errno = 0;
	(void) mount(NULL, sandbox_path("target"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

static void remount_target_writable(void)
{
	errno = 0;
	(void) mount(NULL, sandbox_path("target"), NULL, MS_REMOUNT | MS_BIND, NULL);
}

static void mount_more_than_the_queue_holds(void)
{
	errno = 0;
	for (unsigned int i = 0; i <= QUEUE_EVENTS / 2 && errno == 0; i++) {
		bind_target();
		unmount_target();
	}
}

static void make_places(void)
{
	sandbox_mkdir("source", 0755);
	sandbox_mkdir("target", 0755);
	/* A mount cannot be moved below a shared one, and is not in a private namespace. */
	sandbox_mkdir("elsewhere", 0755);
}

static uint64_t id_of(const char *relative)
{
	cleanup_close int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);
	struct mount_facts facts;

	assert_return_code(fd, errno);
	assert_int_equal(fd_facts(fd, &facts, NULL), 0);
	return facts.mount_id;
}

static void expect_change(const struct ear *ear, size_t i, bool attached, bool detached,
			  uint64_t mount_id, pid_t pid)
{
	assert_true(i < ear->count);
	assert_int_equal(ear->changes[i].attached, attached);
	assert_int_equal(ear->changes[i].detached, detached);
	assert_int_equal(ear->changes[i].mount_id, mount_id);
	assert_int_equal(ear->changes[i].pid, pid);
}

static void test_who_mounts_and_unmounts(void **state)
{
	struct ear ear;
	pid_t pids[3];
	uint64_t id;

	make_places();
	open_ear(&ear);
	pids[0] = let_another(bind_target);
	id = id_of("target");
	pids[1] = let_another(move_target);
	assert_return_code(
		mount(sandbox_path("elsewhere"), sandbox_path("target"), NULL, MS_MOVE, NULL),
		errno);
	pids[2] = let_another(unmount_target);
	listen(&ear);
	if (mount_watch_reports_ids(ear.watch)) {
		assert_int_equal(ear.count, 3);
		expect_change(&ear, 0, true, false, id, pids[0]);
		expect_change(&ear, 1, true, true, id, pids[1]);
		expect_change(&ear, 2, false, true, id, pids[2]);
		assert_int_equal(ear.lost, 0);
		assert_int_equal(ear.sure, 0);
	} else {
		assert_int_equal(ear.count, 0);
		assert_true(ear.lost > 0);
	}
	close_ear(&ear);
}

static void test_own_acts_are_passed_over(void **state)
{
	struct mount_watch_counts counts;
	struct ear ear;

	make_places();
	open_ear(&ear);
	for (unsigned int i = 0; i < 5000; i++) {
		bind_target();
		unmount_target();
		if (i % 1000 == 0)
			assert_true(sd_event_run(ear.event, 0) >= 0);
	}
	listen(&ear);
	mount_watch_count(ear.watch, &counts);
	if (mount_watch_reports_ids(ear.watch)) {
		assert_int_equal(counts.events, 10000);
		assert_int_equal(counts.own, 10000);
		assert_int_equal(ear.lost, 0);
	}
	assert_int_equal(ear.count, 0);
	/* 10,000 events, and yet the loop woke for a handful of them. */
	assert_in_range(ear.wakes, 1, 60);
	close_ear(&ear);
}

static void test_a_remount_is_told_by_the_table(void **state)
{
	struct ear ear;

	make_places();
	bind_target();
	open_ear(&ear);
	(void) let_another(remount_target);
	listen(&ear);
	assert_int_equal(ear.count, 0);
	if (mount_watch_reports_ids(ear.watch)) {
		assert_int_equal(ear.sure, 1);
		assert_int_equal(ear.unsure + ear.lost, 0);
	} else {
		assert_int_equal(ear.lost, 1);
	}
	unmount_target();
	close_ear(&ear);
}

/* All that changes before the listener begins to look is one report. */
static void test_the_table_is_told_once_until_a_look(void **state)
{
	struct ear ear;

	make_places();
	bind_target();
	open_ear(&ear);
	(void) let_another(remount_target);
	listen(&ear);
	(void) let_another(remount_target_writable);
	listen(&ear);
	assert_int_equal(ear.sure + ear.lost, 1);
	mount_watch_rearm_table(ear.watch);
	listen(&ear);
	assert_int_equal(ear.sure + ear.lost, 1); /* the look sees what changed before it */
	(void) let_another(remount_target);
	listen(&ear);
	assert_int_equal(ear.sure + ear.lost, 2);
	unmount_target();
	close_ear(&ear);
}

static void mount_and_unmount_for_a_while(void)
{
	uint64_t end = monotonic_usec() + 500000;

	errno = 0;
	while (errno == 0 && monotonic_usec() < end) {
		bind_target();
		unmount_target();
	}
}

/* Half a second of others' mounts is fifty turns of the loop, and the table's. */
static void test_a_storm_of_others(void **state)
{
	struct ear ear;

	make_places();
	open_ear(&ear);
	let_another_meanwhile(&ear, mount_and_unmount_for_a_while);
	listen(&ear);
	if (mount_watch_reports_ids(ear.watch))
		assert_true(ear.count + ear.lost > 100);
	assert_in_range(ear.wakes, 5, 75);
	close_ear(&ear);
}

static void test_a_queue_that_overflows(void **state)
{
	struct mount_watch_counts counts;
	struct ear ear;

	make_places();
	open_ear(&ear);
	(void) let_another(mount_more_than_the_queue_holds);
	listen(&ear);
	mount_watch_count(ear.watch, &counts);
	assert_true(ear.lost > 0);
	if (mount_watch_reports_ids(ear.watch)) {
		assert_int_equal(counts.overflows, 1);
		assert_int_equal(ear.count, QUEUE_EVENTS);
	}
	/* And it goes on. */
	ear.count = ear.lost = 0;
	mount_watch_rearm_table(ear.watch);
	(void) let_another(bind_target);
	listen(&ear);
	assert_int_equal(ear.count + ear.lost, 1);
	unmount_target();
	close_ear(&ear);
}

static void test_nothing_happens_nothing_wakes(void **state)
{
	struct ear ear;

	make_places();
	open_ear(&ear);
	bind_target();
	listen(&ear);
	assert_int_equal(sd_event_run(ear.event, 300000), 0); /* 0: the time ran out */
	unmount_target();
	close_ear(&ear);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_who_mounts_and_unmounts),
		SANDBOX_TEST(test_own_acts_are_passed_over),
		SANDBOX_TEST(test_a_remount_is_told_by_the_table),
		SANDBOX_TEST(test_the_table_is_told_once_until_a_look),
		SANDBOX_TEST(test_a_storm_of_others),
		SANDBOX_TEST(test_a_queue_that_overflows),
		SANDBOX_TEST(test_nothing_happens_nothing_wakes),
	};

	return sandbox_run("mount_watch", tests, ARRAY_SIZE(tests));
}
