/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload - the files that a volume is to show, checked before any of them is written; pure
 *
 * What Kubernetes' atomic writer takes: relative paths and bytes (spec: plugins, 5.1). Paths come
 * from objects that others wrote, so nothing that could lead out of the volume, or hide the
 * writer's own names, gets in. Bytes may be secret: they are overwritten before their memory is
 * given back.
 *
 * Filled by one thread, then finished; from then on it never changes and may be shared.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	PAYLOAD_PATH_BYTES_MAX = 4096, /* of a path, before it is cleaned */
	PAYLOAD_NAME_BYTES_MAX = 255,  /* of each component */
	PAYLOAD_FILES_MAX = 100000,
	PAYLOAD_BYTES_MAX = 64 * 1024 * 1024, /* of all files together */
};

struct payload_file {
	char *path; /* cleaned: "foo/bar", no empty component, none that is "." */
	char *data;
	size_t length;
	mode_t mode; /* permission bits */
	bool has_owner;
	uid_t owner;
	size_t order; /* in which it was added */
};

struct payload {
	struct payload_file *files; /* sorted by path once finished */
	size_t count, capacity, bytes;
};

/**
 * payload_check_path - may a volume hold a file of this path (cases 155 to 163)
 *
 * Not empty, relative, no component "..", the first not beginning with "..", nothing too long.
 *
 * Return: 0 or -EINVAL.
 */
int payload_check_path(const char *path, struct failure *reterr);

/**
 * payload_add - one more file
 * @file: path and data are copied; order is ignored
 *
 * Of two files with one path the later one wins (case 143).
 *
 * Return: 0; -EINVAL a bad path; -E2BIG more than the limits above; -ENOMEM.
 */
int payload_add(struct payload *payload, const struct payload_file *file, struct failure *reterr);

/**
 * payload_finish - no more files come
 *
 * Return: 0; -EINVAL one file's path leads through another file.
 */
int payload_finish(struct payload *payload, struct failure *reterr);

/* Overwrites and frees what it holds; one that is all zero is fine. */
void payload_done(struct payload *payload);

/* The length of a path's first component: the one that people see. */
size_t payload_top_length(const char *path);
