/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback - which of the newer system calls is missing, decided per call
 *
 * A call is missing when it answers ENOSYS: an older kernel, or a seccomp profile that takes it
 * away. Nothing is probed ahead and no answer is kept, so a test can take a call away at any
 * moment. EPERM and EINVAL are never read as "missing": they are answers.
 */
#pragma once

#include <stdbool.h>

enum kernel_call {
	CALL_OPENAT2,
	CALL_OPEN_TREE,
	CALL_MOUNT_SETATTR,
	CALL_MOVE_MOUNT,
	CALL_FSOPEN,
	CALL_LISTMOUNT,
	KERNEL_CALLS
};

/**
 * call_is_missing - does this error say that the system call itself is not there?
 * @error: a result: negative errno, or anything else (descriptor 38 is no ENOSYS)
 *
 * The first time for each call it logs what is done instead. Any thread.
 */
bool call_is_missing(int error, enum kernel_call call);
