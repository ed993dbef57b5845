/* SPDX-License-Identifier: Apache-2.0 */
/*
 * await - follow a collection until an event of it is what a verb waits for
 *
 * No polling: a watch brings what changes. On a terminal a line says what is waited for. What the
 * end of the time means is the verb's affair.
 */
#pragma once

#include "cli/cli.h"

struct cli_awaited {
	const char *path;  /* of a collection, escaped */
	const char *what;  /* "waiting for ...": shown meanwhile, and before why it cannot be */
	uint64_t end_usec; /* of the monotonic clock; UINT64_MAX: never */
	/* The line on the terminal once a second, in place of @what; NULL: @what. */
	void (*show)(void *userdata);
	/* Asked with the list first, then with each change, until true. */
	bool (*is_over)(void *userdata, const struct podvol_event *event);
	void *userdata;
};

/* Return: 0; -ETIMEDOUT, of which nothing was said; another negative errno after a complaint. */
int cli_await(struct cli *cli, const struct cli_awaited *awaited);
