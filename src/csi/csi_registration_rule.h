/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_rule - what the registration of a driver does next; pure
 *
 * One socket is one small machine: it moves by registration_next() and by nothing else. Kubelet's
 * order (spec: CSI, 1.2 and 1.3), with one thing better: what failed is tried again with back-off
 * for as long as its socket stays, also after kubelet would have given up.
 */
#pragma once

#include "base/failure.h"
#include "csi/csi_version.h"

#include <stdbool.h>
#include <stdint.h>

enum registration_stage {
	REGISTRATION_WAITS,      /* until its time has come */
	REGISTRATION_ASKS,       /* the registrar: GetInfo */
	REGISTRATION_ASKS_NODE,  /* the driver: NodeGetInfo */
	REGISTRATION_WRITES,     /* Node and CSINode */
	REGISTRATION_TELLS,      /* the registrar that all is well; calls may be made already */
	REGISTRATION_DONE,       /* until the socket goes */
	REGISTRATION_TAKES_BACK, /* what Node and CSINode say of it */
	REGISTRATION_REFUSES,    /* tells the registrar that it failed */
	REGISTRATION_OVER,       /* nothing is left of it */
	REGISTRATION_STAGE_COUNT
};

enum registration_event {
	REGISTRATION_SUCCEEDED, /* the stage, or its time has come */
	REGISTRATION_FAILED,    /* the stage, so that it is worth another attempt */
	REGISTRATION_REFUSED,   /* the stage, and the registrar is to hear of it */
	REGISTRATION_REPLACED,  /* by a newer version of the driver, at another socket */
	REGISTRATION_LEFT,      /* the socket is gone, or another one under its name */
	REGISTRATION_EVENT_COUNT
};

/* @left: REGISTRATION_LEFT came before. Events that cannot happen in a stage stop the program. */
enum registration_stage registration_next(enum registration_stage stage,
					  enum registration_event event, bool left);

/* Calls may be made to the driver. */
bool registration_is_ready(enum registration_stage stage);

/* From the failure until the next attempt: 0.5 s, doubled up to 2 m 2 s. @attempts: from 1. */
uint64_t registration_delay_usec(unsigned int attempts);

/* A socket is made a moment before a server listens on it: within kubelet's 10 s for dialling it is
 * tried every so often. @tries: from 1. Return: 0: that time is over. */
uint64_t registration_dial_usec(unsigned int tries);

/* What a registrar tells. */
struct registration_info {
	const char *type, *name, *endpoint;
	const char *const *versions;
	size_t version_count;
};

/* Who has the name already; version NULL: none. */
struct registration_owner {
	const struct csi_version *version;
	bool is_ready; /* else it is still being registered itself */
};

/**
 * registration_check - may a driver be registered as its registrar tells
 * @socket: absolute; the endpoint when the driver names none
 * @owner:  of the same name, at another socket
 * @ret_endpoint: borrowed from @info or @socket
 *
 * Return: 0; -EOPNOTSUPP no CSI driver; -EPROTO the versions; -EINVAL name or endpoint; -EEXIST the
 * name is taken by the same or a newer version; -EBUSY the one that has the name is not done yet.
 */
int registration_check(const struct registration_info *info, const char *socket,
		       const struct registration_owner *owner, struct csi_version *ret_version,
		       const char **ret_endpoint, struct failure *reterr);
