/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency - from a manifest's rename to its mounted volume, one pod at a time on an idle node; and
 * from what another process does to a mounted volume until it is as it was
 *
 * The agent runs in a process of its own; this one writes manifests, waits for the kernel to say
 * that the mount table changed, and looks at the target. So the time includes one wake-up of the
 * bench.
 */
#include "bench/bench.h"

#include "agent.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

enum { WAIT_MSEC = 10000, REST_MSEC = 10 };

static void run_agent(const struct bench_place *place)
{
	struct failure why = { 0 };
	struct config config;
	struct agent *agent;
	sd_event *event;

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	log_open(LOG_ERR); /* what is done to it here is reported */
	bench_config(place, &config);
	if (sd_event_new(&event) < 0 || agent_new(event, &config, &agent, &why) < 0)
		bench_fail("no agent: %s", why.text);
	(void) sd_event_loop(event);
	_exit(1);
}

static bool is_mounted(int root_fd, const char *target)
{
	struct statx facts;

	return statx(root_fd, target, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &facts) ==
		       0 &&
	       (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* poll(2) of the mount table ends when it changed since the descriptor was last asked. */
static void wait_for_mount(int table_fd, int root_fd, unsigned int index)
{
	struct pollfd table = { .fd = table_fd, .events = POLLPRI };
	double give_up = bench_now_usec() + 1000.0 * WAIT_MSEC;
	char target[BENCH_PATH_BYTES];

	bench_target(target, index);
	while (!is_mounted(root_fd, target)) {
		(void) poll(&table, 1, 1000);
		if (bench_now_usec() > give_up)
			bench_fail("'%s' is not mounted after %d ms", target, WAIT_MSEC);
	}
}

/* Everything but the rename: the new file under a name that is no manifest's. */
static void write_manifest(const struct bench_place *place, const struct latency_plan *plan,
			   unsigned int index, char hidden[BENCH_PATH_BYTES],
			   char visible[BENCH_PATH_BYTES])
{
	cleanup_fclose FILE *file = NULL;

	bench_path(hidden, place->directory, "manifests/.pod-%05u.yaml.new", index);
	bench_path(visible, place->directory, "manifests/pod-%05u.yaml", index);
	file = fopen(hidden, "we");
	if (!file)
		bench_fail("cannot write '%s'", hidden);
	if (plan->kind == LATENCY_ALL) {
		(void) fprintf(file, "%s\n---\n",
			       bench_object_json(place, BENCH_VOLUME, index, false));
		(void) fprintf(file, "%s\n---\n",
			       bench_object_json(place, BENCH_CLAIM, index, false));
	}
	(void) fprintf(file, "%s\n", bench_object_json(place, BENCH_POD, index, false));
}

/* ---- what others do to mounted volumes ---- */

static bool is_writable(int root_fd, const char *target)
{
	cleanup_close int fd = openat(root_fd, target, O_PATH | O_CLOEXEC);
	struct statvfs status;

	return fd >= 0 && fstatvfs(fd, &status) == 0 && !(status.f_flag & ST_RDONLY);
}

static void act(enum latency_kind kind, const char *path, const char *source)
{
	int r = kind == LATENCY_SET_BACK
			? mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL)
			: umount2(path, 0);

	if (r == 0 && kind == LATENCY_BARE)
		r = mount(source, path, NULL, MS_BIND, NULL);
	if (r < 0)
		bench_fail("cannot change '%s': %s", path, strerror(errno));
}

static void wait_until_mended(const struct latency_plan *plan, int table_fd, int root_fd,
			      unsigned int index)
{
	struct pollfd table = { .fd = table_fd, .events = POLLPRI };
	double give_up = bench_now_usec() + 1000.0 * WAIT_MSEC;
	char target[BENCH_PATH_BYTES];

	wait_for_mount(table_fd, root_fd, index);
	bench_target(target, index);
	while (plan->kind == LATENCY_SET_BACK && !is_writable(root_fd, target)) {
		(void) poll(&table, 1, 1000);
		if (bench_now_usec() > give_up)
			bench_fail("'%s' is not mended after %d ms", target, WAIT_MSEC);
	}
}

/* Each volume once, so that it is not taken for a fight. */
static void change_mounts(const struct bench_place *place, const struct latency_plan *plan,
			  int table_fd, int root_fd, double *ret_usec)
{
	for (unsigned int i = 0; i < plan->samples; i++) {
		char target[BENCH_PATH_BYTES], path[BENCH_PATH_BYTES], name[16];
		char source[BENCH_PATH_BYTES];
		double begun;

		bench_target(target, i);
		bench_volume_name(name, i);
		bench_path(source, place->sources, "%s", name);
		bench_path(path, place->disk, "root/%s", target);
		(void) poll(NULL, 0, REST_MSEC);
		begun = bench_now_usec();
		act(plan->kind, path, source);
		wait_until_mended(plan, table_fd, root_fd, i);
		ret_usec[i] = bench_now_usec() - begun;
	}
}

static void write_manifests(const struct bench_place *place, const struct latency_plan *plan,
			    int table_fd, int root_fd, double *ret_usec)
{
	for (unsigned int i = 0; i < plan->samples; i++) {
		char hidden[BENCH_PATH_BYTES], visible[BENCH_PATH_BYTES];
		double begun;

		write_manifest(place, plan, plan->mounted + i, hidden, visible);
		(void) poll(NULL, 0, REST_MSEC);
		begun = bench_now_usec();
		if (rename(hidden, visible) < 0)
			bench_fail("cannot rename '%s'", hidden);
		wait_for_mount(table_fd, root_fd, plan->mounted + i);
		ret_usec[i] = bench_now_usec() - begun;
	}
}

void latency_run(const struct bench_place *place, const struct latency_plan *plan, double *ret_usec)
{
	const unsigned int bound = 1 << BENCH_VOLUME | 1 << BENCH_CLAIM;
	cleanup_close int table_fd = -EBADF, root_fd = -EBADF;
	char root[BENCH_PATH_BYTES];
	pid_t agent;

	(void) bench_fill_store(place, 0, plan->mounted, bound | 1 << BENCH_POD);
	if (plan->kind == LATENCY_POD)
		(void) bench_fill_store(place, plan->mounted, plan->samples, bound);
	bench_path(root, place->disk, "root");
	(void) mkdir(root, 0750);
	agent = fork();
	if (agent == 0)
		run_agent(place);

	table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	while (bench_count_mounts(root) < plan->mounted + 1) /* and the root directory itself */
		(void) poll(NULL, 0, REST_MSEC);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (agent < 0 || table_fd < 0 || root_fd < 0)
		bench_fail("cannot begin: %s", strerror(errno));

	(void) poll(NULL, 0, 300); /* the start is over */
	if (plan->kind >= LATENCY_MENDED)
		(void) poll(NULL, 0, 1000); /* and what was mounted was looked at */
	if (plan->kind == LATENCY_BARE)
		(void) kill(agent, SIGSTOP);
	if (plan->kind >= LATENCY_MENDED)
		change_mounts(place, plan, table_fd, root_fd, ret_usec);
	else
		write_manifests(place, plan, table_fd, root_fd, ret_usec);
	(void) kill(agent, SIGKILL);
	(void) waitpid(agent, NULL, 0);
}
