/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_reclaim - may the directory of a volume be removed; see local_reclaim.h
 */
#include "controller/local/local_reclaim.h"

#include "base/path.h"
#include "object/kinds/volume_source.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *local_path_of(const struct persistent_volume *volume)
{
	if (volume->local_path[0])
		return volume->local_path;
	return volume->host_path[0] ? volume->host_path : NULL;
}

const char *local_data_of(const struct persistent_volume *volume)
{
	return volume->program.flex ? volume->object->meta.name : local_path_of(volume);
}

bool local_paths_touch(const char *a, const char *b)
{
	for (;;) {
		size_t in_a, in_b;

		a += strspn(a, "/");
		b += strspn(b, "/");
		in_a = strcspn(a, "/");
		in_b = strcspn(b, "/");
		if (in_a == 0 || in_b == 0)
			return true;
		if (in_a != in_b || memcmp(a, b, in_a) != 0)
			return false;
		a += in_a;
		b += in_b;
	}
}

/* The directory is the volume, not the image in it. */
static int take_name(const struct persistent_volume *volume, const char *below,
		     char ret[LOCAL_NAME_BYTES], struct failure *reterr)
{
	size_t length = strlen(below), end = strlen(LOCAL_IMAGE);

	if (strcmp(volume->origin.capacity, "image") == 0) {
		if (length <= end || strcmp(below + length - end, LOCAL_IMAGE) != 0)
			return failed_plain(reterr, -EINVAL,
					    "the path does not end with '%s', as that of a volume "
					    "in an image does",
					    LOCAL_IMAGE);
		length -= end;
	}
	if (length >= LOCAL_NAME_BYTES)
		return failed_plain(reterr, -EINVAL, "the path is too long");
	memcpy(ret, below, length);
	ret[length] = '\0';
	return 0;
}

static int take_plugin(const struct persistent_volume *volume, struct local_place *ret,
		       struct failure *reterr)
{
	const char *base = volume->origin.base_path;

	if (strcmp(base, volume->program.flex->driver) != 0 ||
	    strncmp(base, LOCAL_PLUGIN_PREFIX, strlen(LOCAL_PLUGIN_PREFIX)) != 0)
		return failed_plain(reterr, -EINVAL,
				    "the driver '%s' is not '%s', which this volume was made by",
				    volume->program.flex->driver, base);
	if (strncmp(volume->object->meta.name, LOCAL_SNAPSHOT_PREFIX,
		    strlen(LOCAL_SNAPSHOT_PREFIX)) == 0)
		return failed_plain(reterr, -EINVAL,
				    "'%s' is the name of a snapshot: the data is kept",
				    volume->object->meta.name);
	ret->base_path = base;
	(void) snprintf(ret->name, LOCAL_NAME_BYTES, "%s", volume->object->meta.name);
	return 0;
}

int local_place_of(const struct persistent_volume *volume, struct local_place *ret,
		   struct failure *reterr)
{
	const char *base = volume->origin.base_path, *path = local_path_of(volume);
	size_t length = strlen(base);

	if (volume->program.flex)
		return take_plugin(volume, ret, reterr);
	while (length > 0 && base[length - 1] == '/')
		length--;
	/* A base path of "/" has no length left. */
	if (!path || base[0] != '/' || length == 0 || strncmp(path, base, length) != 0 ||
	    path[length] != '/' || path[length + 1] == '/' || path[length + 1] == '\0' ||
	    path_has_backstep(path) || path_has_backstep(base))
		return failed_plain(reterr, -EINVAL,
				    "the path '%s' does not lie below the base path '%s' that "
				    "this volume was made in",
				    path ? path : "", base);
	ret->base_path = base;
	return take_name(volume, path + length + 1, ret->name, reterr);
}

static bool is_here(const struct reclaim_facts *facts)
{
	const struct node_selector *affinity = facts->volume->node_affinity;

	return !affinity || (facts->node && node_selector_matches(affinity, facts->node));
}

/* What says no for good, in the order in which it is reported. */
static int check_place(const struct reclaim_facts *facts, struct failure *why)
{
	struct local_place place;
	int r;

	if (!is_here(facts))
		return failed_plain(why, -ENODEV,
				    "its node affinity matches no node of this podvold: the data "
				    "is kept");
	r = local_place_of(facts->volume, &place, why);
	if (r == 0 && facts->neighbour)
		r = failed_plain(why, -EEXIST,
				 "volume \"%s\" has the same path, or one in it: the data is "
				 "kept",
				 facts->neighbour->meta.name);
	return r;
}

enum reclaim_verdict local_reclaim_decide(const struct reclaim_facts *facts, struct failure *why)
{
	const struct persistent_volume *volume = facts->volume;
	enum reclaim_verdict verdict;
	struct failure refused;

	assert(volume && volume->object);
	if (!local_is_provisioner(volume->origin.provisioned_by) ||
	    (volume->object->meta.deletes && !facts->outlives_data))
		return RECLAIM_NOT_OURS;
	verdict = reclaim_decide(facts, why);
	if ((verdict != RECLAIM_WAIT && verdict != RECLAIM_REMOVE) ||
	    check_place(facts, &refused) == 0)
		return verdict;
	*why = refused;
	return RECLAIM_REFUSED;
}
