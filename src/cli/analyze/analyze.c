/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyze - where the time went until volumes were mounted: which steps took longest, what the last
 * volume of a pod waited for
 *
 * Asks only. A step that the daemon's log has lost, or that a daemon before it did, is not there.
 */
#include "cli/analyze/analyze.h"

#include "cli/get.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

int64_t step_number(const struct cJSON *item, const char *key)
{
	int64_t number = 0;

	(void) json_int64(json_get(item, key), &number);
	return number;
}

int64_t step_began(const struct cJSON *step)
{
	return step_number(step, "beganMicroseconds");
}

int64_t step_ended(const struct cJSON *step)
{
	return step_began(step) + step_number(step, "tookMicroseconds");
}

const char *step_volume(const struct cJSON *step)
{
	const char *volume = json_text(step, "volume");

	return *volume ? volume : json_text(step, "uniqueName");
}

void took_print(int64_t usec, char text[TOOK_BYTES])
{
	if (usec < 1000)
		(void) snprintf(text, TOOK_BYTES, "%" PRId64 "us", usec);
	else if (usec < 1000000)
		(void) snprintf(text, TOOK_BYTES, "%.1fms", (double) usec / 1e3);
	else
		(void) snprintf(text, TOOK_BYTES, "%.2fs", (double) usec / 1e6);
}

/* ---- which steps ---- */

static bool is_of_pod(const struct analysis *analysis, const struct cJSON *step)
{
	return json_text_is(step, "pod", analysis->pod) ||
	       json_text_is(step, "podUID", analysis->pod);
}

/* A device that was there before the pod is one of its volumes, too. */
static bool is_of_its_device(const struct analysis *analysis, const struct cJSON *step)
{
	const struct cJSON *other = json_first(json_get(analysis->view, "items"));

	if (*json_text(step, "podUID"))
		return false;
	for (; other; other = json_next(other))
		if (is_of_pod(analysis, other) &&
		    json_text_is(other, "uniqueName", json_text(step, "uniqueName")))
			return true;
	return false;
}

static int read_steps(struct analysis *analysis)
{
	const struct cJSON *step;
	int status = get_tree(analysis->cli, "/podvol/v1/steps", &analysis->view);

	if (status != EXIT_DONE)
		return status;
	step = json_first(json_get(analysis->view, "items"));
	analysis->steps =
		calloc(json_count(json_get(analysis->view, "items")) + 1, sizeof(struct cJSON *));
	if (!analysis->steps)
		return cli_end(analysis->cli, EXIT_FAILED, "out of memory");
	for (; step; step = json_next(step))
		if (!analysis->pod || is_of_pod(analysis, step) || is_of_its_device(analysis, step))
			analysis->steps[analysis->count++] = step;
	return EXIT_DONE;
}

static bool is_set_up(const struct cJSON *step)
{
	static const char *const names[] = { "volume_mount", "map_volume", "mount_device" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (json_text_is(step, "step", names[i]))
			return true;
	return false;
}

/* Was the volume of a step mounted for its pod by one of the first steps? */
static bool was_mounted(const struct analysis *analysis, size_t at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!*json_text(analysis->steps[i], "error") &&
		    json_text_is(analysis->steps[i], "podUID",
				 json_text(analysis->steps[at], "podUID")) &&
		    json_text_is(analysis->steps[i], "uniqueName",
				 json_text(analysis->steps[at], "uniqueName")))
			return true;
	return false;
}

void analysis_set_up(struct analysis *analysis, const struct cJSON **ret_last)
{
	const char *uid = "";
	size_t kept = 0;

	*ret_last = NULL;
	for (size_t i = 0; i < analysis->count; i++)
		if (*json_text(analysis->steps[i], "podUID"))
			uid = json_text(analysis->steps[i], "podUID");
	for (size_t i = 0; i < analysis->count; i++) {
		const char *of = json_text(analysis->steps[i], "podUID");

		if (is_set_up(analysis->steps[i]) && (!*of || strcmp(of, uid) == 0))
			analysis->steps[kept++] = analysis->steps[i];
	}
	analysis->count = kept;
	for (size_t i = 0; i < kept; i++)
		if (*json_text(analysis->steps[i], "podUID") &&
		    !*json_text(analysis->steps[i], "error") && !was_mounted(analysis, i, i))
			*ret_last = analysis->steps[i];
	for (size_t i = 0; i < kept; i++)
		if (*json_text(analysis->steps[i], "podUID") && !was_mounted(analysis, i, kept))
			*ret_last = NULL; /* it is not complete */
	while (*ret_last && kept > 0 && analysis->steps[kept - 1] != *ret_last)
		kept--;
	analysis->count = kept;
}

