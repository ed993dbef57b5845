/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_log - see status.h: a ring of lines
 *
 * Each step is printed once and kept as text, which is a third of its tree. What ran for no time
 * at all, a device stage of a plugin without stages, is no step that took time: it has no line.
 */
#include "status/status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "operation/operation.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct step_log {
	const struct actual *actual; /* borrowed */
	char *lines[STEP_LOG_KEPT];  /* NULL: none yet */
	size_t next;                 /* the oldest, once all are used */
};

int step_log_new(const struct actual *actual, struct step_log **ret)
{
	struct step_log *log = calloc(1, sizeof(*log));

	assert(actual && ret);
	if (!log)
		return -ENOMEM;
	log->actual = actual;
	*ret = log;
	return 0;
}

struct step_log *step_log_free(struct step_log *log)
{
	if (!log)
		return NULL;
	for (size_t i = 0; i < STEP_LOG_KEPT; i++)
		free(log->lines[i]);
	free(log);
	return NULL;
}

/* The pod as the table knows it; of a set-up that the table does not know yet, by its object. */
static void describe_subject(const struct step_log *log, struct cJSON *tree,
			     const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	const struct actual_volume *volume = actual_find(log->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	char key[512] = "";

	if (pod)
		(void) snprintf(key, sizeof(key), "%s", pod->pod_key);
	else if (ended->pod)
		(void) snprintf(key, sizeof(key), "%s/%s", ended->pod->meta.name_space,
				ended->pod->meta.name);
	(void) json_set_string(tree, "pod", key);
	(void) json_set_string(tree, "podUID", result->pod_uid ? result->pod_uid : "");
	(void) json_set_string(tree, "volume", pod ? pod->outer_name : "");
	(void) json_set_string(tree, "uniqueName", result->unique_name);
}

static void describe_stages(struct cJSON *tree, const struct operation_ended *ended)
{
	struct cJSON *stages = json_add_array(tree, "stages");

	for (size_t i = 0; i < ended->stage_count; i++) {
		const struct stage_time *stage = &ended->stages[i];
		struct cJSON *item = json_add_object(stages, NULL);

		(void) json_set_string(item, "name", stage->name);
		(void) json_set_int(item, "afterMicroseconds",
				    (int64_t) (stage->began_usec - ended->begun_usec));
		(void) json_set_int(item, "tookMicroseconds", (int64_t) stage->took_usec);
	}
}

void step_log_note(void *userdata, const struct operation_ended *ended)
{
	struct step_log *log = userdata;
	cleanup_json struct cJSON *tree = NULL;
	char **place, *line, began[VIEW_TIME_BYTES];
	uint64_t began_usec;

	assert(log && ended);
	if (ended->stage_count == 0 && ended->result.error == 0)
		return;
	tree = json_new_object();
	began_usec = realtime_usec() - ended->ran_usec;
	view_print_time(began_usec, began);
	describe_subject(log, tree, ended);
	(void) json_set_string(tree, "step", ended->name);
	(void) json_set_string(tree, "began", began);
	(void) json_set_int(tree, "beganMicroseconds", (int64_t) began_usec);
	(void) json_set_int(tree, "beganMonotonic", (int64_t) ended->begun_usec);
	(void) json_set_int(tree, "tookMicroseconds", (int64_t) ended->ran_usec);
	(void) json_set_int(tree, "attempt", ended->attempt);
	if (ended->result.error < 0)
		(void) json_set_string(tree, "error", ended->report->failure.text);
	describe_stages(tree, ended);
	line = tree ? json_print(tree) : NULL;
	if (!line) {
		log_message(LOG_WARNING, "out of memory: a step is not in the log of steps");
		return;
	}
	place = &log->lines[log->next];
	free(*place);
	*place = line;
	log->next = (log->next + 1) % STEP_LOG_KEPT;
}

struct cJSON *step_log_view(const struct step_log *log)
{
	const struct json_limits limits = { .bytes = 65536, .depth = 5 };
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	assert(log);
	for (size_t i = 0; i < STEP_LOG_KEPT; i++) {
		const char *line = log->lines[(log->next + i) % STEP_LOG_KEPT];
		struct cJSON *tree = NULL;

		if (!line)
			continue;
		(void) json_parse(line, strlen(line), &limits, &tree, NULL);
		(void) json_set(items, NULL, tree);
	}
	return list;
}
