/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_namespace - all mounts of a mount namespace, whatever its processes see of them; see
 * mount_namespace.h
 */
#include "mount/holders/mount_namespace.h"

#include "base/cleanup.h"
#include "mount/holders/process.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int mount_namespace_open(int process_fd)
{
	int fd = openat(process_fd, "ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- its table ---- */

struct visit {
	int namespace_fd, proc_fd;
	size_t bytes_max;
	char *table;
	int result;
};

/* On a thread of its own, which ends in that namespace. The descriptor of /proc is still this
 * namespace's. */
static void *enter(void *userdata)
{
	struct visit *visit = userdata;
	cleanup_close int self_fd = -EBADF;

	if (unshare(CLONE_FS) < 0 || setns(visit->namespace_fd, CLONE_NEWNS) < 0) {
		visit->result = -errno;
		return NULL;
	}
	self_fd = openat(visit->proc_fd, "thread-self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	visit->result =
		self_fd < 0 ? -errno : process_mounts(self_fd, visit->bytes_max, &visit->table);
	return NULL;
}

int mount_namespace_read(int namespace_fd, size_t bytes_max, char **ret)
{
	cleanup_close int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct visit visit = { .namespace_fd = namespace_fd,
			       .proc_fd = proc_fd,
			       .bytes_max = bytes_max };
	pthread_t thread;
	int r;

	assert(namespace_fd >= 0 && ret);
	if (proc_fd < 0)
		return -errno;
	r = -pthread_create(&thread, NULL, enter, &visit);
	if (r < 0)
		return r;
	(void) pthread_join(thread, NULL);
	if (visit.result >= 0)
		*ret = visit.table;
	return visit.result;
}

/* ---- all of them ---- */

/* struct mnt_ns_info and the calls of linux/nsfs.h, Linux 6.12; Debian 12's headers lack them. */
struct namespace_facts {
	uint32_t size, mounts;
	uint64_t id;
};
#define NAMESPACE_NEXT     _IOR(NSIO, 11, struct namespace_facts)
#define NAMESPACE_PREVIOUS _IOR(NSIO, 12, struct namespace_facts)

/* From @start in one direction. Each descriptor keeps its namespace in the kernel's list until the
 * next one is open. */
static int walk_from(int start, unsigned long direction,
		     int (*visit)(int namespace_fd, uint64_t number, void *userdata),
		     void *userdata)
{
	cleanup_close int fd = fcntl(start, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	for (;;) {
		struct namespace_facts facts = { .size = sizeof(facts) };
		int next = ioctl(fd, direction, &facts), r;
		struct stat status;

		if (next < 0)
			return errno == ENOENT ? 0 : -errno;
		(void) close(fd);
		fd = next;
		r = fstat(fd, &status) < 0 ? -errno : visit(fd, status.st_ino, userdata);
		if (r < 0)
			return r;
	}
}

int mount_namespace_walk(int (*visit)(int namespace_fd, uint64_t number, void *userdata),
			 void *userdata)
{
	cleanup_close int own_fd = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	int r;

	assert(visit);
	if (own_fd < 0)
		return -errno;
	r = walk_from(own_fd, NAMESPACE_NEXT, visit, userdata);
	/* Since Linux 6.18 -EPERM outside of the first PID namespace. */
	if (r == -ENOTTY || r == -EPERM)
		return -EOPNOTSUPP;
	return r < 0 ? r : walk_from(own_fd, NAMESPACE_PREVIOUS, visit, userdata);
}

/* ---- whose it is ---- */

static int is_own(int user_fd, uint64_t *ret_number)
{
	struct stat own, status;

	if (stat("/proc/self/ns/user", &own) < 0 || fstat(user_fd, &status) < 0)
		return -errno;
	*ret_number = status.st_ino;
	return own.st_dev == status.st_dev && own.st_ino == status.st_ino;
}

/* From the innermost outwards, which is taken; the kernel nests no more than 32. */
static int find_owner(int innermost_fd, uint64_t *ret_user_namespace, uid_t *ret_uid)
{
	cleanup_close int user_fd = innermost_fd;
	uint64_t number = 0, below = 0;
	uid_t uid = 0;
	int r;

	assert(ret_user_namespace && ret_uid);
	while ((r = user_fd < 0 ? -errno : is_own(user_fd, &number)) == 0) {
		int outer_fd;

		if (ioctl(user_fd, NS_GET_OWNER_UID, &uid) < 0)
			return -errno;
		below = number;
		outer_fd = ioctl(user_fd, NS_GET_PARENT);
		(void) close_keep_errno(user_fd);
		user_fd = outer_fd;
	}
	if (r < 0)
		return r;
	*ret_user_namespace = below;
	*ret_uid = uid;
	return 0;
}

int mount_namespace_owner(int namespace_fd, uint64_t *ret_user_namespace, uid_t *ret_uid)
{
	return find_owner(ioctl(namespace_fd, NS_GET_USERNS), ret_user_namespace, ret_uid);
}

int process_namespace_owner(int process_fd, uint64_t *ret_user_namespace, uid_t *ret_uid)
{
	return find_owner(openat(process_fd, "ns/user", O_RDONLY | O_CLOEXEC), ret_user_namespace,
			  ret_uid);
}

/* ---- those that were read ---- */

enum { SLOTS_FIRST = 256 };

/* Where the number is, or would be. There is always a free slot. */
static size_t slot_of(const struct namespace_set *set, uint64_t number)
{
	size_t i = (size_t) (number * 0x9e3779b97f4a7c15U >> 20) & (set->capacity - 1);

	while (set->slots[i] != 0 && set->slots[i] != number)
		i = (i + 1) & (set->capacity - 1);
	return i;
}

bool namespace_set_has(const struct namespace_set *set, uint64_t number)
{
	return set->capacity > 0 && set->slots[slot_of(set, number)] == number;
}

static int grow(struct namespace_set *set)
{
	struct namespace_set larger = { .capacity = set->capacity ? 2 * set->capacity : SLOTS_FIRST,
					.count = set->count };

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < set->capacity; i++)
		if (set->slots[i] != 0)
			larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
	free(set->slots);
	*set = larger;
	return 0;
}

int namespace_set_add(struct namespace_set *set, uint64_t number)
{
	assert(number != 0);
	if (namespace_set_has(set, number))
		return 0;
	if (2 * (set->count + 1) > set->capacity && grow(set) < 0)
		return -ENOMEM;
	set->slots[slot_of(set, number)] = number;
	set->count++;
	return 0;
}

void namespace_set_done(struct namespace_set *set)
{
	free(set->slots);
	*set = (struct namespace_set){ 0 };
}
