/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_holder - an flock that goes with the process, even when one of its threads cannot go; see
 * lock_holder.h
 */
#include "base/lock_holder.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

enum { STACK_BYTES = 256 * 1024 };

struct lock_holder {
	pthread_t thread;
	int fd;
	int error; /* why there is no table of its own; 0: there is */
	sem_t begun, end;
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		;
}

/* The table is copied whole; what is closed here stays open in the process's. */
static int leave_table(int fd)
{
	if (unshare(CLONE_FILES) < 0)
		return -errno;
	if (fd > 0)
		(void) close_range(0, (unsigned int) fd - 1, 0);
	(void) close_range((unsigned int) fd + 1, ~0U, 0);
	return 0;
}

static void *hold(void *userdata)
{
	struct lock_holder *holder = userdata;

	(void) pthread_setname_np(pthread_self(), "lock");
	holder->error = leave_table(holder->fd);
	(void) sem_post(&holder->begun);
	if (holder->error == 0) {
		wait_for(&holder->end);
		(void) close(holder->fd);
	}
	return NULL;
}

static int start(struct lock_holder *holder)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	int r;

	r = pthread_attr_init(&attributes);
	if (r != 0)
		return -r;
	(void) pthread_attr_setstacksize(&attributes, STACK_BYTES);
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&holder->thread, &attributes, hold, holder);
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void) pthread_attr_destroy(&attributes);
	return -r;
}

static void holder_destroy(struct lock_holder *holder)
{
	(void) sem_destroy(&holder->begun);
	(void) sem_destroy(&holder->end);
	free(holder);
}

int lock_holder_new(int fd, struct lock_holder **ret)
{
	struct lock_holder *holder;
	int r;

	assert(fd >= 0 && ret);
	holder = calloc(1, sizeof(*holder));
	if (!holder)
		return -ENOMEM;
	holder->fd = fd;
	(void) sem_init(&holder->begun, 0, 0);
	(void) sem_init(&holder->end, 0, 0);
	r = start(holder);
	if (r == 0) {
		wait_for(&holder->begun);
		r = holder->error;
		if (r < 0)
			(void) pthread_join(holder->thread, NULL);
	}
	if (r < 0) {
		holder_destroy(holder);
		return r;
	}
	(void) close(fd);
	*ret = holder;
	return 0;
}

struct lock_holder *lock_holder_free(struct lock_holder *holder)
{
	if (!holder)
		return NULL;
	(void) sem_post(&holder->end);
	(void) pthread_join(holder->thread, NULL);
	holder_destroy(holder);
	return NULL;
}
