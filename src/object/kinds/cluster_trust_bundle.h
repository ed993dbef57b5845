/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_trust_bundle - whom to trust, for all pods of a cluster: certificates.k8s.io, decoded
 */
#pragma once

#include "object/object.h"

/* Strings are "" where absent and live as long as the object. */
struct cluster_trust_bundle {
	const char *signer_name;  /* "example.com/foo"; "" of no signer */
	const char *trust_bundle; /* PEM */
};
