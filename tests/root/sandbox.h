/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox - a mount namespace and a directory of their own for tests on the real kernel
 *
 * The namespace is private, so nothing a test mounts is seen outside, and ends with the process.
 * Each test gets an empty tmpfs on the directory; when it ends, descriptors and mounts that it left
 * fail it, and what it made goes with the tmpfs. Without root the whole program skips.
 *
 *	int main(void)
 *	{
 *		static const struct CMUnitTest tests[] = {
 *			SANDBOX_TEST(test_bind_shows_the_source),
 *		};
 *		return sandbox_run("bind", tests, ARRAY_SIZE(tests));
 *	}
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above, as cmocka wants it */
#include <cmocka.h>

#define SANDBOX_TEST(function)                                                                     \
	cmocka_unit_test_setup_teardown(function, sandbox_setup, sandbox_teardown)

/* Skips without root, else runs the group in a namespace of its own. Returns main's result. */
int sandbox_run(const char *name, const struct CMUnitTest *tests, size_t count);

/* The same for a program that is no group of tests. Return: NULL, or why it must be skipped. */
const char *sandbox_enter(void);
void sandbox_leave(void);

int sandbox_setup(void **state);
int sandbox_teardown(void **state);

/* The directory: absolute, without links; O_PATH descriptor of it, valid during one test. */
const char *sandbox_dir(void);
int sandbox_fd(void);

/* "DIR/relative" in one of eight static buffers that are used in turn. */
const char *sandbox_path(const char *relative);

/* Directories, a file with a text: assert that they could be made. Relative to the directory. */
void sandbox_mkdir(const char *relative, unsigned int mode);
void sandbox_write(const char *relative, const char *text);
/* Does the file hold exactly this text? */
bool sandbox_has(const char *relative, const char *text);

/* A moment's pause for what others do in their own time; false after a minute of them. From 0. */
bool sandbox_wait(unsigned int *moments);

/* How many mounts there are at and below a path; how many descriptors are open. */
unsigned int sandbox_mounts_below(const char *path);
unsigned int sandbox_open_fds(void);
