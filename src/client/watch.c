/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch - a list and then every change of it, behind one descriptor
 *
 * One transfer at a time: first the list, then a stream of lines that goes on from the list's
 * version. What curl wants to wait for (a socket, a time) is put into an epoll descriptor, so that
 * the caller's loop needs to know nothing but that. When the stream ends, or the daemon goes away,
 * the next begins at the last version that was reported, after a pause that grows; 410 means that
 * the daemon does not remember that far, and begins with a new list. Nothing is reported from
 * within curl's callbacks: they only keep bytes.
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "client/transport.h"
#include "object/json/json.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

enum {
	VERSION_BYTES = 64,
	LIST_BYTES_MAX = 512 * 1024 * 1024, /* an answer that is longer is none of podvold's */
	LINE_BYTES_MAX = 16 * 1024 * 1024,  /* one event: an object of 1.5 MiB, escaped */
	EVENT_DEPTH_MAX = 72,               /* the daemon's 64 for an object, and what is around */
	PAUSE_MIN_MSEC = 100,
	PAUSE_MAX_MSEC = 5000,
	CALLS_PER_TURN = 16, /* then the caller's loop has its turn */
};

enum phase {
	PHASE_LIST,
	PHASE_STREAM,
	PHASE_PAUSE, /* no transfer: the timer begins the next */
	PHASE_OVER,
};

struct podvol_watch {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	int epoll_fd, timer_fd;
	struct server server;
	char *path, *accept;
	void (*changed)(void *userdata, const struct podvol_event *event);
	void *userdata;
	enum phase phase;
	unsigned int pause_msec;     /* of the next pause */
	bool was_listed, was_broken; /* reported PODVOL_LISTED; PODVOL_INTERRUPTED since */
	char version[VERSION_BYTES]; /* "": a list is needed */
	struct byte_buffer received; /* and not yet reported */
	bool overflowed;             /* more bytes than allowed, or than memory */
	/* ---- once it is over ---- */
	int result, status;
	char error[ERROR_BYTES];
};

/* ---- what curl waits for ---- */

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *userdata, void *known)
{
	struct podvol_watch *watch = userdata;

	return transport_poll_socket(watch->epoll_fd, fd, what);
}

static void set_timer(const struct podvol_watch *watch, long msec)
{
	(void) transport_set_timer(watch->timer_fd, msec);
}

static int timer_changed(CURLM *multi, long msec, void *userdata)
{
	struct podvol_watch *watch = userdata;

	/* A transfer that is left takes its time back, which may be the pause's by now. */
	if (watch->phase == PHASE_LIST || watch->phase == PHASE_STREAM)
		set_timer(watch, msec);
	return 0;
}

static size_t receive(char *data, size_t size, size_t count, void *userdata)
{
	struct podvol_watch *watch = userdata;
	size_t limit = watch->phase == PHASE_LIST ? LIST_BYTES_MAX : LINE_BYTES_MAX;

	watch->overflowed = byte_buffer_add(&watch->received, data, size * count, limit) < 0;
	return watch->overflowed ? 0 : size * count;
}

/* ---- transfers ---- */

static int end(struct podvol_watch *watch, int result, const char *why)
{
	if (why != watch->error)
		(void) snprintf(watch->error, sizeof(watch->error), "%s", why);
	watch->phase = PHASE_OVER;
	watch->result = result;
	set_timer(watch, 0); /* readable for good: a poll learns it */
	return result;
}

static char *make_url(const struct podvol_watch *watch)
{
	char separator = strchr(watch->path, '?') ? '&' : '?';
	char *url;
	int r;

	if (watch->phase == PHASE_LIST)
		r = asprintf(&url, "%s%s", transport_base(&watch->server), watch->path);
	else
		r = asprintf(&url, "%s%s%cwatch=true&allowWatchBookmarks=true&resourceVersion=%s",
			     transport_base(&watch->server), watch->path, separator,
			     watch->version);
	return r < 0 ? NULL : url;
}

