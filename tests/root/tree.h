/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - trees that a pod could make: deeper than a path, deeper than there are descriptors
 */
#pragma once

#include "sandbox.h"

/* "d" in "d" in ... below a directory of the sandbox, @depth of them. */
void tree_make_deep(const char *relative, unsigned int depth);

/* At most so many descriptors for this process from now on; 0 as before. */
void tree_limit_descriptors(unsigned int count);
