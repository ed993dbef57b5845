/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watches - see watches.h
 */
#include "api/objects/watches.h"

#include "base/clock.h"
#include "base/timer.h"
#include "object/json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <utlist.h>

struct watches {
	struct watch_entry *entries;
	size_t count, most, with_bookmarks;
	sd_event_source *timer;
	uint64_t armed_usec; /* UINT64_MAX: off */
	uint64_t bookmark_usec;
	const struct object *deleted; /* own reference: of the last deletion */
	uint64_t deleted_version;
};

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

int watches_new(sd_event *event, size_t most, struct watches **ret)
{
	struct watches *watches = calloc(1, sizeof(*watches));
	int r;

	assert(event && ret);
	if (!watches)
		return -ENOMEM;
	watches->most = most;
	watches->armed_usec = UINT64_MAX;
	/* A second more or less: wake-ups of others are used where there are any. */
	r = timer_new(event, USEC_PER_SEC, on_timer, watches, &watches->timer);
	if (r < 0) {
		(void) watches_free(watches);
		return r;
	}
	*ret = watches;
	return 0;
}

struct watches *watches_free(struct watches *watches)
{
	if (!watches)
		return NULL;
	assert(!watches->entries);
	(void) sd_event_source_disable_unref(watches->timer);
	(void) object_unref(watches->deleted);
	free(watches);
	return NULL;
}

static void arm(struct watches *watches, uint64_t usec)
{
	watches->armed_usec = usec;
	if (usec == UINT64_MAX) {
		(void) sd_event_source_set_enabled(watches->timer, SD_EVENT_OFF);
		return;
	}
	timer_set(watches->timer, usec);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct watches *watches = userdata;
	uint64_t now = monotonic_usec(), next = UINT64_MAX;
	bool bookmark = watches->with_bookmarks > 0 && watches->bookmark_usec <= now;
	struct watch_entry *entry;

	if (bookmark)
		watches->bookmark_usec = now + WATCHES_BOOKMARK_SECONDS * USEC_PER_SEC;
	if (watches->with_bookmarks > 0)
		next = watches->bookmark_usec;
	DL_FOREACH2(watches->entries, entry, next)
	{
		bool over = entry->deadline_usec > 0 && entry->deadline_usec <= now;

		if (!over && entry->deadline_usec > 0 && entry->deadline_usec < next)
			next = entry->deadline_usec;
		if (over || (bookmark && entry->bookmarks))
			entry->tick(entry, over);
	}
	arm(watches, next);
	return 0;
}

bool watches_have_room(const struct watches *watches)
{
	return watches->count < watches->most;
}

void watches_add(struct watches *watches, struct watch_entry *entry)
{
	uint64_t next = entry->deadline_usec > 0 ? entry->deadline_usec : UINT64_MAX;

	assert(watches_have_room(watches) && entry->tick);
	DL_APPEND2(watches->entries, entry, previous, next);
	watches->count++;
	if (entry->bookmarks && watches->with_bookmarks++ == 0)
		watches->bookmark_usec = monotonic_usec() + WATCHES_BOOKMARK_SECONDS * USEC_PER_SEC;
	if (entry->bookmarks && watches->bookmark_usec < next)
		next = watches->bookmark_usec;
	if (next < watches->armed_usec)
		arm(watches, next);
}

void watches_remove(struct watches *watches, struct watch_entry *entry)
{
	assert(watches->count > 0);
	DL_DELETE2(watches->entries, entry, previous, next);
	watches->count--;
	if (entry->bookmarks)
		watches->with_bookmarks--;
	if (!watches->entries)
		arm(watches, UINT64_MAX);
}

static int set_version(struct cJSON *tree, void *userdata)
{
	const uint64_t *version = userdata;
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64, *version);
	return json_set_string(json_ensure_object(tree, "metadata"), "resourceVersion", text);
}

const struct object *watches_deleted(struct watches *watches, const struct object *object,
				     uint64_t version)
{
	if (watches->deleted && watches->deleted_version == version)
		return watches->deleted;
	watches->deleted = object_unref(watches->deleted);
	watches->deleted_version = version;
	if (object_edit(object, set_version, &version, &watches->deleted, NULL) < 0)
		return NULL;
	return watches->deleted;
}