static int begin(struct podvol_watch *watch)
{
	cleanup_free char *url = NULL;
	int r;

	watch->phase = watch->version[0] ? PHASE_STREAM : PHASE_LIST;
	watch->received.length = 0;
	curl_slist_free_all(TAKE_PTR(watch->headers));
	r = transport_set_server(watch->easy, &watch->server, watch->accept, &watch->headers);
	if (r < 0 && r != -ENOMEM)
		return end(watch, r, "cannot read the token");
	(void) curl_easy_setopt(watch->easy, CURLOPT_HTTPHEADER, watch->headers);
	url = r == 0 ? make_url(watch) : NULL;
	if (!url || curl_easy_setopt(watch->easy, CURLOPT_URL, url) != CURLE_OK ||
	    curl_multi_add_handle(watch->multi, watch->easy) != CURLM_OK)
		return end(watch, -ENOMEM, "out of memory");
	return 0;
}

static void report(struct podvol_watch *watch, enum podvol_event_type type, const char *text,
		   const char *error)
{
	const struct podvol_event event = { .type = type,
					    .object = text,
					    .length = strlen(text),
					    .version = watch->version,
					    .error = error };

	watch->changed(watch->userdata, &event);
}

/* Reported once per interruption; the tries after it are silent. */
static int pause_because(struct podvol_watch *watch, const char *why)
{
	if (!watch->was_broken && watch->was_listed)
		report(watch, PODVOL_INTERRUPTED, "", why);
	watch->was_broken = true;
	watch->phase = PHASE_PAUSE;
	set_timer(watch, watch->pause_msec);
	watch->pause_msec =
		watch->pause_msec * 2 < PAUSE_MAX_MSEC ? watch->pause_msec * 2 : PAUSE_MAX_MSEC;
	return 0;
}

static int pause_silently(struct podvol_watch *watch)
{
	watch->was_broken = true;
	return pause_because(watch, "");
}

/* The daemon does not know what came after our version: the list says how it ended. */
static int forget(struct podvol_watch *watch)
{
	watch->version[0] = '\0';
	return pause_silently(watch);
}

static void went_well(struct podvol_watch *watch)
{
	watch->pause_msec = PAUSE_MIN_MSEC;
	watch->was_broken = false;
}

/* ---- what arrived ---- */

/* Of an object or list; in a Table the rows carry the objects. */
static const char *version_of(const struct cJSON *object)
{
	const struct cJSON *version = json_get(json_get(object, "metadata"), "resourceVersion");

	JSON_FOREACH (row, json_get(object, "rows")) {
		const struct cJSON *metadata = json_get(json_get(row, "object"), "metadata");

		if (json_is_string(json_get(metadata, "resourceVersion")))
			version = json_get(metadata, "resourceVersion");
	}
	return json_string(version, "");
}

static bool keep_version(struct podvol_watch *watch, const char *version)
{
	if (*version == '\0' || strspn(version, "0123456789") != strlen(version) ||
	    strlen(version) >= sizeof(watch->version))
		return false;
	memcpy(watch->version, version, strlen(version) + 1);
	return true;
}

static int take_list(struct podvol_watch *watch)
{
	const struct json_limits limits = { .bytes = watch->received.length + 1,
					    .depth = EVENT_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *version;
	int r;

	r = json_parse(watch->received.bytes ? watch->received.bytes : "", watch->received.length,
		       &limits, &tree, NULL);
	if (r < 0)
		return end(watch, r == -ENOMEM ? r : -EPROTO, "the answer is not a list");
	version = json_get(json_get(tree, "metadata"), "resourceVersion");
	if (!keep_version(watch, json_string(version, "")))
		return end(watch, -EOPNOTSUPP, "this cannot be watched: its list has no version");
	watch->was_listed = true;
	went_well(watch);
	report(watch, PODVOL_LISTED, watch->received.bytes, "");
	return begin(watch);
}

/* What the daemon says in place of an event: 410 is for a new list, the rest for another try. */
static int take_error(struct podvol_watch *watch, const struct cJSON *object)
{
	int64_t code = 0;

	(void) json_int64(json_get(object, "code"), &code);
	if (code == 410)
		return forget(watch);
	return pause_because(watch,
			     json_string(json_get(object, "message"), "the watch was interrupted"));
}

/* Return: 0 go on; 1 the stream is to be left; negative: over. */
static int take_line(struct podvol_watch *watch, const char *line, size_t length)
{
	static const struct {
		const char *name;
		enum podvol_event_type type;
	} types[] = { { "ADDED", PODVOL_ADDED },
		      { "MODIFIED", PODVOL_MODIFIED },
		      { "DELETED", PODVOL_DELETED } };
	const struct json_limits limits = { .bytes = length + 1, .depth = EVENT_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *object;
	cleanup_free char *text = NULL;
	const char *type;

	if (json_parse(line, length, &limits, &tree, NULL) < 0)
		return end(watch, -EPROTO, "the watch returned something that is not an event");
	type = json_text(tree, "type");
	object = json_get(tree, "object");
	if (!object || *type == '\0')
		return end(watch, -EOPNOTSUPP, "this cannot be watched: it has a list only");
	if (strcmp(type, "ERROR") == 0)
		return take_error(watch, object) < 0 ? watch->result : 1;
	went_well(watch);
	(void) keep_version(watch, version_of(object));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, type) != 0)
			continue;
		text = json_print(object);
		if (!text)
			return end(watch, -ENOMEM, "out of memory");
		report(watch, types[i].type, text, "");
	}
	return 0; /* a BOOKMARK, or a type that is newer than we are */
}

