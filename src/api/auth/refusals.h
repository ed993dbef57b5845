/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals - whose requests were refused how often: guesses are throttled, repeated lines summed up
 *
 * A peer is an IPv4 address, the /64 of an IPv6 address, or a uid (see unprivileged.h). It may
 * guess API_GUESSES_MAX credentials at once and one more every API_GUESS_SECONDS; what it gives
 * beyond that is not compared at all. A credential that the peer has used with success before is
 * compared nevertheless, so that a guesser shuts out no client that has the same address. The first
 * API_REFUSAL_LINES_MAX refusals of a minute are a line each, of one peer
 * API_REFUSAL_LINES_OF_PEER_MAX of them; the others are one line for each peer at the minute's end.
 * Both tables are bounded: the peer that was seen longest ago is forgotten. The loop only.
 */
#pragma once

#include "api/auth/unprivileged.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct refusals;

/* Return: 0; -ENOMEM; what sd-event says. */
int refusals_new(sd_event *event, struct refusals **ret);
/* What was not summed up yet is, now. @refusals may be NULL. Return: NULL. */
struct refusals *refusals_free(struct refusals *refusals);

/**
 * refusals_wait - must this peer wait before its credential is compared
 * @credential: TOKEN_DIGEST_BYTES; NULL: none that can be remembered
 * @now_usec:   monotonic
 *
 * Return: 0 compare it; else the seconds until a guess of this peer is compared again.
 */
unsigned int refusals_wait(const struct refusals *refusals, const struct remote_peer *peer,
			   const unsigned char *credential, uint64_t now_usec);

/* A credential was compared and is none. */
void refusals_guessed(struct refusals *refusals, const struct remote_peer *peer, uint64_t now_usec);
/* One was compared and opens: remembered for this peer. */
void refusals_accepted(struct refusals *refusals, const struct remote_peer *peer,
		       const unsigned char *credential, uint64_t now_usec);

/* A request of this peer is refused. Return: it may have a line of its own; else it is counted. */
bool refusals_log(struct refusals *refusals, const struct remote_peer *peer, uint64_t now_usec);

/* The minute is over: sums up. The timer does so by itself. */
void refusals_sum_up(struct refusals *refusals);
