/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_table - which path a file with several names was met at first, while a tree is walked
 *
 * A file is forgotten when all its names were met.
 */
#ifndef PODVOL_MOUNT_LINK_TABLE_H
#define PODVOL_MOUNT_LINK_TABLE_H

#include <sys/stat.h>

struct link_table;

/* Empty; NULL is one, too. */
void link_table_freep(struct link_table **table);

/**
 * link_table_meet - a file was met
 * @ret: the path it was met at first; NULL: this is the first one. Valid until the next call.
 *
 * Files with one name cost nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int link_table_meet(struct link_table **table, const struct stat *status, const char *path,
		    const char **ret);

#endif
