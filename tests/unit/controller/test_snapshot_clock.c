/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_snapshot_clock - when the clock is set, all snapshot schedules are looked at
 */
#include "controller/snapshot/snapshot_schedule.h"

#include "tests/unit/store/store_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmocka.h>

static int clock_fd = -EBADF;
static unsigned int looks;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	if (flags & TFD_TIMER_CANCEL_ON_SET)
		clock_fd = fd;
	return __real_timerfd_settime(fd, flags, when, old);
}

/* As the kernel has it when the clock was set. */
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	ssize_t length = __real_read(fd, buffer, size);

	if (fd != clock_fd)
		return length;
	errno = ECANCELED;
	return -1;
}

static bool is_complete(void *userdata)
{
	looks++;
	return false;
}

static void on_event(void *userdata, const struct object *object, const char *type,
		     const char *reason, const char *text)
{
}

static bool is_looked_at(void *userdata)
{
	return looks > *(unsigned int *) userdata;
}

/* A timer of the time before would not end for years. */
static void test_the_clock_is_set(void **state)
{
	struct store_world *world = *state;
	const struct controller_options options = {
		.event = world->event,
		.store = world->store,
		.event_fn = on_event,
		.is_complete = is_complete,
	};
	const struct itimerspec now = { .it_value = { .tv_nsec = 1 } };
	cleanup_object const struct object *claim =
		object_of("{'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': "
			  "{'name': 'c', 'namespace': 'ns', 'annotations': "
			  "{'podvol.io/snapshot-schedule': 'k'}}, 'spec': {'accessModes': "
			  "['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}, "
			  "'volumeName': 'v'}, 'status': {'phase': 'Bound'}}");
	struct snapshot_schedules *schedules = NULL;
	unsigned int before;

	world_put(world, claim);
	assert_int_equal(snapshot_schedules_new(&options, &schedules), 0);
	store_world_settle(world);
	before = looks;
	assert_int_equal(before, 1);
	assert_true(clock_fd >= 0);
	assert_int_equal(__real_timerfd_settime(clock_fd, 0, &now, NULL), 0);
	store_world_run(world, is_looked_at, &before);
	assert_null(snapshot_schedules_free(schedules));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_clock_is_set, store_world_setup,
						store_world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
