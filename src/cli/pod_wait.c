/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_wait - wait for the volumes of several pods at once; see pod_wait.h
 *
 * A pod is asked about without waiting first, so that what is so already is reported first; then
 * a request waits for it, or a watch until it is created. On a terminal, and where there are more
 * pods than SLOTS, a wait is made of parts of a second: their sentences are its progress, and each
 * pod has its turn. When podvold is away, its pods are asked about again until the deadline.
 */
#include "cli/pod_wait.h"

#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

enum {
	SLOTS = 32, /* requests and watches at once; podvold has 256 connections for all */
	PART_MSEC = 1000,
	AGAIN_MSEC = 250, /* until podvold is asked again after it was away or refused for now */
};

struct waiting;

/* One pod. It has a call, a watch, or a time to be asked again; or is over. */
struct waiter {
	struct waiting *waiting;
	const char *pod;
	int *status;
	struct podvol_call *call;
	struct podvol_watch *watch; /* until it is created */
	uint64_t next_usec;         /* when it is asked again, or its watch ends */
	bool was_asked, was_answered, was_there, was_warned, is_over;
};

struct waiting {
	struct cli *cli;
	const struct pod_waits *waits;
	struct waiter *waiters;
	size_t count, left, turn; /* pods; those not over; who is asked next */
	uint64_t end_usec;
	unsigned int part_msec;
	bool was_reached, was_lost; /* podvold */
	char *last;                 /* what was said of one of those that are left */
};

/* ---- the end of one ---- */

static void end(struct waiter *waiter, int status)
{
	*waiter->status = status;
	waiter->is_over = true;
	waiter->waiting->left--;
}

/* A podvold that was never reached is complained of once, for all. */
static void fail(struct waiter *waiter, int error)
{
	struct waiting *waiting = waiter->waiting;
	struct cli *cli = waiting->cli;
	int status = cli_exit_status(error, podvol_status(cli->podvol));

	progress_end(cli);
	cli_about_pod(cli, waiter->pod);
	if (status == EXIT_UNREACHABLE && waiting->was_reached)
		cli_complain(cli, "%s: %s", cli->about, podvol_error(cli->podvol));
	else if (status != EXIT_UNREACHABLE || waiting->left == waiting->count)
		(void) cli_failed(cli, error);
	end(waiter, status);
}

static void fail_uncreated(struct waiter *waiter)
{
	struct cli *cli = waiter->waiting->cli;

	progress_end(cli);
	cli_about_pod(cli, waiter->pod);
	cli_complain(cli, "%s not found: it was not created in time", cli->about);
	end(waiter, EXIT_NOT_FOUND);
}

/* As soon as the pod is known, and at the end: podvold may not have seen it at first. */
static void warn(struct waiter *waiter)
{
	const struct waiting *waiting = waiter->waiting;

	if (waiting->waits->what != PODVOL_MOUNTED || waiter->was_warned)
		return;
	progress_end(waiting->cli);
	waiter->was_warned = cli_warn_of_unused(waiting->cli, waiter->pod);
}

static void succeed(struct waiter *waiter)
{
	warn(waiter);
	progress_end(waiter->waiting->cli);
	end(waiter, EXIT_DONE);
	waiter->waiting->waits->done(waiter->waiting->cli, waiter->pod);
}

/* What progress shows of it until the next answer. */
static void note(struct waiter *waiter, const char *why)
{
	free(waiter->waiting->last);
	waiter->waiting->last = new_text("%s", why);
}

/* Once. */
static void say_lost(struct waiting *waiting, const char *why)
{
	if (waiting->was_lost)
		return;
	waiting->was_lost = true;
	progress_end(waiting->cli);
	cli_complain(waiting->cli, "%s; waiting for podvold until --timeout is over", why);
}

/* ---- until it is created ---- */

static bool is_there(const struct podvol_event *event)
{
	const struct json_limits limits = { .bytes = event->length + 1, .depth = 80 };
	cleanup_json struct cJSON *tree = NULL;

	if (json_parse(event->object, event->length, &limits, &tree, NULL) < 0)
		return false;
	return event->type == PODVOL_ADDED || json_count(json_get(tree, "items")) > 0;
}

static void on_changed(void *userdata, const struct podvol_event *event)
{
	struct waiter *waiter = userdata;

	if (event->type == PODVOL_INTERRUPTED)
		say_lost(waiter->waiting, event->error);
	else
		waiter->was_there = waiter->was_there || is_there(event);
}

