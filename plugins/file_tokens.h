/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_tokens - the token of the pod's service account as a file of a projected volume
 *
 * The volume itself remembers the token: what it shows already is kept until it is due, over any
 * number of set-ups and restarts.
 */
#pragma once

#include "mount/files/payload.h"
#include "plugins/plugin.h"
#include "token/token_source.h"

/* Of one pod; lives for one gathering of files. */
struct file_tokens {
	const struct token_source *source; /* NULL: no tokens are issued here */
	const struct object *pod;
	const struct object *service_account; /* NULL: there is none */
	/* What the volume shows at @path now; given to secret_text_free(); NULL: nothing. */
	char *(*current)(void *userdata, const char *path);
	void *userdata;
	/* Earliest real time at which a token is to be replaced; 0: there is none. Written by
	 * file_tokens_add(). */
	uint64_t renew_usec;
};

/* The rights of files that tell secrets of one pod (cases 145, 146, 147): 0600 where one user or
 * the fsGroup is to read them, which makes 0640 of it, else @default_mode. */
void file_tokens_rights(const struct object *pod, mode_t default_mode, struct payload_file *ret);

/**
 * file_tokens_add - one serviceAccountToken of a projected volume [worker: may block]
 * @item: {path, audience, expirationSeconds}
 *
 * Return: 0; -ENOENT there is no such account; -EOPNOTSUPP no tokens are issued; else as
 * token_source and payload_add().
 */
int file_tokens_add(struct file_tokens *tokens, const struct cJSON *item, mode_t default_mode,
		    struct payload *payload, struct failure *reterr);
