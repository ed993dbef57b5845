/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_wait - wait for the volumes of several pods at once
 *
 * One deadline for all, a request for each, so that the answer of a pod comes when it is known. A
 * podvold that was reached and is restarted meanwhile is waited for, too.
 */
#pragma once

#include "cli/cli.h"

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
