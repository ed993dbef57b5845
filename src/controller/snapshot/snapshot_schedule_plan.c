/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_schedule_plan - when a claim's next snapshot is due, and which one goes; see
 * snapshot_schedule_plan.h
 */
#include "controller/snapshot/snapshot_schedule_plan.h"

#include "base/clock.h"
#include "object/json/json.h"
#include "object/metadata.h"
#include "object/timestamp.h"

#include <assert.h>
#include <string.h>
#include <time.h>

static const char *parameter(const struct volume_snapshot_class *class, const char *key)
{
	for (size_t i = 0; i < class->parameters.count; i++)
		if (strcmp(class->parameters.labels[i].key, key) == 0)
			return class->parameters.labels[i].value;
	return NULL;
}

/* ---- the class ---- */

static int parse_duration(const char *text, const char *key, uint64_t *ret, struct failure *reterr)
{
	int r = duration_parse(text, ret);

	if (r < 0 || *ret < USEC_PER_SEC || *ret % USEC_PER_SEC != 0)
		return failed_plain(reterr, -EINVAL,
				    "parameter %s: '%.60s' is not a duration such as 24h: whole "
				    "seconds, at most 30 days",
				    key, text);
	return 0;
}

static int parse_count(const char *text, size_t *ret, struct failure *reterr)
{
	char *end = NULL;
	unsigned long count;

	errno = 0;
	count = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || count < 1 ||
	    count > SCHEDULE_KEEP_MAX)
		return failed_plain(reterr, -EINVAL,
				    "parameter %s: '%.60s' is not a number of 1 to %d",
				    PARAMETER_KEEP, text, SCHEDULE_KEEP_MAX);
	*ret = count;
	return 0;
}

int snapshot_schedule_parse(const struct volume_snapshot_class *class,
			    struct snapshot_schedule *ret, struct failure *reterr)
{
	const char *every = parameter(class, PARAMETER_SCHEDULE);
	const char *keep = parameter(class, PARAMETER_KEEP);
	const char *age = parameter(class, PARAMETER_KEEP_AGE);
	struct snapshot_schedule made = { .keep = keep || age ? 0 : SCHEDULE_KEEP_DEFAULT };
	int r;

	if (!every)
		return failed_plain(reterr, -EINVAL, "it has no parameter %s", PARAMETER_SCHEDULE);
	r = parse_duration(every, PARAMETER_SCHEDULE, &made.every_usec, reterr);
	if (r == 0 && keep)
		r = parse_count(keep, &made.keep, reterr);
	if (r == 0 && age)
		r = parse_duration(age, PARAMETER_KEEP_AGE, &made.keep_age_usec, reterr);
	if (r == 0 && !made.keep && made.keep_age_usec / made.every_usec > SCHEDULE_KEEP_MAX)
		r = failed_plain(reterr, -EINVAL,
				 "parameter %s: more than %d snapshots would be kept",
				 PARAMETER_KEEP_AGE, SCHEDULE_KEEP_MAX);
	if (r == 0)
		*ret = made;
	return r;
}

uint64_t snapshot_schedule_due(const struct snapshot_schedule *schedule, uint64_t now_usec)
{
	assert(schedule->every_usec > 0);
	return now_usec - now_usec % schedule->every_usec;
}

/* ---- a snapshot ---- */

/* "data-20261126-060000" */
static int print_name(const struct object *claim, uint64_t due_usec,
		      char ret[SCHEDULED_NAME_MAX + 1])
{
	const time_t seconds = (time_t) (due_usec / USEC_PER_SEC);
	char when[32] = "";
	struct tm calendar;
	int length;

	if (!gmtime_r(&seconds, &calendar))
		return -EINVAL;
	(void) strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &calendar);
	length = snprintf(ret, SCHEDULED_NAME_MAX + 1, "%s-%s", claim->meta.name, when);
	return length > SCHEDULED_NAME_MAX ? -ENAMETOOLONG : 0;
}

