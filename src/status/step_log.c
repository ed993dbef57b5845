/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_log - see status.h: a ring of steps
 *
 * Of each step its numbers and texts are kept, in one allocation: it is printed only for who asks.
 * What ran for no time at all, a device stage of a plugin without stages, is no step that took
 * time: it is not kept.
 */
#include "status/status.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "operation/operation.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum step_text { TEXT_POD, TEXT_POD_UID, TEXT_VOLUME, TEXT_UNIQUE_NAME, TEXT_ERROR, TEXT_COUNT };

struct kept_step {
	const char *name;              /* static, as those of its stages */
	const char *texts[TEXT_COUNT]; /* behind the stages; error: NULL after success */
	uint64_t began_usec;           /* real */
	uint64_t begun_usec;           /* monotonic */
	uint64_t ran_usec;
	unsigned int attempt;
	bool needs_stage; /* its error is no failure: see state/actual.h */
	size_t stage_count;
	struct stage_time stages[];
};

struct step_log {
	const struct actual *actual;            /* borrowed */
	struct kept_step *steps[STEP_LOG_KEPT]; /* NULL: none yet */
	size_t next;                            /* the oldest, once all are used */
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
		free(log->steps[i]);
	free(log);
	return NULL;
}

/* The pod as the table knows it; of a set-up that the table does not know yet, by its object. */
static void name_subject(const struct step_log *log, const struct operation_ended *ended, char *key,
			 size_t key_bytes, const char *texts[TEXT_COUNT])
{
	const struct step_result *result = &ended->result;
	const struct actual_volume *volume = actual_find(log->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;

	*key = '\0';
	if (!pod && ended->pod)
		(void) snprintf(key, key_bytes, "%s/%s", ended->pod->meta.name_space,
				ended->pod->meta.name);
	texts[TEXT_POD] = pod ? pod->pod_key : key;
	texts[TEXT_POD_UID] = result->pod_uid ?: "";
	texts[TEXT_VOLUME] = pod ? pod->outer_name : "";
	texts[TEXT_UNIQUE_NAME] = result->unique_name;
	texts[TEXT_ERROR] = result->error < 0 ? ended->report->failure.text : NULL;
}

/* With copies of the texts. NULL: no memory. */
static struct kept_step *keep(const struct operation_ended *ended,
			      const char *const texts[TEXT_COUNT])
{
	size_t stage_bytes = ended->stage_count * sizeof(struct stage_time), bytes = 0;
	struct kept_step *kept;
	char *at;

	for (size_t i = 0; i < TEXT_COUNT; i++)
		bytes += texts[i] ? strlen(texts[i]) + 1 : 0;
	kept = malloc(sizeof(*kept) + stage_bytes + bytes);
	if (!kept)
		return NULL;
	*kept = (struct kept_step){
		.name = ended->name,
		.began_usec = realtime_usec() - ended->ran_usec,
		.begun_usec = ended->begun_usec,
		.ran_usec = ended->ran_usec,
		.attempt = ended->attempt,
		.needs_stage = ended->result.needs_stage,
		.stage_count = ended->stage_count,
	};
	if (stage_bytes > 0)
		memcpy(kept->stages, ended->stages, stage_bytes);
	at = (char *) kept + sizeof(*kept) + stage_bytes;
	for (size_t i = 0; i < TEXT_COUNT; i++) {
		if (!texts[i])
			continue;
		kept->texts[i] = at;
		at = mempcpy(at, texts[i], strlen(texts[i]) + 1);
	}
	return kept;
}

void step_log_note(void *userdata, const struct operation_ended *ended)
{
	struct step_log *log = userdata;
	const char *texts[TEXT_COUNT];
	struct kept_step *kept;
	char key[512];

	assert(log && ended);
	if (ended->stage_count == 0 && ended->result.error == 0)
		return;
	name_subject(log, ended, key, sizeof(key), texts);
	kept = keep(ended, texts);
	if (!kept) {
		log_message(LOG_WARNING, "out of memory: a step is not in the log of steps");
		return;
	}
	free(log->steps[log->next]);
	log->steps[log->next] = kept;
	log->next = (log->next + 1) % STEP_LOG_KEPT;
}

static void view_stages(const struct kept_step *kept, struct cJSON *tree)
{
	struct cJSON *stages = json_add_array(tree, "stages");

	for (size_t i = 0; i < kept->stage_count; i++) {
		const struct stage_time *stage = &kept->stages[i];
		struct cJSON *item = json_add_object(stages, NULL);

		(void) json_set_string(item, "name", stage->name);
		(void) json_set_int(item, "afterMicroseconds",
				    (int64_t) (stage->began_usec - kept->begun_usec));
		(void) json_set_int(item, "tookMicroseconds", (int64_t) stage->took_usec);
	}
}

static void view_step(const struct kept_step *kept, struct cJSON *tree)
{
	char began[TIMESTAMP_BYTES];

	timestamp_print_milli(kept->began_usec, began);
	(void) json_set_string(tree, "pod", kept->texts[TEXT_POD]);
	(void) json_set_string(tree, "podUID", kept->texts[TEXT_POD_UID]);
	(void) json_set_string(tree, "volume", kept->texts[TEXT_VOLUME]);
	(void) json_set_string(tree, "uniqueName", kept->texts[TEXT_UNIQUE_NAME]);
	(void) json_set_string(tree, "step", kept->name);
	(void) json_set_string(tree, "began", began);
	(void) json_set_int(tree, "beganMicroseconds", (int64_t) kept->began_usec);
	(void) json_set_int(tree, "beganMonotonic", (int64_t) kept->begun_usec);
	(void) json_set_int(tree, "tookMicroseconds", (int64_t) kept->ran_usec);
	(void) json_set_int(tree, "attempt", kept->attempt);
	if (kept->texts[TEXT_ERROR])
		(void) json_set_string(tree, "error", kept->texts[TEXT_ERROR]);
	if (kept->needs_stage)
		(void) json_set_bool(tree, "needsStage", true);
	view_stages(kept, tree);
}

struct cJSON *step_log_view(const struct step_log *log)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	assert(log);
	for (size_t i = 0; i < STEP_LOG_KEPT; i++) {
		const struct kept_step *kept = log->steps[(log->next + i) % STEP_LOG_KEPT];

		if (kept)
			view_step(kept, json_add_object(items, NULL));
	}
	return list;
}
