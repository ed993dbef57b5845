/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inuse - what keeps a volume from being taken from a pod or from the node
 *
 * Holds of containers (pod_holds.c), pods that the store lost (store_epoch.c) and pods that were
 * taken over (takeover.c); processes that use a volume whose teardown failed (busy_watch.h,
 * volume_users.c) and what the configuration allows then (stuck_policy.c); mounts in other
 * namespaces (unstage_gate.h, unstage_calls.c); uids that are not free (uid_use.c). It says that
 * something stays and why; who plans and who unmounts ask. It unmounts and removes nothing. The
 * loop thread only.
 */
#pragma once

#include "mount/bind/stuck_unmount.h"
#include "object/object.h"
#include "state/holds.h"

#include <systemd/sd-event.h>

struct takeover;
struct busy_holders;
struct cJSON;
struct config;
struct desired;
struct dirty_set;
struct actual;
struct ledger;
struct mount_root;
struct operation_ended;
struct operations;
struct step;
struct step_result;
struct store;
struct worker_pool;

/* All is borrowed. What is a pointer to a pointer may be made later. */
struct inuse_options {
	sd_event *event;
	int64_t priority, holds_priority; /* of answers; of containers that ended */
	const struct config *config;
	const struct mount_root *root;
	struct worker_pool **workers;
	struct store **store; /* NULL in a drain */
	struct ledger **ledger;
	struct operations **operations;
	struct actual *actual;
	struct desired *desired;
	struct dirty_set *dirty;
	/* Is every pod known that there is? */
	bool (*is_complete)(void *userdata);
	/* An event about @about. */
	void (*record)(void *userdata, const struct object *about, const char *type,
		       const char *reason, const char *text);
	/* The last hold of a pod ended; its volumes are dirty already. */
	void (*pod_released)(void *userdata, const char *uid, const char *name_space,
			     const char *name);
	/* The pod directory with this uid was removed; NULL: any may have been. */
	void (*uid_freed)(void *userdata, const char *uid);
	void (*turn)(void *userdata);                           /* have one soon */
	void (*retry)(void *userdata, const char *unique_name); /* this volume is due */
	void (*lost)(void *userdata); /* for want of memory: every volume is to be planned again */
	/* A step unmounted @count mounts that were in use. */
	void (*enforced)(void *userdata, bool lazy, unsigned int count);
	void *userdata;
};

/* Its owner fills in what is borrowed; the functions below make the rest, and the owner frees it:
 * the workers go before gate, users and probes. */
struct inuse {
	struct inuse_options with;
	struct holds *table;
	struct hold_watch *watch;
	struct unstage_gate *gate;
	struct busy_watch *users; /* of volumes whose teardown failed */
	struct volume_users_search
		*asking; /* the search of volume_users_search.h that runs; NULL */
	struct server_probes *probes;
	sd_event_source *removals; /* of pod directories, once one was in the way; NULL */
};

/* ---- pod_holds.c ---- */

/* Who is held; copied. A @pid of 0 and a @cgroup of "" are none. */
struct hold_request {
	const char *name_space, *name, *uid, *container;
	int64_t pid;
	const char *cgroup, *writer; /* who asks; NULL: one without a limit of its own */
};

/* The holds of the ledger whose containers still live are watched again, the others are dropped.
 * After the ledger, before any volume is planned. Return: 0 or negative errno. */
int pod_holds_open(struct inuse *inuse, struct failure *reterr);
/* From now on nothing is taken from this pod while its container lives; the hold is in the ledger.
 * Any process of the node may be named. Return: 0; -ESTALE the pod is being taken down; -EINVAL no
 * such container, process or cgroup; -ESRCH it does not live; -EDQUOT too many holds; -EOPNOTSUPP
 * processes cannot be watched here; -EIO the ledger cannot be written; else as the calls. */
int pod_holds_add(struct inuse *inuse, const struct hold_request *request,
		  char ret_id[HOLD_ID_BYTES], struct failure *reterr);
