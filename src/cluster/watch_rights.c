/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_rights - which claims and volumes the server lets podvold watch by name
 *
 * A node has no such right; an administrator may give it, for all namespaces or for some, and take
 * it away, at any time. One object tries for all of its kind and namespace. After a refusal they
 * are read, and one tries again later. Only 403 is a refusal; no other failure says anything.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/watch_rights.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/timer.h"

#include <assert.h>

enum { TRY_FIRST_SECONDS = 5, TRY_MAX_SECONDS = 300 };

enum right_state { RIGHT_UNTRIED, RIGHT_TRYING, RIGHT_GRANTED, RIGHT_REFUSED };

struct watch_right {
	UT_hash_handle hh; /* by key */
	struct watch_rights *rights;
	enum right_state state;
	size_t users;
	sd_event_source *timer; /* when it is tried again */
	unsigned int pause_seconds;
	char *key; /* "kind:namespace" */
};

struct watch_rights {
	sd_event *event;
	void (*changed)(void *userdata, const struct watch_right *right);
	void *userdata;
	struct watch_right *all;
};

static void set(struct watch_right *right, enum right_state state)
{
	right->state = state;
	right->rights->changed(right->rights->userdata, right);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	set(userdata, RIGHT_UNTRIED);
	return 0;
}

bool watch_right_begin(struct watch_right *right)
{
	if (right->state == RIGHT_UNTRIED)
		right->state = RIGHT_TRYING;
	else if (right->state != RIGHT_GRANTED)
		return false;
	return true;
}

bool watch_right_is_granted(const struct watch_right *right)
{
	return right->state == RIGHT_GRANTED;
}

void watch_right_granted(struct watch_right *right)
{
	right->pause_seconds = TRY_FIRST_SECONDS;
	if (right->state == RIGHT_GRANTED)
		return;
	(void) sd_event_source_set_enabled(right->timer, SD_EVENT_OFF);
	set(right, RIGHT_GRANTED);
}

void watch_right_refused(struct watch_right *right)
{
	if (right->state == RIGHT_REFUSED)
		return;
	right->state = RIGHT_REFUSED;
	timer_set_in(right->timer, right->pause_seconds * USEC_PER_SEC);
	right->pause_seconds = right->pause_seconds * 2 < TRY_MAX_SECONDS ? right->pause_seconds * 2
									  : TRY_MAX_SECONDS;
}

void watch_right_given_up(struct watch_right *right)
{
	if (right->state == RIGHT_TRYING)
		set(right, RIGHT_UNTRIED);
}

/* ---- life ---- */

static struct watch_right *right_free(struct watch_right *right)
{
	(void) sd_event_source_disable_unref(right->timer);
	free(right->key);
	free(right);
	return NULL;
}

static struct watch_right *right_new(struct watch_rights *rights, const char *key)
{
	struct watch_right *right = calloc(1, sizeof(*right));
	int r = -ENOMEM;

	if (!right)
		return NULL;
	right->rights = rights;
	right->pause_seconds = TRY_FIRST_SECONDS;
	right->key = strdup(key);
	if (right->key)
		r = timer_new(rights->event, 10000, on_timer, right, &right->timer);
	if (r < 0)
		return right_free(right);
	HASH_ADD_KEYPTR(hh, rights->all, right->key, strlen(right->key), right);
	return right->hh.tbl ? right : right_free(right);
}

struct watch_right *watch_right_use(struct watch_rights *rights, enum object_kind kind,
				    const char *name_space)
{
	cleanup_free char *key = NULL;
	struct watch_right *right = NULL;

	assert(rights && name_space);
	if (asprintf(&key, "%d:%s", (int) kind, name_space) < 0) {
		key = NULL;
		return NULL;
	}
	HASH_FIND_STR(rights->all, key, right);
	if (!right)
		right = right_new(rights, key);
	if (right)
		right->users++;
	return right;
}

struct watch_right *watch_right_unuse(struct watch_right *right)
{
	if (!right || --right->users > 0)
		return NULL;
	HASH_DEL(right->rights->all, right);
	return right_free(right);
}

int watch_rights_new(sd_event *event,
		     void (*changed)(void *userdata, const struct watch_right *right),
		     void *userdata, struct watch_rights **ret)
{
	struct watch_rights *rights = calloc(1, sizeof(*rights));

	assert(event && changed && ret);
	if (!rights)
		return -ENOMEM;
	*rights = (struct watch_rights){ .event = event, .changed = changed, .userdata = userdata };
	*ret = rights;
	return 0;
}

struct watch_rights *watch_rights_free(struct watch_rights *rights)
{
	assert(!rights || !rights->all);
	free(rights);
	return NULL;
}
