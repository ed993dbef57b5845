/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_call - run an executable plugin; see plugin_call.h
 *
 * Privileged: CAP_SYS_ADMIN. A thread enters new namespaces, starts the program there, waits for it
 * and clones what is mounted at the target: the clone belongs to no namespace and can be attached
 * in podvold's. The program is the first process of its PID namespace and dies with the thread, so
 * a kill of either ends all of its processes.
 */
#include "mount/filesystem/plugin_call.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/syscalls.h"
#include "mount/bind/bind_staged.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NOT_EXECUTED = 127,   /* exit status of a program that cannot be executed */
	FIRST_FREE_FD = 4,    /* behind input, output, errors and the lock */
	MOVED_FD = 16,        /* out of their way */
	CAPABILITY_WORDS = 2, /* of the kernel's version 3 */
};

void plugin_answer_done(struct plugin_answer *answer)
{
	assert(answer);
	free(answer->text);
	(void) close_keep_errno(answer->mount_fd);
	*answer = PLUGIN_ANSWER_EMPTY;
}

int plugin_call_lock(const struct place *file, uint64_t key, bool is_shared, struct failure *reterr)
{
	struct flock lock = { .l_type = is_shared ? F_RDLCK : F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t) (key >> 2),
			      .l_len = 1 };
	cleanup_close int made = -EBADF, fd = -EBADF;

	assert(file && file->name);
	made = make_file(file, 0600, NULL, reterr);
	if (made < 0)
		return made;
	fd = open_beneath(file->parent_fd, file->name, O_RDWR, PATH_NO_SYMLINKS, reterr);
	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
		return errno == EAGAIN || errno == EACCES
			       ? failed_plain(reterr, -EBUSY,
					      "a process of an earlier call has not ended yet")
			       : failed(reterr, -errno, "cannot lock '%s'", file->path);
	return TAKE_FD(fd);
}

/* ---- the program's side: async-signal-safe calls alone ---- */

struct ends {
	int input, output, errors, lock; /* the program's */
	int read_output, read_errors;    /* podvold's */
};

static int move_up(int fd)
{
	return fcntl(fd, F_DUPFD, MOVED_FD);
}

static void take_descriptors(const struct ends *ends)
{
	int from[FIRST_FREE_FD] = { move_up(ends->input), move_up(ends->output),
				    move_up(ends->errors), move_up(ends->lock) };

	for (int i = 0; i < FIRST_FREE_FD; i++)
		if (from[i] < 0 || dup2(from[i], i) < 0)
			_exit(NOT_EXECUTED);
	if (close_range(FIRST_FREE_FD, UINT_MAX, 0) < 0)
		_exit(NOT_EXECUTED);
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void) sigaction(number, &action, NULL);
	(void) sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/* With no_new_privs exec(2) gives even root no more than it has now. */
static void give_up_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[CAPABILITY_WORDS] = {
		{ .effective = (uint32_t) kept, .permitted = (uint32_t) kept },
		{ .effective = (uint32_t) (kept >> 32), .permitted = (uint32_t) (kept >> 32) },
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || capset(&header, data) < 0)
		_exit(NOT_EXECUTED);
}

/* The thread may have ended before its death was asked for: then nothing reads the output. */
static void die_with_parent(int output)
{
	struct pollfd end = { .fd = output };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || poll(&end, 1, 0) != 0)
		_exit(NOT_EXECUTED);
}

static void execute(const struct plugin_call *call, const struct ends *ends)
{
	static char *const environment[] = { (char *) "PATH=/usr/sbin:/sbin:/usr/bin:/bin",
					     (char *) "LC_ALL=C", NULL };
	char *const argv[] = { (char *) call->program, NULL };

	(void) close(ends->read_output);
	(void) close(ends->read_errors);
	(void) setpgid(0, 0);
	take_descriptors(ends);
	take_signals();
	(void) umask(0022);
	/* Its own processes alone; where that is refused it sees the node's. */
	(void) mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	if (chdir("/") < 0)
		_exit(NOT_EXECUTED);
	give_up_capabilities(call->capabilities);
	die_with_parent(STDOUT_FILENO);
	(void) execve(call->program, argv, environment);
	_exit(NOT_EXECUTED);
}

/* ---- podvold's side, on a thread of its own ---- */

struct run {
	const struct plugin_call *call;
	struct plugin_answer *answer;
	struct ends ends;
	size_t error_bytes;
	pid_t pid;
	int pid_fd;
	int result;
	struct failure *reterr;
};

static int enter_namespaces(struct run *run)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return failed(run->reterr, -errno,
			      "cannot give a plugin mount and PID namespaces of its own (as a "
			      "service podvold needs RestrictNamespaces=mnt pid in a drop-in)");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return failed(run->reterr, -errno, "cannot keep a plugin's mounts to itself");
	return 0;
}

