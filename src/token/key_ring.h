/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ring - the key that signs, and those that signed before and are still to be believed
 *
 * In one file of the state directory, for root alone, written whole or not at all. Of a key that
 * signs no more the private half is forgotten; its public half stays until the last token that it
 * can have signed has expired. A file that cannot be read is reported and never replaced: every
 * token that is out would stop being believed. Each key has a sum of its text: one that is intact
 * is parsed when it is first used.
 *
 * Blocks on the disk: start-up, or a worker. Reading a ring needs no disk.
 */
#pragma once

#include "token/signing_key.h"

#include <stdint.h>

#define KEY_RING_FILE "token-keys.pem"

enum { KEY_RING_MAX = 32 }; /* keys, the one that signs included */

struct ring_key {
	struct signing_key *key;
	uint64_t created_usec;         /* real time */
	int64_t longest_seconds;       /* the longest life of a token that it signed */
	uint64_t published_until_usec; /* 0: it signs */
	uint64_t text_sum;             /* of its text in the file; 0: the file has none */
};

struct key_ring {
	struct ring_key keys[KEY_RING_MAX]; /* the first signs; later ones are older */
	size_t count;
};

/**
 * key_ring_load - read the ring, or make one with a new key
 * @directory_fd: of secret_directory_open()
 * @longest_seconds: how long tokens may live from now on
 * @ret: to be given to key_ring_done()
 *
 * Return: 0; -EINVAL the file holds something else; else as secret_file_read() and
 * secret_file_write().
 */
int key_ring_load(int directory_fd, int64_t longest_seconds, struct key_ring *ret,
		  struct failure *reterr);

/**
 * key_ring_renew - a ring with a new key that signs, on the disk when it returns
 * @ring: as it is; stays the caller's and unchanged
 * @ret:  a ring of its own
 *
 * Return: 0; -EDQUOT too many old keys are still published; -EIO, -ENOMEM; else as
 * secret_file_write().
 */
int key_ring_renew(int directory_fd, const struct key_ring *ring, int64_t longest_seconds,
		   struct key_ring *ret, struct failure *reterr);

/* Frees the keys; an empty ring is fine. */
void key_ring_done(struct key_ring *ring);
