/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - how far a long walk is, in words and as events; and events about copies (copies.h)
 *
 * The loop thread only. Looks at what is counted anyhow, and asks no file.
 */
#ifndef PODVOL_AGENT_PROGRESS_H
#define PODVOL_AGENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct operation_view;
struct walks;

/* Events about long walks and copies: the first after some seconds, then now and then, none while
 * there are none. Return: 0 or negative errno. */
int walks_new(struct agent *agent, struct walks **ret);
/* Accepts NULL. Return: NULL. */
struct walks *walks_free(struct walks *walks);
/* A step may lead to one: look after a while. Cheap. Accepts NULL. */
void walks_expect(struct walks *walks);

enum { PROGRESS_TEXT_BYTES = 160 };
/* Is a walk under way, or begun and waiting for its device? */
bool progress_runs(const struct operation_view *view);
/* "120000 of at most 200041 entries, 410000 a second, 0.2 s left at most"; "" while no long walk is
 * under way. */
void progress_text(const struct operation_view *view, uint64_t now_usec,
		   char ret[PROGRESS_TEXT_BYTES]);

#endif
