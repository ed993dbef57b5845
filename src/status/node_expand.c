/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_expand - a volume is to be larger on this node: its claim says what comes of it; see
 * status.h
 *
 * What the claim says it has is what the next set-up compares with, so that a volume grows once.
 * The requester may be writing the claim at the same time, so the change is made of whatever
 * is there by then; one that cannot be stored is logged, and the next set-up grows the volume once
 * more, which changes nothing.
 */
#include "status/status.h"

#include "base/clock.h"
#include "base/log.h"
#include "controller/csi/claim_resize.h"
#include "events/events.h"
#include "operation/renewals.h"
#include "plugins/plugin.h"
#include "status/view_time.h"
#include "store/store.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A write under way. */
struct node_expand {
	enum claim_resize_state state;
	int64_t bytes;
	struct failure why;
	char *unique_name;
};

static struct node_expand *node_expand_free(struct node_expand *node_expand)
{
	if (node_expand)
		free(node_expand->unique_name);
	free(node_expand);
	return NULL;
}

static struct node_expand *node_expand_new(const struct node_expand *from, const char *unique_name)
{
	struct node_expand *node_expand = calloc(1, sizeof(*node_expand));

	if (!node_expand)
		return NULL;
	*node_expand = *from;
	node_expand->unique_name = strdup(unique_name);
	return node_expand->unique_name ? node_expand : node_expand_free(node_expand);
}

static void report_unwritten(const char *unique_name, const char *why)
{
	log_about(LOG_ERR, &(struct log_subject){ .volume = unique_name },
		  "the progress of an expansion is not written to the claim: %s", why);
}

static int edit_claim(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	const struct node_expand *node_expand = userdata;

	return claim_resize_edit(present, node_expand->state, node_expand->bytes,
				 node_expand->why.text, ret, why);
}

/* A claim that is gone needs to know nothing, nor one that another has settled. */
static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct node_expand *node_expand = userdata;

	if (error < 0 && error != -ENOENT && error != -ECANCELED && error != -EALREADY)
		report_unwritten(node_expand->unique_name, why->text);
	(void) node_expand_free(node_expand);
}

static int queue(const struct node_expand_options *with, const struct object *claim,
		 struct node_expand *node_expand, struct failure *why)
{
	const struct store_precondition expected = {
		.uid = claim->meta.uid,
		.resource_version = claim->meta.resource_version,
	};
	cleanup_object const struct object *changed = NULL;
	int r = edit_claim(node_expand, claim, &changed, why);

	return r < 0 ? r
		     : store_edit(*with->reporter->store, changed, &expected, edit_claim,
				  on_written, node_expand);
}

static void write_claim(const struct node_expand_options *with, const struct object *claim,
			const struct node_expand *from, const char *unique_name)
{
	struct node_expand *node_expand = node_expand_new(from, unique_name);
	struct failure why = { .text = "out of memory" };
	int r = node_expand ? queue(with, claim, node_expand, &why) : -ENOMEM;

	if (r == 0)
		return;
	if (r != -EALREADY)
		report_unwritten(unique_name, why.text);
	(void) node_expand_free(node_expand);
}

void node_expand_step_started(void *userdata, const struct step *step)
{
	const struct node_expand_options *with = userdata;
	const struct desired_pod *pod = step->want_pod;
	const struct persistent_volume *pv = pod ? spec_pv(&pod->spec) : NULL;

	assert(with);
	if (step->kind != STEP_PUBLISH || !(step->want->plugin->traits & VOLUME_GROWS) || !pv ||
	    !pod->claim || pod->spec.read_only || !*with->reporter->store ||
	    quantity_compare(&pv->capacity, &pod->claim->claim->status_capacity) <= 0)
		return;
	write_claim(with, pod->claim, &(struct node_expand){ .state = CLAIM_RESIZE_NODE_BEGUN },
		    step->unique_name);
}