static void leave_transfer(struct podvol_watch *watch)
{
	(void) curl_multi_remove_handle(watch->multi, watch->easy);
}

/* Every whole line that is there; the rest of one stays for the next call. */
static int take_lines(struct podvol_watch *watch)
{
	size_t done = 0;
	char *newline;
	int r = 0;

	while (r == 0 && watch->received.length > done &&
	       (newline = memchr(watch->received.bytes + done, '\n',
				 watch->received.length - done))) {
		size_t length = (size_t) (newline - watch->received.bytes) - done;

		*newline = '\0';
		if (length > 0)
			r = take_line(watch, watch->received.bytes + done, length);
		done += length + 1;
	}
	if (r == 0 && done > 0) {
		memmove(watch->received.bytes, watch->received.bytes + done,
			watch->received.length - done);
		watch->received.length -= done;
	}
	return r;
}

/* ---- the end of a transfer ---- */

static int take_refusal(struct podvol_watch *watch, int status)
{
	char text[ERROR_BYTES];
	int r = refusal_read(status, watch->received.bytes, watch->received.length, text,
			     sizeof(text));

	watch->status = status;
	if (status == 410)
		return forget(watch);
	if (r == -EAGAIN || r == -ETIMEDOUT || status == 500)
		return pause_because(watch, text);
	return end(watch, r, text);
}

/* A daemon that was reached once is waited for; one that never was is a failure. */
static int take_break(struct podvol_watch *watch, CURLcode code)
{
	char text[ERROR_BYTES];
	long system_error = 0;

	if (watch->overflowed)
		return end(watch, -EPROTO, "the answer is too long");
	(void) curl_easy_getinfo(watch->easy, CURLINFO_OS_ERRNO, &system_error);
	if (system_error == EACCES || system_error == EPERM) {
		(void) snprintf(text, sizeof(text), "no right to use the socket '%s'",
				watch->server.address);
		return end(watch, -EACCES, text);
	}
	if (code == CURLE_COULDNT_CONNECT)
		(void) snprintf(text, sizeof(text), "no answer on '%s'%s%s: is podvold running?",
				watch->server.address, system_error ? ": " : "",
				system_error ? strerror((int) system_error) : "");
	else
		(void) snprintf(text, sizeof(text), "the connection to '%s' was lost",
				watch->server.address);
	if (watch->was_listed)
		return pause_because(watch, text);
	return end(watch, -ECONNREFUSED, text);
}

static int take_end(struct podvol_watch *watch, CURLcode code)
{
	long status = 0;

	(void) curl_easy_getinfo(watch->easy, CURLINFO_RESPONSE_CODE, &status);
	leave_transfer(watch);
	if (code != CURLE_OK)
		return take_break(watch, code);
	if (status >= 400)
		return take_refusal(watch, (int) status);
	if (watch->phase == PHASE_LIST)
		return take_list(watch);
	/* A stream ends when its time is over: with a pause, for one that ends without a word would
	 * be asked for again and again. */
	if (watch->received.length > 0)
		return end(watch, -EOPNOTSUPP, "this cannot be watched: it has a list only");
	return pause_silently(watch);
}

/* ---- one turn ---- */