/* Who waits may come before who creates. */
static int watch_for(struct waiter *waiter)
{
	const char *slash = strchr(waiter->pod, '/');
	cleanup_free char *plain =
		slash ? strndup(waiter->pod, (size_t) (slash - waiter->pod)) : strdup("default");
	cleanup_free char *path =
		cli_path("/api/v1/namespaces/%s/pods?fieldSelector=metadata.name%%3D%s", plain,
			 slash ? slash + 1 : waiter->pod);
	const struct podvol_watch_request request = { .path = path,
						      .changed = on_changed,
						      .userdata = waiter };

	if (!path)
		return -ENOMEM;
	return podvol_watch_open(waiter->waiting->cli->podvol, &request, &waiter->watch);
}

/* ---- what podvold answers ---- */

static void again_in(struct waiter *waiter, uint64_t now, unsigned int msec)
{
	uint64_t usec = now + (uint64_t) msec * USEC_PER_MSEC, end_usec = waiter->waiting->end_usec;

	waiter->next_usec = usec < end_usec ? usec : end_usec;
}

/* Refused for now, or no answer of a podvold that has been reached. */
static bool is_away(const struct waiting *waiting, int error)
{
	return waiting->was_reached &&
	       (error == -EAGAIN ||
		(error == -ECONNREFUSED && podvol_status(waiting->cli->podvol) == 0));
}

static void take_absence(struct waiter *waiter, uint64_t now)
{
	struct cli *cli = waiter->waiting->cli;
	cleanup_free char *why = NULL;
	int r;

	if (now >= waiter->waiting->end_usec) {
		fail_uncreated(waiter);
		return;
	}
	cli_about_pod(cli, waiter->pod);
	why = new_text("waiting for %s to be created", cli->about);
	note(waiter, why ?: "");
	r = watch_for(waiter);
	if (r < 0)
		fail(waiter, r);
	again_in(waiter, now, waiter->waiting->part_msec);
}

static void take_answer(void *userdata, int result, struct podvol_reply *reply)
{
	struct waiter *waiter = userdata;
	struct waiting *waiting = waiter->waiting;
	const char *why = podvol_error(waiting->cli->podvol);
	uint64_t now = monotonic_usec();
	bool is_answer = podvol_status(waiting->cli->podvol) != 0;
	bool has_time = now < waiting->end_usec;

	assert(waiter->call);
	waiter->call = NULL;
	waiter->next_usec = now;
	waiting->was_reached = waiting->was_reached || is_answer;
	if (result == 0) {
		succeed(waiter);
	} else if (is_away(waiting, result) && has_time) {
		say_lost(waiting, why);
		again_in(waiter, now, AGAIN_MSEC);
	} else if (is_answer && result == -ENOENT && !waiter->was_there &&
		   waiting->waits->what == PODVOL_MOUNTED) {
		take_absence(waiter, now);
	} else if (is_answer && result == -ETIMEDOUT && has_time) {
		waiter->was_there = true;
		note(waiter, why);
		if (!waiter->was_answered)
			warn(waiter);
		waiter->was_answered = true;
	} else {
		fail(waiter, result);
	}
}

/* ---- turns ---- */

/* The first time without waiting, or the unmount. */
static int make_request(struct waiter *waiter, unsigned int msec, struct podvol_request **ret)
{
	const struct waiting *waiting = waiter->waiting;
	bool is_first = !waiter->was_asked;

	waiter->was_asked = true;
	if (waiting->waits->deletes && is_first)
		return podvol_pod_unmount_request(waiting->cli->podvol, waiter->pod, msec, ret);
	return podvol_pod_wait_request(waiting->cli->podvol, waiter->pod, waiting->waits->what,
				       is_first ? 0 : msec, ret);
}

static void ask(struct waiter *waiter, uint64_t now)
{
	struct waiting *waiting = waiter->waiting;
	uint64_t left_msec =
		now < waiting->end_usec ? (waiting->end_usec - now - 1) / USEC_PER_MSEC + 1 : 0;
	struct podvol_request *request = NULL;
	int r = make_request(
		waiter,
		(unsigned int) (left_msec < waiting->part_msec ? left_msec : waiting->part_msec),
		&request);

	if (r == 0)
		r = podvol_call(waiting->cli->podvol, request, take_answer, waiter, &waiter->call);
	podvol_request_free(request);
	if (r < 0)
		fail(waiter, r);
}

/* One that is created, or whose time it is, is asked about; so is one whose watch failed: the
 * answer says why. */
