/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_library - libcurl, loaded when a client of a kube-apiserver is made
 *
 * It brings some twenty libraries with it, OpenSSL's among them, 5 MiB of an idle process; a node
 * without --kubeconfig has none of them. Its functions are called as libcurl.easy_init(), here and
 * nowhere by their own names, so that podvold is not linked with it.
 */
#pragma once

#include "base/failure.h"

#include <curl/curl.h>

#define CURL_FUNCTIONS(FUNCTION)                                                                   \
	FUNCTION(easy_cleanup)                                                                     \
	FUNCTION(easy_getinfo)                                                                     \
	FUNCTION(easy_init)                                                                        \
	FUNCTION(easy_setopt)                                                                      \
	FUNCTION(free)                                                                             \
	FUNCTION(multi_add_handle)                                                                 \
	FUNCTION(multi_assign)                                                                     \
	FUNCTION(multi_cleanup)                                                                    \
	FUNCTION(multi_info_read)                                                                  \
	FUNCTION(multi_init)                                                                       \
	FUNCTION(multi_remove_handle)                                                              \
	FUNCTION(multi_setopt)                                                                     \
	FUNCTION(multi_socket_action)                                                              \
	FUNCTION(slist_append)                                                                     \
	FUNCTION(slist_free_all)                                                                   \
	FUNCTION(url)                                                                              \
	FUNCTION(url_cleanup)                                                                      \
	FUNCTION(url_get)                                                                          \
	FUNCTION(url_set)

struct curl_library {
#define FUNCTION(name) typeof(&curl_##name) name;
	CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
extern struct curl_library libcurl; /* of the loop thread */

/**
 * curl_library_load - fill the table; it stays loaded
 *
 * Call it before any function of the table, on the loop thread. Again is fine.
 *
 * Return: 0; -ELIBACC it is not installed, or too old.
 */
int curl_library_load(struct failure *reterr);
