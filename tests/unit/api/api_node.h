/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_node - canned answers of the agent about this node, for api_world
 */
#pragma once

#include "agent.h"

#include <stddef.h>

struct api_node {
	char driver_name[64]; /* that was asked for last; "" all */
	const char *drivers, *threads, *steps, *foreign_volumes,
		*volume_events; /* JSON; NULL: an empty list */
	const char *metrics;    /* NULL: no memory */
	int result;             /* of agent_statistics() and agent_watch_volumes() */

	/* The question that waits, and how many left before it was answered. */
	statistics_fn *statistics_done;
	void *statistics_userdata;
	unsigned int statistics_left;

	/* The watch: what it was asked for and what it gives, ended by NULL. */
	unsigned int watches; /* now */
	uint64_t after;
	void (*changed)(void *userdata);
	void *changed_userdata;
	const char *const *lines;
};

/* Of the running test; it clears it in its fixture. */
extern struct api_node world_node;