static int start(struct run *run)
{
	run->pid = _Fork();
	if (run->pid < 0)
		return failed(run->reterr, -errno, "cannot start '%s'", run->call->program);
	run->answer->has_run = true;
	if (run->pid == 0)
		execute(run->call, &run->ends);
	if (run->call->pid)
		atomic_store(run->call->pid, (int) run->pid);
	run->ends.output = close_keep_errno(run->ends.output);
	run->ends.errors = close_keep_errno(run->ends.errors);
	run->pid_fd = pidfd_open(run->pid, 0);
	return run->pid_fd < 0
		       ? failed(run->reterr, -errno, "cannot watch '%s'", run->call->program)
		       : 0;
}

/* Return: as read(2): 0 there will be no more. */
static ssize_t read_output(struct run *run)
{
	struct plugin_answer *answer = run->answer;
	size_t room = PLUGIN_ANSWER_BYTES_MAX + 1 - answer->length;
	ssize_t got = read(run->ends.read_output, answer->text + answer->length, room);

	if (got > 0)
		answer->length += (size_t) got;
	if (answer->length > PLUGIN_ANSWER_BYTES_MAX)
		run->result = failed_plain(run->reterr, -EFBIG,
					   "it wrote more than %d bytes: it was killed",
					   PLUGIN_ANSWER_BYTES_MAX);
	return got;
}

/* What does not fit is read and dropped. */
static ssize_t read_errors(struct run *run)
{
	char buffer[PLUGIN_ERRORS_BYTES];
	ssize_t got = read(run->ends.read_errors, buffer, sizeof(buffer));

	for (ssize_t i = 0; i < got && run->error_bytes < PLUGIN_ERRORS_BYTES - 1; i++)
		run->answer->errors[run->error_bytes++] =
			(unsigned char) buffer[i] < ' ' ? ' ' : buffer[i];
	return got;
}

static int wait_milliseconds(uint64_t end_usec)
{
	uint64_t now = monotonic_usec(), rest = end_usec > now ? (end_usec - now + 999) / 1000 : 0;

	return rest > INT_MAX ? INT_MAX : (int) rest;
}

/* Until the program has ended, also while others keep its output open: they end with it. */
static void watch(struct run *run)
{
	uint64_t end_usec = monotonic_usec() + run->call->limit_usec;
	struct pollfd ends[] = { { .fd = run->pid_fd, .events = POLLIN },
				 { .fd = run->ends.read_output, .events = POLLIN },
				 { .fd = run->ends.read_errors, .events = POLLIN } };

	while (run->result == 0 && !(ends[0].revents & POLLIN)) {
		int milliseconds = wait_milliseconds(end_usec);

		if (milliseconds == 0)
			run->result =
				failed_plain(run->reterr, -ETIMEDOUT, "it was killed after %.0f s",
					     (double) run->call->limit_usec / USEC_PER_SEC);
		else if (poll(ends, ARRAY_SIZE(ends), milliseconds) <= 0)
			continue;
		if (ends[1].revents && read_output(run) == 0)
			ends[1].fd = -1;
		if (ends[2].revents && read_errors(run) == 0)
			ends[2].fd = -1;
	}
}

/* As the first of its PID namespace it is reaped after all others there. */
static void end(struct run *run)
{
	int status = 0;

	if (run->result < 0)
		(void) kill(run->pid, SIGKILL);
	while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (run->call->pid)
		atomic_store(run->call->pid, 0);
	run->answer->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	while (run->result == 0 && read_output(run) > 0)
		;
	while (read_errors(run) > 0)
		;
	run->answer->text[run->answer->length] = '\0';
	while (run->error_bytes > 0 && run->answer->errors[run->error_bytes - 1] == ' ')
		run->error_bytes--;
	run->answer->errors[run->error_bytes] = '\0';
}

/* By path: podvold's descriptors are of the namespace outside. All of it is below the root
 * directory, where only root may rename. */
static int clone_target(struct run *run)
{
	const struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	fd = openat2(AT_FDCWD, run->call->target, &how, sizeof(how));
	if (fd < 0)
		return failed(run->reterr, -errno, "cannot inspect '%s'", run->call->target);
	r = fd_facts(fd, &facts, run->reterr);
	if (r < 0 || !facts.is_mount_root)
		return r;
	run->answer->mount_fd =
		open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return run->answer->mount_fd < 0
		       ? failed(run->reterr, -errno, "cannot take over the mount at '%s'",
				run->call->target)
		       : 0;
}

static void *run_thread(void *userdata)
{
	struct run *run = userdata;

	run->result = enter_namespaces(run);
	if (run->result == 0)
		run->result = start(run);
	if (run->result == 0)
		watch(run);
	if (run->pid > 0)
		end(run);
	if (run->result == 0 && run->call->target)
		run->result = clone_target(run);
	return NULL;
}