int snapshot_schedule_make(const struct object *claim, const char *class_name, uint64_t due_usec,
			   const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_new_object();
	char name[SCHEDULED_NAME_MAX + 1], when[TIMESTAMP_BYTES];
	struct cJSON *metadata, *annotations, *spec;
	int r = print_name(claim, due_usec, name);

	if (r < 0)
		return failed_plain(reterr, r, "the claim's name is too long for a snapshot's");
	timestamp_print(due_usec, when);
	(void) json_set_string(tree, "apiVersion", "snapshot.storage.k8s.io/v1");
	(void) json_set_string(tree, "kind", "VolumeSnapshot");
	metadata = json_ensure_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(metadata, "namespace", claim->meta.name_space);
	annotations = json_ensure_object(metadata, "annotations");
	(void) json_set_string(annotations, ANNOTATION_SCHEDULED_OF, claim->meta.uid);
	(void) json_set_string(annotations, ANNOTATION_SCHEDULED_AT, when);
	spec = json_ensure_object(tree, "spec");
	(void) json_set_string(spec, "volumeSnapshotClassName", class_name);
	(void) json_set_string(json_ensure_object(spec, "source"), "persistentVolumeClaimName",
			       claim->meta.name);
	return object_propose(tree, ret, reterr);
}

bool snapshot_schedule_made(const struct volume_snapshot *snapshot, const struct object *claim,
			    uint64_t *ret_due_usec)
{
	cleanup_json struct cJSON *tree = NULL;
	const char *of, *at;
	char name[SCHEDULED_NAME_MAX + 1];
	size_t length = strlen(claim->meta.name);
	uint64_t due_usec;

	/* Of thousands that users made no trees are made. */
	if (strcmp(snapshot->claim_name, claim->meta.name) != 0 ||
	    strncmp(snapshot->object->meta.name, claim->meta.name, length) != 0 ||
	    !strstr(snapshot->object->json, ANNOTATION_SCHEDULED_OF))
		return false;
	tree = object_tree(snapshot->object);
	of = tree ? metadata_annotation(tree, ANNOTATION_SCHEDULED_OF) : NULL;
	at = tree ? metadata_annotation(tree, ANNOTATION_SCHEDULED_AT) : NULL;
	due_usec = at ? timestamp_parse(at) : 0;
	if (!of || strcmp(of, claim->meta.uid) != 0 || due_usec == 0 ||
	    print_name(claim, due_usec, name) < 0 || strcmp(name, snapshot->object->meta.name) != 0)
		return false;
	*ret_due_usec = due_usec;
	return true;
}

bool snapshot_schedule_holds(const struct object *snapshot)
{
	cleanup_json struct cJSON *tree = object_tree(snapshot);
	const struct cJSON *list = json_get_path(tree, "metadata.finalizers");

	if (!tree)
		return true;
	JSON_FOREACH (i, list) {
		const char *name = json_string(i, "");

		if (strcmp(name, FINALIZER_SNAPSHOT_BOUND) != 0 &&
		    strcmp(name, FINALIZER_SNAPSHOT_SOURCE) != 0)
			return true;
	}
	return false;
}

/* ---- which one goes ---- */

static int by_due_time(const void *left, const void *right)
{
	const struct scheduled_snapshot *a = left, *b = right;

	if (a->due_usec == b->due_usec)
		return 0;
	return a->due_usec > b->due_usec ? -1 : 1;
}

const struct volume_snapshot *snapshot_schedule_surplus(const struct snapshot_schedule *schedule,
							struct scheduled_snapshot *list,
							size_t count, uint64_t now_usec,
							uint64_t *ret_next_usec)
{
	const struct volume_snapshot *surplus = NULL;
	size_t good = 0;

	*ret_next_usec = UINT64_MAX;
	if (count > 0)
		qsort(list, count, sizeof(*list), by_due_time);
	for (size_t i = 0; i < count; i++) {
		const struct scheduled_snapshot *one = &list[i];
		uint64_t end_usec = schedule->keep_age_usec
					    ? one->due_usec + schedule->keep_age_usec
					    : UINT64_MAX;

		if (!one->snapshot->state.is_ready || one->snapshot->object->meta.deletes ||
		    one->due_usec > now_usec)
			continue;
		if (++good == 1)
			continue; /* the last good one */
		if ((schedule->keep > 0 && good > schedule->keep) || end_usec <= now_usec) {
			if (!one->is_held)
				surplus = one->snapshot;
		} else if (end_usec < *ret_next_usec) {
			*ret_next_usec = end_usec;
		}
	}
	return surplus;
}
