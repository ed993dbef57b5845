/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_watch - one call at a time: a page, the next page, the watch; or a pause before the next
 *
 * What comes next is in two texts: without a version a list is due, whole, or from its first page
 * or where @next says, or a watch that begins with initial events; with one, a watch.
 */
#include "store/remote/list_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

enum call_kind {
	CALL_CACHED,  /* a list not older than the newest version that was seen, whole */
	CALL_WHOLE,   /* as new as etcd */
	CALL_PAGE,    /* of such a list */
	CALL_INITIAL, /* a watch whose initial events are not over */
	CALL_WATCH,
};

struct list_watch {
	struct list_watch_options options;
	char *path; /* with '?', and the selector with '&' */
	sd_event_source *timer;
	struct http_call *call;
	enum call_kind kind; /* of the call */
	enum call_kind
		list_kind; /* the next list, unless it is initial events, or no version known */
	char version[SERVER_VERSION_BYTES];      /* to watch from; "": a list is due */
	char list_version[SERVER_VERSION_BYTES]; /* of the list's first page; "" before it */
	char next[SERVER_CONTINUE_BYTES];
	uint64_t newest;   /* that was ever seen */
	uint64_t due_usec; /* monotonic, when the watch is over by what was asked for */
	unsigned int pause_msec;
	bool shares_connection; /* by the last answer */
};

/* ---- pauses ---- */

/* @n to twice @n: a thousand nodes that lost a server do not come back at the same moment. */
static uint64_t with_jitter(uint64_t n)
{
	uint32_t random = 0;

	(void) getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return n + n * (random >> 8) / (UINT32_MAX >> 8);
}

static void wait_at_least(struct list_watch *list_watch, unsigned int seconds)
{
	uint64_t usec = with_jitter(list_watch->pause_msec * USEC_PER_MSEC);

	if (usec < seconds * USEC_PER_SEC)
		usec = with_jitter(seconds * USEC_PER_SEC);
	list_watch->pause_msec = list_watch->pause_msec * 2 < LIST_WATCH_PAUSE_MAX_MSEC
					 ? list_watch->pause_msec * 2
					 : LIST_WATCH_PAUSE_MAX_MSEC;
	timer_set_in(list_watch->timer, usec);
}

static void went_well(struct list_watch *list_watch)
{
	list_watch->pause_msec = LIST_WATCH_PAUSE_MIN_MSEC;
}

/* The server cannot go on from where we are: what it has is asked for from the beginning. */
static void forget(struct list_watch *list_watch)
{
	list_watch->version[0] = '\0';
	list_watch->list_version[0] = '\0';
	list_watch->next[0] = '\0';
}

/* A list that failed is tried the other way next: something between here and the server may stand
 * in the way of one of them. */
static void fail(struct list_watch *list_watch, int status, const struct failure *why)
{
	list_watch->list_kind = list_watch->kind == CALL_CACHED ? CALL_WHOLE
				: list_watch->kind == CALL_WHOLE || list_watch->kind == CALL_INITIAL
					? CALL_PAGE
					: CALL_CACHED;
	list_watch->options.failed(list_watch->options.userdata, status, why);
}

static uint64_t number_of(const char *version)
{
	return strtoull(version, NULL, 10);
}

static bool saw(struct list_watch *list_watch, const char *version)
{
	uint64_t number = number_of(version);

	if (number < list_watch->newest)
		return false;
	list_watch->newest = number;
	return true;
}

/* The version has left the server's memory (410), or its etcd has not come to it yet, which it may
 * never do after a restore (504, "Too large resource version"). */
static bool is_unknown_version(int status)
{
	return status == 410 || status == 504;
}

/* An answer other than 200: why, and in how long. */
static void take_refusal(struct list_watch *list_watch, const struct http_answer *answer)
{
	struct failure why = { 0 };

	if (answer->error)
		fail(list_watch, answer->status, answer->why);
	else {
		(void) failed_plain(&why, -EPROTO, "%s: HTTP status %d", list_watch->options.path,
				    answer->status);
		fail(list_watch, answer->status, &why);
	}
	/* A server that was restarted from an older etcd takes a watch from a version that it does
	 * not have yet, and says nothing: after a broken connection only a list shows it. */
	if (list_watch->kind != CALL_WATCH || answer->error || is_unknown_version(answer->status))
		forget(list_watch);
	wait_at_least(list_watch, answer->retry_after_seconds);
}

/* ---- the list ---- */

static void call_next(struct list_watch *list_watch);

