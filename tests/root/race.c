/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race - hostile threads beside an attempt; see race.h
 */
#include "race.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#define RACE_USEC     (600 * 1000) /* for each row, unless a number of attempts was asked for */
#define RACE_MAX_USEC (200 * USEC_PER_SEC) /* on a machine that has better things to do */

enum {
	ENTRIES_MAX = 64,
	LOOK_EVERY = 64, /* attempts; a naive row ends at its first escape */
	FLIPS_ENOUGH = 100,
};

/* ---- what is outside ---- */

struct seen {
	char path[256];
	ino_t inode;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	nlink_t links;
	off_t size;
	struct timespec modified, changed;
};

struct snapshot {
	struct seen entries[ENTRIES_MAX];
	size_t count;
};

static struct snapshot *filled; /* by nftw, which passes no pointer on */

static int see(const char *path, const struct stat *status, int type, struct FTW *where)
{
	struct seen *seen = &filled->entries[filled->count];

	if (filled->count == ENTRIES_MAX)
		return 1;
	filled->count++;
	memset(seen, 0, sizeof(*seen));
	(void) snprintf(seen->path, sizeof(seen->path), "%s", path);
	seen->inode = status->st_ino;
	seen->mode = status->st_mode;
	seen->uid = status->st_uid;
	seen->gid = status->st_gid;
	seen->links = status->st_nlink;
	seen->size = status->st_size;
	seen->modified = status->st_mtim;
	seen->changed = status->st_ctim;
	return 0;
}

static void take_snapshot(struct snapshot *ret)
{
	memset(ret, 0, sizeof(*ret));
	filled = ret;
	(void) nftw(sandbox_path("outside"), see, 8, FTW_PHYS);
}

static bool is_same(const struct snapshot *a, const struct snapshot *b)
{
	return a->count == b->count && memcmp(a->entries, b->entries, sizeof(a->entries)) == 0;
}

