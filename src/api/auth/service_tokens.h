/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_tokens - tokens of service accounts over HTTP: what a kube-apiserver answers
 *
 * TokenRequest with the right to read Secrets, for a token is one; TokenReview with the right to
 * write, since it tells only whether a token is good; public keys with the right to read.
 */
#pragma once

#include "api/exchange.h"
#include "object/json/json.h"

#define AUTHENTICATION_VERSION "authentication.k8s.io/v1"

/* The body as an object of this kind of AUTHENTICATION_VERSION; apiVersion and kind may be absent.
 * NULL: refused. Freed with json_free(). */
struct cJSON *service_tokens_body(struct exchange *exchange, const char *kind);

/* NULL: this daemon issues none, and that was replied. */
struct token_issuer *service_tokens_issuer(struct exchange *exchange);

/* ---- token_request_body.c ---- */

/* A TokenRequest in Kubernetes' protocol buffers, which kubectl sends; pure.
 *
 * kubectl create token and kubectl auth know no other form. Numbers of fields are those of
 * k8s.io/api/authentication/v1; what is unknown is passed over. */

/* Bytes are not trusted. Return: 0 and the same as JSON, freed with json_free(); -EINVAL it is
 * none; -ENOMEM. */
int token_request_parse(const void *bytes, size_t length, struct cJSON **ret);

/* The same for a SelfSubjectAccessReview, a SelfSubjectRulesReview or a SelfSubjectReview. */
int self_review_parse(const void *bytes, size_t length, struct cJSON **ret);
