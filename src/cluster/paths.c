/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths - where an object is at a kube-apiserver
 *
 * Names of objects need no escaping: a kube-apiserver admits none that would.
 */
#include "cluster/cluster_internal.h"

#include <assert.h>
#include <stdio.h>

static bool is_plain(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") ==
		       strlen(name) &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool cluster_path(const struct kind_row *kind, const char *name_space, const char *name,
		  const char *suffix, char ret[CLUSTER_PATH_BYTES])
{
	bool is_inside = kind->namespaced && name_space;
	int length;

	assert(kind && suffix && ret);
	if ((name && !is_plain(name)) || (name_space && !is_plain(name_space)))
		return false;
	length = snprintf(ret, CLUSTER_PATH_BYTES, "/%s%s/%s%s%s/%s%s%s%s",
			  *kind->group ? "apis/" : "api", kind->group, kind->version,
			  is_inside ? "/namespaces/" : "", is_inside ? name_space : "",
			  kind->plural, name ? "/" : "", name ? name : "", suffix);
	return length > 0 && length < CLUSTER_PATH_BYTES;
}
