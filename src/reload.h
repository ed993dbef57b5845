/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload - SIGHUP: read the configuration again while the daemon runs
 *
 * A thread reads, for a file may hang; the loop applies. Options whose row says `reloads` take
 * effect at once; of the others those that changed are named in the log, for a restart. A file with
 * an error changes nothing. Nothing of this ends the daemon.
 */
#pragma once

#include "config.h"

#include <systemd/sd-event.h>

struct reload;

/* SIGHUP ends no process of which this was called: it waits until reload_new(). Before the first
 * thread. */
void reload_hold_back(void);

/**
 * reload_new - from now on SIGHUP reloads
 * @argv:   of main(); borrowed
 * @config: borrowed; changed on the loop thread only, and nothing but options that reload
 *
 * Return: 0 or negative errno.
 */
int reload_new(sd_event *event, int argc, char **argv, struct config *config, struct reload **ret);
/* Accepts NULL. Return: NULL. */
struct reload *reload_free(struct reload *reload);
