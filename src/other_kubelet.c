/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_kubelet - is a kubelet running on our root directory? See other_kubelet.h
 */
#include "other_kubelet.h"

#include "base/cleanup.h"
#include "base/directory.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define KUBELET_ROOT_DEFAULT "/var/lib/kubelet"

enum { COMMAND_LINE_BYTES = 65536 };

/* Return: bytes read, NUL-terminated; -1 when the process is gone or closed to us. */
static ssize_t read_process_file(int proc_fd, const char *pid, const char *file, char *buffer,
				 size_t size)
{
	cleanup_close int fd = -EBADF;
	char path[64];
	ssize_t n;

	(void) snprintf(path, sizeof(path), "%s/%s", pid, file);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buffer, size - 1);
	if (n >= 0)
		buffer[n] = '\0';
	return n;
}

static bool is_kubelet(int proc_fd, const char *pid)
{
	char name[32];

	return read_process_file(proc_fd, pid, "comm", name, sizeof(name)) > 0 &&
	       strcmp(name, "kubelet\n") == 0;
}

/* "--root-dir=DIR", "--root-dir DIR" and both with one dash; the words are divided by NUL. */
static const char *root_of_command_line(const char *words, size_t length)
{
	const char *const names[] = { "--root-dir", "-root-dir" };

	for (const char *word = words; word < words + length; word += strlen(word) + 1)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			size_t name_length = strlen(names[i]);
			const char *next = word + strlen(word) + 1;

			if (strncmp(word, names[i], name_length) != 0)
				continue;
			if (word[name_length] == '=')
				return word + name_length + 1;
			if (word[name_length] == '\0' && next < words + length)
				return next;
		}
	return KUBELET_ROOT_DEFAULT;
}

static bool same_directory(const char *a, const char *b)
{
	size_t a_length = strlen(a), b_length = strlen(b);

	while (a_length > 1 && a[a_length - 1] == '/')
		a_length--;
	while (b_length > 1 && b[b_length - 1] == '/')
		b_length--;
	return a_length == b_length && strncmp(a, b, a_length) == 0;
}

static bool runs_on(int proc_fd, const char *pid, const char *root_dir)
{
	cleanup_free char *words = malloc(COMMAND_LINE_BYTES);
	ssize_t length;

	if (!words || !is_kubelet(proc_fd, pid))
		return false;
	length = read_process_file(proc_fd, pid, "cmdline", words, COMMAND_LINE_BYTES);
	return length > 0 && same_directory(root_of_command_line(words, (size_t) length), root_dir);
}

int other_kubelet_check(const char *proc_dir, const char *root_dir, struct failure *reterr)
{
	cleanup_closedir DIR *proc = opendir(proc_dir);
	const struct dirent *entry;
	int r;

	assert(root_dir);
	if (!proc)
		return failed(reterr, -errno, "cannot read '%s'", proc_dir);
	while ((r = directory_next(proc, &entry)) > 0)
		if (isdigit((unsigned char) entry->d_name[0]) &&
		    runs_on(dirfd(proc), entry->d_name, root_dir))
			return failed_plain(reterr, -EBUSY,
					    "a kubelet (pid %s) runs on '%s'; stop it first, or "
					    "give podvold another --root-dir",
					    entry->d_name, root_dir);
	return r < 0 ? failed(reterr, r, "cannot read '%s'", proc_dir) : 0;
}

/* ---- its socket ---- */

/* A full backlog is an answer, too. */
static bool answers(const struct sockaddr_un *address, pid_t *ret_pid)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);

	if (fd < 0 || (connect(fd, (const struct sockaddr *) address, sizeof(*address)) < 0 &&
		       errno != EAGAIN))
		return false;
	(void) getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
	*ret_pid = peer.pid;
	return true;
}

int other_kubelet_check_socket(const char *root_dir, struct failure *reterr)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int root_fd = open(root_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t pid = 0;

	assert(root_dir);
	if (root_fd < 0)
		return errno == ENOENT ? 0 : failed(reterr, -errno, "cannot open '%s'", root_dir);
	/* A path of any length is in reach by its descriptor. */
	(void) snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", root_fd,
			OTHER_KUBELET_SOCKET);
	if (!answers(&address, &pid))
		return 0;
	return failed_plain(reterr, -EBUSY,
			    "a kubelet (pid %d) answers at '%s/" OTHER_KUBELET_SOCKET
			    "'; stop it before podvold takes its volumes over",
			    pid, root_dir);
}