static void end_list(struct list_watch *list_watch)
{
	bool went_back = !saw(list_watch, list_watch->list_version);

	list_watch->newest = number_of(list_watch->list_version);
	memcpy(list_watch->version, list_watch->list_version, SERVER_VERSION_BYTES);
	list_watch->list_version[0] = '\0';
	list_watch->list_kind = CALL_CACHED;
	went_well(list_watch);
	list_watch->options.end_list(list_watch->options.userdata, went_back);
}

static int take_page(struct list_watch *list_watch, const struct http_answer *answer,
		     struct failure *reterr)
{
	const struct list_watch_options *options = &list_watch->options;
	const struct server_taker taker = { .object = options->take,
					    .userdata = options->userdata };
	struct server_list page;
	int r = server_list_read(options->kind, answer->body, answer->length, &taker, &page,
				 reterr);

	if (r < 0)
		return r;
	if (list_watch->list_version[0] && strcmp(list_watch->list_version, page.version) != 0)
		return failed_plain(reterr, -EPROTO,
				    "the pages of the list are of resourceVersions %s and %s",
				    list_watch->list_version, page.version);
	if (list_watch->kind == CALL_CACHED && number_of(page.version) < list_watch->newest)
		return failed_plain(reterr, -EPROTO,
				    "resourceVersion %" PRIu64 " was asked for, and %s came",
				    list_watch->newest, page.version);
	if (list_watch->kind != CALL_PAGE && page.next[0])
		return failed_plain(reterr, -EPROTO, "a part of a whole list came");
	memcpy(list_watch->list_version, page.version, sizeof(page.version));
	memcpy(list_watch->next, page.next, sizeof(page.next));
	return 0;
}

/* The usual answer where no pod of the cluster changed since a list of etcd: no failure. */
static bool lacks_version(const struct http_answer *answer)
{
	return !answer->error && (answer->status == 400 || is_unknown_version(answer->status));
}

static void list_done(void *userdata, const struct http_answer *answer)
{
	struct list_watch *list_watch = userdata;
	struct failure why = { 0 };

	list_watch->call = NULL;
	list_watch->shares_connection = answer->is_multiplexed;
	if (list_watch->kind == CALL_CACHED && lacks_version(answer)) {
		list_watch->list_kind = CALL_WHOLE;
		call_next(list_watch);
		return;
	}
	if (answer->error || answer->status != 200) {
		take_refusal(list_watch, answer);
		return;
	}
	if (take_page(list_watch, answer, &why) < 0) {
		(void) failure_prefix(&why, "%s", list_watch->options.path);
		fail(list_watch, answer->status, &why);
		forget(list_watch);
		wait_at_least(list_watch, 0);
		return;
	}
	if (list_watch->next[0] == '\0')
		end_list(list_watch);
	call_next(list_watch);
}

/* ---- the watch ---- */

/* The rest of the watch is not read. */
static void leave_watch(struct list_watch *list_watch, int status, const struct failure *why,
			bool lists_again)
{
	list_watch->call = http_call_cancel(list_watch->call);
	fail(list_watch, status, why);
	if (lists_again || list_watch->kind == CALL_INITIAL)
		forget(list_watch);
	wait_at_least(list_watch, 0);
}

/* They come in no order of versions. Nothing is missing before the bookmark. */
static void take_initial(struct list_watch *list_watch, const struct server_event *event)
{
	struct failure why = { 0 };

	if (event->ends_initial) {
		(void) sd_event_source_set_enabled(list_watch->timer, SD_EVENT_OFF);
		list_watch->kind = CALL_WATCH;
		(void) snprintf(list_watch->list_version, sizeof(list_watch->list_version), "%s",
				event->version);
		end_list(list_watch);
	} else if (event->type == SERVER_DELETED) {
		/* It may have been taken already: a list does not have it. */
		(void) failed_plain(&why, -EPROTO, "%s: watch: '%s' was deleted meanwhile",
				    list_watch->options.path, event->object.name);
		leave_watch(list_watch, 200, &why, true);
	} else if (event->type != SERVER_BOOKMARK) {
		list_watch->options.take(list_watch->options.userdata, &event->object);
	}
}

static void take_event(void *userdata, const struct server_event *event)
{
	struct list_watch *list_watch = userdata;
	struct failure why = { 0 };

	if (event->type == SERVER_ERROR) {
		(void) failed_plain(&why, -EPROTO, "%s: watch: %s (%d)", list_watch->options.path,
				    event->message, event->code);
		leave_watch(list_watch, event->code, &why, is_unknown_version(event->code));
		return;
	}
	if (list_watch->kind == CALL_INITIAL) {
		take_initial(list_watch, event);
		return;
	}
	if (!saw(list_watch, event->version)) {
		(void) failed_plain(&why, -EPROTO, "%s: watch: version %s after %" PRIu64,
				    list_watch->options.path, event->version, list_watch->newest);
		leave_watch(list_watch, 200, &why, true);
		return;
	}
	went_well(list_watch);
	(void) snprintf(list_watch->version, sizeof(list_watch->version), "%s", event->version);
	if (event->type != SERVER_BOOKMARK)
		list_watch->options.change(list_watch->options.userdata, event);
}