static void take_watch(struct waiter *waiter, uint64_t now)
{
	int r = podvol_watch_process(waiter->watch);

	if (r == 0 && !waiter->was_there && now < waiter->next_usec)
		return;
	podvol_watch_free(waiter->watch);
	waiter->watch = NULL;
	waiter->next_usec = now;
}

/* Asks about those whose time it is, each in its turn. @ret_next_usec: when the next one's is. */
static void ask_all(struct waiting *waiting, uint64_t now, uint64_t *ret_next_usec)
{
	size_t busy = 0, first = waiting->turn;

	*ret_next_usec = UINT64_MAX;
	for (size_t i = 0; i < waiting->count; i++)
		busy += waiting->waiters[i].call || waiting->waiters[i].watch;
	for (size_t i = 0; i < waiting->count; i++) {
		struct waiter *waiter = &waiting->waiters[(first + i) % waiting->count];

		if (waiter->is_over || waiter->call)
			continue;
		if (!waiter->watch && waiter->next_usec <= now) {
			if (busy == SLOTS)
				continue; /* the end of a call wakes it */
			busy++;
			waiting->turn = (first + i + 1) % waiting->count;
			ask(waiter, now);
		} else if (waiter->next_usec < *ret_next_usec) {
			*ret_next_usec = waiter->next_usec;
		}
	}
}

static void poll_all(struct waiting *waiting, uint64_t now, uint64_t next_usec)
{
	struct pollfd polled[SLOTS + 1] = { { .fd = podvol_fd(waiting->cli->podvol),
					      .events = POLLIN } };
	uint64_t msec = next_usec > now ? (next_usec - now) / USEC_PER_MSEC + 1 : 0;
	nfds_t count = 1;

	if (progress_is_seen(waiting->cli) && msec > PART_MSEC)
		msec = PART_MSEC;
	for (size_t i = 0; i < waiting->count; i++)
		if (waiting->waiters[i].watch) {
			assert(count < ARRAY_SIZE(polled));
			polled[count++] =
				(struct pollfd){ .fd = podvol_watch_fd(waiting->waiters[i].watch),
						 .events = POLLIN };
		}
	(void) poll(polled, count, msec < INT_MAX ? (int) msec : INT_MAX);
}

static void show(struct waiting *waiting)
{
	cleanup_free char *line = NULL;

	if (waiting->count > 1)
		line = new_text("%zu of %zu pods, %s", waiting->left, waiting->count,
				waiting->last ?: "");
	progress_show(waiting->cli, line ?: waiting->last ?: "");
}

static void wait_all(struct waiting *waiting)
{
	while (waiting->left > 0) {
		uint64_t now = monotonic_usec(), next_usec;

		ask_all(waiting, now, &next_usec);
		if (waiting->left == 0)
			return;
		show(waiting);
		poll_all(waiting, now, next_usec);
		(void) podvol_process(waiting->cli->podvol);
		for (size_t i = 0; i < waiting->count; i++)
			if (waiting->waiters[i].watch)
				take_watch(&waiting->waiters[i], monotonic_usec());
	}
}

int pod_wait(struct cli *cli, struct pod_list *pods, const struct pod_waits *waits)
{
	struct waiting waiting = {
		.cli = cli, .waits = waits, .part_msec = UINT_MAX, .was_reached = waits->are_stored
	};

	assert(waits->done && (!waits->deletes || waits->what == PODVOL_UNMOUNTED));
	waiting.waiters = calloc(pods->count + 1, sizeof(*waiting.waiters));
	if (!waiting.waiters || podvol_fd(cli->podvol) < 0) {
		free(waiting.waiters);
		return cli_end(cli, EXIT_FAILED, "cannot wait: no memory or descriptors left");
	}
	for (size_t i = 0; i < pods->count; i++)
		if (pods->status[i] == EXIT_DONE)
			waiting.waiters[waiting.count++] =
				(struct waiter){ .waiting = &waiting,
						 .pod = pods->names[i],
						 .status = &pods->status[i],
						 .was_there = waits->are_stored };
	waiting.left = waiting.count;
	waiting.end_usec = monotonic_usec() + cli->timeout_msec * USEC_PER_MSEC;
	if (progress_is_seen(cli) || waiting.count > SLOTS)
		waiting.part_msec = PART_MSEC;
	wait_all(&waiting);
	progress_end(cli);
	free(waiting.waiters);
	free(waiting.last);
	return pod_list_status(pods);
}
