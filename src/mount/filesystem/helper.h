/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper - mount by a program, mount.TYPE, as mount(8) does for file systems with a server
 *
 * Such a program talks to the server before it asks the kernel. Arguments only, no shell; whatever
 * it says of itself, the mount table has the last word.
 */
#pragma once

#include "mount/filesystem/tool.h"
#include "mount/mount.h"

struct helper_request {
	const char *type;    /* "nfs": the program is mount.nfs */
	const char *source;  /* "server:/path"; must not begin with '-' */
	const char *options; /* comma separated, as mount(8) -o; words for mount(8), fstab and
				systemd alone are dropped */
	const struct place *target; /* a directory that is there, and that no pod can rename */
	struct tool_terms terms;
};

/**
 * mount_by_helper - run "mount.TYPE SOURCE TARGET [-o OPTIONS]" and look at what came of it
 * [worker; may take minutes]
 * @ret_mount_id: of the mount that is there now
 *
 * Return: 0; -EINVAL an option or a source that would make it do something else; -ENOENT there is
 * no such program; -ETIMEDOUT, -ECANCELED it was ended; -EIO it failed, @reterr has its words;
 * -ENODEV it says that it mounted, and nothing is there. After a failure something may be mounted.
 */
int mount_by_helper(const struct helper_request *request, uint64_t *ret_mount_id,
		    struct failure *reterr);
