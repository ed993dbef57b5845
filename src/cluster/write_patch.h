/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_patch - what a write sends to the server, and what its answer says
 *
 * Out of objects, writes and answers alone: sends and stores nothing.
 */
#pragma once

#include "store/group.h"
#include "store/remote/http_client.h"

/* Bodies, without what the server alone writes; a deletion is of @present and of no other object of
 * its name. NULL: no memory. Freed with free(). */
char *write_create_text(const struct object *object);
char *write_delete_text(const struct write *write, const struct object *present);
/* "" where nothing differs; each names @version, of the server, which it changes; 0: any. And the
 * uid of @present: the server refuses it for another object of that name. Return: 0; -ENOMEM.
 * Freed with free(), also after a failure. */
int write_patch_make(const struct object *present, const struct object *wanted, uint64_t version,
		     char **ret_main, char **ret_status);
/* With what a server would add, so that it is an object like others. Return: as object_from_json().
 */
int write_patch_created(const struct object *object, const struct object **ret,
			struct failure *reterr);
/* An update that was made for another version than @present is made again out of that. Return: 0;
 * -ESTALE it cannot be, or @present is another object; what the writer gives. */
int write_edit_again(struct write *write, const struct object *present, struct failure *reterr);
/* What was deleted stays until they are gone: @ret, as the answer has it. Pods are the watch's. */
bool write_answer_has_finalizers(const struct write *write, const struct http_answer *answer,
				 const struct object **ret);
/* A volume whose directory is being made: the server has it not yet. Accepts NULL. */
bool write_is_unfinished(const struct object *object);
/* Does the server have another object of the stored one's name? The watch will show it. A Node
 * or CSINode that podvold creates again is none. @present NULL: nothing is stored. */
bool write_answer_is_of_another(const struct write *write, const struct object *present,
				const struct object *answered);
/* Was its last finalizer taken? A watch may have shown its end before this answer. */
bool write_ends_object(const struct object *object);
