/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_schedule - VolumeSnapshots made at due times; see snapshot_schedule.h
 *
 * One write at a time, then another look. Between them each claim has one timer, of the real clock.
 */
#include "controller/snapshot/snapshot_schedule.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "controller/controller_class.h"
#include "controller/snapshot/snapshot_schedule_plan.h"
#include "object/json/json.h"
#include "object/metadata.h"

#include <assert.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { KEY_BYTES = 512 }; /* of a namespace and a name */

struct snapshot_schedules {
	struct controller base;
	struct controller_options options;
	bool was_complete;
	int clock_fd;
	sd_event_source *clock; /* tells that it was set */
};

struct schedule_item {
	struct work_item work; /* first */
	sd_event_source *timer;
};

static const struct controller_options *options_of(const struct schedule_item *item)
{
	const struct snapshot_schedules *schedules = work_queue_userdata(item->work.queue);

	return &schedules->options;
}

static void report(struct schedule_item *item, const struct object *claim, const char *reason,
		   const char *text)
{
	const struct controller_options *options = options_of(item);

	if (work_item_is_news(&item->work, text))
		options->event_fn(options->userdata, claim, "Warning", reason, text);
}

/* ---- the claim and its class ---- */

static const struct object *find_claim(const struct schedule_item *item)
{
	const char *slash = strchr(item->work.name, '/');
	cleanup_free char *space = strndup(item->work.name, (size_t) (slash - item->work.name));

	return space ? store_get(options_of(item)->store, KIND_PERSISTENT_VOLUME_CLAIM, space,
				 slash + 1)
		     : NULL;
}

/* Most claims have none: no tree is made for them. NULL: none, or no memory; freed with free(). */
static char *class_name_of(const struct object *claim)
{
	cleanup_json struct cJSON *tree = NULL;
	const char *name;

	if (!strstr(claim->json, ANNOTATION_SNAPSHOT_SCHEDULE))
		return NULL;
	tree = object_tree(claim);
	name = tree ? metadata_annotation(tree, ANNOTATION_SNAPSHOT_SCHEDULE) : NULL;
	return name && *name ? strdup(name) : NULL;
}

static int read_schedule(const struct schedule_item *item, const char *class_name,
			 struct snapshot_schedule *ret, struct failure *reterr)
{
	const struct object *class =
		store_get(options_of(item)->store, KIND_VOLUME_SNAPSHOT_CLASS, "", class_name);
	int r;

	if (!class)
		return failed_plain(reterr, -ENOENT, "VolumeSnapshotClass '%.100s' not found",
				    class_name);
	r = snapshot_schedule_parse(class->volume_snapshot_class, ret, reterr);
	return r < 0 ? failure_prefix(reterr, "VolumeSnapshotClass '%.100s'", class_name) : 0;
}

/* ---- its snapshots ---- */

struct scheduled_list {
	const struct object *claim;
	struct store *store;
	struct scheduled_snapshot *all;
	size_t count;
	int error;
};

static void scheduled_list_done(struct scheduled_list *list)
{
	free(list->all);
}

static int take_source(const struct object *object, void *userdata)
{
	const struct persistent_volume_claim *claim = object->claim;
	const struct scheduled_list *list = userdata;
	const char *space = claim->data_source.name_space[0] ? claim->data_source.name_space
							     : object->meta.name_space;

	if (claim->data_source.kind != DATA_SOURCE_SNAPSHOT || claim->phase == CLAIM_BOUND ||
	    strcmp(space, list->claim->meta.name_space) != 0)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(claim->data_source.name, list->all[i].snapshot->object->meta.name) == 0)
			list->all[i].is_held = true;
	return 0;
}

static int take_scheduled(const struct object *object, void *userdata)
{
	struct scheduled_list *list = userdata;
	struct scheduled_snapshot one = { .snapshot = object->volume_snapshot }, *all;

	if (!snapshot_schedule_made(one.snapshot, list->claim, &one.due_usec))
		return 0;
	all = reallocarray(list->all, list->count + 1, sizeof(*all));
	if (!all) {
		list->error = -ENOMEM;
		return 1;
	}
	one.is_held = snapshot_schedule_holds(object);
	list->all = all;
	list->all[list->count++] = one;
	return 0;
}

