/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_world - a volume of a pod in the sandbox, for tests of sub-paths
 *
 * The root directory is "root"; the volume "data" of the pod "u1" is the directory VOLUME in it,
 * plain unless a test mounts something there. Beside it is "outside", which nothing may change.
 */
#pragma once

#include "kernel_calls.h"

#include "mount/path/subpath.h"

#define ROOT     "root"
#define POD_DIR  ROOT "/pods/u1"
#define VOLUME   POD_DIR "/volumes/kubernetes.io~empty-dir/data"
#define SUBPATHS POD_DIR "/volume-subpaths"
#define TARGET   SUBPATHS "/data/main/0"

/* Fixtures that make and check all of it; with system calls taken away as for
 * SANDBOX_TEST_WITHOUT(). */
int subpath_world_setup(void **state);
int subpath_world_teardown(void **state);

#define SUBPATH_TEST(function)                                                                     \
	cmocka_unit_test_setup_teardown(function, subpath_world_setup, subpath_world_teardown)
#define SUBPATH_TEST_WITHOUT(calls, function)                                                      \
	{                                                                                          \
#function " (" #calls ")", function, subpath_world_setup, subpath_world_teardown,  \
			(void *) (uintptr_t) (calls)                                               \
	}

/* For the container "main", mount 0, with nothing but the path to choose. */
struct subpath_request subpath_world_request(const char *sub_path);

/* All stages; what failed is in subpath_world_failure(). */
int subpath_world_bind(const char *sub_path);
int subpath_world_bind_request(const struct subpath_request *request);
const struct failure *subpath_world_failure(void);

int subpath_world_clean(const char *volume_name);

/* A link in the volume; is there something of this name, not followed? */
void subpath_world_link(const char *points_to, const char *relative);
bool sandbox_is_there(const char *relative);
unsigned int sandbox_mode(const char *relative);
