/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside - the part of a request that needs no table: where it would hold the loop, on a thread
 *
 * What a body of many kilobytes costs (read, validated, patched) is not the loop's. The part sees
 * an exchange of its own, a copy with the body: what it replies there is the answer of the request.
 * It gets references to objects, never the store: who goes on with what it made expects the
 * versions that it was made from. A client that leaves meanwhile has begun nothing.
 */
#pragma once

#include "api/objects/objects.h"

struct aside_class {
	/* Anywhere; @exchange and @target are this part's own. Fails by replying. */
	void (*run)(struct exchange *exchange, const struct target *target, void *work);
	/* On the loop, unless there was a reply; @exchange and @target are the request's. */
	void (*done)(struct exchange *exchange, const struct target *target, void *work);
	/* On the loop, in the end. */
	void (*free)(void *work);
};

/**
 * aside_begin - run the part, here or on a thread, and go on with the request
 * @bytes: that it is about to look at: more than API_READ_HERE_BYTES are a thread's
 * @work:  taken; NULL: no memory, which is replied
 *
 * Loop thread only. The request is answered by the part, or goes on in done().
 */
void aside_begin(struct exchange *exchange, const struct target *target,
		 const struct aside_class *class, size_t bytes, void *work);
