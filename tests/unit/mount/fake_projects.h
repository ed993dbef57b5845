/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_projects - a stand-in for the kernel's calls of project quotas, on directories that are real
 *
 * Knows which directory is in which project, by inode, and counts a project's directories that are
 * still there. Shows that the calls are those of the man pages, in a safe order; not that a kernel
 * does what it is asked for. Linked with --wrap of fstatfs, ioctl and quotactl_fd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_XFS_MAGIC      0x58465342
#define FAKE_NUMBER_FIRST   0x70000000u
#define FAKE_NUMBER_COUNT   0x0fffff00u
#define FAKE_PROJECT_LIMITS 64

struct fake_projects {
	long type; /* what fstatfs() says; 0: the calls are the kernel's own */
	bool enforces;
	uint32_t limited[FAKE_PROJECT_LIMITS]; /* which projects have a limit, and which */
	uint64_t limits[FAKE_PROJECT_LIMITS];  /* in blocks of 512 bytes */
	size_t limit_count;
	uint64_t used_blocks;   /* of every project that has a directory */
	unsigned int calls;     /* that change something */
	unsigned int killed_at; /* this call and all after it fail, as after a kill; 0: none */
	char done[256];         /* "number limit ": the calls that changed something */
};
extern struct fake_projects fake_projects;

/* Nothing is in a project; xfs whose quotas are enforced. */
void fake_projects_reset(void);
void fake_projects_done(void);
/* The directory is in this project from now on. */
void fake_projects_set(int fd, uint32_t number, unsigned int flags);
uint32_t fake_projects_get(int fd);
/* NULL: it never had one. */
uint64_t *fake_projects_limit(uint32_t number);