/* How long until the set-up is repeated; less where it is due anyway. */
static uint64_t retry_delay_usec(unsigned int failures, uint64_t renew_usec)
{
	uint64_t delay_usec = BACK_OFF_FIRST_USEC, now_usec = realtime_usec();

	while (failures-- > 1 && delay_usec < BACK_OFF_MAX_USEC)
		delay_usec *= 2;
	if (delay_usec > BACK_OFF_MAX_USEC)
		delay_usec = BACK_OFF_MAX_USEC;
	if (renew_usec > now_usec && renew_usec - now_usec < delay_usec)
		return renew_usec - now_usec;
	return delay_usec;
}

/* The pod and its claim get the same event, and the journal a line. @retry_usec: monotonic; 0: not
 * before the next set-up. */
static void report_failure(const struct node_expand_options *with, const struct desired_pod *pod,
			   const char *unique_name, const char *why, uint64_t retry_usec)
{
	const struct reporter *reporter = with->reporter;
	const struct object *const about[] = { pod->pod, pod->claim };
	char key[POD_KEY_BYTES], attempts[ATTEMPT_TEXT_BYTES], text[EVENT_TEXT_BYTES];

	if (retry_usec > 0)
		attempt_text(pod->node_expand_failures, pod->node_expand_failing_usec, retry_usec,
			     true, attempts);
	else
		(void) snprintf(attempts, sizeof(attempts), "attempt %u, next with the next mount",
				pod->node_expand_failures);
	(void) snprintf(text, sizeof(text), "volume '%s' is used at its old size: %s (%s)",
			pod->outer_names[0], why, attempts);
	for (size_t i = 0; i < ARRAY_SIZE(about); i++)
		reporter->record(reporter->userdata, about[i], "Warning", "VolumeResizeFailed",
				 text);
	log_about(LOG_WARNING,
		  &(struct log_subject){ .pod = pod_key(pod->pod->pod, key),
					 .pod_uid = pod->pod->meta.uid,
					 .volume = unique_name },
		  "%s", text);
}

static void note_failure(const struct node_expand_options *with,
			 const struct operation_ended *ended, const struct desired_pod *pod,
			 const char *why)
{
	const struct step_result *result = &ended->result;
	const struct stage_report *report = ended->report;
	bool retries = result->error == 0 && report->grows_later;
	uint64_t now_usec = monotonic_usec(), delay_usec;

	desired_note_expand(with->reporter->tables->desired, result->unique_name, result->pod_uid,
			    now_usec);
	delay_usec = retry_delay_usec(pod->node_expand_failures, report->renew_usec);
	report_failure(with, pod, result->unique_name, why, retries ? now_usec + delay_usec : 0);
	if (retries && renewals_set(*with->renewals, result->unique_name, result->pod_uid,
				    realtime_usec() + delay_usec) < 0)
		report_unwritten(result->unique_name, "out of memory; the next set-up tries");
}

void node_expand_step_ended(void *userdata, const struct operation_ended *ended)
{
	const struct node_expand_options *with = userdata;
	const struct reporter *reporter = with->reporter;
	struct desired *desired = reporter->tables->desired;
	const struct step_result *result = &ended->result;
	const struct stage_report *report = ended->report;
	const struct desired_volume *want = desired_find(desired, result->unique_name);
	const struct desired_pod *pod =
		want && result->pod_uid ? desired_find_pod(want, result->pod_uid) : NULL;
	struct node_expand node_expand;

	assert(report);
	if (!pod || !pod->claim || !*reporter->store)
		return;
	if (result->error == 0 && report->grown_bytes > 0) {
		node_expand = (struct node_expand){ .state = CLAIM_RESIZE_DONE,
						    .bytes = report->grown_bytes };
		desired_note_expand(desired, result->unique_name, result->pod_uid, 0);
		reporter->record(reporter->userdata, pod->claim, "Normal",
				 "FileSystemResizeSuccessful",
				 "the volume is as large as it was asked to be");
	} else if (report->growth_error < 0) {
		node_expand = (struct node_expand){
			.state = report->is_growth_infeasible ? CLAIM_RESIZE_NODE_INFEASIBLE
							      : CLAIM_RESIZE_NODE_FAILED,
			.why = report->not_grown,
		};
		(void) failure_append(&node_expand.why, "%s", advice_clause(report->growth_error));
		note_failure(with, ended, pod, node_expand.why.text);
	} else {
		return;
	}
	write_claim(with, pod->claim, &node_expand, result->unique_name);
}
