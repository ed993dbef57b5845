/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_claims - what a token of a service account says, in Kubernetes' words; pure
 */
#pragma once

#include "token/token_issuer.h"

enum { TOKEN_DAY_SECONDS = 86400, TOKEN_JITTER_USEC = 10000000 };

/* By whom and when. */
struct claims_context {
	const char *url, *node_name, *node_uid; /* @node_uid "": not known */
	int64_t now_seconds, seconds;           /* of real time; of life */
};

/* iss, sub, aud, exp, iat, nbf, jti and kubernetes.io. NULL: no memory, or no random numbers. */
struct cJSON *claims_make(const struct claims_context *context, const struct token_grant *grant);

/* Are these the claims that claims_make() would make, but for the times and jti? */
bool claims_match(const struct cJSON *claims, const struct claims_context *context,
		  const struct token_grant *grant);

struct claims_times {
	int64_t issued, not_before, expires; /* seconds */
	uint64_t refresh_usec;
};
/* Kubelet's rule for the refresh: at 80 % of the life or after a day, up to ten seconds earlier.
 * How much earlier is derived from jti, so that a token says the same whenever it is asked. Return:
 * 0; -EINVAL one of them is missing, or they make no life. */
int claims_read_times(const struct cJSON *claims, struct claims_times *ret);