static void watch_line(void *userdata, const char *line, size_t length)
{
	struct list_watch *list_watch = userdata;
	const struct server_taker taker = { .event = take_event, .userdata = list_watch };
	struct failure why = { 0 };

	if (server_event_read(list_watch->options.kind, line, length, &taker, &why) == 0)
		return;
	(void) failure_prefix(&why, "%s: watch", list_watch->options.path);
	leave_watch(list_watch, 200, &why, true);
}

static bool refuses_initial_events(const struct http_answer *answer)
{
	return !answer->error && (answer->status == 400 || answer->status == 422);
}

/* Its initial events were not over. */
static void initial_done(struct list_watch *list_watch, const struct http_answer *answer)
{
	struct failure why = { 0 };

	(void) sd_event_source_set_enabled(list_watch->timer, SD_EVENT_OFF);
	if (refuses_initial_events(answer)) {
		*list_watch->options.has_no_watch_list = true;
		call_next(list_watch);
		return;
	}
	if (answer->error || answer->status != 200) {
		take_refusal(list_watch, answer);
		return;
	}
	(void) failed_plain(&why, -EPROTO, "%s: watch: it ended before its initial events did",
			    list_watch->options.path);
	fail(list_watch, 200, &why);
	wait_at_least(list_watch, 0);
}

/* A watch that ends in time is no failure, but neither must one that ends at once be begun at once.
 * The server that is stopped ends them all, and what comes after it may have an older etcd: as
 * after a broken connection. */
static void watch_done(void *userdata, const struct http_answer *answer)
{
	struct list_watch *list_watch = userdata;

	list_watch->call = NULL;
	list_watch->shares_connection = answer->is_multiplexed;
	if (list_watch->kind == CALL_INITIAL) {
		initial_done(list_watch, answer);
		return;
	}
	if (answer->error || answer->status != 200) {
		take_refusal(list_watch, answer);
		return;
	}
	if (monotonic_usec() >= list_watch->due_usec)
		went_well(list_watch);
	else
		forget(list_watch);
	wait_at_least(list_watch, 0);
}

/* ---- calls ---- */

/* "next" may be anything: bytes that mean something in a query are escaped. */
static void escape(const char *text, char *to)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char byte = (unsigned char) *text;

		if (isalnum(byte) || strchr("-._~", byte)) {
			*to++ = *text;
			continue;
		}
		*to++ = '%';
		*to++ = digits[byte >> 4];
		*to++ = digits[byte & 15];
	}
	*to = '\0';
}

static char *list_path(const struct list_watch *list_watch)
{
	char next[3 * SERVER_CONTINUE_BYTES], *path;
	int r;

	escape(list_watch->next, next);
	if (list_watch->kind == CALL_CACHED)
		r = asprintf(&path,
			     "%sresourceVersion=%" PRIu64 "&resourceVersionMatch=NotOlderThan",
			     list_watch->path, list_watch->newest);
	else if (list_watch->kind == CALL_WHOLE)
		r = asprintf(&path, "%s", list_watch->path);
	else
		r = asprintf(&path, "%slimit=%d%s%s", list_watch->path, LIST_WATCH_PAGE,
			     *next ? "&continue=" : "", next);
	return r < 0 ? NULL : path;
}

static char *watch_path(const struct list_watch *list_watch, uint64_t seconds)
{
	bool is_initial = list_watch->kind == CALL_INITIAL;
	char *path;

	/* Initial events of no resourceVersion are as new as a list. */
	if (asprintf(&path, "%swatch=1&allowWatchBookmarks=true%s%s&timeoutSeconds=%ju",
		     list_watch->path,
		     is_initial ? "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
				: "&resourceVersion=",
		     list_watch->version, (uintmax_t) seconds) < 0)
		return NULL;
	return path;
}

static uint64_t watch_seconds(const struct list_watch *list_watch)
{
	unsigned int seconds = list_watch->options.watch_seconds;

	return with_jitter(list_watch->shares_connection || seconds < LIST_WATCH_ALONE_SECONDS
				   ? seconds
				   : LIST_WATCH_ALONE_SECONDS);
}

