/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_annotation - see own_node.h
 */
#include "cluster/own_node.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"
#include "cluster/cluster_internal.h"
#include "object/json/json.h"
#include "object/kinds/node.h"

enum { RETRY_FIRST_SECONDS = 1, RETRY_MAX_SECONDS = 300 };

struct node_annotation {
	struct cluster *cluster;
	bool has_begun;
	struct store_watch *watch; /* a Node that is made again lacks the annotation */
	sd_event_source *retry;    /* on: the annotation was written, and is not stored yet */
	char done_uid[OBJECT_UID_BYTES_MAX + 1]; /* of the Node that had it; "": none */
	uint64_t delay_seconds;
};

static int add_annotation(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"),
			       ANNOTATION_MANAGED_ATTACH, "true");
}

static void retry_later(struct node_annotation *annotation)
{
	timer_set_in(annotation->retry, annotation->delay_seconds * USEC_PER_SEC);
	annotation->delay_seconds *= 2;
	if (annotation->delay_seconds > RETRY_MAX_SECONDS)
		annotation->delay_seconds = RETRY_MAX_SECONDS;
}

static void note_done(struct node_annotation *annotation, const struct object *node)
{
	(void) snprintf(annotation->done_uid, sizeof(annotation->done_uid), "%s", node->meta.uid);
	annotation->delay_seconds = RETRY_FIRST_SECONDS;
	(void) sd_event_source_set_enabled(annotation->retry, SD_EVENT_OFF);
}

/* The answer to the write may come after this was freed: the store shows it. */
static void annotate(struct node_annotation *annotation)
{
	const struct cluster_options *options = &annotation->cluster->options;
	const struct object *node = store_get(options->store, KIND_NODE, "", options->node_name);
	cleanup_object const struct object *annotated = NULL;

	if (!node)
		return;
	if (node->node->is_managed) {
		note_done(annotation, node);
		return;
	}
	if (timer_is_set(annotation->retry) || strcmp(annotation->done_uid, node->meta.uid) == 0)
		return;
	if (object_edit(node, add_annotation, NULL, &annotated, NULL) == 0)
		(void) store_update(options->store, annotated, NULL, NULL, NULL);
	retry_later(annotation);
}

static void watch_node(struct node_annotation *annotation);

static void on_change(void *userdata)
{
	watch_node(userdata);
	annotate(userdata);
}

/* From now on; what each change was does not matter. */
static void watch_node(struct node_annotation *annotation)
{
	struct store *store = annotation->cluster->options.store;

	annotation->watch = store_watch_free(annotation->watch);
	if (store_watch_new(store, 1U << KIND_NODE, store_resource_version(store), on_change,
			    annotation, &annotation->watch) < 0)
		retry_later(annotation);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	on_change(userdata);
	return 0;
}

void node_annotation_begin(struct node_annotation *annotation)
{
	if (annotation->has_begun)
		return;
	annotation->has_begun = true;
	on_change(annotation);
}

int node_annotation_new(struct cluster *cluster)
{
	struct node_annotation *annotation = calloc(1, sizeof(*annotation));

	if (!annotation)
		return -ENOMEM;
	cluster->node_annotation = annotation;
	annotation->cluster = cluster;
	annotation->delay_seconds = RETRY_FIRST_SECONDS;
	return timer_new(cluster->options.event, 0, on_retry, annotation, &annotation->retry);
}

struct node_annotation *node_annotation_free(struct node_annotation *annotation)
{
	if (!annotation)
		return NULL;
	(void) store_watch_free(annotation->watch);
	(void) sd_event_source_disable_unref(annotation->retry);
	free(annotation);
	return NULL;
}
