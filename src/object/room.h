/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room - how much memory the next object of a kind is given, by what the ones before it needed
 *
 * What does not fit into it costs a further allocation, what is too large stays with the object as
 * long as that is stored: so both have a limit. From any thread. Only src/object/ uses it.
 */
#pragma once

#include "object/object.h"

/* About so many bytes the largest of the last objects of the kind needed when decoded. */
size_t room_decoded(enum object_kind kind);
void room_note_decoded(enum object_kind kind, size_t bytes);

/* So many bytes the binding of a new object of the kind may need beside that. */
size_t room_bound(enum object_kind kind);

/* By so many bytes the text of a new object of the kind grew until it was stored, at most: by the
 * store's members, and of claims and volumes by their binding. */
size_t room_grown(enum object_kind kind);
void room_note_grown(enum object_kind kind, size_t bytes);
