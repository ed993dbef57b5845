/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_capacity - publishes CSIStorageCapacity: how much a driver can still provision, for each of
 * its classes
 *
 * What external-provisioner does with --enable-capacity; the rule is csi_capacity_rule.h.
 * GetCapacity is called when the class or the driver changed and when volumes were created, deleted
 * or expanded, or did not fit. Other uses of its storage have no event: while a claim of a class
 * waits, the class's figures are never older than a minute. Without a waiting claim no timer runs;
 * a stale figure then costs a CreateVolume that fails.
 *
 * An item is a StorageClass, or an object that is left of one. Each sync makes one write or one
 * call.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "controller/csi/csi_capacity_rule.h"
#include "controller/csi/csi_controller.h"
#include "controller/csi/csi_secret.h"
#include "csi/csi_access.h"
#include "object/json/json.h"

#include <string.h>

/* external-provisioner's --capacity-poll-interval. */
#define OLD_USEC (60 * USEC_PER_SEC)

struct capacity_item {
	struct work_item work; /* the class's name, and the object's */
	struct csi_call *call;
	struct csi_capacity_figures figures;
	bool is_fresh; /* nothing has changed since the call */
};

struct csi_capacity {
	struct controller base;
	struct csi_controller_options options;
	sd_event_source *timer; /* on while a claim may wait */
	uint64_t walked_usec;   /* monotonic: when the timer last went off */
};

static struct csi_capacity *capacity_of(const struct capacity_item *item)
{
	return work_queue_userdata(item->work.queue);
}

/* ---- the stored objects ---- */

static const struct storage_class *class_named(struct csi_capacity *capacity, const char *name)
{
	const struct object *object =
		store_get(capacity->options.common.store, KIND_STORAGE_CLASS, "", name);

	return object ? object->storage_class : NULL;
}

static void look_up(struct capacity_item *item, struct csi_capacity_facts *ret)
{
	struct csi_capacity *capacity = capacity_of(item);
	const struct csi_controller_options *options = &capacity->options;
	const struct storage_class *class = class_named(capacity, item->work.name);

	*ret = (struct csi_capacity_facts){
		.storage_class = class,
		.object = store_get(options->common.store, KIND_CSI_STORAGE_CAPACITY,
				    CSI_CAPACITY_NAMESPACE, item->work.name),
		.node = store_get(options->common.store, KIND_NODE, "", options->common.node_name),
		.figures = item->is_fresh ? &item->figures : NULL,
	};
	if (!class)
		return;
	ret->csi_driver = store_get(options->common.store, KIND_CSI_DRIVER, "", class->provisioner);
	ret->driver = csi_drivers_find(options->drivers, class->provisioner);
}

/* ---- claims that wait ---- */

static bool waits(const struct object *claim)
{
	return !claim->claim->volume_name[0] && !claim->meta.deletes;
}

static struct capacity_item *item_of_claim(struct csi_capacity *capacity,
					   const struct object *claim)
{
	return (struct capacity_item *) work_queue_find(capacity->base.queues[0],
							claim->claim->storage_class);
}

/* At most once in a minute, and at once when the last time was longer ago. */
static void walk_later(struct csi_capacity *capacity)
{
	if (!timer_is_set(capacity->timer))
		timer_set(capacity->timer, capacity->walked_usec + OLD_USEC);
}

static int age(const struct object *claim, void *userdata)
{
	struct csi_capacity *capacity = userdata;
	struct capacity_item *item = waits(claim) ? item_of_claim(capacity, claim) : NULL;

	if (!item)
		return 0;
	item->is_fresh = false;
	work_item_due(&item->work);
	walk_later(capacity);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct csi_capacity *capacity = userdata;

	capacity->walked_usec = monotonic_usec();
	(void) store_list(capacity->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM, NULL, age,
			  capacity);
	work_queue_run(capacity->base.queues[0]);
	return 0;
}

/* ---- writing ---- */

static void write_object(struct capacity_item *item, const struct csi_capacity_facts *facts)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r = csi_capacity_make(facts, &made, &why);

	if (r < 0)
		log_message(LOG_WARNING, "capacity of class '%s': %s", item->work.name, why.text);
	if (facts->object)
		work_item_update(&item->work, r, facts->object, made);
	else
		work_item_create(&item->work, r, made);
}

