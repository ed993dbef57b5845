/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_class - what an executable plugin does for a StorageClass: one call makes, grows or deletes
 * a volume, or a snapshot of one
 *
 * Volumes and snapshots are known to the plugin by the names that podvold gives them, and each call
 * may come again. A slot that the plugin's settings do not grant is refused without a process.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct plugin_host;

#define EXEC_DRIVER_PREFIX "podvol.io/"

/* A table in exec_program.c has their names. */
enum exec_slot {
	EXEC_CREATE,
	EXEC_CLONE, /* of a volume or a snapshot */
	EXEC_DELETE,
	EXEC_EXPAND,
	EXEC_SNAPSHOT,
	EXEC_DELETE_SNAPSHOT,
	EXEC_SLOT_COUNT
};

/* All is borrowed. */
struct exec_class_call {
	const struct plugin_host *host;
	const char *driver;                          /* EXEC_DRIVER_PREFIX and the plugin's name */
	const char *storage_class;                   /* for texts; "" unknown */
	const char *volume;                          /* NULL of EXEC_DELETE_SNAPSHOT */
	const char *snapshot;                        /* of the two calls for one */
	const char *source_volume, *source_snapshot; /* EXEC_CLONE: one of them; else NULL */
	const char *fs_type;                         /* "" the plugin's own choice */
	const struct cJSON *options;                 /* of the class; NULL: none */
	int64_t bytes;                               /* EXEC_CREATE, EXEC_CLONE, EXEC_EXPAND */
};

/**
 * exec_class_run - make one call, to its end [worker; as long as the plugin's settings allow]
 * @ret_is_atomic: of EXEC_SNAPSHOT: it is of one moment, the plugin says; NULL: unwanted
 *
 * EXEC_DELETE is refused while something of the volume is staged on this node.
 *
 * Return: 0; -EOPNOTSUPP it has no such slot; -EBUSY another call for the volume runs, or it is
 * staged; -EINPROGRESS it was killed or gave no answer: it may have been done; -EIO it failed and
 * changed nothing; -ENOMEM.
 */
int exec_class_run(const struct exec_class_call *call, enum exec_slot slot, bool *ret_is_atomic,
		   struct failure *reterr);

/* Can it provision, and is it ready? Its settings grant create and delete, and its probe says ok.
 * Return: as exec_class_run(). */
int exec_class_probe(const struct exec_class_call *call, struct failure *reterr);
