/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot - the set-up of a pod's volumes as an SVG: a bar for each step, its stages, and the calls to
 * the CSI driver that it made
 *
 * Self-contained: no script, no reference to anything outside. What objects are called is text in
 * it, never markup.
 */
#include "cli/analyze/analyze.h"

#include "cli/get.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

enum {
	LEFT = 20,
	TOP = 60,
	BARS_WIDTH = 900,
	TEXT_WIDTH = 420, /* beside a bar that ends at the right */
	ROW_HEIGHT = 20,
	BAR_HEIGHT = 14,
	TICKS = 10,
};

struct plot {
	struct cli *cli;
	int64_t begin_usec, length_usec; /* of all bars */
	int row;
};

static double x_of(const struct plot *plot, int64_t usec)
{
	return LEFT + (double) usec * BARS_WIDTH / (double) plot->length_usec;
}

/* A bar in a row of its own, with its text inside or behind. @began_usec: since 1970. */
static void print_bar(struct plot *plot, const char *style, int64_t began_usec, int64_t took_usec,
		      const char *text)
{
	FILE *out = plot->cli->out;
	double x = x_of(plot, began_usec - plot->begin_usec);
	double width = x_of(plot, took_usec) - LEFT;
	int y = TOP + plot->row++ * ROW_HEIGHT;
	char took[TOOK_BYTES];

	took_print(took_usec, took);
	(void) fprintf(out,
		       "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
		       "<text x=\"%.1f\" y=\"%d\">",
		       style, x, y, width < 1 ? 1 : width, BAR_HEIGHT,
		       x + (x < (double) BARS_WIDTH / 2 ? 3 : width + 5), y + BAR_HEIGHT - 3);
	text_print_markup(out, text);
	(void) fprintf(out, " (%s)</text>\n", took);
}

/* The calls that began while the step ran; the volume's view has the last ones, newest first. */
static void print_calls(struct plot *plot, const struct cJSON *step, const struct cJSON *volume)
{
	const struct cJSON *calls = json_get(json_first(json_get(volume, "items")), "calls");
	const struct cJSON *call;

	for (size_t i = json_count(calls); i-- > 0;) {
		char text[512];
		int64_t after;

		call = json_first(calls);
		for (size_t at = 0; at < i; at++)
			call = json_next(call);
		after = step_number(call, "beganMonotonic") - step_number(step, "beganMonotonic");
		if (after < 0 || after > step_number(step, "tookMicroseconds"))
			continue;
		(void) snprintf(text, sizeof(text), "%s %s", json_text(call, "method"),
				json_text(call, "code"));
		print_bar(plot, "call", step_began(step) + after,
			  step_number(call, "tookMicroseconds"), text);
	}
}

static int print_step(struct plot *plot, const struct cJSON *step)
{
	const struct cJSON *stage = json_first(json_get(step, "stages"));
	const char *error = json_text(step, "error");
	bool is_failed = *error && !json_bool(json_get(step, "needsStage"), false);
	cleanup_json struct cJSON *volume = NULL;
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s", json_text(step, "uniqueName"));
	char text[1024];
	int status;

	if (!path)
		return EXIT_FAILED;
	status = get_tree_if_there(plot->cli, path, &volume);
	if (status != EXIT_DONE)
		return status;
	(void) snprintf(text, sizeof(text), "%s %s%s%s", step_volume(step), json_text(step, "step"),
			*error ? ": " : "", error);
	print_bar(plot, is_failed ? "failed" : "step", step_began(step),
		  step_number(step, "tookMicroseconds"), text);
	for (; stage; stage = json_next(stage))
		print_bar(plot, "stage", step_began(step) + step_number(stage, "afterMicroseconds"),
			  step_number(stage, "tookMicroseconds"), json_text(stage, "name"));
	print_calls(plot, step, volume);
	return EXIT_DONE;
}

/* A line from top to bottom for each tenth. */
static void print_axis(const struct plot *plot, int height)
{
	FILE *out = plot->cli->out;

	for (int i = 0; i <= TICKS; i++) {
		char at[TOOK_BYTES];
		double x = x_of(plot, plot->length_usec * i / TICKS);

		took_print(plot->length_usec * i / TICKS, at);
		(void) fprintf(out,
			       "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
			       "<text x=\"%.1f\" y=\"%d\">%s</text>\n",
			       x, TOP - 10, x, height - 10, x, TOP - 14, at);
	}
}

static int height_of(const struct analysis *analysis)
{
	static const char csi[] = "kubernetes.io/csi/";
	enum { CALLS_SHOWN_MAX = 8 /* of a volume: all that its view has */ };
	size_t rows = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct cJSON *step = analysis->steps[i];

		rows += 1 + json_count(json_get(step, "stages"));
		if (strncmp(json_text(step, "uniqueName"), csi, strlen(csi)) == 0)
			rows += CALLS_SHOWN_MAX;
	}
	return TOP + (int) rows * ROW_HEIGHT + 20;
}

static void print_head(const struct plot *plot, const char *pod, int height)
{
	FILE *out = plot->cli->out;

	(void) fprintf(
		out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
		"<style>text{font:11px sans-serif}.title{font-size:16px}"
		"line{stroke:#ccc}.step{fill:#7aa6da}.failed{fill:#d9534f}.stage{fill:#b5d6a7}"
		".call{fill:#f0c674}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"24\">Volumes of pod ",
		LEFT + BARS_WIDTH + TEXT_WIDTH, height, LEFT);
	text_print_markup(out, pod);
	(void) fputs(": steps (blue, failed ones red), stages (green), calls to CSI drivers "
		     "(yellow)</text>\n",
		     out);
}

int analyze_plot(struct analysis *analysis)
{
	struct plot plot = { .cli = analysis->cli, .begin_usec = INT64_MAX };
	int64_t end_usec = 0;
	const struct cJSON *last;
	int status = EXIT_DONE;

	analysis_set_up(analysis, &last);
	if (analysis->count == 0) {
		cli_complain(plot.cli, "no set-up of pod '%s' is among the last steps",
			     analysis->pod);
		return EXIT_NOT_FOUND;
	}
	for (size_t i = 0; i < analysis->count; i++) {
		const struct cJSON *step = analysis->steps[i];

		if (step_began(step) < plot.begin_usec)
			plot.begin_usec = step_began(step);
		if (step_ended(step) > end_usec)
			end_usec = step_ended(step);
	}
	plot.length_usec = end_usec > plot.begin_usec ? end_usec - plot.begin_usec : 1;
	print_head(&plot, analysis->pod, height_of(analysis));
	print_axis(&plot, height_of(analysis));
	for (size_t i = 0; status == EXIT_DONE && i < analysis->count; i++)
		status = print_step(&plot, analysis->steps[i]);
	(void) fputs("</svg>\n", plot.cli->out);
	return status;
}
