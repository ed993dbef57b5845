/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actual_look_up - questions about the actual state that its other look-ups answer; see actual.h
 *
 * Changes nothing.
 */
#include "state/actual.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char *actual_copy_spec_name(const struct actual *actual, const char *unique_name)
{
	const struct actual_volume *volume = actual_find(actual, unique_name);

	return volume ? strdup(volume->spec_name) : NULL;
}

bool actual_has_named(const struct actual *actual, const char *spec_name)
{
	for (const struct actual_volume *i = actual_first(actual); i; i = i->hh.next)
		if (strcmp(i->spec_name, spec_name) == 0)
			return true;
	return false;
}

bool actual_pod_may_be_mounted(const struct actual *actual, const char *pod_uid)
{
	const char *unique_name;

	assert(actual && pod_uid);

	for (size_t i = 0; (unique_name = actual_volume_of_pod(actual, pod_uid, i)); i++)
		if (actual_find_pod(actual_find(actual, unique_name), pod_uid)->state !=
		    MOUNT_ABSENT)
			return true;
	return false;
}
