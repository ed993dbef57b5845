/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountinfo - one line of /proc/PID/mountinfo as proc(5) describes it; pure
 *
 * Refuses lines that do not have the fields the kernel always writes; ignores optional fields it
 * does not know.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct mountinfo_line {
	uint64_t mount_id, parent_id; /* the reused small ones */
	dev_t device;
	char *root, *mount_point;            /* escapes (\040) undone */
	char *options;                       /* of the mount: "rw,nosuid" */
	uint64_t peer_group, master_group;   /* "shared:N", "master:N"; 0: none */
	char *type, *source, *super_options; /* of the file system */
};

/**
 * mountinfo_parse - split one line in place
 * @line: without its newline; changed; @ret points into it
 *
 * Return: 0 or -EINVAL (@line is changed all the same).
 */
int mountinfo_parse(char *line, struct mountinfo_line *ret);

/* The kernel writes space, tab, newline, backslash and '#' as a backslash and three octal digits:
 * back again, in place. */
void mountinfo_unescape(char *text);
