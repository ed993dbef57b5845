/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_refusal - why a volume is not attached now: another node has it, or this one has
 * too many; see attach_detach.h
 *
 * What is refused waits until some VolumeAttachment goes, and is reported once to the pods that
 * want it. Pods of other namespaces are counted, never named.
 */
#include "controller/attach/attach_detach_internal.h"

#include "base/cleanup.h"
#include "csi/csi_drivers.h"
#include "object/json/json.h"

#include <stdio.h>
#include <string.h>

/* ---- elsewhere ---- */

/* The same volume on another node. NULL: nothing of it is there, or no memory. */
static const struct attach_item *item_at(const struct attach_item *item,
					 const struct attach_node *node)
{
	cleanup_free char *name = csi_attachment_name(item->handle, item->driver, node->work.name);

	return name ? (const struct attach_item *) work_queue_find(item->work.queue, name) : NULL;
}

/* Also while the object is being made: it then is on its way into the store. */
static bool has_attachment(const struct attach_item *item)
{
	return item->work.is_busy || store_get(attach_controller(item)->options.common.store,
					       KIND_VOLUME_ATTACHMENT, "", item->work.name);
}

bool attach_is_elsewhere(const struct attach_item *item)
{
	const struct attach_node *node;

	for (node = attach_controller(item)->node_list; node; node = node->next) {
		const struct attach_item *other = node == item->node ? NULL : item_at(item, node);

		if (other && has_attachment(other))
			return true;
	}
	return false;
}

/* Who uses it elsewhere, as a pod of @name_space may know it. */
static void describe_users(const struct attach_item *item, const char *name_space, FILE *text)
{
	const struct attach_node *node;
	size_t near = 0, far = 0;

	for (node = attach_controller(item)->node_list; node; node = node->next) {
		const struct attach_item *other = node == item->node ? NULL : item_at(item, node);
		const struct attach_want *want;

		for (want = other ? other->wants : NULL; want; want = want->next) {
			bool is_near = strcmp(want->pod->name_space, name_space) == 0;

			if (is_near)
				(void) fprintf(text, "%s%s",
					       near > 0 ? ", "
							: "Volume is already used by pod(s) ",
					       want->pod->name);
			near += is_near;
			far += !is_near;
		}
	}
	if (near > 0 && far > 0)
		(void) fprintf(text, " and %zu pod(s) in different namespaces", far);
	else if (far > 0)
		(void) fprintf(text, "Volume is already used by %zu pod(s) in different namespaces",
			       far);
	else if (near == 0)
		(void) fprintf(text, "Volume is already exclusively attached to one node and can't "
				     "be attached to another");
}

static void report_pod(const struct attach_item *item, const struct attach_pod *pod)
{
	const struct attach_detach_options *options = &attach_controller(item)->options;
	const struct object *object =
		store_get(options->common.store, KIND_POD, pod->name_space, pod->name);
	cleanup_free char *text = NULL;
	size_t length = 0;
	FILE *file = object ? open_memstream(&text, &length) : NULL;

	if (!file)
		return;
	(void) fprintf(file, "Multi-Attach error for volume \"%s\" ", item->volume_name);
	describe_users(item, pod->name_space, file);
	if (fclose(file) == 0)
		options->common.event_fn(options->common.userdata, object, "Warning",
					 "FailedAttachVolume", text);
}

/* One word for all of it: who the others are may change, and is not reported again. */
void attach_refuse_multi(struct attach_item *item)
{
	item->is_refused = attach_controller(item)->has_refused = true;
	if (!work_item_is_news(&item->work, "Multi-Attach error"))
		return;
	for (const struct attach_want *want = item->wants; want; want = want->next)
		report_pod(item, want->pod);
}

/* ---- too many ---- */

/* 0: no limit. */
static int64_t limit_of(const struct attach_item *item)
{
	const struct object *csi_node = store_get(attach_controller(item)->options.common.store,
						  KIND_CSI_NODE, "", item->node->work.name);
	cleanup_json struct cJSON *tree = csi_node ? object_tree(csi_node) : NULL;
	const struct cJSON *i = json_first(json_get_path(tree, "spec.drivers"));
	int64_t limit = 0;

	for (; i; i = json_next(i))
		if (json_text_is(i, "name", item->driver) &&
		    json_int64(json_get_path(i, "allocatable.count"), &limit))
			return limit;
	return 0;
}

bool attach_has_room(const struct attach_item *item)
{
	int64_t limit = limit_of(item), count = 0;

	if (limit <= 0)
		return true;
	for (const struct attach_item *i = item->node->items; i; i = i->next)
		if (strcmp(i->driver, item->driver) == 0 && has_attachment(i))
			count++;
	return count < limit;
}

void attach_refuse_limit(struct attach_item *item)
{
	char text[FAILURE_TEXT_BYTES];

	item->is_refused = attach_controller(item)->has_refused = true;
	(void) snprintf(text, sizeof(text),
			"AttachVolume.Attach failed for volume \"%s\" : node(s) exceed max volume "
			"count",
			item->volume_name);
	attach_item_report(item, "Warning", "FailedAttachVolume", text);
}
