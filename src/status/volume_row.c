/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_row - one volume of one pod as people see it: wanted, mounted, being worked on, or several
 * of these
 *
 * Joins the two tables and the operations; owns nothing and changes nothing.
 */
#include "status/volume_row.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "status/view_time.h"
#include "status/status.h"
#include "status/volume_faults.h"

#include <assert.h>
#include <errno.h>

static struct volume_row make_row(const struct desired_volume *want,
				  const struct desired_pod *want_pod,
				  const struct actual_volume *have,
				  const struct actual_pod *have_pod, const char *outer_name)
{
	assert((want && want_pod) || (have && have_pod));
	return (struct volume_row){
		.want = want,
		.want_pod = want_pod,
		.have = have,
		.have_pod = have_pod,
		.unique_name = want ? want->unique_name : have->unique_name,
		.pod_uid = want_pod ? want_pod->pod_uid : have_pod->pod_uid,
		.outer_name = outer_name,
	};
}

/* Everything that is wanted, beside what is there of it: a row for each name that the pod gives it.
 */
static int visit_wanted(const struct volume_tables *tables, const struct desired_volume *want,
			const struct desired_pod *want_pod,
			int (*visit)(const struct volume_row *row, void *userdata), void *userdata)
{
	const struct actual_volume *have = actual_find(tables->actual, want->unique_name);
	const struct actual_pod *have_pod = have ? actual_find_pod(have, want_pod->pod_uid) : NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < want_pod->outer_name_count; i++) {
		struct volume_row row =
			make_row(want, want_pod, have, have_pod, want_pod->outer_names[i]);

		r = visit(&row, userdata);
	}
	return r;
}

/* What is there and unwanted. */
static int visit_unwanted(const struct volume_tables *tables, const struct actual_volume *have,
			  const struct actual_pod *have_pod,
			  int (*visit)(const struct volume_row *row, void *userdata),
			  void *userdata)
{
	const struct desired_volume *want = desired_find(tables->desired, have->unique_name);
	struct volume_row row;

	if (want && desired_find_pod(want, have_pod->pod_uid))
		return 0;
	row = make_row(NULL, NULL, have, have_pod, have_pod->outer_name);
	return visit(&row, userdata);
}

int volume_rows_of_all(const struct volume_tables *tables,
		       int (*visit)(const struct volume_row *row, void *userdata), void *userdata)
{
	const struct desired_volume *want;
	const struct desired_pod *want_pod;
	const struct actual_volume *have;
	const struct actual_pod *have_pod;
	int r;

	assert(tables && visit);
	for (want = desired_first(tables->desired); want; want = want->hh.next)
		for (want_pod = want->pods; want_pod; want_pod = want_pod->hh.next) {
			r = visit_wanted(tables, want, want_pod, visit, userdata);
			if (r != 0)
				return r;
		}
	for (have = actual_first(tables->actual); have; have = have->hh.next)
		for (have_pod = have->pods; have_pod; have_pod = have_pod->hh.next) {
			r = visit_unwanted(tables, have, have_pod, visit, userdata);
			if (r != 0)
				return r;
		}
	return 0;
}

/* By the index of the pod: its cost does not grow with the node. */
static int visit_wanted_of_pod(const struct volume_tables *tables, const char *pod_uid,
			       int (*visit)(const struct volume_row *row, void *userdata),
			       void *userdata)
{
	const char *name;
	int r;

	for (size_t i = 0; (name = desired_volume_of_pod(tables->desired, pod_uid, i)); i++) {
		const struct desired_volume *want = desired_find(tables->desired, name);

		r = visit_wanted(tables, want, desired_find_pod(want, pod_uid), visit, userdata);
		if (r != 0)
			return r;
	}
	return 0;
}