/* ---- blame ---- */

static int compare_took(const void *a, const void *b)
{
	int64_t left = step_number(*(const struct cJSON *const *) a, "tookMicroseconds");
	int64_t right = step_number(*(const struct cJSON *const *) b, "tookMicroseconds");

	return (left < right) - (left > right);
}

/* "set the owners 12.3ms"; "waiting" when that took longer: for a thread, an IO slot, a source. */
static void print_slowest(const struct cJSON *step, char *text, size_t size)
{
	const struct cJSON *stage = json_first(json_get(step, "stages")), *slowest = stage;
	int64_t most_usec, waited_usec = step_number(step, "tookMicroseconds");
	char took[TOOK_BYTES];

	for (; stage; stage = json_next(stage)) {
		waited_usec -= step_number(stage, "tookMicroseconds");
		if (step_number(stage, "tookMicroseconds") >
		    step_number(slowest, "tookMicroseconds"))
			slowest = stage;
	}
	most_usec = step_number(slowest, "tookMicroseconds");
	took_print(waited_usec > most_usec ? waited_usec : most_usec, took);
	(void) snprintf(text, size, "%s %s",
			waited_usec > most_usec ? "waiting" : json_text(slowest, "name"), took);
}

static int analyze_blame(struct analysis *analysis)
{
	static const char *const columns[] = { "TOOK", "POD", "VOLUME", "STEP", "SLOWEST", "WHY" };
	struct sheet *sheet = sheet_new(columns, ARRAY_SIZE(columns));

	qsort(analysis->steps, analysis->count, sizeof(*analysis->steps), compare_took);
	for (size_t i = 0; i < analysis->count; i++) {
		const struct cJSON *step = analysis->steps[i];
		const char *pod = json_text(step, "pod"), *error = json_text(step, "error");
		char took[TOOK_BYTES], slowest[256];
		const char *cells[ARRAY_SIZE(columns)] = {
			took,    *pod ? pod : "-",    step_volume(step), json_text(step, "step"),
			slowest, *error ? error : "-"
		};

		took_print(step_number(step, "tookMicroseconds"), took);
		print_slowest(step, slowest, sizeof(slowest));
		sheet_add(sheet, cells);
	}
	sheet_print(analysis->cli, sheet);
	sheet_free(sheet);
	return EXIT_DONE;
}

/* ---- the verb ---- */

static void analysis_done(struct analysis *analysis)
{
	free(analysis->steps);
	free(analysis->pod);
	json_free(analysis->view);
}

/* The log knows pods as "namespace/name" and by uid, and a uid has no slash either. */
static int read_pod(struct analysis *analysis, const char *word)
{
	cleanup_free char *pod = NULL;
	int status = cli_pod(analysis->cli, word, &pod);

	if (status != EXIT_DONE)
		return status;
	analysis->pod = cli_full_pod(pod);
	return analysis->pod ? EXIT_DONE : cli_end(analysis->cli, EXIT_FAILED, "out of memory");
}

int verb_analyze(struct cli *cli)
{
	static const struct {
		const char *name;
		bool needs_pod;
		int (*run)(struct analysis *analysis);
	} rows[] = {
		{ "blame", false, analyze_blame },
		{ "critical-chain", true, analyze_critical_chain },
		{ "plot", true, analyze_plot },
	};
	cleanup(analysis_done) struct analysis analysis = { .cli = cli };
	size_t row = 0;
	int status = EXIT_DONE;

	while (row < ARRAY_SIZE(rows) && strcmp(rows[row].name, cli->arguments[0]) != 0)
		row++;
	if (row == ARRAY_SIZE(rows))
		return cli_end(cli, EXIT_USAGE,
			       "analyze: '%s' is none of blame, critical-chain and plot",
			       cli->arguments[0]);
	if (cli->argument_count < 2 && rows[row].needs_pod)
		return cli_end(cli, EXIT_USAGE, "'analyze %s' needs a POD", rows[row].name);
	if (cli->argument_count > 1)
		status = read_pod(&analysis, cli->arguments[1]);
	if (status == EXIT_DONE)
		status = read_steps(&analysis);
	if (status != EXIT_DONE)
		return status;
	if (analysis.count > 0)
		return rows[row].run(&analysis);
	if (!analysis.pod) {
		(void) fprintf(cli->err, "No steps found: podvold has made none yet.\n");
		return EXIT_DONE;
	}
	return cli_end(cli, EXIT_NOT_FOUND, "no step of pod '%s' is among the last ones",
		       analysis.pod);
}
