/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnutls_begin - see gnutls_begin.h
 *
 * The function of GnuTLS that libmicrohttpd's constructor calls is defined here once more: a
 * program's own functions come before those of its libraries. It does nothing until the
 * constructors of all libraries have run. After that it is GnuTLS' own, as what is loaded later
 * may call it, such as a library of the name service switch.
 */
#include "base/gnutls_begin.h"

#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#pragma GCC visibility push(default)
GNUTLS_SKIP_GLOBAL_INIT; /* GnuTLS' own constructor asks for it */
#pragma GCC visibility pop

static bool libraries_are_up;
static int result;

/* A program's constructors come after those of its libraries. */
__attribute__((constructor)) static void on_libraries_up(void)
{
	libraries_are_up = true;
}

__attribute__((visibility("default"))) int gnutls_global_init(void)
{
	int (*global_init)(void);
	void *found = libraries_are_up ? dlsym(RTLD_NEXT, "gnutls_global_init") : NULL;

	if (!found)
		return libraries_are_up ? GNUTLS_E_INTERNAL_ERROR : 0;
	memcpy(&global_init, &found, sizeof(found));
	return global_init();
}

static void begin(void)
{
	result = gnutls_global_init();
}

int gnutls_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void) pthread_once(&once, begin);
	return result;
}
