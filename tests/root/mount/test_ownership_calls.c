/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ownership_calls - how many system calls a file and a directory cost when given to a group
 *
 * Counted, because a walk through millions of files is nothing else; and what the shorter ways must
 * not do: touch what is mounted on an entry.
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/syscalls.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum {
	GROUP = 1000,
	OTHER_OWNER = 1234,
	FILES = 400,
	FEW = 25, /* calls for the directories, and for the first file */
};

static const struct ownership always = { .gid = GROUP };

/* ---- the calls ---- */

struct calls {
	unsigned int statx, fstat, openat2, fchownat, fchmodat2, fchmodat;
};
static struct calls calls;
static int fchmodat2_error; /* 0: it is there */

int __real_statx(int fd, const char *name, int flags, unsigned int mask, struct statx *ret);
int __wrap_statx(int fd, const char *name, int flags, unsigned int mask, struct statx *ret);
int __real_fstat(int fd, struct stat *ret);
int __wrap_fstat(int fd, struct stat *ret);
int __real_openat2(int fd, const char *name, const struct open_how *how, size_t size);
int __wrap_openat2(int fd, const char *name, const struct open_how *how, size_t size);
int __real_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags);
int __wrap_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags);
int __real_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags);
int __wrap_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags);
int __real_fchmodat(int fd, const char *name, mode_t mode, int flags);
int __wrap_fchmodat(int fd, const char *name, mode_t mode, int flags);

int __wrap_statx(int fd, const char *name, int flags, unsigned int mask, struct statx *ret)
{
	calls.statx++;
	return __real_statx(fd, name, flags, mask, ret);
}

int __wrap_fstat(int fd, struct stat *ret)
{
	calls.fstat++;
	return __real_fstat(fd, ret);
}

int __wrap_openat2(int fd, const char *name, const struct open_how *how, size_t size)
{
	calls.openat2++;
	return __real_openat2(fd, name, how, size);
}

int __wrap_fchownat(int fd, const char *name, uid_t uid, gid_t gid, int flags)
{
	calls.fchownat++;
	return __real_fchownat(fd, name, uid, gid, flags);
}

int __wrap_fchmodat2(int fd, const char *name, mode_t mode, unsigned int flags)
{
	calls.fchmodat2++;
	if (fchmodat2_error > 0) {
		errno = fchmodat2_error;
		return -1;
	}
	return __real_fchmodat2(fd, name, mode, flags);
}

int __wrap_fchmodat(int fd, const char *name, mode_t mode, int flags)
{
	calls.fchmodat++;
	return __real_fchmodat(fd, name, mode, flags);
}

/* ---- the volume ---- */

static void make_volume(uid_t owner)
{
	char name[64];

	sandbox_mkdir("volume", 0755);
	assert_return_code(chown(sandbox_path("volume"), owner, 0), errno);
	for (int i = 0; i < FILES; i++) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		sandbox_write(name, "");
		assert_return_code(chmod(sandbox_path(name), 0644), errno);
	}
}

static struct ownership_counts apply(void)
{
	cleanup_close int fd = open(sandbox_path("volume"), O_PATH | O_CLOEXEC);
	struct ownership_counts counts = { 0 };

	assert_return_code(fd, errno);
	calls = (struct calls){ 0 };
	assert_int_equal(ownership_apply(fd, &always, NULL, &counts, NULL), 1);
	return counts;
}

static struct stat look(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status;
}

static void expect_all_changed(void)
{
	char name[64];

	for (int i = 0; i < FILES; i++) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_int_equal(look(name).st_gid, GROUP);
		assert_int_equal(look(name).st_mode & 07777, 0664);
	}
}

static bool kernel_lacks_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	cleanup_close int fd = __real_openat2(AT_FDCWD, ".", &how, sizeof(how));

	return fd < 0 && errno == ENOSYS;
}

static bool kernel_lacks_fchmodat2(void)
{
	return __real_fchmodat2(-EBADF, "none", 0, 0) < 0 && errno == ENOSYS;
}

/* Of @made, @each for each file. */
static void expect_each(const char *what, unsigned int made, unsigned int each)
{
	if (made < each * FILES || made > each * FILES + FEW)
		fail_msg("%u calls of %s for %d files", made, what, FILES);
}

