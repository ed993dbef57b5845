/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker - words for "docker run" and "docker create"
 *
 * --mount, a CSV record, wherever it will do; --volume where SELinux labels are wanted, for which
 * only that has a word. recursiveReadOnly Enabled is bind-recursive=readonly, which Docker knows
 * from version 25 on and older ones refuse; from 25 on a plain readonly is recursive where the
 * kernel can, as IfPossible.
 *
 * Docker has no words for mount flags: its runtime keeps those of the host for a writable mount and
 * loses them when it makes one read-only.
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "container/words.h"

#include <errno.h>

static int check_flags(const struct planned_mount *mount, struct failure *reterr)
{
	if (!mount->read_only || !(mount->noexec || mount->nosuid || mount->nodev))
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP,
			    "docker cannot keep %s of the read-only mount '%s'",
			    mount->noexec   ? "noexec"
			    : mount->nosuid ? "nosuid"
					    : "nodev",
			    mount->container_path);
}

static int add_volume(const struct planned_mount *mount, struct words *words,
		      struct failure *reterr)
{
	const char *colon = path_with_colon(mount->host_path, mount->container_path);

	if (colon)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "docker cannot label a mount whose path has a colon: '%s'",
				    colon);
	if (mount->recursive_read_only == RECURSIVE_READ_ONLY_ENABLED)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "docker cannot label a mount with recursiveReadOnly Enabled: "
				    "'%s'",
				    mount->container_path);
	/* z and not Z: a private label would shut the pod's other containers out. */
	return words_add(words, reterr, "--volume=%s:%s:%s,%s,z", mount->host_path,
			 mount->container_path, mount->read_only ? "ro" : "rw",
			 mount_propagation_option(mount->propagation));
}

static int add_mount(const struct planned_mount *mount, struct words *words, struct failure *reterr)
{
	bool recursive = mount->recursive_read_only == RECURSIVE_READ_ONLY_ENABLED;
	cleanup_free char *source = NULL, *target = NULL;
	int r = check_flags(mount, reterr);

	if (r < 0)
		return r;
	if (mount->relabel)
		return add_volume(mount, words, reterr);
	source = word_field("source", mount->host_path);
	target = word_field("target", mount->container_path);
	if (!source || !target)
		return failed(reterr, -ENOMEM, "cannot write an argument");
	return words_add(words, reterr, "--mount=type=bind,%s,%s,bind-propagation=%s%s%s", source,
			 target, mount_propagation_option(mount->propagation),
			 mount->read_only ? ",readonly" : "",
			 recursive ? ",bind-recursive=readonly" : "");
}

int docker_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr)
{
	return words_add_plan(words, "docker", plan, container, add_mount, reterr);
}