/* Directories as podvold makes them below the link that an attacker puts in their place. */
static void make_outside(void)
{
	static const char *const directories[] = {
		"outside",
		"outside/sub",
		"outside/kubernetes.io~empty-dir",
		"outside/kubernetes.io~empty-dir/scratch",
		"outside/kubernetes.io~local-volume",
		"outside/kubernetes.io~local-volume/pv1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		sandbox_mkdir(directories[i], 0755);
	sandbox_write("outside/secret", "secret");
	sandbox_write("outside/x", "kept");
	sandbox_write("outside/sub/secret", "secret");
	sandbox_write("outside/sub/x", "kept");
	sandbox_write("outside/kubernetes.io~empty-dir/scratch/x", "kept");
	sandbox_write("outside/kubernetes.io~empty-dir/scratch/ready", "");
}

/* A change within the same tick of the kernel's clock would not show in the times. */
static void let_a_tick_pass(void)
{
	uint64_t begin_usec = monotonic_usec();

	while (monotonic_usec() - begin_usec < 20000)
		;
}

/* ---- the hostile threads ---- */

static atomic_bool stop;
static atomic_ullong flips;
static unsigned long long escapes;
static uint64_t attempts_wanted, total;

void race_escaped(void)
{
	escapes++;
}

void race_pause(void)
{
	(void) nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

void race_set_attempts(uint64_t attempts_per_share)
{
	attempts_wanted = attempts_per_share;
}

uint64_t race_total(void)
{
	return total;
}

/* Whatever fails was in another thread's way, or in the way of what is attempted. */
static void *exchange(void *userdata)
{
	const struct race *race = userdata;
	int fd = sandbox_fd();

	while (!atomic_load(&stop)) {
		for (const struct race_pair *pair = race->swaps; pair->one; pair++)
			if (renameat2(fd, pair->one, fd, pair->other, RENAME_EXCHANGE) == 0)
				atomic_fetch_add(&flips, 1);
	}
	return NULL;
}

static void *move(void *userdata)
{
	const struct race *race = userdata;
	int fd = sandbox_fd();

	while (!atomic_load(&stop)) {
		for (const struct race_pair *pair = race->moves; pair->one; pair++) {
			if (renameat(fd, pair->one, fd, pair->other) == 0)
				atomic_fetch_add(&flips, 1);
			(void) renameat(fd, pair->other, fd, pair->one);
		}
	}
	return NULL;
}

static void *cover(void *userdata)
{
	const struct race *race = userdata;
	char one[256], other[256];

	(void) snprintf(one, sizeof(one), "%s/%s", sandbox_dir(), race->cover.one);
	(void) snprintf(other, sizeof(other), "%s/%s", sandbox_dir(), race->cover.other);
	while (!atomic_load(&stop)) {
		if (mount(other, one, NULL, MS_BIND, NULL) == 0)
			atomic_fetch_add(&flips, 1);
		(void) umount2(one, MNT_DETACH | UMOUNT_NOFOLLOW);
	}
	return NULL;
}

struct attackers {
	pthread_t threads[3];
	size_t count;
};

static void start(struct attackers *attackers, void *(*attack)(void *), const struct race *race)
{
	assert_int_equal(pthread_create(&attackers->threads[attackers->count++], NULL, attack,
					(void *) race),
			 0);
}

static void start_all(struct attackers *attackers, const struct race *race)
{
	*attackers = (struct attackers){ .count = 0 };
	atomic_store(&stop, false);
	atomic_store(&flips, 0);
	escapes = 0;
	if (race->swaps[0].one)
		start(attackers, exchange, race);
	if (race->moves[0].one)
		start(attackers, move, race);
	if (race->cover.one)
		start(attackers, cover, race);
}

static void stop_all(struct attackers *attackers)
{
	atomic_store(&stop, true);
	for (size_t i = 0; i < attackers->count; i++)
		assert_int_equal(pthread_join(attackers->threads[i], NULL), 0);
}

/* ---- one row ---- */

struct counts {
	uint64_t attempts, done;
	bool has_changed;
};

/* Often enough to tell: some attempts got through, and some found an attacker in their way. */
static bool has_met(const struct counts *counts)
{
	return counts->done > 0 && counts->done < counts->attempts &&
	       atomic_load(&flips) >= FLIPS_ENOUGH;
}

static bool is_over(const struct race *race, const struct counts *counts, uint64_t past_usec)
{
	if (past_usec >= RACE_MAX_USEC && (race->is_naive || attempts_wanted == 0))
		return true;
	if (counts->has_changed || escapes > 0)
		return true;
	if (race->is_naive)
		return false;
	if (attempts_wanted > 0 && counts->attempts < attempts_wanted * race->share)
		return false;
	return past_usec >= RACE_USEC && has_met(counts);
}

static struct counts run(const struct race *race, const struct snapshot *before)
{
	static struct snapshot now;
	struct counts counts = { .attempts = 0 };
	uint64_t begin_usec = monotonic_usec();

	while (!is_over(race, &counts, monotonic_usec() - begin_usec)) {
		counts.done += race->attempt((unsigned int) counts.attempts++) >= 0;
		if (race->is_naive && counts.attempts % LOOK_EVERY == 0) {
			take_snapshot(&now);
			counts.has_changed = !is_same(before, &now);
		}
	}
	return counts;
}

void race_test(void **state)
{
	static struct snapshot before, after;
	const struct race *race = *state;
	struct attackers attackers;
	struct counts counts;

	take_snapshot(&before);
	assert_in_range(before.count, 10, ENTRIES_MAX - 1);
	let_a_tick_pass();
	start_all(&attackers, race);
	counts = run(race, &before);
	stop_all(&attackers);
	take_snapshot(&after);
	total += counts.attempts;
	print_message("# %s: %llu attempts, %llu done, %llu hostile changes, %llu escapes%s\n",
		      race->name, (unsigned long long) counts.attempts,
		      (unsigned long long) counts.done, atomic_load(&flips), escapes,
		      is_same(&before, &after) ? "" : ", outside changed");
	if (race->is_naive) {
		assert_true(escapes > 0 || !is_same(&before, &after));
		return;
	}
	assert_true(has_met(&counts));
	assert_int_equal(escapes, 0);
	assert_true(is_same(&before, &after));
}

int race_setup(void **state)
{
	const struct race *race = *state;

	if (sandbox_setup(state) != 0)
		return -1;
	make_outside();
	race->prepare();
	return 0;
}

/* The last mount first; whatever a thread or a refused teardown left. */
static void unmount_all(void)
{
	char line[8192], point[4096], last[4096];

	do {
		FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
		size_t length = strlen(sandbox_dir());

		*last = '\0';
		assert_non_null(mountinfo);
		while (fgets(line, sizeof(line), mountinfo))
			if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
			    strncmp(point, sandbox_dir(), length) == 0 && point[length] == '/')
				(void) snprintf(last, sizeof(last), "%s", point);
		(void) fclose(mountinfo);
	} while (*last && umount2(last, MNT_DETACH | UMOUNT_NOFOLLOW) == 0);
}

int race_teardown(void **state)
{
	const struct race *race = *state;

	if (race->finish)
		race->finish();
	unmount_all();
	return sandbox_teardown(state);
}
