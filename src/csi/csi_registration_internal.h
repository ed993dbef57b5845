/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_internal - what the files of registration share; no other file includes it
 *
 * csi_registration.c has the sockets and moves them from stage to stage, csi_registration_calls.c
 * makes the calls of the stages, csi_registration_capabilities.c those after them.
 */
#pragma once

#include "base/hash_table.h"
#include "csi/csi_driver_table.h"
#include "csi/csi_registration.h"
#include "csi/csi_registration_rule.h"
#include "csi/csi_registration_watch.h"

/* One socket. */
struct registration {
	struct csi_registration *all;
	UT_hash_handle hh; /* by path */
	char *path;        /* below plugins_registry */
	char *socket;      /* absolute */
	enum registration_stage stage;
	bool left, again; /* the socket is gone; another one is there under its name */
	unsigned int attempts, dials;
	sd_event_source *timer;
	struct csi_call *call;

	char *name, *endpoint; /* NULL: not known yet */
	struct csi_version version;
	bool is_claimed;                 /* the name is its own */
	bool is_replaced;                /* it was, and a newer version has it now */
	bool is_dialling;                /* no server listens yet */
	const struct csi_driver *answer; /* by the driver; borrowed for one move */
	struct failure last_error;

	struct csi_capabilities reported_capabilities; /* so far */
	struct csi_call *capabilities_call;
	sd_event_source *capabilities_timer; /* NULL: no call of these failed */
	unsigned int capabilities_asked;     /* calls that were answered */
	unsigned int capabilities_attempts;  /* of the next one, that failed */
};

struct csi_registration {
	struct csi_registration_options options;
	struct csi_registration_watch *watch;
	struct registration *sockets;
};

/* ---- csi_registration.c ---- */

/* The one gate: what comes after this event is begun. @one may be freed by it. */
void registration_move(struct registration *one, enum registration_event event);

/* The name in @info is this one's from now on. Return: as registration_check(). */
int registration_claim(struct registration *one, const struct registration_info *info);

/* ---- csi_registration_calls.c: each begins a stage and ends with a move. Return: 0, or a negative
 * errno that one->last_error tells of ---- */

int registration_call(struct registration *one);
int registration_call_node(struct registration *one);
int registration_report(struct registration *one, bool registered);

/* ---- csi_registration_capabilities.c ---- */

/* Begins again; no stage depends on the answers. */
void registration_call_capabilities(struct registration *one);
void registration_end_capabilities(struct registration *one);