/* The container is gone. Return: 0; -ENOENT no such hold of this pod; -EIO as above: it stays. */
int pod_holds_remove(struct inuse *inuse, const char *pod_uid, const char *id,
		     struct failure *reterr);
/* It is over, and @why ("ended"): gone from table and ledger; what waited for it is due. */
void pod_holds_end(struct inuse *inuse, const struct hold *hold, const char *why);
/* A pod was written: holds without a process end with their container's status. */
void pod_holds_pod_changed(struct inuse *inuse, const struct object *pod);
/* Who holds the pod, as a sentence for people. False: it is not held, and @ret is not written. */
bool pod_holds_explain(const struct inuse *inuse, const char *pod_uid, struct failure *ret);
/* A pod of a manifest that was made again with other volumes waits for the holds of the one before:
 * a question of the populator; @inuse is a struct inuse. */
bool pod_holds_must_wait(void *inuse, const struct object *pod);
/* The same as a sentence. False: it need not. */
bool pod_holds_explain_wait(const struct inuse *inuse, const struct object *pod,
			    struct failure *ret);
/* Hooks of an observer of steps: which pod keeps a volume from the only one that may have it; who
 * holds the pod whose volume is to go. @inuse is a struct inuse. */
bool pod_holds_explain_other(void *inuse, const char *unique_name, const char *pod_uid,
			     const char *name, struct failure *ret);
bool pod_holds_explain_teardown(void *inuse, const char *unique_name, const char *pod_uid,
				const char *name, struct failure *ret);
/* {"items": [{id, pod, podUID, container, kind, pid, process, cgroup, since, watched}]} of one pod,
 * oldest first; of all with @pod_uid NULL. Owned by the caller; NULL: no memory. */
struct cJSON *pod_holds_view(struct inuse *inuse, const char *pod_uid);

/* ---- store_epoch.c: is the store the one that the mounts were made from? ---- */

/*
 * When it was emptied, or an older copy was put in its place, it does not know pods that were never
 * deleted. Their volumes may be in use, so each of them is held until its hold is released, or the
 * right store is back. The same is done for pods that are mounted here and belong to a node of
 * another name: this one was renamed, by a new host name perhaps; and for pods that --takeover
 * found and the store does not list, since another agent's containers may use them (takeover.c).
 *
 * A store says how far it is by its resourceVersion, which never goes back by itself. A copy is
 * noticed when it was made before podvold was started last; one of the same life of podvold may be
 * as far as the store was, because versions are set aside in advance.
 */

/* At start, when ledger, holds and store are open and nothing is wanted yet. Return: 0, also when
 * pods are held now; negative errno. */
int store_epoch_check(struct inuse *inuse, struct failure *reterr);
/* Is this the hold of a pod that was taken over and not listed? */
bool store_epoch_is_unlisted(const struct hold *hold);
/* Is this one of the holds made here, and does @pod, which has its uid, make it needless? */
bool store_epoch_recognizes(const struct inuse *inuse, const struct hold *hold,
			    const struct object *pod);
/* At the end: how far the store is now. Nothing when there is none. */
void store_epoch_note(struct inuse *inuse);

/* ---- uid_use.c ---- */

/* A store_uid_check_fn: is the uid of a new pod free? @inuse is a struct inuse. When a directory is
 * in the way, removals of directories are watched for from then on. */
int uid_use_check(void *inuse, const struct object *pod, struct failure *why);

/* ---- volume_users.c: who uses volumes that cannot be unmounted ---- */

/* Once the workers run: busy_watch.h and server_probe.h. Return: 0 or -ENOMEM. */
int volume_users_open(struct inuse *inuse);
/* A hook of an observer of steps, before the tables follow: a busy volume is searched for its
 * users, another forgotten. @inuse is a struct inuse. */
void volume_users_note(void *inuse, const struct operation_ended *ended);
/* A hook, too: member "users" of a view, where a user is known. */
void volume_users_view(const void *inuse, struct cJSON *item, const char *unique_name,
		       const char *pod_uid);

