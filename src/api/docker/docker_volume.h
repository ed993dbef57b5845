/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume - docker's protocol of volume plugins, for docker and podman, on a socket of its
 * own
 *
 * A volume of docker is a PersistentVolume (-o pv=NAME) or a claim (-o claim=NAMESPACE/NAME) that
 * is there already, or a claim that is made (-o class=NAME -o size=SIZE). Everything is known from
 * objects of the store, so that a restart forgets nothing:
 *
 *  - a volume is a ConfigMap in the namespace podvol-docker, and for pv= and class= a claim beside
 *    it; the PersistentVolume is bound to it beforehand, or provisioned for it;
 *  - each mount, by docker's ID of it, is a pod in the namespace of the claim, and a hold of that
 *    pod until docker unmounts: so no mistake takes a volume from under a container;
 *  - a pod of another boot is deleted at the next start: its container ended with that boot, and
 *    neither docker nor podman unmounts it afterwards.
 *
 * Only http.c and server.c use the first two functions, the docker_volume_*.c files all. Loop only.
 */
#pragma once

#include "api/exchange.h"
#include "store/store.h"

#define DOCKER_NAMESPACE "podvol-docker"
/* Of the ConfigMaps and pods: the object name of the volume. */
#define DOCKER_LABEL "podvol.io/docker-volume"
/* Container of the pods, and of their holds. */
#define DOCKER_CONTAINER "engine"

enum { DOCKER_OBJECT_NAME_BYTES = 64 };

/* One volume, as it is stored. */
struct docker_volume {
	char name[API_DOCKER_NAME_BYTES_MAX + 1]; /* docker's */
	char object_name[DOCKER_OBJECT_NAME_BYTES];
	char pv[254];                      /* "": not by pv= */
	char storage_class[254], size[64]; /* "": not by class= */
	char name_space[64], claim[254];
	uint64_t creation_usec; /* 0: not stored yet */
};

/* Finds the call that a path means and answers it; see api_dispatch(). */
void docker_volume_dispatch(struct exchange *exchange);

/**
 * docker_volume_start - bring the pods of mounts in line with the boot
 *
 * Those of another boot are deleted; one of this boot that has no hold (its mount was not answered
 * yet, or the ledger is gone) gets it again. Return: 0; -EIO which boot this is cannot be read.
 */
int docker_volume_start(struct agent *agent, struct failure *reterr);

/* A mount or an unmount under way. */
struct docker_call {
	struct exchange *exchange; /* NULL: the client left */
	struct agent *agent;
	struct mount_wait *wait; /* NULL while the store is at work */
	char pod_name[DOCKER_OBJECT_NAME_BYTES];
	char name_space[64], uid[64]; /* "": the pod is unknown */
	bool is_stored;               /* of an unmount: there is a pod to delete */
	uint64_t deadline_usec;       /* of a mount; monotonic */
};

/* ---- docker_volume.c: requests and answers ---- */

/* mount_waiters_add() of the call's pod: @done and @abandon get @call. */
int docker_call_wait(struct docker_call *call, enum mount_wait_for what, uint64_t timeout_usec,
		     void (*done)(void *userdata, int error, const struct failure *why),
		     void (*abandon)(void *call));

/* The body; answers and returns NULL when it is none. Freed with json_free(). */
struct cJSON *docker_body(struct exchange *exchange);
/* A member that has to be there, of API_DOCKER_NAME_BYTES_MAX at most; answers and returns NULL
 * when it is not. */
const char *docker_word(struct exchange *exchange, const struct cJSON *body, const char *key);
/* The volume that the body names; false: answered, there is none. */
bool docker_named(struct exchange *exchange, const struct cJSON *body, struct docker_volume *ret);
/* {"Err": "..."} with 500, which is what docker and podman know as the plugin's own word. */
void docker_refuse(struct exchange *exchange, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* {"Err": ""}, or {KEY: VALUE, "Err": ""}. */
void docker_reply(struct exchange *exchange, const char *key, const char *value);

/* ---- docker_volume_objects.c: what is stored ---- */

/* A name for objects, made of docker's: readable as far as it goes, and a checksum. */
void docker_object_name(const char *name, char ret[DOCKER_OBJECT_NAME_BYTES]);
/* The pod of one mount. */
void docker_pod_name(const char *volume, const char *id, char ret[DOCKER_OBJECT_NAME_BYTES]);
/* Is the label of a volume on it? */
bool docker_is_labelled(const struct object *object, const char *object_name);
/* False: this ConfigMap is no volume. */
bool docker_volume_read(const struct object *record, struct docker_volume *ret);
bool docker_volume_find(struct store *store, const char *name, struct docker_volume *ret);
/* Was the claim made for it, and goes with it? */
bool docker_volume_owns_claim(const struct docker_volume *volume);
/* The objects of a volume and of a mount. @pv NULL: the claim is for a volume to be made. Return:
 * 0; -ENOMEM; -EINVAL. */
int docker_record_new(const struct docker_volume *volume, const struct object **ret,
		      struct failure *reterr);
int docker_claim_new(const struct docker_volume *volume, const struct object *pv,
		     const struct object **ret, struct failure *reterr);
int docker_pod_new(const struct docker_volume *volume, const char *id, const char *boot_id,
		   const struct object **ret, struct failure *reterr);
/* An annotation of a pod that docker_pod_new() made, copied; "" when it is not there. */
void docker_annotation(const struct object *pod, const char *key, char *buffer, size_t bytes);
#define DOCKER_ID_ANNOTATION   "podvol.io/docker-mount-id"
#define DOCKER_BOOT_ANNOTATION "podvol.io/boot-id"
/* Where the volume of a pod is mounted; false: it is not. */
bool docker_mounted_path(struct agent *agent, const struct object *pod, char *buffer, size_t bytes);

/* May a call of this path change anything? */
bool docker_volume_writes(const struct api_path *path);

/* ---- the calls ---- */

/* docker_volume_create.c */
api_handler docker_volume_create, docker_volume_remove;
/* docker_volume_views.c */
api_handler docker_volume_get, docker_volume_list, docker_volume_path;
/* docker_volume_mount.c, docker_volume_unmount.c */
api_handler docker_volume_mount, docker_volume_unmount;
