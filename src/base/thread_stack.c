/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_stack - where in the kernel a thread of this process waits, for people; see thread_stack.h
 */
#include "base/thread_stack.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* How every system call begins: says nothing. */
static bool is_entry(const char *name, size_t length)
{
	static const char *const entries[] = { "entry_SYSCALL", "do_syscall_64", "el0_svc",
					       "el0t_64_sync",  "do_el0_svc",    "invoke_syscall",
					       "__x64_sys_",    "__arm64_sys_",  "__do_sys_",
					       "__se_sys_" };

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (length >= strlen(entries[i]) &&
		    strncmp(name, entries[i], strlen(entries[i])) == 0)
			return true;
	return false;
}

/* Lines of "[<0>] name+0x112/0x210 [module]". */
void thread_stack_format(const char *text, char ret[THREAD_STACK_BYTES])
{
	size_t used = 0;

	assert(text && ret);
	*ret = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *name = strncmp(line, "[<", 2) == 0 ? strchr(line, ' ') : NULL;
		size_t length;

		if (!name)
			continue;
		length = strcspn(++name, "+ \n");
		if (length == 0 || is_entry(name, length))
			continue;
		if (used + length + sizeof(" < ") > THREAD_STACK_BYTES)
			return;
		used += (size_t) snprintf(ret + used, THREAD_STACK_BYTES - used, "%s%.*s",
					  used > 0 ? " < " : "", (int) length, name);
	}
}

static bool read_file(int thread_id, const char *name, char *ret, size_t size)
{
	char path[64];
	cleanup_close int fd = -EBADF;
	ssize_t got;

	(void) snprintf(path, sizeof(path), "/proc/self/task/%d/%s", thread_id, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, ret, size - 1);
	ret[got > 0 ? got : 0] = '\0';
	return got > 0;
}

void thread_stack_read(int thread_id, char ret[THREAD_STACK_BYTES])
{
	char text[4096];

	*ret = '\0';
	if (thread_id <= 0)
		return;
	if (read_file(thread_id, "stack", text, sizeof(text)))
		thread_stack_format(text, ret);
	/* "0": it waits for nothing. */
	if (*ret == '\0' && read_file(thread_id, "wchan", text, sizeof(text)) &&
	    strcmp(text, "0") != 0)
		(void) snprintf(ret, THREAD_STACK_BYTES, "%.*s", THREAD_STACK_BYTES - 1, text);
}