/* Appends "; used by: process 12 'sh': ...", where a user is known. @inuse is a struct inuse. */
void volume_users_append(const struct inuse *inuse, const char *unique_name, const char *pod_uid,
			 struct failure *text);

enum { USERS_TEXT_BYTES = 900 };
/* "process 12 'sh': ...; process 13 'tail': ...; and 4 more". */
void volume_users_print(const struct busy_holders *holders, char text[USERS_TEXT_BYTES]);
/* To the journal and as an event about the pod, or about the PV where there is no pod. */
void volume_users_report(struct inuse *inuse, const struct step_result *about, int priority,
			 const char *reason, const char *text);

/* ---- stuck_policy.c ---- */

/* How this step is to unmount what is in use; asks a server when that matters. */
enum unmount_manner stuck_policy_manner(struct inuse *inuse, const struct step *step,
					uint64_t now_usec);
/* A step ended: reports when it was done so, and who had it. */
void stuck_policy_note(struct inuse *inuse, const struct operation_ended *ended);

/* ---- unstage_calls.c: the gate's answers go to the journal and the events; calls that force it */

/* Makes the gate, once the workers run. Return: 0 or negative errno. */
int unstage_calls_open(struct inuse *inuse);
/* An item for each unmount that the gate holds back, as operations are shown. */
void unstage_calls_view(const struct inuse *inuse, struct cJSON *items);

struct unstage_call;

/* Once, on the loop, never before unstage_call_new() returned. 0: the unstage goes on; -EBUSY a
 * holder is never passed; -ECANCELED podvold stops; else why the holders are unknown. @text: one
 * sentence, also of what it went past. */
typedef void unstage_call_fn(void *userdata, int error, const char *text);

/* Strings are copied. */
struct unstage_call_request {
	const char *volume; /* unique name, PV name or path of the device's mount */
	const char *by;     /* who asks, for the journal */
	unstage_call_fn *done;
	void *userdata;
};

/**
 * unstage_call_new - let the unstage of a volume that is held back go past local users' holders
 *
 * See mount/holders/mount_force.h for whom. It counts for one unstage. Return: 0; -ENOENT no such
 * volume is held back; -EBUSY it is being forced already; -ENOMEM.
 */
int unstage_call_new(struct inuse *inuse, const struct unstage_call_request *request,
		     struct unstage_call **ret);
/* The caller left: done is not called any more. Not after it was called. */
void unstage_call_cancel(struct unstage_call *call);

/* ---- takeover.c: pods that --takeover found, whose volumes are mounted and which no source lists
 * ---- */

/*
 * Another agent's containers may still run on them and post no holds here, so store_epoch.c holds
 * every such pod, in the ledger before the pod's volumes are. A hold ends when the pod is listed,
 * or by 'podvolctl release'. When all sources were read, other mount namespaces are searched for
 * the pods' volumes: who uses them is said; with --takeover=remove the holds of pods that nothing
 * uses end, and the rest is searched again with back-off. An error of the search ends no hold. The
 * loop thread only.
 */

/* @inuse is borrowed. Return: 0 or negative errno. */
int takeover_new(struct inuse *inuse, struct takeover **ret);
/* After the pools: a search that hangs is left behind. Accepts NULL. Return: NULL. */
struct takeover *takeover_free(struct takeover *takeover);
/* A turn has taken in every change there was: begins the search, once, when all sources are
 * complete. Cheap afterwards. Accepts NULL. */
void takeover_settled(struct takeover *takeover);

/* ---- drain.c: is every managed volume unmounted, or nothing left that will go? ---- */

/* @drivers_may_come: those that an unmount waits for may still register. A volume is given up after
 * a few attempts, or when its unmount is stuck. */
bool drain_is_over(const struct inuse *inuse, bool drivers_may_come);

/* To the journal: who holds what no operation failed at, since none was begun. */
void drain_report_held(const struct inuse *inuse);
/* The same of a drain that was ended from outside: each volume that it had not come to. */
void drain_report_left(const struct actual *actual);
