/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call - the calls of one handle that do not block; see transport.h
 *
 * Callers are called back from calls_process() alone, never from within curl: so they may start,
 * cancel and make calls that block.
 */
#include "client/transport.h"

#include "base/cleanup.h"
#include "client/handle.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <utlist.h>

enum { EVENTS_PER_TURN = 16 }; /* then the caller's loop has its turn */

struct podvol_call {
	struct podvol_call *prev, *next;
	struct calls *calls;
	CURL *easy;
	struct curl_slist *headers;
	struct receiver receiver;
	podvol_call_done *done;
	void *userdata;
};

struct calls {
	struct podvol *podvol;
	CURLM *multi;
	int epoll_fd, timer_fd;
	struct podvol_call *list;
	int count;
};

/* ---- what curl waits for ---- */

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *userdata, void *known)
{
	const struct calls *calls = userdata;

	return transport_poll_socket(calls->epoll_fd, fd, what);
}

static int timer_changed(CURLM *multi, long msec, void *userdata)
{
	const struct calls *calls = userdata;

	return transport_set_timer(calls->timer_fd, msec);
}

/* ---- life ---- */

int calls_new(struct podvol *podvol, struct calls **ret)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct calls *calls = calloc(1, sizeof(*calls));
	int r = -ENOMEM;

	if (!calls)
		return r;
	calls->podvol = podvol;
	calls->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	calls->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	event.data.fd = calls->timer_fd;
	if (calls->epoll_fd < 0 || calls->timer_fd < 0 ||
	    epoll_ctl(calls->epoll_fd, EPOLL_CTL_ADD, calls->timer_fd, &event) < 0)
		r = -errno;
	else
		calls->multi = curl_multi_init();
	if (!calls->multi) {
		(void) calls_free(calls);
		return r;
	}
	(void) curl_multi_setopt(calls->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
	(void) curl_multi_setopt(calls->multi, CURLMOPT_SOCKETDATA, calls);
	(void) curl_multi_setopt(calls->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
	(void) curl_multi_setopt(calls->multi, CURLMOPT_TIMERDATA, calls);
	*ret = calls;
	return 0;
}

/* Out of curl's hands and out of the list. */
static void leave(struct podvol_call *call)
{
	(void) curl_multi_remove_handle(call->calls->multi, call->easy);
	DL_DELETE(call->calls->list, call);
	call->calls->count--;
}

static void call_free(struct podvol_call *call)
{
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	free(call->receiver.answer.bytes);
	free(call);
}

void podvol_call_cancel(struct podvol_call *call)
{
	if (!call)
		return;
	leave(call);
	call_free(call);
}

struct calls *calls_free(struct calls *calls)
{
	if (!calls)
		return NULL;
	while (calls->list)
		podvol_call_cancel(calls->list);
	(void) curl_multi_cleanup(calls->multi);
	if (calls->timer_fd >= 0)
		(void) close(calls->timer_fd);
	if (calls->epoll_fd >= 0)
		(void) close(calls->epoll_fd);
	free(calls);
	return NULL;
}

int calls_fd(const struct calls *calls)
{
	return calls->epoll_fd;
}

/* ---- calls ---- */

int calls_start(struct calls *calls, const struct podvol_request *request, podvol_call_done *done,
		void *userdata, struct podvol_call **ret)
{
	struct podvol_call *call;
	int r;

	if (calls->count >= CALLS_MAX)
		return -EAGAIN;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->calls = calls;
	call->done = done;
	call->userdata = userdata;
	call->easy = curl_easy_init();
	r = call->easy ? transport_set_up(call->easy, handle_server(calls->podvol), request,
					  &call->receiver, &call->headers)
		       : -ENOMEM;
	if (r == 0 && request->body &&
	    curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, request->body) != CURLE_OK)
		r = -ENOMEM;
	if (r == 0) {
		(void) curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
		r = curl_multi_add_handle(calls->multi, call->easy) == CURLM_OK ? 0 : -ENOMEM;
	}
	if (r < 0) {
		call_free(call);
		return r;
	}
	DL_APPEND(calls->list, call);
	calls->count++;
	if (ret)
		*ret = call;
	return 0;
}

static void finish(struct podvol_call *call, CURLcode code)
{
	struct podvol *podvol = call->calls->podvol;
	struct podvol_reply reply = { 0 };
	int r = transport_end(call->easy, code, handle_server(podvol), &call->receiver,
			      handle_outcome(podvol), &reply);

	leave(call);
	call->done(call->userdata, r, &reply);
	podvol_reply_done(&reply);
	call_free(call);
}

static void finish_all(struct calls *calls)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(calls->multi, &left))) {
		struct podvol_call *call = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void) curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		finish(call, message->data.result);
	}
}

static void act(const struct calls *calls, const struct epoll_event *event)
{
	curl_socket_t fd = event->data.fd;
	uint64_t expirations;
	int running, what = (event->events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
			    (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			    (event->events & EPOLLERR ? CURL_CSELECT_ERR : 0);

	if (fd == calls->timer_fd) {
		(void) !read(fd, &expirations, sizeof(expirations));
		fd = CURL_SOCKET_TIMEOUT;
		what = 0;
	}
	(void) curl_multi_socket_action(calls->multi, fd, what, &running);
}

int calls_process(struct calls *calls)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int count = epoll_wait(calls->epoll_fd, events, EVENTS_PER_TURN, 0);

	if (count < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < count; i++)
		act(calls, &events[i]);
	finish_all(calls);
	return calls->count;
}
