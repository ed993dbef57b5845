/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top - what podvold does now: operations, rates and how full volumes are, until interrupted
 *
 * Each picture is three requests, and a terminal gets one each interval; elsewhere there is one
 * picture, of plain text, without rates: these need two looks.
 */
#include "cli/cli.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

enum { INTERVAL_MIN_MSEC = 1000, INTERVAL_DEFAULT_MSEC = 2000, LINES_DEFAULT = 24 };

/* Read from the metrics, at one moment. */
struct counters {
	uint64_t at_usec; /* monotonic; 0: not read yet */
	double wanted, mounted, steps, failures;
};

struct top {
	struct cli *cli;
	struct counters last;
	size_t lines; /* left on the terminal */
};

/* ---- counters ---- */

/* The sum of a metric's values over all lines whose labels hold @label. */
static double sum_of(const char *text, const char *name, const char *label)
{
	size_t length = strlen(name);
	double sum = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line + strcspn(line, "\n");
		const char *value = memrchr(line, ' ', (size_t) (end - line));

		if (value && strncmp(line, name, length) == 0 && line[length] == '{' &&
		    memmem(line, (size_t) (end - line), label, strlen(label)))
			sum += strtod(value, NULL);
	}
	return sum;
}

static int read_counters(struct cli *cli, struct counters *ret)
{
	static const char steps[] = "storage_operation_duration_seconds_count",
			  volumes[] = "volume_manager_total_volumes";
	const struct podvol_request request = { .method = "GET", .path = "/metrics" };
	struct podvol_reply reply = { 0 };
	int r;

	cli->about[0] = '\0';
	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0)
		*ret = (struct counters){
			.at_usec = monotonic_usec(),
			.wanted = sum_of(reply.body, volumes, "\"desired_state_of_world\""),
			.mounted = sum_of(reply.body, volumes, "\"actual_state_of_world\""),
			.steps = sum_of(reply.body, steps, "status=\""),
			.failures = sum_of(reply.body, steps, "status=\"fail"),
		};
	podvol_reply_done(&reply);
	return r < 0 ? cli_get_failed(cli, r) : EXIT_DONE;
}

static void print_line(struct top *top, const char *text)
{
	if (top->lines == 0)
		return;
	top->lines--;
	(void) text_print(top->cli->out, text, screen_width(top->cli->out));
	(void) fputc('\n', top->cli->out);
}

static void print_counters(struct top *top, const struct counters *now)
{
	double seconds = (double) (now->at_usec - top->last.at_usec) / (double) USEC_PER_SEC;
	char text[256];

	(void) snprintf(text, sizeof(text), "Volumes: %.0f wanted, %.0f mounted", now->wanted,
			now->mounted);
	print_line(top, text);
	if (top->last.at_usec > 0 && now->steps >= top->last.steps)
		(void) snprintf(text, sizeof(text), "Steps: %.0f, %.1f/s; failed: %.0f, %.1f/s",
				now->steps, (now->steps - top->last.steps) / seconds, now->failures,
				(now->failures - top->last.failures) / seconds);
	else /* the first time, or the daemon began again */
		(void) snprintf(text, sizeof(text), "Steps: %.0f; failed: %.0f", now->steps,
				now->failures);
	print_line(top, text);
	top->last = *now;
}

/* ---- tables ---- */

/* As many rows as are left, with a heading, or a line that says that there is none. */
static void print_rows(struct top *top, const struct podvol_table *table, const char *none)
{
	const struct table_view view = { .columns = table, .prefix = "" };
	size_t rows = podvol_table_rows(table), shown = rows;
	struct sheet *sheet;
	char text[64];

	print_line(top, "");
	if (rows == 0) {
		print_line(top, none);
		return;
	}
	if (top->lines < 3)
		return;
	/* The heading, and where rows are left out the line that says so. */
	if (rows > top->lines - 1)
		shown = top->lines - 2;
	sheet = cli_table_sheet(&view);
	sheet_keep_lines(sheet); /* they are counted */
	for (size_t row = 0; row < shown; row++)
		cli_table_row(sheet, &view, table, row);
	sheet_print(top->cli, sheet);
	sheet_free(sheet);
	top->lines -= shown + 1;
	(void) snprintf(text, sizeof(text), "and %zu more", rows - shown);
	if (rows > shown)
		print_line(top, text);
}

static int print_view(struct top *top, const char *path, const char *none)
{
	struct podvol_table *table = NULL;
	int r = podvol_table_get(top->cli->podvol, path, &table);

	if (r < 0)
		return cli_get_failed(top->cli, r);
	print_rows(top, table, none);
	podvol_table_free(table);
	return EXIT_DONE;
}

static int print_picture(struct top *top)
{
	struct counters now;
	int status = read_counters(top->cli, &now);

	if (status == EXIT_DONE) {
		print_counters(top, &now);
		status = print_view(top, "/podvol/v1/operations", "No operation runs or waits.");
	}
	if (status == EXIT_DONE)
		status = print_view(top, "/podvol/v1/statistics?sortBy=availableBytes",
				    "No volume is mounted.");
	return status;
}

/* ---- the verb ---- */

/* Made in memory, and then shown at once: a picture that is half the old one says wrong things. */
static int refresh(struct top *top)
{
	FILE *terminal = top->cli->out;
	cleanup_free char *text = NULL;
	struct winsize size = { 0 };
	size_t length;
	int status;
	FILE *kept = open_memstream(&text, &length);

	if (!kept)
		return cli_end(top->cli, EXIT_FAILED, "out of memory");
	(void) ioctl(fileno(terminal), TIOCGWINSZ, &size);
	top->lines = (size.ws_row > 1 ? size.ws_row : LINES_DEFAULT) - 1;
	screen_stands_for(kept, terminal);
	top->cli->out = kept;
	status = print_picture(top);
	top->cli->out = terminal;
	screen_stands_for(NULL, NULL);
	if (fclose(kept) != 0 || status != EXIT_DONE)
		return status == EXIT_DONE ? EXIT_FAILED : status;
	(void) fputs("\033[H\033[2J", terminal);
	(void) fwrite(text, 1, length, terminal);
	return fflush(terminal) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int take_interval(struct cli *cli, int *ret_msec)
{
	const char *text = cli_value(cli, "interval");
	uint64_t usec = INTERVAL_DEFAULT_MSEC * (USEC_PER_SEC / 1000);

	if (text && (duration_parse(text, &usec) < 0 || usec > (uint64_t) INT32_MAX * 1000 ||
		     usec < INTERVAL_MIN_MSEC * (USEC_PER_SEC / 1000)))
		return cli_end(cli, EXIT_USAGE,
			       "--interval '%s' is not a duration of a second or more: write 5s",
			       text);
	*ret_msec = (int) (usec / 1000);
	return EXIT_DONE;
}

int verb_top(struct cli *cli)
{
	struct top top = { .cli = cli, .lines = SIZE_MAX };
	const char *terminal = getenv("TERM");
	bool is_plain = !terminal || strcmp(terminal, "dumb") == 0 || screen_width(cli->out) == 0;
	int msec = 0, status = take_interval(cli, &msec);

	if (status == EXIT_DONE && is_plain)
		return print_picture(&top);
	while (status == EXIT_DONE) {
		status = refresh(&top);
		if (status == EXIT_DONE)
			(void) poll(NULL, 0, msec);
	}
	return status;
}
