/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_mount - the mount layer as a diary, for tests of what plugins decide
 *
 * A test that links this wraps the functions of fake_mount.c: each writes "name(arguments)" into
 * fake_mount.diary and answers as the test set it up. Nothing is mounted, made or removed.
 */
#pragma once

#include "plugins/plugin.h"

enum { FAKE_REFERENCES_MAX = 4 };

struct fake_mount {
	char diary[4096];
	/* The function of this name fails with this errno; its nth call (0: every). */
	const char *fail_name;
	int fail_error;
	bool is_large; /* ownership_begin() leaves the rest to ownership_finish() */
	unsigned int fail_nth, fail_calls;

	struct stat source; /* what open_host_path() leads to */
	bool target_exists;
	struct mount_facts target;  /* of places and of what make_directory() opened */
	struct mount_facts staging; /* of what open_beneath() opened below the root */
	bool ready_exists;          /* open_beneath() finds paths that end in "/ready" */
	const char *references[FAKE_REFERENCES_MAX + 1]; /* mount points; NULL ends */
	enum format_error format_error;
	struct tool_terms tools; /* of the last format_and_mount() */
	uint64_t bound_id;       /* what bind_at_with_id() answers; 0 it cannot determine */
	bool device_is_empty;    /* format_is_due() */
	bool goes_by_itself;     /* loop_device_goes_by_itself() */
	const char *image;       /* the only one that loop_device_has_image() is true of */
	/* Of the staging directory in the mount table. */
	const char *entry_source, *entry_type;
	long fs_type, fs_block_size;
};

extern struct fake_mount fake_mount;

/* Nothing fails, nothing is there; the source is a directory (device 7, inode 70, group 0). */
void fake_mount_reset(void);

extern const struct plugin_host fake_host; /* root_dir "/r" */

/* What a list of stages came to, run in order as operation does. */
struct ran {
	int result;             /* of the last stage that ran */
	const char *last_stage; /* its name */
	struct stage_report report;
};

/* Runs and frees the list. */
struct ran fake_mount_run(struct stage_list *list);