static void test_calls_of_each(void **state)
{
	static const struct {
		uid_t owner;
		bool lacks_fchmodat2;
		struct calls each;
	} rows[] = {
		{ 0, false, { .statx = 1, .fchownat = 1, .fchmodat2 = 1 } },
		{ OTHER_OWNER, false, { .openat2 = 1, .statx = 1, .fchownat = 1, .fchmodat2 = 1 } },
		{ 0, true, { .openat2 = 1, .statx = 1, .fchownat = 1, .fchmodat = 1 } },
		{ OTHER_OWNER, true, { .openat2 = 1, .statx = 1, .fchownat = 1, .fchmodat = 1 } },
	};

	if (kernel_lacks_openat2()) {
		print_message("# no openat2 on this kernel: opening takes more calls\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct calls *each = &rows[i].each;
		char name[64];

		if (!rows[i].lacks_fchmodat2 && kernel_lacks_fchmodat2())
			continue;
		fchmodat2_error = rows[i].lacks_fchmodat2 ? ENOSYS : 0;
		make_volume(rows[i].owner);
		assert_int_equal(apply().changed, FILES + 1);
		expect_each("statx", calls.statx, each->statx);
		expect_each("fstat", calls.fstat, each->fstat);
		expect_each("openat2", calls.openat2, each->openat2);
		expect_each("fchownat", calls.fchownat, each->fchownat);
		expect_each("fchmodat2", calls.fchmodat2, each->fchmodat2);
		expect_each("fchmodat", calls.fchmodat, each->fchmodat);
		expect_all_changed();

		assert_int_equal(apply().changed, 0); /* nothing but a look */
		expect_each("statx", calls.statx, 1);
		assert_in_range(calls.openat2, 0, FEW);
		assert_int_equal(calls.fchownat + calls.fchmodat2 + calls.fchmodat, 0);
		(void) snprintf(name, sizeof(name), "volume-%zu", i);
		assert_return_code(rename(sandbox_path("volume"), sandbox_path(name)), errno);
	}
	fchmodat2_error = 0;
}

/* A directory is opened as its parent lists it, then looked at twice: before what it holds, and
 * after that, before it is changed. */
static void test_calls_of_each_directory(void **state)
{
	static const uid_t owners[] = { 0, OTHER_OWNER };

	if (kernel_lacks_openat2()) {
		print_message("# no openat2 on this kernel: opening takes more calls\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		char name[64];

		sandbox_mkdir("volume", 0755);
		assert_return_code(chown(sandbox_path("volume"), owners[i], 0), errno);
		for (int d = 0; d < FILES; d++) {
			(void) snprintf(name, sizeof(name), "volume/%d", d);
			sandbox_mkdir(name, 0755);
		}
		assert_int_equal(apply().changed, FILES + 1);
		expect_each("openat2", calls.openat2, 1);
		expect_each("statx", calls.statx, 2);
		expect_each("fchownat", calls.fchownat, 1);

		assert_int_equal(apply().changed, 0);
		expect_each("openat2", calls.openat2, 1);
		expect_each("statx", calls.statx, 2);
		(void) snprintf(name, sizeof(name), "volume-%zu", i);
		assert_return_code(rename(sandbox_path("volume"), sandbox_path(name)), errno);
	}
}

/* Every second file is mounted on, so that some come while the walk opens first. */
static void test_what_is_mounted_on_stays(void **state)
{
	char name[64];

	make_volume(OTHER_OWNER);
	sandbox_write("outside", "");
	assert_return_code(chmod(sandbox_path("outside"), 0600), errno);
	for (int i = 0; i < FILES; i += 2) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_return_code(
			mount(sandbox_path("outside"), sandbox_path(name), NULL, MS_BIND, NULL),
			errno);
	}
	assert_int_equal(apply().changed, FILES / 2 + 1);
	assert_int_equal(look("outside").st_gid, 0);
	assert_int_equal(look("outside").st_mode & 07777, 0600);
	for (int i = 0; i < FILES; i += 2) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_return_code(umount2(sandbox_path(name), 0), errno);
		assert_int_equal(look(name).st_gid, 0);
		(void) snprintf(name, sizeof(name), "volume/%d", i + 1);
		assert_int_equal(look(name).st_gid, GROUP);
	}
}

/* A file without setuid beside many with it: each is changed as what it is, regardless of the one
 * before. */
static void test_bits_of_one_are_not_anothers(void **state)
{
	char name[64];

	make_volume(OTHER_OWNER);
	for (int i = 0; i < FILES; i += 2) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_return_code(chmod(sandbox_path(name), 04755), errno);
	}
	assert_int_equal(apply().changed, FILES + 1);
	for (int i = 0; i < FILES; i++) {
		(void) snprintf(name, sizeof(name), "volume/%d", i);
		assert_int_equal(look(name).st_mode & 07777, i % 2 ? 0664 : 04775);
	}
}

/* Filters of system calls answer EPERM for what they do not know. */
static void test_bits_where_a_filter_refuses(void **state)
{
	struct ownership_counts counts;

	fchmodat2_error = EPERM;
	make_volume(0);
	counts = apply();
	fchmodat2_error = 0;
	assert_int_equal(counts.changed, FILES + 1);
	assert_int_equal(counts.ignored, 0);
	expect_all_changed();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_calls_of_each),
		SANDBOX_TEST(test_calls_of_each_directory),
		SANDBOX_TEST(test_what_is_mounted_on_stays),
		SANDBOX_TEST(test_bits_of_one_are_not_anothers),
		SANDBOX_TEST(test_bits_where_a_filter_refuses),
	};

	return sandbox_run("ownership_calls", tests, ARRAY_SIZE(tests));
}
