/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_namespaces - processes with mount namespaces of their own, and a volume that they may
 * keep mounted
 *
 * Another search on this machine has a namespace open for a moment, one that has just lost
 * its last process, too. So a search is made again until it finds what a test waits for.
 */
#pragma once

#include "sandbox.h"

#include "mount/holders/mount_holders.h"

#include <sys/types.h>

/* A child whose mounts get @propagation (0: it stays in our namespace), then @change; waits for its
 * end, which end() brings. */
pid_t foreign_volume(const char *name, unsigned long propagation, int (*change)(void));
void end(pid_t pid);

/* As a change: a second thread that lives on when end_first_thread() ends the first one, after
 * which the process looks like one that ended. */
int start_thread(void);
void end_first_thread(pid_t pid);

/* A shared directory with a file system mounted in it, as the root directory and a stage are. */
void mount_volume(void);
/* The same with one of file_systems.h. */
void mount_volume_of(const char *type);
void unmount_volume(void);

/* A second mount of that file system, by the caller. */
int bind_in_slave(void);

struct mount_holder search(const char *mount_point);

/* Of the volume: until @pid holds it (0: a mount, -1: no process), a minute at most. */
struct mount_holder search_for(pid_t pid);
void expect_nobody(void);
