/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_namespaces - processes with mount namespaces of their own; see foreign_namespaces.h
 */
#include "foreign_namespaces.h"

#include "file_systems.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

pid_t foreign_volume(const char *name, unsigned long propagation, int (*change)(void))
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

static void end_this_thread(int number)
{
	(void) syscall(SYS_exit, 0);
}

static void *live_on(void *userdata)
{
	for (;;)
		(void) pause();
	return NULL;
}

/* SIGUSR1 ends the first thread alone. */
int start_thread(void)
{
	sigset_t signals;
	pthread_t thread;

	(void) sigemptyset(&signals);
	(void) sigaddset(&signals, SIGUSR1);
	(void) pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, live_on, NULL) != 0)
		return -1;
	(void) signal(SIGUSR1, end_this_thread);
	(void) pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	return 0;
}

void end_first_thread(pid_t pid)
{
	char path[64], link[64];
	unsigned int moments = 0;

	assert_return_code(kill(pid, SIGUSR1), errno);
	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	while (readlink(path, link, sizeof(link)) >= 0 && sandbox_wait(&moments))
		;
	assert_int_equal(readlink(path, link, sizeof(link)), -1);
}

static bool exists(const char *relative)
{
	return access(sandbox_path(relative), F_OK) == 0;
}

void mount_volume(void)
{
	mount_volume_of("tmpfs");
}

void mount_volume_of(const char *type)
{
	if (!exists("root"))
		sandbox_mkdir("root", 0755);
	assert_return_code(mount(sandbox_path("root"), sandbox_path("root"), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(mount(NULL, sandbox_path("root"), NULL, MS_SHARED, NULL), errno);
	if (!exists("root/stage"))
		sandbox_mkdir("root/stage", 0755);
	if (!exists("inside"))
		sandbox_mkdir("inside", 0755);
	file_system_mount(type, "root/stage");
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
