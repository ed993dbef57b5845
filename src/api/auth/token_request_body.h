/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_request_body - a TokenRequest in Kubernetes' protocol buffers, which kubectl sends; pure
 *
 * kubectl create token and kubectl auth know no other form. Numbers of
 * fields are those of k8s.io/api/authentication/v1; what is unknown is passed over.
 */
#ifndef PODVOL_API_TOKEN_REQUEST_BODY_H
#define PODVOL_API_TOKEN_REQUEST_BODY_H

#include "object/json/json.h"

/* Bytes come from strangers. Return: 0 and the same as JSON, freed with json_free(); -EINVAL it is
 * none; -ENOMEM. */
int token_request_parse(const void *bytes, size_t length, struct cJSON **ret);

/* The same for a SelfSubjectAccessReview, a SelfSubjectRulesReview or a SelfSubjectReview. */
int self_review_parse(const void *bytes, size_t length, struct cJSON **ret);

#endif
