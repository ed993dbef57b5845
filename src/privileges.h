/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges - the capabilities that podvold needs, checked at start, and all others given up
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

/**
 * privileges_check_and_cut - keep the needed capabilities in the permitted, effective and bounding
 * sets
 * @maps_groups: keep those for maps of groups, too, as far as they are there
 * @reterr:      names the first that is missing
 *
 * Before the first thread. mkfs, fsck and mount helpers inherit what is kept and nothing else.
 *
 * Return: 0; -EPERM one is missing; else as capset(2).
 */
int privileges_check_and_cut(bool maps_groups, struct failure *reterr);
