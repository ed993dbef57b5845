/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - events about long walks, and about copies (copies.h)
 *
 * The loop thread only. Looks at what is counted anyhow, and asks no file.
 */
#pragma once

#include "status/reporter.h"

struct copies;
struct walks;

/* Events about long walks and copies: the first after some seconds, then now and then, none while
 * there are none. Both are borrowed, and @copies expects them from now on. Return: 0 or negative
 * errno. */
int walks_new(const struct reporter *reporter, struct copies *copies, struct walks **ret);
/* Accepts NULL. Return: NULL. */
struct walks *walks_free(struct walks *walks);
/* A step may lead to one: look after a while. Cheap. Accepts NULL. */
void walks_expect(struct walks *walks);
