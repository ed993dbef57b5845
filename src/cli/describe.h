/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe - what the files behind the verb describe know of each other
 */
#pragma once

#include "cli/get.h"

/* ---- describe.c ---- */

/* "Label:   text"; "-" for an empty one. */
void describe_field(struct cli *cli, int indent, const char *label, const char *text);
/* "label:" on a line of its own, above what belongs to it. */
void describe_heading(struct cli *cli, int indent, const char *text);
/* Every column of a row of a view that says something, one on a line. */
void describe_row(struct cli *cli, const struct podvol_table *table, size_t row);
/* The API filters: one object's events and not all that there are. NULL: no memory. */
char *describe_events_path(const char *kind, const char *name_space, const char *name);
/* The events about one object. Return: 0, or a negative errno of the library's. */
int describe_events(struct cli *cli, const char *kind, const char *name_space, const char *name);
/* The pods that use a volume of this name. Return: as above; 0 also when none does. */
int describe_uses(struct cli *cli, const char *volume);

/* Is a row of the view of volumes about this absolute path: its mount, source or device, above or
 * below one of them? Of a device also a link to it below /dev. */
bool describe_is_at(const struct cJSON *row, const char *path);

/* ---- users.c ---- */

/* What the daemon answers that searches now for who uses a volume: "result", "users", "total". A
 * failed request is a result, too. NULL: it knows no such volume, or no such request. */
struct cJSON *users_search(struct cli *cli, const char *volume);
/* The same in sentences. @with_unknown: also why they are not known, which a healthy volume is
 * spared. */
void users_search_and_say(struct cli *cli, const char *volume, bool with_unknown);
/* Those that are known. @total: of which @users may be a part. */
void users_say(struct cli *cli, const struct cJSON *users, int64_t total);

/* ---- describe_object.c ---- */

/* Any stored object by its fields. Return: an exit status. */
int describe_object(struct cli *cli, const struct get_request *request,
		    const struct get_target *target);

/* ---- drivers.c ---- */

/* A CSI driver or a volume plugin. Return: as above. */
int describe_driver(struct cli *cli, const char *name);
