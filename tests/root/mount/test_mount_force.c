/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_force - a forced search goes past what local users keep, and past no others, on the
 * real kernel; the share of one user is searched, and what is beyond it is said
 */
#include "tests/root/foreign_namespaces.h"

#include "base/cleanup.h"
#include "mount/holders/mount_force.h"
#include "mount/holders/mount_search.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { USER = 65534, OTHER_USER = 65533 };

/* ---- who keeps it ---- */

static int become(uid_t uid)
{
	return setgid(uid) < 0 || setuid(uid) < 0 ? -1 : 0;
}

static int make_own(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* forgotten when the credentials change */
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* As "unshare -Um" makes it. */
static int leave_as_user(void)
{
	return become(USER) < 0 ? -1 : make_own();
}

static int leave_as_other_user(void)
{
	return become(OTHER_USER) < 0 ? -1 : make_own();
}

static void write_map(pid_t pid, const char *name)
{
	static const char map[] = "0 0 4294967295";
	unsigned int moments = 0;
	ssize_t written = -1;
	char path[64];

	(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
	while (written < 0 && sandbox_wait(&moments)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		written = fd < 0 ? -1 : write(fd, map, strlen(map));
		(void) close_keep_errno(fd);
	}
}

/* By a child that stays outside, once there is a new user namespace. */
static pid_t map_all_ids(void)
{
	pid_t pid = getpid(), helper = fork();

	if (helper != 0)
		return helper;
	write_map(pid, "gid_map");
	write_map(pid, "uid_map");
	_exit(0);
}

/* As a container of root with user namespaces, in which a user makes one more. */
static int leave_from_roots_container(void)
{
	pid_t helper = map_all_ids();

	if (helper < 0 || make_own() < 0 || waitpid(helper, NULL, 0) != helper)
		return -1;
	return setuid(USER) < 0 ? -1 : make_own();
}

/* It keeps a directory open there, and detaches the mount of it. */
static int leave_and_detach(void)
{
	if (leave_as_user() < 0 || bind_in_slave() < 0 || chdir(sandbox_path("inside")) < 0)
		return -1;
	return umount2(sandbox_path("inside"), MNT_DETACH);
}

/* The same by root, among the host's mounts. */
static int detach_as_root(void)
{
	if (unshare(CLONE_NEWNS) < 0 || bind_in_slave() < 0 || chdir(sandbox_path("inside")) < 0)
		return -1;
	return umount2(sandbox_path("inside"), MNT_DETACH);
}

/* A process that changed its uid may be looked at by none but root. */
static int leave_as_user_in_sight(void)
{
	return leave_as_user() < 0 ? -1 : prctl(PR_SET_DUMPABLE, 1);
}

static int keep_by_child(void)
{
	pid_t pid = foreign_volume("maker", 0, leave_as_user_in_sight);
	char path[64];
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	end(pid);
	return fd;
}

static int keep_by_child_of_user(void)
{
	return become(USER) < 0 || keep_by_child() < 0 ? -1 : prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A working directory in what root detached. */
static int stay_in_detached(void)
{
	if (bind_in_slave() < 0 || chdir(sandbox_path("inside")) < 0 ||
	    umount2(sandbox_path("inside"), MNT_DETACH) < 0 || become(USER) < 0)
		return -1;
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* ---- searches ---- */

static struct mount_passed passed;

static struct mount_holder force_past(const struct mount_container *list, size_t count)
{
	struct mount_holder holder = { .mount_point = sandbox_path("root/stage"),
				       .passed = &passed };
	struct mount_containers containers;
	struct failure why = { .error = 0 };

	passed = (struct mount_passed){ .containers = &containers };
	if (mount_containers_read(list, count, &containers, &why) < 0)
		fail_msg("%s", why.text);
	if (mount_holders_search(&holder, 1, &why) < 0)
		fail_msg("%s", why.text);
	mount_containers_done(&containers);
	(void) close_keep_errno(holder.pid_fd);
	return holder;
}

/* Until it is as expected: others search, too, and keep namespaces open meanwhile. */
static void expect_forced(const struct mount_container *list, size_t count, pid_t stays)
{
	struct mount_holder holder = force_past(list, count);

	for (unsigned int moments = 0;
	     (holder.found ? holder.pid : 0) != stays && sandbox_wait(&moments);)
		holder = force_past(list, count);
	assert_int_equal(holder.found ? holder.pid : 0, stays);
}

static void set_up_volume(void)
{
	mount_volume();
	assert_return_code(chmod(sandbox_dir(), 0755), errno);
}

static void end_all(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		end(pids[i]);
	expect_nobody();
	unmount_volume();
}

/* ---- who is passed ---- */

static void expect_passed(pid_t pid, const char *of)
{
	char wanted[96];

	(void) close_keep_errno(search_for(pid).pid_fd);
	expect_forced(NULL, 0, 0);
	assert_true(passed.count >= 1);
	(void) snprintf(wanted, sizeof(wanted), "process %d (uid %d%s", (int) pid, USER, of);
	assert_non_null(strstr(passed.text, wanted));
	expect_forced(&(struct mount_container){ .pid = pid }, 1, pid);
}

static void test_local_user_is_passed_and_named(void **state)
{
	static const struct {
		const char *name;
		int (*change)(void);
		const char *of; /* in the text */
	} users[] = {
		{ "a copy", leave_as_user, ", user namespace " },
		{ "a detached copy", leave_and_detach, ", user namespace " },
		{ "by a descriptor", keep_by_child_of_user, "" },
		{ "in what root detached", stay_in_detached, ")" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		pid_t pid;

		print_message("# %s\n", users[i].name);
		set_up_volume();
		pid = foreign_volume("stranger", 0, users[i].change);
		expect_passed(pid, users[i].of);
		end_all(&pid, 1);
	}
}

static int leave_alone(void)
{
	return unshare(CLONE_NEWNS) < 0 ? -1 : mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* In both orders: one that is passed hides none that is not. */
static void test_others_are_never_passed(void **state)
{
	static const struct {
		const char *name;
		int (*change)(void);
	} others[] = {
		{ "in our own user namespace", leave_alone },
		{ "by a descriptor of a process in our own", keep_by_child },
		{ "below a user namespace of root", leave_from_roots_container },
		{ "detached by root", detach_as_root },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		pid_t pids[3];

		print_message("# %s\n", others[i].name);
		set_up_volume();
		pids[0] = foreign_volume("before", 0, leave_as_user);
		pids[1] = foreign_volume("other", 0, others[i].change);
		pids[2] = foreign_volume("after", 0, leave_as_other_user);
		expect_forced(NULL, 0, pids[1]);
		end_all(pids, ARRAY_SIZE(pids));
	}
}

/* ---- containers ---- */

static int leave_with_child(void)
{
	if (leave_as_user() < 0)
		return -1;
	return foreign_volume("child", MS_PRIVATE, NULL) > 0 ? 0 : -1;
}

static void test_containers_are_never_passed(void **state)
{
	struct mount_container list[] = { { .pid = 0 }, { .pid = 0 } };
	pid_t pids[2];

	set_up_volume();
	pids[0] = foreign_volume("free", 0, leave_as_user);
	pids[1] = foreign_volume("held", 0, leave_with_child);
	expect_forced(NULL, 0, 0);
	list[0].pid = pids[1];
	list[1].pid = 1;
	expect_forced(list, 1, pids[1]);
	list[0].pid = pids[0];
	list[1].pid = pids[1];
	expect_forced(list, 2, pids[0]);
	end_all(pids, ARRAY_SIZE(pids));
}

static int own_child;
static pid_t *shared_child;

/* The held process is elsewhere; its child has the volume. */
static int only_child_leaves(void)
{
	own_child = foreign_volume("child", 0, leave_as_user);
	return own_child > 0 ? 0 : -1;
}

static void test_children_of_containers_are_never_passed(void **state)
{
	struct mount_container held;
	struct mount_holder holder;
	pid_t pid;

	set_up_volume();
	pid = foreign_volume("held", 0, only_child_leaves);
	held = (struct mount_container){ .pid = pid };
	expect_forced(NULL, 0, 0);
	holder = force_past(&held, 1);
	assert_true(holder.found);
	assert_string_equal(holder.command, "child");
	end_all(&pid, 1);
}

static int leave_for_good(void)
{
	/* Else the end of its parent's first thread ends it. */
	return leave_as_user() < 0 ? -1 : prctl(PR_SET_PDEATHSIG, 0);
}

static int child_leaves_and_thread_stays(void)
{
	*shared_child = foreign_volume("child", 0, leave_for_good);
	return *shared_child > 0 ? start_thread() : -1;
}

/* It lives on, looks like one that ended, and is its child's parent still. */
static void test_container_without_its_first_thread_is_one(void **state)
{
	struct mount_container held = { .pid = 0 };
	pid_t child;

	shared_child = mmap(NULL, sizeof(*shared_child), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared_child, MAP_FAILED);
	set_up_volume();
	held.pid = foreign_volume("held", 0, child_leaves_and_thread_stays);
	child = *shared_child;
	assert_int_equal(munmap(shared_child, sizeof(*shared_child)), 0);
	end_first_thread(held.pid);
	expect_forced(NULL, 0, 0);
	expect_forced(&held, 1, child);
	assert_int_equal(kill(child, SIGKILL), 0);
	end_all(&held.pid, 1);
}

static void write_pid(const char *group, pid_t pid)
{
	char text[16];

	(void) snprintf(text, sizeof(text), "%d", (int) pid);
	sandbox_write(group, text);
}

static void test_cgroups_of_containers_are_never_passed(void **state)
{
	struct mount_container held = { .pid = 0 };
	char name[64], file[128];
	pid_t pid;

	sandbox_mkdir("cgroups", 0755);
	if (mount("none", sandbox_path("cgroups"), "cgroup2", 0, NULL) < 0) {
		print_message("# cgroups of version 2 cannot be mounted here\n");
		skip();
	}
	(void) snprintf(name, sizeof(name), "cgroups/podvol-test-%d", (int) getpid());
	(void) snprintf(file, sizeof(file), "%s/below", name);
	assert_return_code(mkdir(sandbox_path(name), 0755), errno);
	assert_return_code(mkdir(sandbox_path(file), 0755), errno);
	set_up_volume();
	pid = foreign_volume("held", 0, leave_as_user);
	(void) snprintf(file, sizeof(file), "%s/below/cgroup.procs", name);
	write_pid(file, pid);
	held.cgroup = sandbox_path(name);
	expect_forced(&held, 1, pid);
	expect_forced(NULL, 0, 0);
	end_all(&pid, 1);
	(void) snprintf(file, sizeof(file), "%s/below", name);
	assert_return_code(rmdir(sandbox_path(file)), errno);
	assert_return_code(rmdir(sandbox_path(name)), errno);
	assert_return_code(umount2(sandbox_path("cgroups"), MNT_DETACH), errno);
}

static void test_ended_containers_are_none(void **state)
{
	const struct mount_container list[] = { { .pid = 4194303 },
						{ .cgroup = "/sys/fs/cgroup/no-such-group" } };
	struct mount_containers containers;

	assert_int_equal(mount_containers_read(list, 2, &containers, NULL), 0);
	assert_int_equal(containers.pids.count, 0);
	mount_containers_done(&containers);
}

/* ---- the share of one user ---- */

/* Of a small share, so that no other search on this machine has to read what is beyond the real
 * one. */
size_t __real_mount_share_left(struct mount_search *search, const struct mount_holder *holder);
size_t __wrap_mount_share_left(struct mount_search *search, const struct mount_holder *holder);

enum { SMALL_COUNT = 16, SMALL_BYTES = 256 * 1024 };

size_t __wrap_mount_share_left(struct mount_search *search, const struct mount_holder *holder)
{
	size_t left = __real_mount_share_left(search, holder);

	if (!holder->has_owner || holder->owner != USER || left == 0)
		return left;
	for (size_t i = 0; i < search->share_count; i++)
		if (search->shares[i].owner == USER && search->shares[i].namespaces >= SMALL_COUNT)
			return 0;
	return SMALL_BYTES;
}

static int make_flood(void)
{
	if (leave_as_user() < 0)
		return -1;
	for (int i = 0; i < 2 * SMALL_COUNT; i++)
		if (unshare(CLONE_NEWNS) < 0 ||
		    open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC) < 0)
			return -1;
	return 0;
}

/* A process with many namespaces without the volume keeps it as well: their content is unknown. */
static void expect_unread(const char *what, int (*change)(void))
{
	struct mount_holder holder;
	char text[MOUNT_HOLDER_TEXT_BYTES];
	pid_t pids[2];

	print_message("# %s\n", what);
	set_up_volume();
	assert_return_code(umount2(sandbox_path("root/stage"), 0), errno);
	pids[0] = foreign_volume("flood", 0, change);
	assert_return_code(mount("volume", sandbox_path("root/stage"), "tmpfs", 0, NULL), errno);
	holder = search(sandbox_path("root/stage"));
	(void) close_keep_errno(holder.pid_fd);
	assert_true(holder.found);
	assert_int_equal(holder.how, HELD_UNREAD);
	assert_int_equal(holder.owner, USER);
	assert_true(holder.unread >= 1);
	mount_holder_print(&holder, text);
	assert_memory_equal(text, "uid 65534 has more mount namespaces than are searched", 53);
	expect_forced(NULL, 0, 0);
	assert_true(passed.count >= 1);
	assert_null(strstr(passed.text, ", process")); /* once, whatever it keeps */
	/* What others have is found all the same. */
	pids[1] = foreign_volume("other", 0, leave_alone);
	expect_forced(NULL, 0, pids[1]);
	end_all(pids, ARRAY_SIZE(pids));
}

enum { MOUNTS = 4000 };

/* More than SMALL_BYTES. */
static int make_large_table(void)
{
	if (leave_as_user() < 0)
		return -1;
	for (int i = 0; i < MOUNTS; i++)
		if (mount(sandbox_path("inside"), sandbox_path("inside"), NULL, MS_BIND, NULL) < 0)
			return -1;
	return 0;
}

static void test_flood_of_one_user_keeps_and_is_named(void **state)
{
	expect_unread("namespaces", make_flood);
	expect_unread("one large table", make_large_table);
}

/* As if it had used up its share of the search. */
bool __wrap_mount_share_has_time(const struct mount_search *search, uid_t owner);
bool __real_mount_share_has_time(const struct mount_search *search, uid_t owner);

static bool without_time;
static pid_t ends_now; /* when its time is looked at; 0: none does */

static void await_zombie(pid_t pid)
{
	siginfo_t ended;

	assert_return_code(waitid(P_PID, (id_t) pid, &ended, WEXITED | WNOWAIT), errno);
}

bool __wrap_mount_share_has_time(const struct mount_search *search, uid_t owner)
{
	if (ends_now > 0 && owner == USER) {
		assert_return_code(kill(ends_now, SIGKILL), errno);
		await_zombie(ends_now);
		ends_now = 0;
	}
	return !(without_time && owner == USER) && __real_mount_share_has_time(search, owner);
}

static int become_user(void)
{
	return become(USER) < 0 ? -1 : prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int become_user_with_thread(void)
{
	return become_user() < 0 ? -1 : start_thread();
}

/* Neither has the volume; what they have open is not read. */
static void test_flood_of_descriptors_is_passed(void **state)
{
	struct mount_holder holder;
	pid_t pids[3];

	set_up_volume();
	pids[0] = foreign_volume("flood", 0, become_user);
	pids[1] = foreign_volume("held", 0, become_user);
	without_time = true;
	holder = search(sandbox_path("root/stage"));
	(void) close_keep_errno(holder.pid_fd);
	assert_true(holder.found);
	assert_int_equal(holder.how, HELD_UNSEARCHED);
	expect_forced(NULL, 0, 0);
	assert_true(passed.count >= 2);
	expect_forced(&(struct mount_container){ .pid = pids[1] }, 1, pids[1]);
	/* What others have is found all the same. */
	pids[2] = foreign_volume("other", 0, leave_alone);
	expect_forced(NULL, 0, pids[2]);
	without_time = false;
	end_all(pids, ARRAY_SIZE(pids));
}

/* It stays for as long as its parent wants, and has nothing open. */
static void test_zombie_of_a_flood_is_no_reason(void **state)
{
	struct mount_holder holder;
	pid_t pids[3];

	set_up_volume();
	pids[0] = foreign_volume("zombie", 0, become_user);
	assert_return_code(kill(pids[0], SIGKILL), errno);
	await_zombie(pids[0]);
	without_time = true;
	expect_nobody();
	pids[1] = ends_now = foreign_volume("ending", 0, become_user);
	expect_nobody();
	assert_int_equal(ends_now, 0);
	/* Its first thread looks the same, and the second one may have something open. */
	pids[2] = foreign_volume("thread", 0, become_user_with_thread);
	end_first_thread(pids[2]);
	holder = search_for(pids[2]);
	(void) close_keep_errno(holder.pid_fd);
	assert_int_equal(holder.how, HELD_UNSEARCHED);
	without_time = false;
	end_all(pids, ARRAY_SIZE(pids));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_local_user_is_passed_and_named),
		SANDBOX_TEST(test_others_are_never_passed),
		SANDBOX_TEST(test_containers_are_never_passed),
		SANDBOX_TEST(test_children_of_containers_are_never_passed),
		SANDBOX_TEST(test_container_without_its_first_thread_is_one),
		SANDBOX_TEST(test_cgroups_of_containers_are_never_passed),
		SANDBOX_TEST(test_ended_containers_are_none),
		SANDBOX_TEST(test_flood_of_one_user_keeps_and_is_named),
		SANDBOX_TEST(test_flood_of_descriptors_is_passed),
		SANDBOX_TEST(test_zombie_of_a_flood_is_no_reason),
	};

	return sandbox_run("mount_force", tests, ARRAY_SIZE(tests));
}