/* ---- one sync ---- */

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct schedule_item *item = userdata;

	work_item_due(&item->work);
	work_queue_run(item->work.queue);
	return 0;
}

static void wait_until(struct schedule_item *item, uint64_t usec)
{
	const struct controller_options *options = options_of(item);
	int r = item->timer ? sd_event_source_set_time(item->timer, usec)
			    : sd_event_add_time(options->event, &item->timer, CLOCK_REALTIME, usec,
						USEC_PER_SEC / 10, on_timer, item);

	if (r >= 0)
		r = sd_event_source_set_priority(item->timer, options->priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(item->timer, SD_EVENT_ONESHOT);
	if (r < 0)
		work_item_failed(&item->work);
}

/* A clock that was ahead for a while leaves snapshots of the future: they stop none of now. */
static bool is_made(const struct scheduled_list *list, uint64_t due_usec, uint64_t now_usec)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct scheduled_snapshot *one = &list->all[i];

		if (one->due_usec >= due_usec && one->due_usec <= now_usec)
			return true;
		if (!one->snapshot->state.is_ready && !one->snapshot->object->meta.deletes)
			return true; /* not another one beside it */
	}
	return false;
}

static void make(struct schedule_item *item, const struct object *claim, const char *class_name,
		 uint64_t due_usec)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r = snapshot_schedule_make(claim, class_name, due_usec, &made, &why);

	if (r < 0 && r != -ENOMEM)
		report(item, claim, "SnapshotScheduleFailed", why.text);
	else if (r == 0 && store_get(options_of(item)->store, KIND_VOLUME_SNAPSHOT,
				     made->meta.name_space, made->meta.name)) {
		(void) failed_plain(&why, -EEXIST,
				    "a VolumeSnapshot '%.100s' is there that the schedule did not "
				    "make",
				    made->meta.name);
		report(item, claim, "SnapshotScheduleFailed", why.text);
		object_unref(made);
	} else {
		work_item_create(&item->work, r, made);
	}
}

static void follow(struct schedule_item *item, const struct object *claim, const char *class_name,
		   const struct snapshot_schedule *schedule)
{
	cleanup(scheduled_list_done) struct scheduled_list list = {
		.claim = claim, .store = options_of(item)->store
	};
	uint64_t now_usec = realtime_usec(), next_usec;
	uint64_t due_usec = snapshot_schedule_due(schedule, now_usec);
	const struct volume_snapshot *surplus;

	(void) store_list(list.store, KIND_VOLUME_SNAPSHOT, claim->meta.name_space, take_scheduled,
			  &list);
	if (list.error < 0) {
		work_item_failed(&item->work);
		return;
	}
	if (list.count > 1)
		(void) store_list(list.store, KIND_PERSISTENT_VOLUME_CLAIM, NULL, take_source,
				  &list);
	surplus = snapshot_schedule_surplus(schedule, list.all, list.count, now_usec, &next_usec);
	if (due_usec + schedule->every_usec < next_usec)
		next_usec = due_usec + schedule->every_usec;
	wait_until(item, next_usec);
	if (surplus) {
		log_message(LOG_INFO, "snapshot '%s/%s' is deleted by the schedule of claim '%s'",
			    claim->meta.name_space, surplus->object->meta.name, claim->meta.name);
		work_item_delete(&item->work, surplus->object);
	} else if (!is_made(&list, due_usec, now_usec)) {
		make(item, claim, class_name, due_usec);
	}
}

static bool sync_item(struct work_item *work)
{
	struct schedule_item *item = (struct schedule_item *) work;
	const struct controller_options *options = options_of(item);
	const struct object *claim = find_claim(item);
	cleanup_free char *class_name = claim ? class_name_of(claim) : NULL;
	struct snapshot_schedule schedule;
	struct failure why = { .error = 0 };

	if (!class_name || claim->meta.deletes)
		return false;
	if (work_item_backs_off(work) || claim->claim->phase != CLAIM_BOUND ||
	    !options->is_complete(options->userdata))
		return true;
	if (read_schedule(item, class_name, &schedule, &why) < 0)
		report(item, claim, "SnapshotScheduleFailed", why.text);
	else
		follow(item, claim, class_name, &schedule);
	return true;
}

