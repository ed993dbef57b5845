/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer - the committing thread; see writer.h
 *
 * The mutex guards one word, whose turn it is; the group and its result belong to who has the
 * turn.
 */
#include "store/writer.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

enum turn {
	TURN_IDLE,  /* nothing to do */
	TURN_WRITE, /* the thread's: a group is to be committed */
	TURN_TAKE,  /* the loop's: a result waits */
	TURN_END,   /* the thread's: leave */
};

struct writer {
	struct database *database, *unsynced;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	enum turn turn;
	int event_fd;

	struct writer_group group;
	bool loses_unsynced; /* the last unsynced rows were refused */
	int error;
	struct failure reason;
};

static void set_turn(struct writer *writer, enum turn turn)
{
	(void) pthread_mutex_lock(&writer->mutex);
	writer->turn = turn;
	(void) pthread_mutex_unlock(&writer->mutex);
	/* Outside, or the woken thread would find the mutex taken and sleep once more. To be idle
	 * wakes it for nothing. */
	if (turn != TURN_IDLE)
		(void) pthread_cond_signal(&writer->changed);
}

static enum turn wait_for_turn(struct writer *writer, enum turn a, enum turn b)
{
	enum turn turn;

	(void) pthread_mutex_lock(&writer->mutex);
	while (writer->turn != a && writer->turn != b)
		(void) pthread_cond_wait(&writer->changed, &writer->mutex);
	turn = writer->turn;
	(void) pthread_mutex_unlock(&writer->mutex);
	return turn;
}

static enum turn current_turn(struct writer *writer)
{
	enum turn turn;

	(void) pthread_mutex_lock(&writer->mutex);
	turn = writer->turn;
	(void) pthread_mutex_unlock(&writer->mutex);
	return turn;
}

static void commit_unsynced(struct writer *writer)
{
	const struct writer_group *group = &writer->group;
	struct failure reason = { .error = 0 };
	int r = database_commit(writer->unsynced, group->unsynced, group->unsynced_count,
				group->resource_version, &reason);

	if (r < 0 && !writer->loses_unsynced)
		log_message(LOG_WARNING, "events will not survive a restart: %s", reason.text);
	writer->loses_unsynced = r < 0;
}

static void commit(struct writer *writer)
{
	const struct writer_group *group = &writer->group;

	if (group->prepare)
		group->prepare(group->group);
	writer->error = group->commits
				? database_commit(writer->database, group->writes, group->count,
						  group->resource_version, &writer->reason)
				: 0;
	if (writer->error == 0 && writer->unsynced && group->unsynced_count > 0)
		commit_unsynced(writer);
}

static void *thread_main(void *argument)
{
	struct writer *writer = argument;

	(void) pthread_setname_np(pthread_self(), "store-writer");
	while (wait_for_turn(writer, TURN_WRITE, TURN_END) == TURN_WRITE) {
		commit(writer);
		set_turn(writer, TURN_TAKE);
		/* The counter cannot overflow: it is read before the next group begins. */
		(void) eventfd_write(writer->event_fd, 1);
		/* No answer waits for these. */
		database_checkpoint(writer->database);
		if (writer->unsynced)
			database_checkpoint(writer->unsynced);
	}
	return NULL;
}

/* Signals are the loop's: a thread must not take them. */
static int start_thread(struct writer *writer)
{
	sigset_t all, old;
	int r;

	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&writer->thread, NULL, thread_main, writer);
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

int writer_new(struct database *database, struct database *unsynced, struct writer **ret)
{
	cleanup_free struct writer *writer = NULL;
	cleanup_close int event_fd = -EBADF;
	int r;

	assert(database && ret);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event_fd < 0)
		return -errno;

	writer->database = database;
	writer->unsynced = unsynced;
	writer->event_fd = event_fd;
	(void) pthread_mutex_init(&writer->mutex, NULL);
	(void) pthread_cond_init(&writer->changed, NULL);
	r = start_thread(writer);
	if (r < 0)
		return r;
	(void) TAKE_FD(event_fd);
	*ret = TAKE_PTR(writer);
	return 0;
}

struct writer *writer_free(struct writer *writer)
{
	struct failure reason;
	int error;

	if (!writer)
		return NULL;
	if (current_turn(writer) != TURN_IDLE)
		(void) writer_take_result(writer, true, &error, &reason);
	set_turn(writer, TURN_END);
	(void) pthread_join(writer->thread, NULL);
	(void) pthread_cond_destroy(&writer->changed);
	(void) pthread_mutex_destroy(&writer->mutex);
	(void) close_keep_errno(writer->event_fd);
	free(writer);
	return NULL;
}

int writer_event_fd(const struct writer *writer)
{
	return writer->event_fd;
}

void writer_start(struct writer *writer, const struct writer_group *group)
{
	assert(writer->turn == TURN_IDLE);
	writer->group = *group;
	set_turn(writer, TURN_WRITE);
}

bool writer_take_result(struct writer *writer, bool wait, int *ret_error,
			struct failure *ret_reason)
{
	eventfd_t ignored;

	/* First of all: the thread may count up just after a waiting caller took its result. */
	(void) eventfd_read(writer->event_fd, &ignored);
	if (wait)
		(void) wait_for_turn(writer, TURN_TAKE, TURN_TAKE);
	else if (current_turn(writer) != TURN_TAKE)
		return false;
	*ret_error = writer->error;
	if (writer->error < 0)
		*ret_reason = writer->reason;
	set_turn(writer, TURN_IDLE);
	return true;
}
