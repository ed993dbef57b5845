/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_internal - what the files of this folder share; no other folder includes it
 *
 * cluster.c owns the parts: identity.c (is it still the same cluster?), pods.c (pods, and when one
 * is gone), absence.c (proof that one is), needed.c (what pods lead to), kinds.c (own Node,
 * CSIDrivers), node_annotation.c, registration.c (own Node Ready), provisioning.c (objects of the
 * local provisioner), writes.c (what goes to the server), contact.c (state of it), credentials.c.
 */
#pragma once

#include "base/hash_table.h"
#include "cluster/cluster.h"

#include "cluster/requests.h"
#include "object/kind.h"
#include "store/remote/heartbeat.h"
#include "store/remote/kubeconfig.h"
#include "store/remote/list_watch.h"

struct pods;
struct needed;
struct kinds;
struct contact;
struct credentials;
struct writes;
struct tokens;
struct server_events;
struct provisioning;
struct deleted_claims;
struct registration;
struct version;

enum {
	CLUSTER_PATH_BYTES = 1024,
	CLUSTER_OTHER_SECONDS = 60, /* until a cluster that is not known to be the same is tried */
};

struct cluster {
	struct cluster_options options;
	struct kubeconfig kubeconfig;
	struct http_client *client;
	struct heartbeat *heartbeat;
	struct requests *requests;
	struct credentials *credentials;
	struct contact *contact;
	struct identity *identity;
	struct pods *pods;
	struct needed *needed;
	struct kinds *kinds;
	struct node_annotation *node_annotation;
	struct writes *writes;
	struct tokens *tokens;
	struct server_events *events;
	struct provisioning *provisioning; /* NULL: no volumes are made here */
	struct registration *registration; /* NULL: another agent registers the Node */
	struct version *versions;
	bool has_no_watch_list; /* the server; see list_watch_options */
};

/* ---- paths.c ---- */

/* "/api/v1/namespaces/n/pods/p"; @name NULL: of the collection; @suffix: "/status", "?x" or "".
 * False: it does not fit. */
bool cluster_path(const struct kind_row *kind, const char *name_space, const char *name,
		  const char *suffix, char ret[CLUSTER_PATH_BYTES]);

/* ---- mirror.c ---- */

/* The server has this object now; the server no longer has the one with this uid. What the store
 * refuses is logged. */
void mirror_put(struct cluster *cluster, const struct object *object);
void mirror_remove(struct cluster *cluster, enum object_kind kind, const char *name_space,
		   const char *name, const char *uid);

/* @done is called behind all that was stored before, with -ENOENT. Return: as store_mirror(). */
int mirror_after(struct cluster *cluster, store_done_fn *done, void *userdata);
/* A ServiceAccount of this name: its tokens come from the server, which shows a node no more. */
void mirror_account(struct cluster *cluster, const char *name_space, const char *name);

/* ---- credentials.c ---- */

/* Blocks on the disk: at start. Return: 0; what reading the files or starting the plugin gave. */
int credentials_new(struct cluster *cluster, struct failure *reterr);
struct credentials *credentials_free(struct credentials *credentials);
/* By the server or by TLS. */
void credentials_refused(struct cluster *cluster);

/* ---- contact.c ---- */

int contact_new(struct cluster *cluster);
struct contact *contact_free(struct contact *contact);
/* Of every answer: makes the credentials new when they were refused. */
void contact_note(struct cluster *cluster, const struct http_answer *answer);
/* A list or watch failed: the same. @status 0: no answer came. */
void contact_note_failure(struct cluster *cluster, int status, const struct failure *why);
/* A list or watch event came. */
void contact_note_news(struct cluster *cluster);
void contact_view(const struct cluster *cluster, struct cJSON *view);

/* Why an answer is no success, as a sentence. Return: its error, negative. */
int contact_explain(const char *path, const struct http_answer *answer, struct failure *reterr);

/* ---- identity.c ---- */

/* kube-system's uid, where it may be read, else the own Node's: as the store has kept it. */
enum identity_verdict {
	IDENTITY_SAME,
	IDENTITY_OTHER,   /* another cluster answers at this address */
	IDENTITY_UNKNOWN, /* it could not be asked */
};

struct identity_check;

/* The ConfigMap that keeps it. */
#define IDENTITY_NAMESPACE "podvol-local"
#define IDENTITY_NAME      "cluster"

int identity_new(struct cluster *cluster);
struct identity *identity_free(struct identity *identity);
/* Ask now; done() once, later. Return: 0; -ENOBUFS, -ENOMEM. */
int identity_check_start(struct cluster *cluster,
			 void (*done)(void *userdata, enum identity_verdict), void *userdata,
			 struct identity_check **ret);