/* ---- queries ---- */

static bool take_figures(struct capacity_item *item, const struct csi_reply *reply,
			 struct failure *reterr)
{
	const Csi__V1__GetCapacityResponse *answer = (const void *) reply->message;

	if (!answer)
		return failed_plain(reterr, -EIO, "%s: %s", grpc_code_name(reply->status.code),
				    reply->status.text) == 0;
	item->figures = (struct csi_capacity_figures){ .available = answer->available_capacity };
	if (answer->maximum_volume_size) {
		item->figures.maximum = answer->maximum_volume_size->value;
		item->figures.has_maximum = true;
	}
	if (item->figures.available >= 0 && item->figures.maximum >= 0)
		return true;
	return failed_plain(reterr, -EPROTO, "the driver reports a negative capacity") == 0;
}

static void on_answer(void *userdata, const struct csi_reply *reply)
{
	struct capacity_item *item = userdata;
	struct work_queue *queue = item->work.queue;
	struct failure why;

	item->call = NULL;
	(void) work_item_end(&item->work);
	if (take_figures(item, reply, &why)) {
		work_item_succeeded(&item->work);
		walk_later(capacity_of(item));
	} else {
		log_message(LOG_WARNING, "capacity of class '%s': %s", item->work.name, why.text);
		item->is_fresh = false;
		work_item_failed(&item->work);
	}
	work_queue_run(queue);
}

static int read_place(const struct csi_driver *driver, struct csi_map *ret)
{
	int r = 0;

	for (size_t i = 0; csi_capacity_has_place(driver) && i < driver->segment_count && r == 0;
	     i++)
		r = csi_map_set(ret, driver->segments[i].key, driver->segments[i].value);
	return r;
}

/* Like external-provisioner: no access mode, only a mount. */
static int call(struct capacity_item *item, const struct csi_capacity_facts *facts,
		struct failure *reterr)
{
	Csi__V1__GetCapacityRequest message = CSI__V1__GET_CAPACITY_REQUEST__INIT;
	Csi__V1__Topology topology = CSI__V1__TOPOLOGY__INIT;
	struct csi_capability use;
	Csi__V1__VolumeCapability *uses[] = { &use.capability };
	cleanup(csi_map_done) struct csi_map parameters = { 0 }, place = { 0 };
	const struct csi_call_request request = {
		.driver = facts->driver->name,
		.method = CSI_GET_CAPACITY,
		.message = &message.base,
		.timeout_usec = CSI_CONTROLLER_SECONDS * USEC_PER_SEC,
		.done = on_answer,
		.userdata = item,
	};
	cleanup_json struct cJSON *tree = object_tree(facts->storage_class->object);
	int r = tree ? csi_map_add_parameters(&parameters, tree, CSI_PARAMETER_PREFIX) : -ENOMEM;

	csi_capability_fill(&use, false, csi_access_mode(0, false));
	message.volume_capabilities = uses;
	message.n_volume_capabilities = ARRAY_SIZE(uses);
	if (r == 0)
		r = read_place(facts->driver, &place);
	if (r == 0)
		r = CSI_MAP_FILL(&parameters, &message, get_capacity, parameters);
	if (r == 0)
		r = csi_map_fill(&place, &csi__v1__topology__segments_entry__descriptor,
				 &topology.n_segments, &topology.segments);
	message.accessible_topology = place.count > 0 ? &topology : NULL;
	if (r < 0)
		return failed(reterr, r, "cannot ask driver '%s'", facts->driver->name);
	return csi_drivers_call(capacity_of(item)->options.drivers, &request, &item->call, reterr);
}

/* A change during the call makes the figures stale. */
static void send_get_capacity(struct capacity_item *item, const struct csi_capacity_facts *facts)
{
	struct failure why;

	if (work_item_backs_off(&item->work))
		return;
	if (call(item, facts, &why) == 0) {
		item->is_fresh = true;
		work_item_begin(&item->work);
		return;
	}
	log_message(LOG_WARNING, "capacity of class '%s': %s", item->work.name, why.text);
	work_item_failed(&item->work);
}

