/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain - is every managed volume unmounted, or nothing left that will go?
 *
 * What is in use is not taken away here either: it is reported, and stays. The agent asks
 * after each turn in which nothing was dirty. Unmounts nothing. The loop thread only.
 */
#pragma once

#include <stdbool.h>

struct actual;
struct inuse;

/* @drivers_may_come: those that an unmount waits for may still register. A volume is given up after
 * a few attempts, or when its unmount is stuck. */
bool drain_is_over(const struct inuse *inuse, bool drivers_may_come);

/* To the journal: who holds what no operation failed at, since none was begun. */
void drain_report_held(const struct inuse *inuse);
/* The same of a drain that was ended from outside: each volume that it had not come to. */
void drain_report_left(const struct actual *actual);
