/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_reclaim - may the directory of a volume be removed, with all that is in it; pure
 *
 * Yes only when binding.h says so for a managed volume that is not being deleted by hand, unless
 * its finalizer has kept it for that (volume_finalizer.c), and when no other volume lies there,
 * above or below. What a user wrote into the volume's path is not believed: the directory bears a
 * mark (mount/remove/volume_directory.h), and that is looked at by the removal.
 */
#pragma once

#include "controller/binding/binding.h"
#include "controller/local/local_plan.h"

/* Where a volume's directory is, as its annotation and its path say. Of a plugin: its driver, and
 * the volume's name. */
struct local_place {
	const char *base_path; /* borrowed from the volume */
	char name[LOCAL_NAME_BYTES];
};

/* Return: 0; -EINVAL the path does not lie below the base path, or has ".." in it. */
int local_place_of(const struct persistent_volume *volume, struct local_place *ret,
		   struct failure *reterr);

/* Does one of the two paths lie in the other, or are they the same? */
bool local_paths_touch(const char *a, const char *b);
/* Of a volume with a directory; NULL: it has none. */
const char *local_path_of(const struct persistent_volume *volume);
/* What messages call its data: the path, or its name where a plugin has it; NULL: neither. */
const char *local_data_of(const struct persistent_volume *volume);

/* The one rule (binding.h), and what concerns the directory. */
enum reclaim_verdict local_reclaim_decide(const struct reclaim_facts *facts, struct failure *why);
