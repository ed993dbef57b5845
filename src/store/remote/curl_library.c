/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_library - dlopen() of libcurl; see curl_library.h
 */
#include "store/remote/curl_library.h"

#include "base/cleanup.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBRARY "libcurl.so.4" /* of OpenSSL: authorities and keys are given as text */

struct curl_library libcurl;

static int cannot_load(struct failure *reterr)
{
	const char *reason = dlerror();

	return failed_plain(reterr, -ELIBACC, "cannot load " LIBRARY ", needed by --kubeconfig: %s",
			    reason ? reason : "unknown error");
}

int curl_library_load(struct failure *reterr)
{
#define FUNCTION(name) { "curl_" #name, &libcurl.name },
	static const struct {
		const char *name;
		void *pointer;
	} functions[] = { CURL_FUNCTIONS(FUNCTION) };
#undef FUNCTION
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return cannot_load(reterr);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return cannot_load(reterr);
		memcpy(functions[i].pointer, &function, sizeof(function));
	}
	return 0;
}
