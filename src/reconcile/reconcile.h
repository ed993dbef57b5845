/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile - what has to happen for the actual state to become the desired one
 *
 * Pure: reads two tables, appends to a plan. No system call, no clock, no log. That an operation is
 * running or backing off is the operations' business: a step proposed too early is refused there
 * and proposed again when the volume is dirty again.
 *
 * The plan keeps these promises (spec: volume manager, 4):
 *  - unpublish before publish: a volume leaves its old pod before a new pod gets it where it can
 * serve only one;
 *  - stage before the first publish, unstage after the last unpublish; where only a set-up can find
 * out whether there is a device, stage once one found it;
 *  - an uncertain mount is mounted for a teardown, absent for a set-up;
 *  - nothing is unpublished or unstaged before all pods are known;
 *  - nothing is taken from a pod while something of it cannot be looked up;
 *  - nothing is taken from a pod that is held, and so no device from under it.
 */
#pragma once

#include "plugins/plugin.h"
#include "state/actual.h"
#include "state/desired.h"
#include "state/found.h"
#include "state/holds.h"
#include "state/ledger.h"

struct step {
	enum step_kind kind;
	const char *unique_name;
	const char *pod_uid; /* NULL for stage, unstage and forget of the whole volume */
	const struct desired_volume *want;  /* stage, publish; else NULL */
	const struct desired_pod *want_pod; /* publish; for stage any pod that wants it */
	const struct actual_volume *have;   /* NULL when the volume is new */
	bool remount;                       /* publish of what is mounted already */
	/* Unpublish: what is to be done where it is in use; set after planning, by who knows
	 * for how long that lasts. */
	enum unmount_manner manner;
};

struct plan {
	struct step *steps; /* borrow from the tables: use the plan before they change */
	size_t count, capacity;
};
/* Frees the steps; they own nothing. An empty plan is fine. */
void plan_done(struct plan *plan);

struct reconcile_conditions {
	bool may_unmount;          /* every source has delivered a complete snapshot */
	const struct holds *holds; /* whose containers live; NULL: none */
};

/**
 * reconcile_volume - append the steps that one volume needs now
 * @plan: appended to; STEP_FORGET of the whole volume comes last
 *
 * A volume of a plugin that we do not have gets no steps. An entry that is absent may belong to a
 * publish or stage that runs at this moment: what carries out a STEP_FORGET first asks the
 * operations and leaves the entry alone while one runs; its end makes the volume dirty again.
 *
 * Return: 0 or -ENOMEM (the plan keeps what it had).
 */
int reconcile_volume(const struct desired *desired, const struct actual *actual,
		     const char *unique_name, const struct reconcile_conditions *conditions,
		     struct plan *plan);

/* ---- rebuild.c ---- */

enum rebuild_verdict {
	/* rows of the ledger: adopted, uncertain until their operation ran again */
	REBUILD_GONE,           /* the row's directory is not there (hostPath never has one) */
	REBUILD_NOT_MOUNTED,    /* the row says mounted and in no teardown, but there is no mount */
	REBUILD_UNFINISHED,     /* a step had begun, see @row->unfinished */
	REBUILD_UNUSED_DEVICE,  /* staged, and no pod has it: a stage without its publish */
	REBUILD_UNKNOWN_PLUGIN, /* an unknown plugin: in the table, never touched */
	/* directories that no row speaks of */
	REBUILD_TAKEN_OVER, /* adopted like a row of the ledger: @row is to be one from now on */
	REBUILD_NOT_UNDERSTOOD, /* was to be taken over and cannot be, @why: never touched */
	REBUILD_FOREIGN,        /* not managed: never touched, unless a pod wants it */
	REBUILD_VERDICT_COUNT
};

struct rebuild_report {
	enum rebuild_verdict verdict;
	const struct found_volume *volume; /* made up from the row where there is no directory */
	const struct ledger_row *row;      /* NULL for NOT_UNDERSTOOD and FOREIGN */
	const char *why;                   /* NOT_UNDERSTOOD: a sentence */
};

struct rebuild_input {
	const struct ledger_row *rows;
	size_t row_count;
	const struct found_list *found;
	bool takeover;                  /* what no row speaks of becomes managed */
	bool takes_unused;              /* also what is staged and published for no pod */
	const struct plugin_host *host; /* for the paths of what is taken over */
};

/**
 * rebuild - the actual state after a restart, from the ledger's rows and the directories found
 * @actual: filled
 * @report: called for everything that is not as it should be, and every directory that no row
 * speaks of; borrowed for the call
 *
 * Pure but for the table. Rows of the ledger become entries whether or not their directory was
 * found (the teardown finds out); those of an unknown plugin too, so that they are seen, but the
 * reconciler leaves them alone. Directories alone become nothing unless they are taken over: what a
 * plugin recognises then becomes an entry as if the ledger had had it, and so does the
 * device behind it. A set-up or teardown of such an entry is the one of any other; before that,
 * nothing is touched.
 *
 * Return: how many entries of known plugins were adopted, or -ENOMEM.
 */
int rebuild(struct actual *actual, const struct rebuild_input *input,
	    void (*report)(const struct rebuild_report *report, void *userdata), void *userdata);
