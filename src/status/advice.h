/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice - one thing to do about an error, for who is on call
 *
 * The one source for views, waits, events and the journal. Pure. The error's own text says what
 * happened; this says what ends it, and names nothing that the text does not.
 */
#pragma once

/**
 * advice_for - what to do about the failure of a set-up or a look-up
 * @error: negative errno, as in struct failure
 *
 * Return: an imperative without a full stop; static; "" where waiting is all there is to do.
 */
const char *advice_for(int error);
/* The same behind the error's text: "; to do: free space". "" as well. */
const char *advice_clause(int error);
