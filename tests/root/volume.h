/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume - one volume of one pod in the sandbox, for tests that run a plugin's stages for real
 *
 * The root directory is "root" in the sandbox. Objects are made by hand: a test changes their
 * members before it asks for stages.
 */
#pragma once

#include "sandbox.h"

#include "plugins/plugin.h"

struct test_volume {
	struct plugin_host host;
	struct persistent_volume pv; /* "pv1" */
	struct pod pod;              /* "u1" */
	struct pod_volume source;    /* inline ones */
	struct object pv_object, pod_object;
	struct volume_spec spec;
	struct volume_request request;
	const struct volume_plugin *plugin;
	struct stage_report report; /* of the last list that ran */
	const char *stage;          /* its last stage */
	char device_path[sizeof(((struct stage_report *) NULL)->device_path)]; /* recorded */
};

/* A PV-backed volume when @pv, else an inline one named "scratch". Makes "root", once. */
void test_volume_init(struct test_volume *volume, const char *plugin, bool pv);
void test_volume_done(struct test_volume *volume);

/* Asks for a list and runs it in this thread; a list that cannot be made counts as its failure.
 * A device that it reports is what the next one has as recorded.
 * Return: of the last stage. */
int test_volume_run(struct test_volume *volume, stage_list_fn *slot);

/* A loop device on a sparse file in the sandbox; its path until test_loop_detach(). Skips the test
 * when there is none. */
struct test_loop {
	char path[32];
	int fd;
};
void test_loop_attach(struct test_loop *loop, const char *file, unsigned int mebibytes);
void test_loop_detach(struct test_loop *loop);

/* "" when nothing is on it, else the type as libblkid tells. */
void test_loop_type(const struct test_loop *loop, char type[32]);