/* ---- before the thread ---- */

static int check_capabilities(const struct plugin_call *call, struct failure *reterr)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[CAPABILITY_WORDS];
	uint64_t lacking;
	char *name;

	if (capget(&header, data) < 0)
		return failed(reterr, -errno, "cannot read podvold's capabilities");
	lacking = call->capabilities & ~(data[0].permitted | (uint64_t) data[1].permitted << 32);
	if (lacking == 0)
		return 0;
	name = cap_to_name(__builtin_ctzll(lacking));
	(void) failed_plain(reterr, -EPERM, "it is granted %s, which podvold itself lacks",
			    name ?: "a capability");
	cap_free(name);
	return -EPERM;
}

/* The call without which no mount could be taken over is tried before anything is changed. */
static int check_calls(const struct plugin_call *call, struct failure *reterr)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	cleanup_close int fd = -EBADF, tree_fd = -EBADF;

	if (!call->target)
		return 0;
	fd = openat2(AT_FDCWD, "/", &how, sizeof(how));
	if (fd >= 0)
		tree_fd = open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLOEXEC);
	return tree_fd < 0 ? failed(reterr, -errno,
				    "plugins need openat2(), open_tree() and move_mount()")
			   : 0;
}

/* In memory, so that a program that reads nothing holds nothing up. */
static int open_input(const char *request, struct failure *reterr)
{
	cleanup_close int fd = memfd_create("request", MFD_CLOEXEC);
	size_t length = strlen(request);

	if (fd < 0)
		return failed(reterr, -errno, "cannot keep a request");
	if (write(fd, request, length) != (ssize_t) length || lseek(fd, 0, SEEK_SET) != 0)
		return failed(reterr, -EIO, "cannot keep a request");
	return TAKE_FD(fd);
}

static int open_pipe(int *ret_read, int *ret_write, struct failure *reterr)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return failed(reterr, -errno, "cannot make a pipe");
	*ret_read = fds[0];
	*ret_write = fds[1];
	(void) fcntl(fds[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static int open_ends(const struct plugin_call *call, struct ends *ends, struct failure *reterr)
{
	int r;

	*ends = (struct ends){
		open_input(call->request, reterr), -EBADF, -EBADF, call->lock_fd, -EBADF, -EBADF
	};
	r = ends->input < 0 ? ends->input : open_pipe(&ends->read_output, &ends->output, reterr);
	return r < 0 ? r : open_pipe(&ends->read_errors, &ends->errors, reterr);
}

/* All processes of the call have ended. Another one's that was just forked has a copy of the
 * descriptor, which does not count. */
static void release(int lock_fd)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	(void) fcntl(lock_fd, F_OFD_SETLK, &all);
}

static void close_ends(struct ends *ends)
{
	int *const fds[] = { &ends->input, &ends->output, &ends->errors, &ends->read_output,
			     &ends->read_errors };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		*fds[i] = close_keep_errno(*fds[i]);
}

int plugin_call_run(const struct plugin_call *call, struct plugin_answer *ret,
		    struct failure *reterr)
{
	struct run run = { .call = call, .answer = ret, .pid_fd = -EBADF, .reterr = reterr };
	pthread_t thread;
	int r;

	assert(call && call->program && call->request && call->limit_usec > 0 && ret);
	*ret = PLUGIN_ANSWER_EMPTY;
	r = check_capabilities(call, reterr);
	if (r == 0)
		r = check_calls(call, reterr);
	if (r < 0)
		return r;
	ret->text = calloc(1, PLUGIN_ANSWER_BYTES_MAX + 2);
	if (!ret->text)
		return failed(reterr, -ENOMEM, "cannot call '%s'", call->program);
	r = open_ends(call, &run.ends, reterr);
	if (r == 0) {
		r = -pthread_create(&thread, NULL, run_thread, &run);
		if (r < 0)
			(void) failed(reterr, r, "cannot call '%s'", call->program);
	}
	if (r == 0) {
		(void) pthread_join(thread, NULL);
		r = run.result;
	}
	release(call->lock_fd);
	close_ends(&run.ends);
	(void) close_keep_errno(run.pid_fd);
	return r;
}

int plugin_mounts_leave(struct failure *reterr)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return failed(reterr, -errno, "cannot have a mount namespace, which needs root");
	return 0;
}

int plugin_mount_attach(int mount_fd, int target_fd, const struct mount_attributes *attributes,
			struct failure *reterr)
{
	struct mount_attr attr = { .attr_set = attributes->set };
	int r = 0;

	assert(mount_fd >= 0 && target_fd >= 0);
	if (attr.attr_set && mount_setattr(mount_fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		r = -errno;
	if (r == 0)
		r = attach_tree(mount_fd, target_fd);
	return r < 0 ? failed(reterr, r, "cannot attach what the plugin mounted") : 0;
}
