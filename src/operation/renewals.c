/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewals - see renewals.h
 *
 * The timer is not moved when the earliest time goes: it then fires for nothing, once.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "operation/renewals.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

struct renewal {
	char *key; /* unique name, NUL, pod uid, NUL */
	size_t key_length;
	uint64_t due_usec;
	UT_hash_handle hh;
};

struct renewals {
	struct renewals_options options;
	struct renewal *list;
	sd_event_source *source;
	int fd;
	uint64_t armed_usec; /* 0: not at all */
};

static void renewal_free(struct renewal *renewal)
{
	free(renewal->key);
	free(renewal);
}

static const char *pod_uid_of(const struct renewal *renewal)
{
	return renewal->key + strlen(renewal->key) + 1;
}

/* ---- the timer ---- */

/* Cancelled when the clock is set, which only an armed timer tells. */
static void arm(struct renewals *renewals, uint64_t due_usec)
{
	const struct itimerspec when = {
		.it_value = { .tv_sec = (time_t) (due_usec / USEC_PER_SEC),
			      .tv_nsec = (long) (due_usec % USEC_PER_SEC * 1000) },
	};

	renewals->armed_usec = due_usec;
	if (timerfd_settime(renewals->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when,
			    NULL) < 0)
		log_message(LOG_ERR, "the timer of tokens cannot be set: %s", strerror(errno));
}

static void arm_earliest(struct renewals *renewals)
{
	uint64_t earliest = 0;

	for (struct renewal *at = renewals->list; at; at = at->hh.next)
		if (earliest == 0 || at->due_usec < earliest)
			earliest = at->due_usec;
	arm(renewals, earliest);
}

/* Forgotten before it is reported: the callback may set it again. */
static void report_due(struct renewals *renewals, uint64_t until_usec)
{
	struct renewal *at, *next;

	HASH_ITER (hh, renewals->list, at, next) {
		if (at->due_usec > until_usec)
			continue;
		HASH_DEL(renewals->list, at);
		renewals->options.due(renewals->options.userdata, at->key, pod_uid_of(at));
		renewal_free(at);
	}
}

static int on_timer(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct renewals *renewals = userdata;
	uint64_t expirations, until_usec = realtime_usec();

	if (read(fd, &expirations, sizeof(expirations)) < 0) {
		if (errno != ECANCELED)
			return 0;
		log_message(LOG_NOTICE, "the clock was set: checking all tokens");
		until_usec = UINT64_MAX;
	}
	report_due(renewals, until_usec);
	arm_earliest(renewals);
	return 0;
}

/* ---- the times ---- */

/* Both names in one key. NULL: no memory. */
static char *make_key(const char *unique_name, const char *pod_uid, size_t *ret_length)
{
	size_t first = strlen(unique_name) + 1, second = strlen(pod_uid) + 1;
	char *key = malloc(first + second);

	if (!key)
		return NULL;
	memcpy(key, unique_name, first);
	memcpy(key + first, pod_uid, second);
	*ret_length = first + second;
	return key;
}

static int add(struct renewals *renewals, char **key, size_t length, uint64_t due_usec)
{
	struct renewal *renewal = calloc(1, sizeof(*renewal));

	if (!renewal)
		return -ENOMEM;
	renewal->key_length = length;
	renewal->due_usec = due_usec;
	renewal->key = *key;
	HASH_ADD_KEYPTR(hh, renewals->list, renewal->key, renewal->key_length, renewal);
	if (!renewal->hh.tbl) {
		free(renewal);
		return -ENOMEM;
	}
	*key = NULL;
	return 0;
}

int renewals_set(struct renewals *renewals, const char *unique_name, const char *pod_uid,
		 uint64_t due_usec)
{
	struct renewal *known;
	cleanup_free char *key = NULL;
	size_t length = 0;
	int r = 0;

	assert(unique_name && pod_uid);
	if (!renewals || (due_usec == 0 && !renewals->list))
		return 0;
	key = make_key(unique_name, pod_uid, &length);
	if (!key)
		return -ENOMEM;
	HASH_FIND(hh, renewals->list, key, length, known);
	if (known && due_usec == 0) {
		HASH_DEL(renewals->list, known);
		renewal_free(known);
	} else if (known) {
		known->due_usec = due_usec;
	} else if (due_usec > 0) {
		r = add(renewals, &key, length, due_usec);
	}
	if (r == 0 && due_usec > 0 &&
	    (renewals->armed_usec == 0 || due_usec < renewals->armed_usec))
		arm(renewals, due_usec);
	return r;
}

void renewals_step_ended(void *renewals, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	uint64_t due_usec = result->kind == STEP_PUBLISH ? ended->report->renew_usec : 0;

	if (!result->pod_uid || result->error < 0)
		return;
	if (renewals_set(renewals, result->unique_name, result->pod_uid, due_usec) < 0)
		log_message(LOG_ERR,
			    "out of memory: the tokens in volume '%s' are renewed when "
			    "podvold restarts",
			    result->unique_name);
}

void renewals_forget(void *renewals, const char *unique_name, const char *pod_uid)
{
	if (pod_uid)
		(void) renewals_set(renewals, unique_name, pod_uid, 0);
}

/* ---- birth and death ---- */

int renewals_new(const struct renewals_options *options, struct renewals **ret)
{
	struct renewals *renewals = calloc(1, sizeof(*renewals));
	int r;

	assert(options && options->event && options->due && ret);
	if (!renewals)
		return -ENOMEM;
	renewals->options = *options;
	renewals->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	r = renewals->fd < 0 ? -errno
			     : sd_event_add_io(options->event, &renewals->source, renewals->fd,
					       EPOLLIN, on_timer, renewals);
	if (r >= 0)
		r = sd_event_source_set_priority(renewals->source, options->priority);
	if (r < 0) {
		(void) renewals_free(renewals);
		return r;
	}
	*ret = renewals;
	return 0;
}

struct renewals *renewals_free(struct renewals *renewals)
{
	struct renewal *at, *next;

	if (!renewals)
		return NULL;
	HASH_ITER (hh, renewals->list, at, next) {
		HASH_DEL(renewals->list, at);
		renewal_free(at);
	}
	(void) sd_event_source_disable_unref(renewals->source);
	(void) close_keep_errno(renewals->fd);
	free(renewals);
	return NULL;
}
