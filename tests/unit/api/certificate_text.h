/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_text - certificates in PEM, made for tests
 */
#pragma once

#include <stdbool.h>

/* Signed by itself; another one each time. Freed with free(). */
char *certificate_text(const char *name, bool is_authority);

/* A ClusterTrustBundle in YAML with these texts one after the other; ended by NULL. @head: more
 * lines of spec, each with its indent and end. Freed with free(). */
char *trust_bundle_text(const char *name, const char *labels, const char *head,
			const char *const *texts);
