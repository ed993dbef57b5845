/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_calls - what a plugin is asked about a volume that is mounted: its calls expand and stats;
 * see exec.h
 *
 * Neither one takes a mount away from a pod: a volume that did not grow is used as it is, and
 * where there are no statistics the file system has them.
 */
#include "plugins/exec/exec.h"

#include "object/json/json.h"

#include <assert.h>
#include <stdio.h>

int exec_step_expand(void *data, struct stage_report *report)
{
	const struct exec_step *step = data;
	struct stage_report call = { .tool_pid = report->tool_pid };
	int r;

	if (step->expand_bytes == 0)
		return STAGE_NEXT;
	r = exec_step_call(step, "expand", &call);
	if (r >= 0) { /* one without such a call has nothing to do on the node */
		report->grown_bytes = step->expand_bytes;
		return STAGE_NEXT;
	}
	report->not_grown = call.failure;
	report->growth_error = r;
	report->grows_later = true;
	return STAGE_NEXT;
}

static uint64_t figure(const struct cJSON *answer, const char *name, bool *ret_is_there)
{
	int64_t value = 0;

	*ret_is_there = json_int64(json_get(answer, name), &value) && value >= 0;
	return *ret_is_there ? (uint64_t) value : 0;
}

static int take_metrics(const struct cJSON *answer, const char *name, struct volume_metrics *ret,
			struct failure *reterr)
{
	struct volume_metrics metrics = { 0 };
	bool has_used, has_inodes_free;

	metrics.capacity = figure(answer, "capacityBytes", &metrics.has_bytes);
	metrics.used = figure(answer, "usedBytes", &has_used);
	metrics.inodes = figure(answer, "inodes", &metrics.has_inodes);
	metrics.inodes_free = figure(answer, "inodesFree", &has_inodes_free);
	if (!metrics.has_bytes || !has_used || metrics.used > metrics.capacity ||
	    metrics.has_inodes != has_inodes_free || metrics.inodes_free > metrics.inodes)
		return failed_plain(reterr, -EPROTO,
				    "plugin '%s', stats: its answer needs capacityBytes and, at "
				    "most as many, usedBytes; inodes goes with inodesFree",
				    name);
	metrics.available = metrics.capacity - metrics.used;
	metrics.inodes_used = metrics.inodes - metrics.inodes_free;
	metrics.has_condition = json_is_bool(json_get(answer, "abnormal"));
	metrics.abnormal = json_bool(json_get(answer, "abnormal"), false);
	(void) snprintf(metrics.condition, sizeof(metrics.condition), "%s",
			json_text(answer, "message"));
	*ret = metrics;
	return 0;
}

int exec_request_metrics(const struct volume_request *request, struct volume_metrics *ret,
			 struct failure *reterr)
{
	struct stage_report report = { .failure = { .error = 0 } };
	cleanup_json struct cJSON *answer = NULL;
	struct exec_step step = { .host = NULL };
	int r;

	assert(request && ret && reterr);
	r = exec_step_init(&step, request, false, reterr);
	if (r == 0) {
		r = exec_step_invoke(&step,
				     &(struct exec_call){ .name = "stats", .ret_answer = &answer },
				     &report);
		if (r < 0)
			*reterr = report.failure;
	}
	if (r == EXEC_UNSUPPORTED)
		r = failed_plain(reterr, -EOPNOTSUPP, "plugin '%s' has no statistics", step.name);
	if (r == EXEC_DONE)
		r = take_metrics(answer, step.name, ret, reterr);
	exec_step_done(&step);
	return r;
}
