/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline - how long a client may take in all, however busily it sends or reads
 *
 * The library's own time-out begins again with every byte, so a byte a minute would hold a
 * connection for ever. A connection is in one phase; each phase has one length, so that its queue
 * is in the order of the ends, and entering, leaving and finding the first take no search. What
 * is late has its socket shut down, which the library sees as the client's end. The loop thread
 * only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

enum deadline_phase {
	DEADLINE_UNAUTHENTICATED, /* from accept until a credential was seen; a TLS handshake and
				   * the first request's head are part of it */
	DEADLINE_IDLE,            /* until a request's line is there */
	DEADLINE_REQUEST,         /* from its line to its last byte */
	DEADLINE_ANSWER,          /* while an answer of known length is read */
	DEADLINE_PHASES,
	DEADLINE_NONE = DEADLINE_PHASES /* while we are the ones who take the time */
};

struct deadlines;

/* Part of a connection; zeroed but for the descriptor it begins in no phase. */
struct deadline {
	int fd;
	enum deadline_phase phase;
	uint64_t until_usec; /* monotonic */
	struct deadline *previous, *next;
};

/**
 * deadlines_new - the queues, and one timer on the loop
 * @event:       borrowed
 * @length_usec: of each phase
 *
 * Return: 0; -ENOMEM; what sd-event says.
 */
int deadlines_new(sd_event *event, const uint64_t length_usec[static DEADLINE_PHASES],
		  struct deadlines **ret);
/* No connection may be in a phase any more. @deadlines may be NULL. Return: NULL. */
struct deadlines *deadlines_free(struct deadlines *deadlines);

/* A connection that is new: in no phase. */
void deadline_init(struct deadline *deadline, int fd);
/* Leaves its phase and enters another, whose time begins now; also DEADLINE_NONE. */
void deadline_enter(struct deadlines *deadlines, struct deadline *deadline,
		    enum deadline_phase phase);

/* Shuts down all that are late at @now_usec; the timer does so by itself. Return: how many. */
size_t deadlines_pass(struct deadlines *deadlines, uint64_t now_usec);
