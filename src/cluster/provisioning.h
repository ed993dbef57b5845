/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provisioning - which claims, volumes and classes of a cluster are stored for the local
 * provisioner
 *
 * Decides what is stored, and when; makes no volume. Refuses to store a volume as Released before
 * the deletion of its claim is proven. The loop thread only.
 */
#pragma once

#include "cluster/cluster_internal.h"

/* ---- provisioning.c ---- */

/* Nothing, unless volumes are made here. */
int provisioning_new(struct cluster *cluster);
struct provisioning *provisioning_free(struct provisioning *provisioning);
/* The server was found to be the same cluster. */
void provisioning_begin(struct cluster *cluster);
/* Something of this kind could not be taken: it is listed again, some seconds later. */
void provisioning_list_again(struct cluster *cluster, enum object_kind kind);
/* The server answered what this object is, or that it is absent. */
void provisioning_learned(struct cluster *cluster, enum object_kind kind, const char *name_space,
			  const char *name);
/* Is it stored for the provisioner, needed by pods or not? */
bool provisioning_keeps(const struct cluster *cluster, const struct object *object);
/* Must it not be stored like this yet? Then it will be. */
bool provisioning_holds_back(struct cluster *cluster, const struct object *object);
void provisioning_view(const struct cluster *cluster, struct cJSON *view);

/* ---- deleted_claims.c ---- */

int deleted_claims_new(struct cluster *cluster, struct deleted_claims **ret);
struct deleted_claims *deleted_claims_free(struct deleted_claims *deleted_claims);
/* Is this volume Released, and can that be proven? Then the proof begins, unless it has. */
bool deleted_claims_prove(struct deleted_claims *deleted_claims, const struct object *object);
