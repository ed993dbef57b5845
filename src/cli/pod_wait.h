/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_wait - several pods, named or selected, and waited for at once; and the wait for an event
 *
 * One deadline for all, a request for each, so that the answer of a pod comes when it is known. A
 * podvold that was reached and is restarted meanwhile is waited for, too.
 */
#pragma once

#include "cli/cli.h"

/* ---- pod_list.c: the pods that a verb is about ---- */

struct pod_list {
	char **names; /* as cli_pod() makes them */
	int *status;  /* what became of each; EXIT_DONE at first */
	size_t count;
};

/* The arguments, or the pods of the namespace that --selector means: at least one. Return: an exit
 * status after a complaint; pod_list_done() either way. */
int pod_list_read(struct cli *cli, struct pod_list *ret);
/* One by one, at most @count of them. Return: 0; -ENOMEM. */
int pod_list_make_room(struct pod_list *list, size_t count);
int pod_list_add(struct pod_list *list, const char *name_space, const char *name);
/* The first that is not EXIT_DONE: which of several failed stays visible. */
int pod_list_status(const struct pod_list *list);
void pod_list_done(struct pod_list *list);

/* ---- pod_wait.c ---- */

struct pod_waits {
	enum podvol_wait_for what;
	bool deletes;    /* what is sent first is an unmount, which deletes the pod */
	bool are_stored; /* podvold was just asked; else a pod may be created meanwhile */
	/* A pod of the list is as wanted; failures have been complained of. */
	void (*done)(struct cli *cli, const char *pod);
};

/* Waits for the pods whose status is EXIT_DONE, for --timeout, and sets their status. Return: the
 * first exit status of the list that is not EXIT_DONE. */
int pod_wait(struct cli *cli, struct pod_list *pods, const struct pod_waits *waits);

/* ---- await.c: until an event of a collection ends the wait; a watch, no polling ---- */

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
