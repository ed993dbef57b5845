/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health - /livez, /healthz and /readyz, in the form of a kube-apiserver's
 *
 * /livez answers as long as the loop turns. /healthz fails while an operation is stuck, /readyz
 * until every source has delivered all of its objects; both name the reason, and with ?verbose each
 * check.
 */
#include "agent.h"
#include "api/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	FILE *file;
	unsigned int concerns;
	bool verbose, failed;
};

static void add_check(void *userdata, const struct health_check *check)
{
	struct report *report = userdata;

	if (!(check->concerns & report->concerns))
		return;
	if (check->why.error == 0) {
		if (report->verbose)
			(void) fprintf(report->file, "[+]%s ok\n", check->name);
		return;
	}
	report->failed = true;
	(void) fprintf(report->file, "[-]%s failed: %s\n", check->name, check->why.text);
}

static void answer(struct exchange *exchange, const char *name, unsigned int concerns)
{
	struct report report = {
		.concerns = concerns,
		.verbose = api_path_parameter(&exchange->path, "verbose") != NULL,
	};
	char *text = NULL;
	size_t length = 0;

	report.file = open_memstream(&text, &length);
	if (!report.file) {
		reply_bytes(exchange, 500, "text/plain", NULL, 0);
		return;
	}
	agent_check_health(exchange->agent, add_check, &report);
	if (report.failed || report.verbose)
		(void) fprintf(report.file, "%s check %s\n", name,
			       report.failed ? "failed" : "passed");
	else
		(void) fputs("ok", report.file);
	if (fclose(report.file) != 0) {
		free(text);
		text = NULL;
	}
	reply_bytes(exchange, report.failed ? 500 : 200, "text/plain", text, length);
}

void health_alive(struct exchange *exchange)
{
	reply_bytes(exchange, 200, "text/plain", strdup("ok"), 2);
}

void health_ok(struct exchange *exchange)
{
	answer(exchange, "healthz", HEALTH_OK);
}

void health_ready(struct exchange *exchange)
{
	answer(exchange, "readyz", HEALTH_READY);
}
