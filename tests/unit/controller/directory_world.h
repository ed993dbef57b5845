/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_world - a local provisioner on a real store, for its tests; directories are made of
 * nothing here: orders are kept until the test answers them
 *
 * The texts use ' for ". begin() has a claim "c", its class and its node.
 */
#pragma once

#include "tests/unit/store/store_world.h"

#include "controller/local/local_provisioner.h"
#include "object/kinds/persistent_volume.h"

#define UID "11111111-2222-3333-4444-000000000001"
#define PV  "pvc-" UID
#define ASKS                                                                                       \
	"'volume.kubernetes.io/storage-provisioner':'podvol/local',"                               \
	"'volume.beta.kubernetes.io/storage-provisioner':'podvol/local'"
#define CLAIM(annotations, spec)                                                                   \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID "','annotations':{" annotations "}},'spec':{'storageClassName':'s',"    \
	"'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}" spec "}}"
#define CLASS(rest)                                                                                \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"         \
	"'provisioner':'podvol/local','parameters':{'basePaths':'/a,/b'}" rest "}"
#define NODE "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}"

struct order {
	enum directory_deed deed;
	char base[32], name[128], mark[64], capacity[8];
	uint64_t bytes;
	size_t base_count;
	bool is_named, is_unused;
	bool is_filled; /* it has a source: */
	struct {
		char base[32], name[128], mark[64], capacity[8];
		bool is_snapshot;
	} source;
	directory_done_fn *done;
	void *userdata;
};

struct world {
	struct store_world store;
	struct local_provisioner *provisioner;
	struct order orders[32];
	size_t count, answered;
	bool in_use, wanted, incomplete;
	char events[1024];
};

int directory_world_setup(void **state);
int directory_world_teardown(void **state);
void start(struct world *world);
/* Stores or replaces it. */
void put(struct world *world, const char *text);
/* Until nothing more is written: the test's write is answered after all that was queued before. */
void settle(struct world *world);
/* The first order that is not answered yet. */
void answer(struct world *world, int error);
/* The one order that is not answered yet. */
const struct order *assert_ordered(struct world *world, enum directory_deed deed);
/* NULL: there is none. */
const struct persistent_volume *volume(struct world *world);
/* For object_edit(). */
int remove_finalizers(struct cJSON *tree, void *userdata);
/* As the binder does of a volume that is being deleted. */
void unprotect(struct world *world);
void begin(struct world *world);

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, directory_world_setup, directory_world_teardown)
