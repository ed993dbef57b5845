/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_kinds - the rows of the race table, by what they are about
 */
#pragma once

#include "race.h"

/* Sub-paths of a volume: found, made, bound, cleaned. */
extern const struct race race_subpath_bind, race_subpath_make;
extern const struct race race_naive_bind, race_naive_make;

/* A tree given to a group, a tree removed. */
extern const struct race race_ownership, race_ownership_by_name, race_ownership_opened, race_remove;
extern const struct race race_naive_ownership, race_naive_mode, race_naive_remove;

/* Whole volumes, in a pod's directory that is not to be trusted. */
extern const struct race race_empty_dir, race_memory, race_local, race_host_path;
