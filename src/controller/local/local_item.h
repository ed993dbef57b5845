/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_item - what the two files of the local provisioner share; no other file includes it
 *
 * local_provisioner.c watches and says which items are due; local_item.c does what is next for one
 * of them.
 */
#pragma once

#include "controller/binding/binding.h"
#include "controller/controller_class.h"
#include "controller/local/local_plan.h"
#include "controller/local/local_provisioner.h"
#include "object/kinds/persistent_volume.h"

/* One volume that is or will be made, by its name; busy while an order or a write of it is under
 * way. */
struct item {
	struct work_item work;
	bool waits;        /* for a resync */
	bool must_go;      /* its directory could not be made: take the volume back */
	bool is_unmade;    /* and that is done: the volume is being deleted */
	bool is_removed;   /* its directory is, by us; until the watch tells that it is gone, too */
	bool wants_source; /* what it is to be filled from is not ready */
	bool source_in_use; /* while it was filled */
	bool is_finishing;  /* its directory is there; it is being stored as finished */
	enum directory_deed deed;
	int64_t aim, grown;     /* DIRECTORY_GROW under way; how large it is by now, 0 not known */
	struct local_plan plan; /* of the choice under way */
	char *claim_space, *claim_name; /* of a volume that is not there yet */
};

struct local_provisioner {
	struct controller base;
	struct local_provisioner_options options;
	bool has_wanting;        /* some item has wants_source */
	struct cJSON *node_map;  /* the last valid one; NULL: there never was one */
	struct path_index paths; /* of all volumes, foreign ones too, as watched */
	bool is_stopped;
	bool has_waiting; /* some item waits for a resync */
};

/* Decide from the stored objects what is next, and begin it. Return: false: there is nothing the
 * item stands for any more. */
bool local_item_sync(struct work_item *work);
/* For work_queue_options.written. */
void local_item_written(struct work_item *work, int error, const struct failure *why);
/* Free what is in it. */
void local_item_clear(struct work_item *work);

/* An event, once. @about NULL: not reported. */
void local_item_report(struct item *item, const struct object *about, const char *type,
		       const char *reason, const char *text);
/* Store @made in place of @old. */
void local_item_write(struct item *item, const struct object *old, const struct object *made);
/* What to make for a claim, of this class. @move_name: as local_request has it. Return: as
 * local_plan_make(). */
int local_item_plan(struct item *item, const struct object *claim,
		    const struct storage_class *class, const char *move_name,
		    struct failure *reterr);
/* Order DIRECTORY_CHOOSE of the plan. */
void local_item_choose(struct item *item);
/* Order DIRECTORY_MAKE of a stored volume that is filled. */
void local_item_fill(struct item *item, const struct persistent_volume *volume,
		     const struct directory_source *source);
/* Order DIRECTORY_GROW. */
void local_item_grow(struct item *item, const struct persistent_volume *volume, int64_t bytes);

/* ---- local_neighbour.c ---- */

/* Whose path lies in, above or at the volume's; NULL: no volume's. */
const struct object *local_neighbour_of(struct local_provisioner *provisioner,
					const struct persistent_volume *volume);
/* The same of a path, @volume being none itself; NULL is fine. */
const struct object *local_neighbour_at(struct local_provisioner *provisioner, const char *path,
					const struct persistent_volume *volume);
/* Does a directory that is to be made lie apart from those of other claims? Return: 0; -EEXIST, and
 * it must go. */
int local_item_check_apart(struct item *item, const struct persistent_volume *volume,
			   struct failure *reterr);

/* ---- local_filling.c ---- */

/* What a claim's new directory is filled from; looks up and writes nothing.
 *
 * Another claim's volume of podvol/local, or a snapshot of one. Refused are sources in another
 * namespace, larger ones, and what is neither. */

struct local_filling {
	struct directory_source from;           /* name NULL: nothing is wanted */
	const struct persistent_volume *volume; /* of a clone; NULL: of a snapshot */
	char *base_path, *name;                 /* from borrows them */
};

/* The same of a volume of podvol/local, whose size is not asked for. */
int local_filling_of_volume(const struct persistent_volume *volume, struct local_filling *ret,
			    struct failure *reterr);
/* @ret borrows from stored objects. Return: 0; -EAGAIN not yet; -EINVAL never like this; -ENOMEM.
 */
int local_filling_find(struct store *store, const struct persistent_volume_claim *claim,
		       struct local_filling *ret, struct failure *reterr);
void local_filling_done(struct local_filling *source);

/* ---- local_move.c ---- */

/* A bound claim's data are moved to a volume of another class, or at a path, and the claim is bound
 * to it.
 *
 * While the claim has ANNOTATION_MOVE_TO its pods wait. The new volume is made like any that is
 * filled: stored unfinished, copied, settled. Then the old volume is retained, the claim gets the
 * new one, and that is finished: three writes, in an order in which a kill between any two leaves
 * a state that this goes on from. The old volume and its data stay. What cannot be done takes the
 * annotation off, and says why in ANNOTATION_LAST_MOVE; what was copied is taken back, as of any
 * volume that is not wanted any more. */

/* Is the item's volume the one that a move makes? */
bool local_move_is(const struct item *item, const struct persistent_volume *volume,
		   const struct object *claim);
/* And are its claim, its source and its class there? */
bool local_move_can_end(const struct item *item, const struct persistent_volume *volume,
			const struct object *claim);
/* Begin what is next of such a one. */
void local_move_sync(struct item *item, const struct persistent_volume *volume,
		     const struct object *claim);
/* Its directory is filled and settled: the claim's volume from now on. */
void local_move_switch(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim);
/* Its claim is not to be moved any more, or was not at some time since the copy began: a pod may
 * have written to the old volume. Stored, so that no later move and no later start takes the copy
 * for a whole one. @volume: NULL is fine, and one that no move makes. */
void local_move_call_off(struct local_provisioner *provisioner, const struct object *volume);
/* It cannot be moved: nothing has changed. */
void local_move_refuse(struct item *item, const struct object *claim, const char *why);
/* For object_edit(): the volume is whole. That of a move is free of its finalizer, by which a
 * deletion meanwhile waited until the copy was taken back. */
int local_move_edit_finished(struct cJSON *tree, void *userdata);

/* ---- local_finish.c ---- */

/* The directory of a claim's volume is made: it is finished, and the claim is bound to it. */
void local_finish(struct item *item, const struct persistent_volume *volume,
		  const struct object *claim);

/* ---- local_expand.c ---- */

/* A claim asks for more than its volume of podvol has, and the size is enforced.
 *
 * The rule and the claim's words are claim_resize.h's, as for CSI: the limit is raised, or the
 * image grows, then the volume says so, then the claim; the file system in an image grows
 * where it is mounted. Volumes whose size is not enforced are left alone: they have all there
 * is. */

/* Begin what is next. Return: false: it has what its claim asks for. */
bool local_expand_sync(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim);
/* DIRECTORY_GROW ended. */
void local_expand_ended(struct item *item, const struct persistent_volume *volume,
			const struct object *claim, int error, const struct failure *why);
