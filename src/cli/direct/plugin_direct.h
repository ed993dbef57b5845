/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_direct - executable plugins without a daemon: which there are, and the test of one
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

typedef void plugin_direct_fn(void *userdata, bool is_wrong, const char *name, const char *text);

/* @fn: for each plugin that root installed, whether podvold would run it. Return: 0, also where
 * there is no directory of plugins; else as opendir(3). */
int plugin_direct_list(plugin_direct_fn *fn, void *userdata, struct failure *reterr);

struct plugin_test {
	const char *name;      /* of the plugin */
	const char *directory; /* an existing one, below which the volume is mounted meanwhile */
	const char *file;      /* with the PersistentVolume; NULL: one without options */
	plugin_direct_fn *fn;  /* for each call, and what is wrong with it */
	void *userdata;
};

/**
 * plugin_direct_test - the life of one volume of a plugin
 *
 * Blocks. Needs root. The process gets a mount namespace of its own, which nothing leaves.
 *
 * Return: how many things are wrong; -EINVAL not one PersistentVolume, or one of another driver;
 * else as the calls.
 */
int plugin_direct_test(const struct plugin_test *test, struct failure *reterr);