static enum call_kind next_kind(const struct list_watch *list_watch)
{
	const bool *has_no_watch_list = list_watch->options.has_no_watch_list;

	if (list_watch->version[0])
		return CALL_WATCH;
	if (list_watch->list_kind == CALL_CACHED && has_no_watch_list && !*has_no_watch_list)
		return CALL_INITIAL;
	if (!list_watch->options.is_selective)
		return CALL_PAGE;
	return list_watch->list_kind == CALL_CACHED && list_watch->newest == 0
		       ? CALL_WHOLE
		       : list_watch->list_kind;
}

static void call_next(struct list_watch *list_watch)
{
	uint64_t seconds = watch_seconds(list_watch);
	cleanup_free char *path = NULL;
	struct http_request request = { .method = "GET", .userdata = list_watch };
	struct failure why = { 0 };
	bool lists;
	int r = -ENOMEM;

	assert(!list_watch->call);
	list_watch->kind = next_kind(list_watch);
	lists = list_watch->kind <= CALL_PAGE;
	if (list_watch->version[0] == '\0' && list_watch->next[0] == '\0')
		list_watch->options.begin_list(list_watch->options.userdata);
	path = lists ? list_path(list_watch) : watch_path(list_watch, seconds);
	request.path = path;
	request.line = lists ? NULL : watch_line;
	request.done = lists ? list_done : watch_done;
	request.timeout_usec =
		(lists ? LIST_WATCH_LIST_SECONDS : seconds + LIST_WATCH_GRACE_SECONDS) *
		USEC_PER_SEC;
	list_watch->due_usec = monotonic_usec() + seconds * USEC_PER_SEC;
	if (path)
		r = http_client_call(list_watch->options.client, &request, &list_watch->call);
	if (r < 0) {
		(void) failed(&why, r, "%s: cannot send a request", list_watch->options.path);
		fail(list_watch, 0, &why);
		wait_at_least(list_watch, 0);
	} else if (list_watch->kind == CALL_INITIAL) {
		timer_set_in(list_watch->timer, LIST_WATCH_LIST_SECONDS * USEC_PER_SEC);
	}
}

/* A pause is over; or the time for initial events: a server that knows nothing of them sends no
 * bookmark behind them. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct list_watch *list_watch = userdata;
	struct failure why = { 0 };

	if (!list_watch->call) {
		call_next(list_watch);
		return 0;
	}
	*list_watch->options.has_no_watch_list = true;
	(void) failed_plain(&why, -ETIMEDOUT, "%s: watch: its initial events did not end in %d s",
			    list_watch->options.path, LIST_WATCH_LIST_SECONDS);
	leave_watch(list_watch, 200, &why, true);
	return 0;
}

int list_watch_new(const struct list_watch_options *options, struct list_watch **ret)
{
	struct list_watch *list_watch;
	int r;

	assert(options && options->begin_list && options->take && options->end_list &&
	       options->change && options->failed && ret);
	list_watch = calloc(1, sizeof(*list_watch));
	if (!list_watch)
		return -ENOMEM;
	list_watch->options = *options;
	list_watch->options.path = strdup(options->path);
	list_watch->newest = options->newest;
	if (list_watch->options.watch_seconds == 0)
		list_watch->options.watch_seconds = LIST_WATCH_SECONDS;
	went_well(list_watch);
	r = sd_event_add_time_relative(options->event, &list_watch->timer, CLOCK_MONOTONIC, 0, 0,
				       on_timer, list_watch);
	if (asprintf(&list_watch->path, "%s?%s%s", options->path, options->selector,
		     *options->selector ? "&" : "") < 0)
		list_watch->path = NULL;
	if (r < 0 || !list_watch->path || !list_watch->options.path) {
		(void) list_watch_free(list_watch);
		return r < 0 ? r : -ENOMEM;
	}
	(void) sd_event_source_set_description(list_watch->timer, "kube-apiserver-list-watch");
	*ret = list_watch;
	return 0;
}

uint64_t list_watch_newest(const struct list_watch *list_watch)
{
	return list_watch->newest;
}

void list_watch_list_next(struct list_watch *list_watch)
{
	assert(list_watch && !list_watch->call);
	forget(list_watch);
}

struct list_watch *list_watch_free(struct list_watch *list_watch)
{
	if (!list_watch)
		return NULL;
	(void) http_call_cancel(list_watch->call);
	(void) sd_event_source_disable_unref(list_watch->timer);
	free((char *) (uintptr_t) list_watch->options.path);
	free(list_watch->path);
	free(list_watch);
	return NULL;
}
