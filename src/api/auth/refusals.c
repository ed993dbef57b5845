/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals - throttles guesses and sums up refusals; see refusals.h
 *
 * One minute for all peers: it begins with a refusal, and its end finds the timer off again.
 */
#include "api/auth/refusals.h"

#include "api/api.h"
#include "api/auth/token_list.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

#include <string.h>

#define GUESS_USEC  (API_GUESS_SECONDS * USEC_PER_SEC)
#define WINDOW_USEC (60 * USEC_PER_SEC)

/* Credentials that are remembered of a peer; a new one replaces the oldest. */
enum { ACCEPTED_MAX = 4 };

struct peer {
	struct remote_peer id;
	uint64_t seen_usec;     /* 0: an empty row */
	uint64_t guesses_usec;  /* one guess moves it on by GUESS_USEC, from now at least */
	size_t lines, unlogged; /* in this minute */
	unsigned char accepted[ACCEPTED_MAX][TOKEN_DIGEST_BYTES];
	size_t accepted_count, accepted_next;
};

struct refusals {
	sd_event_source *minute;
	size_t lines, unlogged_others; /* in this minute; of peers that were forgotten since */
	struct peer peers[API_REFUSED_PEERS_MAX];
};

static bool is_same(const struct remote_peer *a, const struct remote_peer *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static const struct peer *find(const struct refusals *refusals, const struct remote_peer *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals->peers); i++)
		if (refusals->peers[i].seen_usec > 0 && is_same(&refusals->peers[i].id, id))
			return &refusals->peers[i];
	return NULL;
}

static void log_sum(const char *name, size_t refused)
{
	char count[24];
	const struct log_field fields[] = { { "API_CLIENT", name },
					    { "API_RESULT", "refused" },
					    { "API_COUNT", count } };

	(void) snprintf(count, sizeof(count), "%zu", refused);
	log_fields(LOG_NOTICE, fields, ARRAY_SIZE(fields),
		   "api: %zu more requests from %s were refused within a minute", refused, name);
}

/* The row of a peer; it takes the place of the one that was seen longest ago. */
static struct peer *enter(struct refusals *refusals, const struct remote_peer *id,
			  uint64_t now_usec)
{
	struct peer *peer = (struct peer *) find(refusals, id);

	if (!peer) {
		peer = &refusals->peers[0];
		for (size_t i = 1; i < ARRAY_SIZE(refusals->peers); i++)
			if (refusals->peers[i].seen_usec < peer->seen_usec)
				peer = &refusals->peers[i];
		refusals->unlogged_others += peer->unlogged;
		*peer = (struct peer){ .id = *id };
	}
	peer->seen_usec = now_usec;
	return peer;
}

/* ---- guesses ---- */

static bool is_accepted(const struct peer *peer, const unsigned char *credential)
{
	for (size_t i = 0; i < peer->accepted_count; i++)
		if (memcmp(peer->accepted[i], credential, TOKEN_DIGEST_BYTES) == 0)
			return true;
	return false;
}

unsigned int refusals_wait(const struct refusals *refusals, const struct remote_peer *id,
			   const unsigned char *credential, uint64_t now_usec)
{
	const struct peer *peer = find(refusals, id);
	uint64_t allowed_usec = now_usec + (API_GUESSES_MAX - 1) * GUESS_USEC;

	if (!peer || peer->guesses_usec <= allowed_usec ||
	    (credential && is_accepted(peer, credential)))
		return 0;
	return (unsigned int) ((peer->guesses_usec - allowed_usec + USEC_PER_SEC - 1) /
			       USEC_PER_SEC);
}

void refusals_guessed(struct refusals *refusals, const struct remote_peer *id, uint64_t now_usec)
{
	struct peer *peer = enter(refusals, id, now_usec);

	if (peer->guesses_usec < now_usec)
		peer->guesses_usec = now_usec;
	peer->guesses_usec += GUESS_USEC;
}

void refusals_accepted(struct refusals *refusals, const struct remote_peer *id,
		       const unsigned char *credential, uint64_t now_usec)
{
	struct peer *peer = enter(refusals, id, now_usec);

	if (is_accepted(peer, credential))
		return;
	memcpy(peer->accepted[peer->accepted_next], credential, TOKEN_DIGEST_BYTES);
	peer->accepted_next = (peer->accepted_next + 1) % ACCEPTED_MAX;
	if (peer->accepted_count < ACCEPTED_MAX)
		peer->accepted_count++;
}

/* ---- lines ---- */

bool refusals_log(struct refusals *refusals, const struct remote_peer *id, uint64_t now_usec)
{
	struct peer *peer = enter(refusals, id, now_usec);

	if (!timer_is_set(refusals->minute))
		timer_set_in(refusals->minute, WINDOW_USEC);
	if (peer->lines == API_REFUSAL_LINES_OF_PEER_MAX ||
	    refusals->lines == API_REFUSAL_LINES_MAX) {
		peer->unlogged++;
		return false;
	}
	peer->lines++;
	refusals->lines++;
	return true;
}

void refusals_sum_up(struct refusals *refusals)
{
	char name[REMOTE_PEER_NAME_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(refusals->peers); i++) {
		struct peer *peer = &refusals->peers[i];

		remote_peer_name(&peer->id, name);
		if (peer->unlogged > 0)
			log_sum(name, peer->unlogged);
		peer->lines = 0;
		peer->unlogged = 0;
	}
	if (refusals->unlogged_others > 0)
		log_sum("other clients", refusals->unlogged_others);
	refusals->lines = 0;
	refusals->unlogged_others = 0;
	(void) sd_event_source_set_enabled(refusals->minute, SD_EVENT_OFF);
}

static int on_minute(sd_event_source *source, uint64_t usec, void *userdata)
{
	refusals_sum_up(userdata);
	return 0;
}

int refusals_new(sd_event *event, struct refusals **ret)
{
	struct refusals *refusals = calloc(1, sizeof(*refusals));
	int r;

	if (!refusals)
		return -ENOMEM;
	r = timer_new(event, 0, on_minute, refusals, &refusals->minute);
	if (r < 0) {
		free(refusals);
		return r;
	}
	*ret = refusals;
	return 0;
}

struct refusals *refusals_free(struct refusals *refusals)
{
	if (!refusals)
		return NULL;
	refusals_sum_up(refusals);
	(void) sd_event_source_disable_unref(refusals->minute);
	free(refusals);
	return NULL;
}
