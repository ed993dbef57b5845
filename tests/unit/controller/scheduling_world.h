/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_world - a store with some objects, and what a check of a pod says there
 *
 * The texts use ' for ".
 */
#pragma once

#include "tests/unit/store/store_world.h"

#include "controller/scheduling/scheduling.h"

#define UID "11111111-2222-3333-4444-00000000000"

#define CLAIM_SIZE(name, annotations, spec, size)                                                  \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name              \
	"','namespace':'ns','uid':'" UID "1','annotations':{" annotations                          \
	"}},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'" size     \
	"'}}" spec "}}"
#define CLAIM(name, annotations, spec) CLAIM_SIZE(name, annotations, spec, "1Gi")
#define BOUND(name, volume)                                                                        \
	CLAIM(name, "'pv.kubernetes.io/bind-completed':'yes'", ",'volumeName':'" volume "'")
#define IN(class)      ",'storageClassName':'" class "'"
#define SELECTED(node) "'volume.kubernetes.io/selected-node':'" node "'"

/* On the node whose label "host" is @host; "" everywhere. */
#define VOLUME(name, labels, spec, size, host)                                                     \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name                   \
	"','labels':{" labels "}},'spec':{'capacity':{'storage':'" size                            \
	"'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/d'}" spec                         \
	",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'host',"    \
	"'operator':'In','values':['" host "']}]}]}}},'status':{'phase':'Available'}}"
#define PLAIN_VOLUME(name, labels)                                                                 \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name                   \
	"','labels':{" labels                                                                      \
	"}},'spec':{'capacity':{'storage':'2Gi'},'accessModes':['ReadWriteOnce'],"                 \
	"'hostPath':{'path':'/d'}}}"

#define CLASS(name, provisioner, rest)                                                             \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name        \
	"'},'provisioner':'" provisioner "'" rest "}"
#define WAITS   ",'volumeBindingMode':'WaitForFirstConsumer'"
#define NO_ONE  "kubernetes.io/no-provisioner"
#define USES(v) "{'name':'v-" v "','persistentVolumeClaim':{'claimName':'" v "'}}"
#define POD(name, volumes)                                                                         \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" volumes  \
	"]}}"
#define NODE(labels)                                                                               \
	"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1','labels':{" labels "}}}"

enum { WORLD_OBJECTS_MAX = 8 };

struct expectation {
	const char *objects[WORLD_OBJECTS_MAX]; /* stored; NULL ends */
	const char *pod, *node;
	const char *reasons; /* with "; " between; "" it fits */
};

typedef void check_fn(const struct scheduling_query *question, struct scheduling_verdict *ret);

/* A store for each row; fails the test with the row's number. */
void check_all(check_fn *check, const struct expectation *rows, size_t count);
