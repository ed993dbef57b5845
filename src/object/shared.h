/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared - what an object pointer really points to: its memory, and who holds it
 *
 * One allocation, with the text and what was decoded; of a proposal and what it became, the text is
 * apart with room to grow, as admission changes it. An object that differs from a stored one in its
 * metadata alone has a text of its own and shares what was decoded, which lasts as long as the last
 * of them. Only object.c and derive.c use it.
 */
#pragma once

#include "object/json/arena.h"
#include "object/object.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_object {
	struct object object;   /* first: the pointers are converted */
	atomic_uint references; /* at 0 the text is gone */
	atomic_uint uses;       /* of the memory: all references are one; each that shares it */
	bool is_handed_over;    /* see object_hand_over() */
	bool is_creatable;
	bool keeps_names;                   /* see object_keeps_names() */
	struct shared_object *decoded;      /* it points to what this one has; or NULL */
	char *apart;                        /* the text; NULL: it is in @bytes */
	uint32_t apart_size;                /* bytes of it, room included */
	uint32_t proposed_length;           /* of the text as it was proposed */
	struct arena arena;                 /* begins in @bytes; the rest, if any, is apart */
	_Alignas(max_align_t) char bytes[]; /* for the arena, then the text */
};

enum { STAMP_BYTES = 64 /* a uid, and when it is to be deleted */ };

static inline struct shared_object *shared(const struct object *object)
{
	return (struct shared_object *) (uintptr_t) object; /* const for all others only */
}

/**
 * shared_new - an object with a copy of a text, and nothing decoded
 * @room:       bytes for what will be
 * @apart_size: of the text's own memory, with room to grow and a NUL; 0: with the object
 *
 * Return: with one reference; NULL: no memory.
 */
struct printed;
struct shared_object *shared_new(enum object_kind kind, size_t room, const struct printed *printed,
				 size_t apart_size);

/* One more use of the memory, until that of the object that has it as its @decoded is gone. */
void shared_use(struct shared_object *shared);
