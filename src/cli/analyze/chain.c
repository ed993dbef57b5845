/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain - what the last volume of a pod that was mounted waited for: its steps, newest first
 *
 * Only that volume's: a pod is complete when its last volume is, and what the others took made no
 * difference to it.
 */
#include "cli/analyze/analyze.h"

#include "cli/output/screen.h"
#include "object/json/json.h"

#include <string.h>

enum { LINE_BYTES = 1024 };

static void print_line(struct cli *cli, int depth, const char *mark, const char *text)
{
	const size_t column = (size_t) depth * 2 + text_width(mark);

	(void) fprintf(cli->out, "%*s%s", depth * 2, "", mark);
	text_print_wrapped(cli->out, text,
			   (struct text_wrap){ .column = column,
					       .indent = column + 2,
					       .width = screen_wrap_width(cli) });
	(void) fputc('\n', cli->out);
}

static void print_step(struct cli *cli, const struct cJSON *step, int depth, int64_t begin_usec)
{
	const struct cJSON *stage = json_first(json_get(step, "stages"));
	int64_t after = step_began(step) - begin_usec;
	const char *error = json_text(step, "error");
	char at[TOOK_BYTES], took[TOOK_BYTES], text[LINE_BYTES];

	took_print(after, at);
	took_print(step_number(step, "tookMicroseconds"), took);
	(void) snprintf(text, sizeof(text), "%s %s @%s +%s%s%s", step_volume(step),
			json_text(step, "step"), at, took, *error ? ": " : "", error);
	print_line(cli, depth, "└─", text);
	for (; stage; stage = json_next(stage)) {
		took_print(after + step_number(stage, "afterMicroseconds"), at);
		took_print(step_number(stage, "tookMicroseconds"), took);
		(void) snprintf(text, sizeof(text), "%s @%s +%s", json_text(stage, "name"), at,
				took);
		print_line(cli, depth + 1, "│ ", text);
	}
}

/* What a pod that is not complete waits for; a failure, for else it would be complete. */
static const struct cJSON *newest_failure(const struct analysis *analysis)
{
	const struct cJSON *newest = analysis->steps[0];

	for (size_t i = 0; i < analysis->count; i++)
		if (*json_text(analysis->steps[i], "error"))
			newest = analysis->steps[i];
	return newest;
}

int analyze_critical_chain(struct analysis *analysis)
{
	struct cli *cli = analysis->cli;
	int64_t begin_usec = INT64_MAX;
	const struct cJSON *last;
	char took[TOOK_BYTES] = "", text[LINE_BYTES];
	int depth = 0;

	analysis_set_up(analysis, &last);
	if (analysis->count == 0)
		return cli_end(cli, EXIT_NOT_FOUND, "no set-up of pod '%s' is among the last steps",
			       analysis->pod);
	for (size_t i = 0; i < analysis->count; i++)
		if (step_began(analysis->steps[i]) < begin_usec)
			begin_usec = step_began(analysis->steps[i]);
	if (last)
		took_print(step_ended(last) - begin_usec, took);
	(void) snprintf(text, sizeof(text), "%s %s%s", analysis->pod,
			last ? "@" : "is not complete", took);
	if (!last)
		last = newest_failure(analysis);
	(void) fputs("The time since the first step began is after \"@\", the time that a step or\n"
		     "stage took after \"+\".\n\n",
		     cli->out);
	print_line(cli, 0, "", text);
	for (size_t i = analysis->count; i-- > 0;)
		if (json_text_is(analysis->steps[i], "uniqueName", json_text(last, "uniqueName")))
			print_step(cli, analysis->steps[i], depth++, begin_usec);
	return EXIT_DONE;
}
