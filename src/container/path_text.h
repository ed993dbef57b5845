/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_text - a path inside a container as text: it exists nowhere yet
 *
 * Never for paths of the host, which are opened and not cleaned.
 */
#ifndef PODVOL_CONTAINER_PATH_TEXT_H
#define PODVOL_CONTAINER_PATH_TEXT_H

#include <stddef.h>

/**
 * path_text_clean - one spelling per place: absolute, no empty or "." parts, ".." taken back
 * @path: a path without a leading '/' is below it, as in kubelet
 *
 * Return: the caller's, freed with free(); "/" for the root; NULL: no memory.
 */
char *path_text_clean(const char *path);

/* How many names a cleaned path has: 0 for "/". */
size_t path_text_depth(const char *path);

#endif