int volume_rows_of_pod(const struct volume_tables *tables, const char *pod_uid,
		       int (*visit)(const struct volume_row *row, void *userdata), void *userdata)
{
	const char *name;
	int r = visit_wanted_of_pod(tables, pod_uid, visit, userdata);

	if (r != 0)
		return r;
	for (size_t i = 0; (name = actual_volume_of_pod(tables->actual, pod_uid, i)); i++) {
		const struct actual_volume *have = actual_find(tables->actual, name);

		r = visit_unwanted(tables, have, actual_find_pod(have, pod_uid), visit, userdata);
		if (r != 0)
			return r;
	}
	return 0;
}

bool volume_row_operation(const struct volume_tables *tables, const struct volume_row *row,
			  struct operation_view *ret)
{
	assert(tables && row && ret);
	return operation_find(*tables->operations, row->unique_name, row->pod_uid, ret) ||
	       operation_find(*tables->operations, row->unique_name, "", ret);
}

bool volume_row_is_lost(const struct volume_tables *tables, const struct volume_row *row)
{
	struct failure ignored = { .error = 0 };

	assert(tables && row);
	return row->want_pod && row->have_pod && row->have_pod->state == MOUNT_UNCERTAIN &&
	       tables->is_held && tables->is_held(tables->userdata, row, &ignored);
}

static void explain_failure(const struct volume_tables *tables, const struct volume_row *row,
			    const struct operation_view *view, struct failure *ret)
{
	int error = view->failure ? view->failure->error : -EAGAIN;
	char attempts[ATTEMPT_TEXT_BYTES];

	attempt_text(view->attempts, view->failing_usec, view->retry_usec, false, attempts);
	(void) failed_plain(ret, error, "volume '%s': %s failed at '%s': %s; %s", row->outer_name,
			    view->name, view->stage,
			    view->failure ? view->failure->text : "unknown", attempts);
	if (error == -EBUSY && tables->add_users)
		tables->add_users(tables->userdata, row, ret);
	(void) failure_append(ret, "%s", advice_clause(error));
}

/* The newest that is known: running, failed and waiting for its retry, or not begun. */
void volume_row_explain(const struct volume_tables *tables, const struct volume_row *row,
			struct failure *ret)
{
	uint64_t now = monotonic_usec();
	struct operation_view view;

	assert(tables && row && ret);
	if (!volume_row_operation(tables, row, &view)) {
		if (tables->is_held(tables->userdata, row, ret))
			return;
		(void) failed_plain(ret, -EINPROGRESS, "volume '%s': queued", row->outer_name);
		return;
	}
	if (view.running) {
		char progress[PROGRESS_TEXT_BYTES], slow[SLOW_TEXT_BYTES];

		progress_text(&view, now, progress);
		slow_text(&view, slow);
		(void) failed_plain(
			ret, -EINPROGRESS,
			"volume '%s': %s is %s '%s' since %.1f s, attempt %u%s%s%s%s%s%s",
			row->outer_name, view.name, view.pace == PACE_STUCK ? "stuck at" : "at",
			view.stage, (double) (now - view.since_usec) / 1e6, view.attempts + 1,
			view.pace == PACE_USUAL ? "" : ", next when it returns",
			*progress ? "; " : "", progress, *slow ? "; " : "", slow,
			slow_advice(&view));
		return;
	}
	if (view.awaits) {
		char attempts[ATTEMPT_TEXT_BYTES];

		attempt_text(view.attempts, view.failing_usec, 0, false, attempts);
		(void) failed_plain(ret, -ENOTCONN,
				    "volume '%s': %s waits for the driver '%s': %s; %s%s",
				    row->outer_name, view.name, view.awaits, view.failure->text,
				    attempts, advice_clause(-ENOTCONN));
		return;
	}
	explain_failure(tables, row, &view, ret);
}

/* ---- what was not tried once ---- */

struct untried {
	const struct volume_tables *tables;
	struct failure *why;
	size_t count;
};

