/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback - which of the newer system calls is missing; see fallback.h
 */
#include "mount/bind/fallback.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>

static const struct {
	const char *name, *instead;
} calls[] = {
	[CALL_OPENAT2] = { "openat2", "paths are opened one component at a time" },
	[CALL_OPEN_TREE] = { "open_tree", "binds are made by mount(2)" },
	[CALL_MOUNT_SETATTR] = { "mount_setattr",
				 "binds with attributes are made aside and moved" },
	[CALL_MOVE_MOUNT] = { "move_mount", "binds are made by mount(2)" },
	[CALL_FSOPEN] = { "fsopen", "file systems are mounted by mount(2), with shorter errors" },
	[CALL_LISTMOUNT] = { "listmount or statmount", "/proc/self/mountinfo is read" },
};
_Static_assert(ARRAY_SIZE(calls) == KERNEL_CALLS, "one row per call");

static atomic_bool said[KERNEL_CALLS];

bool call_is_missing(int error, enum kernel_call call)
{
	assert((unsigned int) call < KERNEL_CALLS);

	if (error != -ENOSYS)
		return false;
	if (!atomic_exchange(&said[call], true))
		log_message(LOG_WARNING, "no %s here (old kernel or seccomp profile): %s",
			    calls[call].name, calls[call].instead);
	return true;
}