static void clear(struct work_item *work)
{
	struct schedule_item *item = (struct schedule_item *) work;

	item->timer = sd_event_source_disable_unref(item->timer);
}

/* ---- watching ---- */

static int claim_due(struct snapshot_schedules *schedules, const char *name_space, const char *name)
{
	char key[KEY_BYTES];

	(void) snprintf(key, sizeof(key), "%s/%s", name_space, name);
	return work_queue_due(schedules->base.queues[0], key);
}

static int take_claim(const struct object *object, void *userdata)
{
	if (!strstr(object->json, ANNOTATION_SNAPSHOT_SCHEDULE))
		return 0;
	return claim_due(userdata, object->meta.name_space, object->meta.name);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct snapshot_schedules *schedules = userdata;
	const struct object *object = change->object;
	char key[KEY_BYTES];

	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM)
		return take_claim(object, schedules);
	if (object->kind == KIND_VOLUME_SNAPSHOT_CLASS) {
		work_queue_walk(schedules->base.queues[0], work_item_due);
		return 0;
	}
	(void) snprintf(key, sizeof(key), "%s/%s", object->meta.name_space,
			object->volume_snapshot->claim_name);
	return work_queue_find(schedules->base.queues[0], key)
		       ? work_queue_due(schedules->base.queues[0], key)
		       : 0;
}

/* ---- the clock ---- */

/* A timer of a clock that was years ahead would not end before that. */
static int on_clock(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	uint64_t expirations;

	if (read(fd, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED) {
		log_message(LOG_NOTICE, "the clock was set: checking all snapshot schedules");
		controller_all_due(userdata);
	}
	return 0;
}

/* An armed timer is cancelled when the clock is set; its own time never comes. */
static int open_clock(void *userdata)
{
	const struct itimerspec never = { .it_value = { .tv_sec = INT32_MAX * 100LL } };
	struct snapshot_schedules *schedules = userdata;
	const struct controller_options *options = &schedules->options;
	int r;

	schedules->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (schedules->clock_fd < 0 ||
	    timerfd_settime(schedules->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			    &never, NULL) < 0)
		return -errno;
	r = sd_event_add_io(options->event, &schedules->clock, schedules->clock_fd, EPOLLIN,
			    on_clock, schedules);
	return r < 0 ? r : sd_event_source_set_priority(schedules->clock, options->priority);
}

static void close_clock(void *userdata)
{
	struct snapshot_schedules *schedules = userdata;

	schedules->clock = sd_event_source_disable_unref(schedules->clock);
	(void) close_keep_errno(schedules->clock_fd);
}

/* ---- life ---- */

static const struct controller_class snapshot_schedules_class = {
	CONTROLLER_OF(snapshot_schedules),
	.what = "snapshot schedules",
	.kinds = 1 << KIND_VOLUME_SNAPSHOT | 1 << KIND_VOLUME_SNAPSHOT_CLASS |
		 1 << KIND_PERSISTENT_VOLUME_CLAIM,
	.lists = { { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { { .what = "snapshot schedule of claim",
		      .item_bytes = sizeof(struct schedule_item),
		      .sync = sync_item,
		      .clear = clear } },
	.open = open_clock,
	.take_change = take_change,
	.close = close_clock,
};

int snapshot_schedules_new(const struct controller_options *options,
			   struct snapshot_schedules **ret)
{
	assert(options->event_fn && options->is_complete && ret);
	return controller_new(&snapshot_schedules_class, options, ret);
}

void snapshot_schedules_resync(struct snapshot_schedules *schedules)
{
	if (!schedules || schedules->was_complete)
		return;
	schedules->was_complete = schedules->options.is_complete(schedules->options.userdata);
	if (schedules->was_complete)
		controller_all_due(schedules);
}

struct snapshot_schedules *snapshot_schedules_free(struct snapshot_schedules *schedules)
{
	return controller_free(schedules);
}