/* done() is not called any more. Accepts NULL. Return: NULL. */
struct identity_check *identity_cancel(struct identity_check *check);
/* Nothing is known of a cluster; another one answered last. */
bool identity_is_blank(const struct identity *identity);
bool identity_is_other(const struct identity *identity);
void identity_view(const struct cluster *cluster, struct cJSON *view);

/* What a process before knew: the newest resourceVersion of pods, and uids of pods that are kept
 * although the server lost them (separated by commas). Borrowed until identity_keep(). */
uint64_t identity_newest(const struct identity *identity);
const char *identity_kept(const struct identity *identity);
/* Into the store, in the group of writes that was queued last. */
void identity_keep(struct cluster *cluster, uint64_t newest, const char *kept);

/* ---- pods.c ---- */

int pods_new(struct cluster *cluster);
struct pods *pods_free(struct pods *pods);
/* Has the server been known to be the same since the last failure? */
bool pods_are_verified(const struct pods *pods);
/* The server says that this pod, by uid, is gone: it leaves the store. */
void pods_gone(struct cluster *cluster, const char *name_space, const char *name, const char *uid);
/* The server has this pod now; its identity was checked before. */
void pods_put(struct cluster *cluster, const struct object *pod);
/* Did a restored etcd lose it; any of them? */
bool pods_is_kept(const struct pods *pods, const char *uid);
bool pods_are_kept(const struct pods *pods);
void pods_view(const struct cluster *cluster, struct cJSON *view);

/* ---- absence.c ---- */

/* Pods that a list lacked: each is asked for by name, until it is proven gone or there. */
struct absences;
int absences_new(struct cluster *cluster, struct absences **ret);
struct absences *absences_free(struct absences *absences);
void absences_add(struct absences *absences, const struct object *pod);
/* It was seen. */
void absences_remove(struct absences *absences, const char *uid);
size_t absences_count(const struct absences *absences);

/* ---- needed_objects.c ---- */

bool needed_is_file(enum object_kind kind);  /* a Secret or ConfigMap */
bool needed_is_claim(enum object_kind kind); /* a claim or volume */
bool needed_is_served(const struct object_reference *reference);
/* Is there nothing to wait for but growth? */
bool needed_is_settled(const struct object *object);
/* Seconds until a Secret or ConfigMap that is not watched is read again, and its watch tried, which
 * was refused so often in a row: a server that hears late of a pod refuses its Secrets first. */
unsigned int needed_file_pause(unsigned int refusals);

/* ---- needed.c ---- */

enum {
	NEEDED_WATCHES_MAX = 200,       /* of Secrets and ConfigMaps; more are read once a minute */
	NEEDED_CLAIM_WATCHES_MAX = 200, /* of claims and volumes; more are read in five minutes */
};

int needed_new(struct cluster *cluster);
struct needed *needed_free(struct needed *needed);
void needed_use(struct needed *needed, const struct object_reference *reference, bool is_used);
/* Does a pod lead to it? */
bool needed_uses(const struct needed *needed, const struct object_reference *reference);
/* What is stored of it is old: read it now, where a pod leads to it. */
void needed_read(const struct needed *needed, const struct object_reference *reference);
bool needed_is_unknown(const struct needed *needed, const struct object_reference *reference);
/* Every pod is known. */
void needed_sweep(struct needed *needed);
void needed_view(const struct cluster *cluster, struct cJSON *view);

/* ---- kinds.c ---- */

int kinds_new(struct cluster *cluster);
struct kinds *kinds_free(struct kinds *kinds);

/* ---- writes.c ---- */

/* From now on the store's writes go to the server, but for events and leases. */
int writes_new(struct cluster *cluster);
struct writes *writes_free(struct writes *writes);
void writes_view(const struct cluster *cluster, struct cJSON *view);

/* ---- server_tokens.c ---- */

int tokens_new(struct cluster *cluster);
/* Workers that wait are answered, and later ones refused, with -ECANCELED. Accepts NULL. */
void tokens_stop(struct tokens *tokens);
struct tokens *tokens_free(struct tokens *tokens);
const struct token_source *tokens_source(const struct tokens *tokens);

/* ---- server_events.c ---- */

enum {
	SERVER_EVENTS_MAX = 2000,         /* different ones that are known */
	SERVER_EVENTS_OF_OBJECT_MAX = 25, /* new ones of one object, in five minutes */
};

/* What is recorded in the store from now on goes to the server. */
int server_events_new(struct cluster *cluster);
struct server_events *server_events_free(struct server_events *events);
void server_events_view(const struct cluster *cluster, struct cJSON *view);

/* ---- versions.c ---- */

/* The server's version of an object that is mirrored; and the object is no more. */
void versions_note(struct cluster *cluster, const struct object *object);
void versions_forget(struct cluster *cluster, const char *uid);
/* 0: not known. */
uint64_t versions_find(const struct cluster *cluster, const char *uid);
void versions_free(struct cluster *cluster);
