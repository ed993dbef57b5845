/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_tokens - tokens of service accounts over HTTP: what a kube-apiserver answers
 *
 * TokenRequest for whoever may read Secrets, for a token is one; TokenReview for whoever may write,
 * since it tells only whether a token that one has is good; public keys for whoever may read.
 */
#ifndef PODVOL_API_SERVICE_TOKENS_H
#define PODVOL_API_SERVICE_TOKENS_H

#include "api/exchange.h"

#define AUTHENTICATION_VERSION "authentication.k8s.io/v1"

/* The body as an object of this kind of AUTHENTICATION_VERSION; apiVersion and kind may be absent.
 * NULL: refused. Freed with json_free(). */
struct cJSON *service_tokens_body(struct exchange *exchange, const char *kind);

/* NULL: this daemon issues none, and that was replied. */
struct token_issuer *service_tokens_issuer(struct exchange *exchange);

#endif