static int take_messages(struct podvol_watch *watch)
{
	CURLMsg *message;
	long status = 0;
	int left, r = 0;

	/* Lines count only when the daemon did not refuse. */
	if (watch->phase == PHASE_STREAM) {
		(void) curl_easy_getinfo(watch->easy, CURLINFO_RESPONSE_CODE, &status);
		if (status >= 200 && status < 300)
			r = take_lines(watch);
		if (r != 0) {
			leave_transfer(watch);
			return r < 0 ? r : 0;
		}
	}
	while (r == 0 && (message = curl_multi_info_read(watch->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			r = take_end(watch, message->data.result);
	return r;
}

static void act(struct podvol_watch *watch, int fd, uint32_t events)
{
	int what = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		   (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
	int running;

	(void) curl_multi_socket_action(watch->multi, fd, what, &running);
}

/* The timer is curl's during a transfer, and the watch's between two. */
static int take_timer(struct podvol_watch *watch)
{
	uint64_t expirations;
	int running;

	if (read(watch->timer_fd, &expirations, sizeof(expirations)) < 0)
		return 0;
	if (watch->phase == PHASE_PAUSE)
		return begin(watch);
	(void) curl_multi_socket_action(watch->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	return 0;
}

int podvol_watch_process(struct podvol_watch *watch)
{
	struct epoll_event event;
	int r = 0;

	if (!watch)
		return -EINVAL;
	for (int i = 0; i < CALLS_PER_TURN && r == 0 && watch->phase != PHASE_OVER; i++) {
		if (epoll_wait(watch->epoll_fd, &event, 1, 0) <= 0)
			break;
		if (event.data.fd == watch->timer_fd)
			r = take_timer(watch);
		else
			act(watch, event.data.fd, event.events);
		if (r == 0)
			r = take_messages(watch);
	}
	return watch->phase == PHASE_OVER ? watch->result : 0;
}

/* ---- the watch ---- */

static void set_options(struct podvol_watch *watch)
{
	(void) curl_easy_setopt(watch->easy, CURLOPT_WRITEFUNCTION, receive);
	(void) curl_easy_setopt(watch->easy, CURLOPT_WRITEDATA, watch);
	(void) curl_multi_setopt(watch->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
	(void) curl_multi_setopt(watch->multi, CURLMOPT_SOCKETDATA, watch);
	(void) curl_multi_setopt(watch->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
	(void) curl_multi_setopt(watch->multi, CURLMOPT_TIMERDATA, watch);
}

static int open_descriptors(struct podvol_watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN };

	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (watch->epoll_fd < 0 || watch->timer_fd < 0)
		return -errno;
	event.data.fd = watch->timer_fd;
	return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, watch->timer_fd, &event) < 0 ? -errno : 0;
}

int podvol_watch_open(struct podvol *podvol, const struct podvol_watch_request *request,
		      struct podvol_watch **ret)
{
	struct podvol_watch *watch;
	int r;

	if (!podvol || !request || !ret || !request->changed || !request->path ||
	    request->path[0] != '/' || strpbrk(request->path, " \r\n") ||
	    (request->accept && strpbrk(request->accept, "\r\n")))
		return -EINVAL;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->epoll_fd = watch->timer_fd = -EBADF;
	watch->changed = request->changed;
	watch->userdata = request->userdata;
	watch->pause_msec = PAUSE_MIN_MSEC;
	watch->server = *handle_server(podvol);
	watch->path = strdup(request->path);
	watch->accept = strdup(request->accept ? request->accept : "application/json");
	watch->easy = curl_easy_init();
	watch->multi = curl_multi_init();
	r = watch->path && watch->accept && watch->easy && watch->multi ? open_descriptors(watch)
									: -ENOMEM;
	if (r == 0) {
		set_options(watch);
		r = begin(watch);
	}
	if (r < 0) {
		podvol_watch_free(watch);
		return r;
	}
	*ret = watch;
	return 0;
}

int podvol_watch_fd(const struct podvol_watch *watch)
{
	return watch ? watch->epoll_fd : -EINVAL;
}

const char *podvol_watch_error(const struct podvol_watch *watch)
{
	return watch ? watch->error : "";
}

int podvol_watch_status(const struct podvol_watch *watch)
{
	return watch ? watch->status : 0;
}

void podvol_watch_free(struct podvol_watch *watch)
{
	if (!watch)
		return;
	if (watch->easy && watch->multi)
		leave_transfer(watch);
	curl_easy_cleanup(watch->easy);
	if (watch->multi)
		(void) curl_multi_cleanup(watch->multi);
	curl_slist_free_all(watch->headers);
	(void) close_keep_errno(watch->timer_fd);
	(void) close_keep_errno(watch->epoll_fd);
	free(watch->path);
	free(watch->accept);
	free(watch->received.bytes);
	free(watch);
}
