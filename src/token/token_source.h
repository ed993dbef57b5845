/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_source - where plugins get tokens of service accounts from
 *
 * A token proves to others which pod speaks: signed here by a key of the node, later by a cluster.
 * Plugins know neither keys nor clusters; they say for whom and how long, and get text that no
 * other may see: it is in no log, event or view, and overwritten when it is given back.
 *
 * The service account is an object that the plugin's references() names (KIND_SERVICE_ACCOUNT, the
 * pod's namespace, pod->service_account_name), so that a volume waits for an account that is
 * missing.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

#include <stdint.h>

enum {
	TOKEN_SECONDS_LEAST = 600,    /* shorter lives are refused, as by Kubernetes */
	TOKEN_SECONDS_DEFAULT = 3600, /* where not given */
	TOKEN_BYTES_MAX = 16384,      /* of a token's text */
};

/* What a pod needs a token for. Borrowed for the call. */
struct token_order {
	const struct object *pod;             /* the token is bound to it: name and uid */
	const struct object *service_account; /* whose token it is */
	const char *audience;                 /* who shall accept it; "" the issuer's own */
	int64_t seconds;                      /* of life */
	/* NULL, or a token that the pod has already: it is answered again, without a signature,
	 * when podvol issued it for the same want and not due yet. */
	const char *current;
};

/* Given back to issued_token_done(). */
struct issued_token {
	char *text;            /* three parts of base64url with dots between */
	uint64_t expires_usec; /* real time; Kubernetes' expirationTimestamp */
	/* When it is to be replaced: at 80 % of its life or after a day, and some seconds earlier
	 * or later by chance, so that a thousand pods do not ask at once. */
	uint64_t refresh_usec;
};

struct token_source {
	/**
	 * issue - one token [worker: may block]
	 *
	 * Callers of several audiences call several times. Return: 0; -EINVAL a life that is too
	 * short, a name that cannot be in a token; -ENOMEM; -EIO it cannot be signed; else as a
	 * cluster fails.
	 */
	int (*issue)(void *userdata, const struct token_order *want, struct issued_token *ret,
		     struct failure *reterr);
	void *userdata;
};

/* Overwrites and frees the text; one that is all zero is fine. */
void issued_token_done(struct issued_token *token);
