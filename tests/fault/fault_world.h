/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_world - podvold as a whole in one process and one mount namespace: agent, API, manifests
 *
 * All is below a tmpfs of its own: root, state, run, manifests, and trees of users that must not
 * change. The loop turns in world_until() only, and only then are calls those of the code under
 * test. Whatever cannot be made ends the process: a child of test_single_faults.c, which tells.
 */
#pragma once

#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"

#include "agent.h"
#include "api/api.h"
#include "config.h"

/* What a scenario has around it. */
enum fault_world_kind {
	WORLD_PLAIN = 0,
	WORLD_FOREIGN_MOUNT = 1, /* another agent's pod has a mount below the root */
	WORLD_EMPTY_DEVICE = 2,  /* a block device without anything on it */
	WORLD_FULL_DEVICE = 4,   /* one with a file system and a file "precious" of a user */
	WORLD_API = 8,           /* the unix socket is served */
	WORLD_CSI = 16, /* a CSI driver "d" (tests/csi/driver_model.h), which never fails */
};

enum { WORLD_TREES = 3 };

struct fault_world {
	unsigned int kind;
	sd_event *event;
	struct config config;
	struct agent *agent;
	struct api *api;
	struct loop_image device;
	char *trees_before[WORLD_TREES]; /* must not change, see user_trees.h */
	unsigned int fds_before, refused_starts, ledger_rows;
	pid_t container;     /* a process that a hold names; 0: none */
	pid_t client;        /* a client of the API that has not ended; 0: none */
	const char *missing; /* what world_until() still waits for */
};

/* What a fault must not leave, or do. */
struct fault_damage {
	unsigned int mounts, descriptors, ledger_rows, devices, memory, bytes_changed;
	unsigned int directories; /* of pods below the root */
};

/* Makes everything; nothing is started. */
void world_make(struct fault_world *world, unsigned int kind);

/* Starts until it is not refused, as a service manager does; then waits until the sources were
 * read. False: refused again and again. */
bool world_start(struct fault_world *world);
/* Volumes stay mounted. */
void world_stop(struct fault_world *world);
/* Counts what the ledger still knows, starts to drain and stops. False: something is left. */
bool world_drain(struct fault_world *world);

/* '@' in text and paths is the sandbox. A manifest appears whole, by a rename. */
void world_write_manifest(const char *name, const char *text);
void world_remove_manifest(const char *name);

/* Turns the loop until everything that @wants lists is so (ended by NULL), nothing more is mounted
 * and nothing is under way. False: not within some seconds; see world->missing.
 *	"mount PATH"      a mount point below the root
 *	"text PATH TEXT"  a file's content
 *	"gid PATH GID"    its group
 *	"dir PATH"        a directory
 *	"none PATH"       nothing
 *	"rows COUNT"      volumes in the view of all
 *	"driver empty"    nothing is staged or published by the CSI driver's books
 */
bool world_until(struct fault_world *world, const char *const *wants);
/* Turns the loop for so many real milliseconds. */
void world_turn(struct fault_world *world, unsigned int milliseconds);

/* Compares with what was before. The agent is gone. */
struct fault_damage world_damage(struct fault_world *world);
