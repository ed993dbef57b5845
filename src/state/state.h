/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state - what should be mounted and what is: two tables, owned by the loop thread
 *
 * Read in this order: desired.h (what pods want), actual.h (what is there, as far as we know),
 * dirty.h (which volumes are to be reconciled), populator.h (pods become desired entries),
 * volume_lookup.h (through claims and PVs), holds.h (whose containers live), ledger.h (the actual
 * table and the holds, as they survive a kill), found.h (what is on disk at start), name_sets.h
 * (small indexes). Every change of desired or actual goes through the functions of its one file and
 * marks the volume dirty there; nothing else does.
 */
#pragma once

#include "state/actual.h"
#include "state/desired.h"
#include "state/dirty.h"
#include "state/found.h"
#include "state/holds.h"
#include "state/ledger.h"
#include "state/populator.h"
