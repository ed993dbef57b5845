/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_trim - free memory goes back to the kernel when a burst of work is over
 *
 * What a burst needed lies between what stays, where free() returns nothing: a sixth of what
 * podvold holds after the pods of a large manifest were mounted, most of it after they were
 * removed. A look at the whole heap costs milliseconds, so one is made for each burst, a quiet
 * moment after it; a start is one. Less than a burst makes no timer, so an idle process does not
 * wake up.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

enum { HEAP_TRIM_BURST = 256 }; /* changes of objects, and results of steps */

struct heap_trim;

/* @quiet_usec: with less than a burst, before the heap is looked at
 * @release:    before that; frees what was kept for the burst alone
 *
 * Return: 0; a negative errno. */
int heap_trim_new(sd_event *event, uint64_t quiet_usec, void (*release)(void *userdata),
		  void *userdata, struct heap_trim **ret);

/* Accepts NULL. Return: NULL. */
struct heap_trim *heap_trim_free(struct heap_trim *trim);

/* So many changes were worked on. NULL: nothing is done. */
void heap_trim_note(struct heap_trim *trim, size_t changes);
