/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers - processes with mount namespaces of their own; see strangers.h
 */
#include "strangers.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

pid_t stranger(const char *name, unsigned long propagation, int (*change)(void))
{
	int ready[2];
	char byte = 1;
	pid_t pid;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) prctl(PR_SET_NAME, name);
		if (propagation && unshare(CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | propagation, NULL) == 0)
			byte = 0;
		if (!propagation)
			byte = 0;
		if (change && change() < 0)
			byte = 2;
		(void) !write(ready[1], &byte, 1);
		for (;;)
			(void) pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 0);
	(void) close(ready[0]);
	(void) close(ready[1]);
	return pid;
}

void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void mount_volume(void)
{
	sandbox_mkdir("root", 0755);
	assert_return_code(mount(sandbox_path("root"), sandbox_path("root"), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(mount(NULL, sandbox_path("root"), NULL, MS_SHARED, NULL), errno);
	sandbox_mkdir("root/stage", 0755);
	sandbox_mkdir("inside", 0755);
	assert_return_code(mount("volume", sandbox_path("root/stage"), "tmpfs", 0, NULL), errno);
}

void unmount_volume(void)
{
	(void) umount2(sandbox_path("root/stage"), MNT_DETACH);
	assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
}

int bind_in_slave(void)
{
	return mount(sandbox_path("root/stage"), sandbox_path("inside"), NULL, MS_BIND, NULL);
}

struct mount_holder search(const char *mount_point)
{
	struct mount_holder holder = { .mount_point = mount_point };
	struct failure why = { 0 };

	if (mount_holders_search(&holder, 1, &why) < 0)
		fail_msg("%s", why.text);
	return holder;
}

struct mount_holder search_for(pid_t pid)
{
	struct mount_holder holder = search(sandbox_path("root/stage"));

	for (unsigned int moments = 0;
	     (holder.found ? holder.pid : -1) != pid && sandbox_wait(&moments);) {
		(void) close_keep_errno(holder.pid_fd);
		holder = search(sandbox_path("root/stage"));
	}
	return holder;
}

void expect_nobody(void)
{
	struct mount_holder holder = search_for(-1);

	if (holder.found)
		fail_msg("process %d '%s' at '%s'", (int) holder.pid, holder.command, holder.where);
	assert_int_equal(holder.pid_fd, -EBADF);
}
