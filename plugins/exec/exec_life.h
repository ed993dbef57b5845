/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_life - the life of one volume of an executable plugin, each call made as podvold makes it,
 * to find out what the plugin does wrong; see exec.h
 */
#pragma once

#include "plugins/plugin.h"

/* Once for each call and for each thing that is wrong. @text: borrowed. */
typedef void exec_life_fn(void *userdata, bool is_wrong, const char *call, const char *text);

/**
 * exec_life_run - probe, stage, publish, stats, expand, unpublish, unstage [blocks]
 * @request: as for a set-up of a PersistentVolume's volume; its host's root directory is used by
 *           nothing else, in a mount namespace of the caller's
 *
 * What sets up or takes down is called twice, as after a kill of podvold. The life goes on to its
 * end after a failure, so that nothing is left.
 *
 * Return: how many things are wrong; a negative errno where the life could not begin.
 */
int exec_life_run(const struct volume_request *request, exec_life_fn *say, void *userdata,
		  struct failure *reterr);
