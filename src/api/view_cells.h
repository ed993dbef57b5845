/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_cells - what stands in the cells of a view's Table
 *
 * Each shows the member @key of @item in @text, "-" when it is absent; @now_usec is real time.
 */
#pragma once

#include "api/view_table.h"

/* A string or an integer as it is. */
void view_format_plain(const struct cJSON *item, const char *key, char text[VIEW_CELL_BYTES]);

/* The type of those below. */
typedef void view_format(const struct cJSON *item, const char *key, uint64_t now_usec,
			 char text[VIEW_CELL_BYTES]);

/* "ro", "rw" of a boolean. */
view_format view_format_access;
/* "yes", "no" of a boolean. */
view_format view_format_yes;
/* "a,b" of a list, "k=v,l=w" of an object of strings. */
view_format view_format_members;
/* 512, 1.5Ki, 10.0Gi: powers of 1024, as quantities are written. */
view_format view_format_bytes;
/* ">1.5Gi" while the first count goes on. */
view_format view_format_used;
/* 850us, 12.3ms, 4.56s of microseconds: three digits that matter. */
view_format view_format_took;
/* "5m" since a time of RFC 3339; another text as it is. */
view_format view_format_age;
/* "in 5m" to a time of RFC 3339, "now" from then on; another text as it is. */
view_format view_format_until;
/* The same of an operation; of a step that hangs "when it returns". */
view_format view_format_next;
/* How many attempts failed, or the one that runs: 1 of the first. */
view_format view_format_attempts;
/* Users of a busy volume, one on a line. */
view_format view_format_users;
/* Calls to a driver, one on a line; the newest is whole. */
view_format view_format_calls;
/* "bind the source 850us, set the owners 12.3ms". */
view_format view_format_stages;
/* "kubernetes.io/local-volume" is "local", "kubernetes.io/csi" is "csi". */
view_format view_format_kind;
/* What an operator has to know first of what is not as it should be, or not yet; of any key. */
view_format view_format_why;
