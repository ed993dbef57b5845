/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binder_world - a binder on a real store, for its tests
 *
 * The texts use ' for ". CLAIM() and VOLUME() make a claim "c" and a volume that fit each other.
 */
#pragma once

#include "tests/unit/store/store_world.h"

#include "controller/controller.h"
#include "object/kinds/persistent_volume.h"

#define UID     "11111111-2222-3333-4444-000000000001"
#define OTHER   "11111111-2222-3333-4444-000000000002"
#define BY_US   "'pv.kubernetes.io/bound-by-controller':'yes'"
#define IS_DONE "'pv.kubernetes.io/bind-completed':'yes'"

#define CLAIM(annotations, spec, status)                                                           \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID "','annotations':{" annotations "}},'spec':{'accessModes':["            \
	"'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}" spec "},'status':{" status   \
	"}}"
#define VOLUME(name, annotations, spec, status)                                                    \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name                   \
	"','annotations':{" annotations "}},'spec':{'capacity':{'storage':'2Gi'},'accessModes':["  \
	"'ReadWriteOnce','ReadOnlyMany'],'local':{'path':'/d'},'nodeAffinity':{'required':{"       \
	"'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}}" spec      \
	"},'status':{" status "}}"
#define REF(uid)      ",'claimRef':{'namespace':'ns','name':'c'" uid "}"
#define REF_UID(uid)  REF(",'uid':'" uid "'")
#define NAMES(volume) ",'volumeName':'" volume "'"
#define CLASS(name)   ",'storageClassName':'" name "'"

#define CLASS_OBJECT(name, annotations, provisioner)                                               \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name        \
	"','annotations':{" annotations "}},'provisioner':'" provisioner "'}"
#define IS_DEFAULT "'storageclass.kubernetes.io/is-default-class':'true'"

struct world {
	struct store_world store;
	struct pv_binder *binder;
	char events[1024];
};

int binder_world_setup(void **state);
int binder_world_teardown(void **state);

void start(struct world *world);

/* Create or replace. */
void put(struct world *world, const char *text);

/* Until the binder writes no more. A write of the test is answered after all that it queued before.
 */
void run(struct world *world);
void start_and_run(struct world *world);

/* Of a name; claims and pods are in "ns". NULL: none. */
const struct object *get(struct world *world, enum object_kind kind, const char *name);

/* The claim "c", and a volume, which must be there. */
const struct persistent_volume_claim *claim(struct world *world);
const struct persistent_volume *volume(struct world *world, const char *name);

bool has(const struct object *object, const char *text);

/* Claim "c" and this volume, of VOLUME(), are bound to each other. */
void assert_bound(struct world *world, const char *name);
