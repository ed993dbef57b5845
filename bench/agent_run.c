/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_run - the daemon's own boxes in this process: from objects in the store to mounted volumes
 *
 * The clock starts when the agent is built, with everything read from the store, and its loop
 * begins; reading and parsing are reported beside it. Taking down starts with the first deletion.
 */
#include "bench/bench.h"

#include "agent.h"
#include "base/log.h"
#include "config.h"
#include "mount/table/mount_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static bool is_deaf;

/* Linked in place of the watch of mounts. */
int __real_mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
			   struct failure *reterr);
int __wrap_mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
			   struct failure *reterr);
int __wrap_mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
			   struct failure *reterr)
{
	if (is_deaf)
		return failed(reterr, -ENOSYS, "the benchmark goes without");
	return __real_mount_watch_new(options, ret, reterr);
}

static double cpu_usec(void)
{
	struct rusage usage;

	(void) getrusage(RUSAGE_SELF, &usage);
	return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void run_until(sd_event *event, const unsigned int *counter, unsigned int count)
{
	double give_up = bench_now_usec() + 120e6;

	while (*counter < count) {
		if (sd_event_run(event, 1000000) < 0)
			bench_fail("the loop failed");
		if (bench_now_usec() > give_up)
			bench_fail("only %u of %u volumes after two minutes", *counter, count);
	}
}

static void check_mounts(const struct bench_place *place, unsigned int expected)
{
	char pods[BENCH_PATH_BYTES];
	size_t count;

	bench_path(pods, place->disk, "root/pods/");
	count = bench_count_mounts(pods);
	if (count != expected)
		bench_fail("%zu mounts instead of %u", count, expected);
}

static void delete_pods(struct store *store, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char name[16];
		int r;

		(void) snprintf(name, sizeof(name), "pod-%05u", i);
		r = store_delete(store, &(struct store_key){ KIND_POD, "default", name }, NULL,
				 NULL, NULL);
		if (r < 0)
			bench_fail("cannot delete '%s': %s", name, strerror(-r));
	}
}

void agent_run(const struct bench_place *place, unsigned int count, struct bench_result *ret)
{
	struct failure why = { 0 };
	struct rusage usage;
	struct config config;
	struct agent *agent;
	sd_event *event;
	double begun, cpu_begun;

	log_open(is_deaf ? LOG_ERR : LOG_WARNING);
	bench_config(place, &config);
	ret->parse_usec = bench_fill_store(place, 0, count,
					   1 << BENCH_VOLUME | 1 << BENCH_CLAIM | 1 << BENCH_POD);

	begun = bench_now_usec();
	if (sd_event_new(&event) < 0 || agent_new(event, &config, &agent, &why) < 0)
		bench_fail("no agent: %s", why.text);
	ret->load_usec = bench_now_usec() - begun;

	begun = bench_now_usec();
	cpu_begun = cpu_usec();
	run_until(event, &bench_published, count);
	ret->mount_usec = bench_now_usec() - begun;
	ret->mount_cpu_usec = cpu_usec() - cpu_begun;
	check_mounts(place, count);
	(void) getrusage(RUSAGE_SELF, &usage);
	ret->peak_kib = (double) usage.ru_maxrss;

	begun = bench_now_usec();
	cpu_begun = cpu_usec();
	delete_pods(agent_store(agent), count);
	run_until(event, &bench_unpublished, count);
	ret->unmount_usec = bench_now_usec() - begun;
	ret->unmount_cpu_usec = cpu_usec() - cpu_begun;
	check_mounts(place, 0);

	(void) agent_free(agent);
	sd_event_unref(event);
	config_done(&config);
}

void agent_run_deaf(const struct bench_place *place, unsigned int count, struct bench_result *ret)
{
	is_deaf = true;
	agent_run(place, count, ret);
}
