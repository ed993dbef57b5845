/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podman - words for "podman run" and "podman create"
 *
 * --mount and not --volume, whose colons cannot be escaped; a --mount is a CSV record. Podman has
 * no words for a mount that must be read-only recursively (podman 4 refuses "rro"), nor for a
 * device whose path has a colon.
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "container/words.h"

#include <errno.h>

/* Read-only unless "rw" is said. */
static int add_image(const struct planned_mount *mount, struct words *words, struct failure *reterr)
{
	cleanup_free char *source = word_field("source", mount->image);
	cleanup_free char *target = word_field("destination", mount->container_path);
	const char *missing = *mount->sub_path                         ? "subPath"
			      : mount->propagation != PROPAGATION_NONE ? "mountPropagation"
			      : mount->idmap ? "the idmap (hostUsers: false)"
					     : NULL;

	if (!source || !target)
		return failed(reterr, -ENOMEM, "cannot write an argument");
	if (missing)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "podman cannot express %s of an image volume, which '%s' "
				    "asks for",
				    missing, mount->container_path);
	return words_add(words, reterr, "--mount=type=image,%s,%s", source, target);
}

static int add_mount(const struct planned_mount *mount, struct words *words, struct failure *reterr)
{
	cleanup_free char *source = NULL, *target = NULL;

	if (mount->image)
		return add_image(mount, words, reterr);
	source = word_field("source", mount->host_path);
	target = word_field("destination", mount->container_path);
	if (!source || !target)
		return failed(reterr, -ENOMEM, "cannot write an argument");
	if (mount->recursive_read_only == RECURSIVE_READ_ONLY_ENABLED)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "podman cannot express recursiveReadOnly Enabled, which '%s' "
				    "asks for",
				    mount->container_path);
	return words_add(words, reterr, "--mount=type=bind,%s,%s,bind-propagation=%s%s%s%s%s%s%s",
			 source, target, mount_propagation_option(mount->propagation),
			 mount->read_only ? ",readonly" : "", mount->noexec ? ",noexec" : "",
			 mount->nosuid ? ",nosuid" : "", mount->nodev ? ",nodev" : "",
			 mount->idmap ? ",idmap" : "",
			 /* Shared: a private label would shut the pod's other containers out. */
			 mount->relabel ? ",relabel=shared" : "");
}

int podman_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr)
{
	return words_add_plan(words, "podman", plan, container, add_mount, reterr);
}