static int find_untried(const struct volume_row *row, void *userdata)
{
	struct untried *untried = userdata;
	struct operation_view view;
	char key[POD_KEY_BYTES];
	struct failure one;

	if (!row->want_pod || !volume_row_operation(untried->tables, row, &view) || !view.running ||
	    view.attempts > 0 || untried->count++ > 0)
		return 0;
	volume_row_explain(untried->tables, row, &one);
	(void) failed_plain(untried->why, -EAGAIN, "pod '%s': %s",
			    pod_key(row->want_pod->pod->pod, key), one.text);
	return 0;
}

bool volume_rows_explain_untried(const struct volume_tables *tables, struct failure *ret)
{
	struct untried untried = { .tables = tables, .why = ret };

	assert(tables && ret);
	(void) volume_rows_of_all(tables, find_untried, &untried);
	if (untried.count > 1)
		(void) failure_append(ret, "; and %zu more", untried.count - 1);
	return untried.count > 0;
}

/* ---- in one word ---- */

const char volumes_mounted[] = "VolumesMounted";

/* From the best to the worst. */
enum grade { GRADE_NONE, GRADE_MOUNTED, GRADE_PENDING, GRADE_FAILING, GRADE_STUCK, GRADE_COUNT };

static const char *const grade_words[] = {
	[GRADE_NONE] = NULL,
	[GRADE_MOUNTED] = volumes_mounted,
	[GRADE_PENDING] = "VolumesPending",
	[GRADE_FAILING] = "VolumesFailing",
	[GRADE_STUCK] = "VolumesStuck",
};
static_assert(ARRAY_SIZE(grade_words) == GRADE_COUNT, "a word for every grade");

struct summary {
	const struct volume_tables *tables;
	const struct volume_faults *faults;
	struct failure *why; /* of the first of the worst; NULL: not asked */
	enum grade grade;
};

/* Return: is it to be said why? */
static bool is_worse(struct summary *summary, enum grade grade)
{
	if (grade <= summary->grade)
		return false;
	summary->grade = grade;
	return summary->why != NULL;
}

static void summarize_mounted(const struct volume_row *row, struct summary *summary)
{
	const char *fault = volume_faults_find(summary->faults, row->unique_name);

	if (is_worse(summary, fault ? GRADE_FAILING : GRADE_MOUNTED) && fault)
		(void) failed_plain(summary->why, -EIO, "volume '%s': %s", row->outer_name, fault);
}

static int summarize(const struct volume_row *row, void *userdata)
{
	struct summary *summary = userdata;
	enum grade grade = GRADE_PENDING;
	struct operation_view view;

	if (row->have_pod && row->have_pod->state == MOUNT_DONE) {
		summarize_mounted(row, summary);
		return 0;
	}
	if (volume_row_operation(summary->tables, row, &view)) {
		if (view.pace == PACE_STUCK)
			grade = GRADE_STUCK;
		else if (view.attempts > 0)
			grade = GRADE_FAILING;
	} else if (volume_row_is_lost(summary->tables, row)) {
		grade = GRADE_FAILING;
	}
	if (is_worse(summary, grade))
		volume_row_explain(summary->tables, row, summary->why);
	return 0;
}

/* A claim that is being provisioned is no failure. */
static void summarize_errors(const struct desired_errors *errors, struct summary *summary)
{
	for (size_t i = 0; errors && i < errors->count; i++) {
		bool is_under_way = errors->codes[i] == -EINPROGRESS;

		if (is_worse(summary, is_under_way ? GRADE_PENDING : GRADE_FAILING))
			(void) failed_plain(summary->why, errors->codes[i],
					    "volume '%s' cannot be looked up: %s",
					    errors->volumes[i], errors->texts[i]);
	}
}

const char *volume_rows_word(const struct volume_tables *tables, const struct volume_faults *faults,
			     const char *pod_uid, struct failure *why)
{
	struct summary summary = { .tables = tables, .faults = faults, .why = why };

	assert(tables && pod_uid);
	(void) visit_wanted_of_pod(tables, pod_uid, summarize, &summary);
	summarize_errors(desired_errors(tables->desired, pod_uid), &summary);
	return grade_words[summary.grade];
}
