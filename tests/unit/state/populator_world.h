/* SPDX-License-Identifier: Apache-2.0 */
/*
 * populator_world - a populator between a store of YAML objects and the tables, with short ways to
 * put things in and to say what must come out
 *
 * Asserts by itself: for tests alone.
 */
#pragma once

#include "fake_store.h"
#include "state/populator.h"

struct populator_world {
	struct store store;
	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	struct populator *populator;
	uint64_t now_usec;
	unsigned int looks; /* at any pod */
	char renewed[256];  /* unique names, each followed by a blank */
};

/* cmocka fixtures. In started_world the first full pass is over. */
int new_world(void **state);
int started_world(void **state);
int free_world(void **state);

/* A pod "<name>" of uid "uid-<name>" with one container. The fragments are YAML flow: of metadata,
 * of the container, the list of volumes, and of status. */
void put_pod(struct populator_world *world, const char *name, const char *metadata,
	     const char *container, const char *volumes, const char *status);

/* The usual pod: its volume "data" is the claim "<claim>", mounted. */
void put_claim_pod(struct populator_world *world, const char *name, const char *claim);

/* A claim of uid "uid-<name>" bound to "<pv>", and the PV's other side. The PV is a local volume.
 */
void put_claim(struct populator_world *world, const char *name, const char *pv);
void put_pv(struct populator_world *world, const char *name, const char *claim, const char *mode);
void put_bound(struct populator_world *world, const char *claim, const char *pv);

/* Unique names, each followed by a blank, in the order in which they were added. */
void expect_wants(struct populator_world *world, const char *pod_uid, const char *unique_names);

/* The one error of a pod; NULL: none. */
void expect_error(struct populator_world *world, const char *pod_uid, const char *text);

#define LOCAL "kubernetes.io/local-volume/"
