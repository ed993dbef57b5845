/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_holders - who keeps a mount from being unmounted, after the kernel said EBUSY
 *
 * A mount is busy while a process has its working or root directory, an open file, a mapped file,
 * its executable or a bound socket in it, while a loop device or swap lies on a file of it, and
 * while something is mounted in it. All of that is compared by the number of the mount, which /proc
 * tells without a name being looked up in the volume: a dead server stops nothing here. Mounts in
 * other namespaces that the kernel would take away with podvold's own count as its own.
 *
 * The answer is about a moment: processes come and go meanwhile. Not found are descriptors on their
 * way through a socket, those that only an io_uring has, sockets bound to a relative name or in
 * another network namespace, and users in the kernel itself, such as an NFS export. Changes
 * nothing.
 */
#pragma once

#include "base/failure.h"
#include "mount/holders/process.h"
#include "mount/holders/busy_mounts.h"

#include <stdatomic.h>

/* In the order in which they are reported of one process. */
enum busy_kind {
	BUSY_WORKING_DIRECTORY,
	BUSY_ROOT_DIRECTORY,
	BUSY_EXECUTABLE,
	BUSY_OPEN_FILE,
	BUSY_MAPPED_FILE,
	BUSY_SOCKET,
	BUSY_NESTED_MOUNT, /* from here on nothing of a process */
	BUSY_LOOP_DEVICE,
	BUSY_SWAP,
	BUSY_KIND_COUNT
};
/* "working directory", "open file", ... */
const char *busy_kind_name(enum busy_kind kind);

enum {
	BUSY_HOLDERS_MAX = 32, /* reported; more are counted */
	BUSY_NAME_BYTES = 160,
	BUSY_MOUNTS_MAX = 16384,        /* of all volumes asked about, with what is nested */
	BUSY_DESCRIPTORS_MAX = 2000000, /* looked at in one search */
	BUSY_SEARCH_USEC = 10000000,
};

/* What one process, or the kernel, has of the volume in one manner. */
struct busy_holder {
	enum busy_kind kind;
	unsigned int count; /* so many of this kind; @name is the first */
	pid_t pid;          /* 0: no process */
	int pid_fd;         /* of the first entry of a process; -EBADF: none; the caller closes */
	uid_t uid;          /* of the process, real */
	uint64_t mount_namespace; /* inode of the process's; 0: podvold's own */
	/* comm; the loop device; the type of what is mounted */
	char command[COMMAND_BYTES];
	char name[BUSY_NAME_BYTES]; /* within the volume; "" is its root; cut when it is longer */
};

struct busy_holders {
	struct busy_holder list[BUSY_HOLDERS_MAX];
	size_t count;
	size_t total;   /* those that are not in the list included */
	size_t hidden;  /* processes that may not be looked at */
	bool cut_short; /* a limit above ended the search */
	/* Of whom the last entries are: busy_holders.c's own. */
	pid_t last_pid;
	unsigned int last_kinds; /* bits of them */
};

/* One volume that is asked about, and the answer. */
struct busy_query {
	const char *mount_point; /* absolute, in our namespace */
	const char *folder;      /* what is mounted below it counts, too; NULL: none */
	struct busy_holders holders;
};

/**
 * busy_holders_search - look through all processes, once for all that is asked [worker]
 * @queries:   busy_holders_done() of each answer in the end
 * @cancelled: looked at between processes; NULL: it cannot be cancelled
 *
 * Cost: 0.2 milliseconds of a processor for each process.
 *
 * Return: 0; -ECANCELED; -ENOMEM; -EMFILE; else as the calls. After an error nothing is found.
 */
int busy_holders_search(struct busy_query *queries, size_t count, const atomic_bool *cancelled,
			struct failure *reterr);

/* Closes the descriptors. */
void busy_holders_done(struct busy_holders *holders);

enum { BUSY_TEXT_BYTES = 320 };
/* "process 4711 'sleep': open file 'logs/a' and 2 more". */
void busy_holder_print(const struct busy_holder *holder, char text[BUSY_TEXT_BYTES]);

/* ---- busy_sockets.c: unix sockets that are bound to a name in a volume, by the names the kernel
 * tells ---- */

/*
 * Of our network namespace, and where the name
 * was given as an absolute path: what else is bound is not found.
 */

struct busy_socket {
	uint64_t inode;
	const struct busy_mount *mount;
	char *path;
};

struct busy_sockets {
	struct busy_socket *list; /* by inode */
	size_t count, capacity;
};

/* Those in one of @mounts, which must live as long. Return: 0 or -ENOMEM. */
int busy_sockets_read(const struct busy_mounts *mounts, struct busy_sockets *ret);
void busy_sockets_free(struct busy_sockets *sockets);

/* The one that a descriptor leads to, by its link "socket:[4711]". NULL: none of them. */
const struct busy_socket *busy_sockets_find(const struct busy_sockets *sockets, const char *link);