static bool sync_item(struct work_item *work)
{
	struct capacity_item *item = (struct capacity_item *) work;
	struct csi_capacity_facts facts;

	look_up(item, &facts);
	switch (csi_capacity_decide(&facts)) {
	case CSI_CAPACITY_REMOVE:
		work_item_delete(work, facts.object);
		break;
	case CSI_CAPACITY_ASK:
		send_get_capacity(item, &facts);
		break;
	case CSI_CAPACITY_WRITE:
		write_object(item, &facts);
		break;
	default:
		break;
	}
	return csi_capacity_is_wanted(&facts) || facts.object;
}

/* ---- which item is due ---- */

static int take_name(struct csi_capacity *capacity, const char *name, bool is_old)
{
	struct capacity_item *item;

	if (work_queue_due(capacity->base.queues[0], name) < 0)
		return -ENOMEM;
	item = (struct capacity_item *) work_queue_find(capacity->base.queues[0], name);
	item->is_fresh &= !is_old;
	return 0;
}

static int take_class(const struct object *object, void *userdata)
{
	return take_name(userdata, object->meta.name, true);
}

static int take_object(const struct object *object, void *userdata)
{
	if (strcmp(object->meta.name_space, CSI_CAPACITY_NAMESPACE) != 0)
		return 0;
	return take_name(userdata, object->meta.name, false);
}

struct driver_search {
	struct csi_capacity *capacity;
	const char *driver;
};

static int take_class_of(const struct object *object, void *userdata)
{
	const struct driver_search *search = userdata;

	return strcmp(object->storage_class->provisioner, search->driver) == 0
		       ? take_class(object, search->capacity)
		       : 0;
}

static int take_classes_of(struct csi_capacity *capacity, const char *driver)
{
	struct driver_search search = { capacity, driver };

	return store_list(capacity->options.common.store, KIND_STORAGE_CLASS, NULL, take_class_of,
			  &search);
}

/* ---- watching ---- */

static int take_change(const struct store_change *change, void *userdata)
{
	const struct object *object = change->object;
	struct csi_capacity *capacity = userdata;

	switch (object->kind) {
	case KIND_STORAGE_CLASS:
		return take_class(object, capacity);
	case KIND_CSI_STORAGE_CAPACITY:
		return take_object(object, capacity);
	case KIND_CSI_DRIVER:
		return take_classes_of(capacity, object->meta.name);
	default:
		if (waits(object) && item_of_claim(capacity, object))
			walk_later(capacity);
		return 0;
	}
}

static void room_changed(void *userdata, const char *driver)
{
	if (take_classes_of(userdata, driver) < 0)
		log_message(LOG_ERR, "out of memory: capacities of '%s' wait for its next change",
			    driver);
	controller_run(userdata);
}

/* ---- life ---- */

static int open_timer(void *userdata)
{
	struct csi_capacity *capacity = userdata;
	const struct csi_controller_options *options = &capacity->options;
	int r = timer_new(options->common.event, USEC_PER_SEC, on_timer, capacity,
			  &capacity->timer);

	capacity->walked_usec = monotonic_usec();
	return r < 0 ? r : sd_event_source_set_priority(capacity->timer, options->common.priority);
}

static void close_timer(void *userdata)
{
	(void) sd_event_source_disable_unref(((struct csi_capacity *) userdata)->timer);
}

const struct controller_class csi_capacity_class = {
	CONTROLLER_OF(csi_capacity),
	.what = "capacities",
	.kinds = 1 << KIND_STORAGE_CLASS | 1 << KIND_CSI_DRIVER | 1 << KIND_CSI_STORAGE_CAPACITY |
		 1 << KIND_PERSISTENT_VOLUME_CLAIM,
	.lists = { { KIND_STORAGE_CLASS, take_class }, { KIND_CSI_STORAGE_CAPACITY, take_object } },
	.queues = { { .what = "capacity of class",
		      .item_bytes = sizeof(struct capacity_item),
		      .busy_max = 10,
		      .sync = sync_item } },
	.open = open_timer,
	.take_change = take_change,
	.close = close_timer,
	.end_item = csi_item_end_call,
	.call_at = offsetof(struct capacity_item, call),
	.driver_changed = room_changed,
	.room_changed = room_changed,
};
