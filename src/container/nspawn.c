/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nspawn - words for systemd-nspawn
 *
 * Its binds are recursive, --bind-ro= is read-only recursively and keeps the host's mount flags,
 * and mounts that come later on the host always appear below a bind. So recursiveReadOnly Disabled
 * and mountPropagation None become stricter and wider than asked; what it has no words for at all
 * is Bidirectional, SELinux labels of volumes, and more groups.
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "container/words.h"

#include <assert.h>
#include <errno.h>

static int add_bind(const char *host_path, const char *container_path, bool read_only, bool idmap,
		    struct words *words, struct failure *reterr)
{
	cleanup_free char *source = word_escaped(host_path, ":");
	cleanup_free char *target = word_escaped(container_path, ":");

	if (!source || !target)
		return failed(reterr, -ENOMEM, "cannot write an argument");
	return words_add(words, reterr, "--bind%s=%s:%s%s", read_only ? "-ro" : "", source, target,
			 idmap ? ":idmap" : "");
}

static int add_mount(const struct planned_mount *mount, struct words *words, struct failure *reterr)
{
	const char *missing = NULL;

	if (mount->propagation == PROPAGATION_BIDIRECTIONAL)
		missing = "mountPropagation Bidirectional";
	else if (mount->relabel)
		missing = "SELinux labels of volumes";
	if (missing)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "systemd-nspawn cannot express %s, which '%s' asks for",
				    missing, mount->container_path);
	return add_bind(mount->host_path, mount->container_path, mount->read_only, mount->idmap,
			words, reterr);
}

/* By its numbers, for the rule has no quoting of its own: /dev/block has a link for each. */
static int add_device(const struct planned_device *device, struct words *words,
		      struct failure *reterr)
{
	int r = add_bind(device->host_path, device->container_path, device->read_only, false, words,
			 reterr);

	if (r < 0)
		return r;
	return words_add(words, reterr, "--property=DeviceAllow=/dev/block/%u:%u %s", device->major,
			 device->minor, device->read_only ? "r" : "rwm");
}

int nspawn_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr)
{
	int r = 0;

	assert(plan && container && words);
	if (plan->group_count > 0)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "systemd-nspawn cannot express supplementary groups, which "
				    "the pod needs for its volumes: %u",
				    plan->groups[0]);
	for (size_t i = 0; i < container->mount_count && r == 0; i++)
		r = add_mount(&container->mounts[i], words, reterr);
	for (size_t i = 0; i < container->device_count && r == 0; i++)
		r = add_device(&container->devices[i], words, reterr);
	return r;
}
