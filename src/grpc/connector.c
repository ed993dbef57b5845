/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connector - see connect.h
 *
 * A thread has what it looks up to itself until it writes its event descriptor; the loop joins it
 * before it reads the result. A thread that never comes back keeps its few bytes, as long as the
 * process lives: it cannot be ended.
 */
#include "grpc/connect.h"

#include "base/cleanup.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utlist.h>

struct look_up {
	pthread_t thread;
	int ended_fd;
	sd_event_source *ended;
	struct grpc_connecting *waiting;
	struct look_up *prev, *next;
	/* The thread's, until it ended. */
	int result;
	dev_t device;
	struct failure failure;
	char path[];
};

struct grpc_connecting {
	struct look_up *look_up;
	grpc_connected_fn *done;
	void *userdata;
	struct grpc_connecting *prev, *next;
};

static struct look_up *look_ups; /* the loop thread's */

static struct look_up *look_up_free(struct look_up *look_up)
{
	look_up->ended = sd_event_source_disable_unref(look_up->ended);
	(void) close_keep_errno(look_up->ended_fd);
	(void) close_keep_errno(look_up->result);
	free(look_up);
	return NULL;
}

static void *run(void *data)
{
	struct look_up *look_up = data;

	look_up->result = grpc_connect(look_up->path, &look_up->device, &look_up->failure);
	(void) eventfd_write(look_up->ended_fd, 1); /* the counter cannot overflow */
	return NULL;
}

/* Signals are the loop's. */
static int start_thread(struct look_up *look_up)
{
	sigset_t all, before;
	int r;

	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&look_up->thread, NULL, run, look_up);
	(void) pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		(void) pthread_setname_np(look_up->thread, "podvold-connect");
	return -r;
}

/* A connection is for one, an error for all. */
static void hand_out(struct look_up *look_up)
{
	int result = TAKE_FD(look_up->result);

	do {
		struct grpc_connecting *one = look_up->waiting;

		DL_DELETE(look_up->waiting, one);
		one->done(one->userdata, result, &look_up->failure);
		free(one);
	} while (result < 0 && look_up->waiting);
}

/* Each that waits needs a connection of its own: made here, where the file system is trusted by
 * now, else by the next look-up. None tries by itself, or all would after each look-up. */
static int on_ended(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct look_up *look_up = userdata;
	eventfd_t count;
	int r = 0;

	(void) eventfd_read(look_up->ended_fd, &count);
	(void) pthread_join(look_up->thread, NULL);
	grpc_connect_trust(look_up->device);
	while (look_up->waiting && look_up->result != -EINPROGRESS) {
		hand_out(look_up);
		if (look_up->waiting)
			look_up->result = grpc_connect_now(look_up->path, &look_up->failure);
	}
	if (look_up->waiting) {
		r = start_thread(look_up);
		if (r == 0)
			return 0;
		look_up->result = failed(&look_up->failure, r, "cannot connect on a thread");
		hand_out(look_up);
	}
	DL_DELETE(look_ups, look_up);
	(void) look_up_free(look_up);
	return 0;
}

static int look_up_new(sd_event *event, const char *path, struct look_up **ret)
{
	size_t length = strlen(path);
	struct look_up *look_up = calloc(1, sizeof(*look_up) + length + 1);
	int r;

	if (!look_up)
		return -ENOMEM;
	memcpy(look_up->path, path, length);
	look_up->result = -EBADF;
	look_up->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = look_up->ended_fd < 0 ? -errno
				  : sd_event_add_io(event, &look_up->ended, look_up->ended_fd,
						    EPOLLIN, on_ended, look_up);
	if (r >= 0)
		r = sd_event_source_set_priority(look_up->ended, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = start_thread(look_up);
	if (r < 0) {
		(void) look_up_free(look_up);
		return r;
	}
	DL_APPEND(look_ups, look_up);
	*ret = look_up;
	return 0;
}

static struct look_up *find(const char *path)
{
	struct look_up *look_up;

	DL_FOREACH (look_ups, look_up)
		if (strcmp(look_up->path, path) == 0)
			return look_up;
	return NULL;
}

int grpc_connector_start(sd_event *event, const char *path, grpc_connected_fn *done, void *userdata,
			 struct grpc_connecting **ret, struct failure *reterr)
{
	cleanup_free struct grpc_connecting *one = calloc(1, sizeof(*one));
	struct look_up *look_up = find(path);
	int r = one ? 0 : -ENOMEM;

	assert(event && path[0] == '/' && done && ret);
	if (r == 0 && !look_up)
		r = look_up_new(event, path, &look_up);
	if (r < 0)
		return failed(reterr, r, "cannot connect on a thread");
	one->look_up = look_up;
	one->done = done;
	one->userdata = userdata;
	DL_APPEND(look_up->waiting, one);
	*ret = TAKE_PTR(one);
	return 0;
}

struct grpc_connecting *grpc_connector_cancel(struct grpc_connecting *connecting)
{
	if (!connecting)
		return NULL;
	DL_DELETE(connecting->look_up->waiting, connecting);
	free(connecting);
	return NULL;
}
