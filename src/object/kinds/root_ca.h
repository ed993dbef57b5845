/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca - the ConfigMap kube-root-ca.crt that each namespace has; pure
 *
 * Pods exported from a cluster mount it in their volume kube-api-access. One that podvold published
 * repeats the certificate in an annotation. Where the two differ, or there is no annotation,
 * it is foreign: a cluster's certificate, which nothing here replaces.
 */
#pragma once

#include "object/object.h"

#define ROOT_CA_CONFIG_MAP "kube-root-ca.crt"

/* @certificate: PEM. Return: 0; -EINVAL no valid object; -ENOMEM. */
int root_ca_new(const char *name_space, const char *certificate, const struct object **ret,
		struct failure *reterr);

/* @stored with another certificate; as root_ca_new(). */
int root_ca_replace(const struct object *stored, const char *certificate, const struct object **ret,
		    struct failure *reterr);

/* Did podvold publish it, and is it unchanged? False also without memory. Of any object. */
bool root_ca_is_published(const struct object *object);

/* Is it published with @certificate? */
bool root_ca_has(const struct object *object, const char *certificate);
