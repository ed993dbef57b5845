/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_volume - whole volumes set up and torn down in a pod's directory whose folders are exchanged
 * for links all the time, as if a pod could write there; and a hostPath that becomes a link
 */
#include "race_kinds.h"
#include "volume.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct test_volume volume;

/* Two of the kind, so that one is always there when they are exchanged. */
static void make_pod(const char *uid)
{
	static const char *const folders[] = { "volumes", "plugins" };
	static const char *const links[] = { "link", "other-link" };
	char path[128];

	(void) snprintf(path, sizeof(path), "root/pods/%s", uid);
	sandbox_mkdir(path, 0750);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		(void) snprintf(path, sizeof(path), "root/pods/%s/%s", uid, folders[i]);
		sandbox_mkdir(path, 0750);
		(void) snprintf(path, sizeof(path), "root/pods/%s/%s", uid, links[i]);
		assert_return_code(symlink(sandbox_path("outside"), sandbox_path(path)), errno);
	}
}

static void prepare(const char *plugin, bool pv)
{
	log_open(LOG_EMERG); /* refusals by the thousand */
	test_volume_init(&volume, plugin, pv);
	sandbox_mkdir("root/pods", 0750);
	make_pod("u1");
	make_pod("u2");
}

static void prepare_empty_dir(void)
{
	prepare("kubernetes.io/empty-dir", false);
}

static void prepare_memory(void)
{
	prepare("kubernetes.io/empty-dir", false);
	volume.source.medium = "Memory";
}

static void prepare_local(void)
{
	static char path[256];

	prepare("kubernetes.io/local-volume", true);
	sandbox_mkdir("source", 0755);
	sandbox_write("source/file", "data");
	(void) snprintf(path, sizeof(path), "%s", sandbox_path("source"));
	volume.pv.source = PV_SOURCE_LOCAL;
	volume.pv.local_path = path;
}

static void prepare_host_path(void)
{
	static char path[256];

	prepare("kubernetes.io/host-path", false);
	sandbox_mkdir("host", 0755);
	assert_return_code(symlink(sandbox_path("outside/created"), sandbox_path("host/link")),
			   errno);
	(void) snprintf(path, sizeof(path), "%s", sandbox_path("host/new"));
	volume.source.source = SOURCE_HOST_PATH;
	volume.source.host_path = path;
}

static void finish(void)
{
	test_volume_done(&volume);
}

/* As test_volume_run(), without a word about what is refused. */
static int run(stage_list_fn *slot)
{
	struct stage_list list = { 0 };
	int r;

	volume.report = (struct stage_report){ 0 };
	r = slot(&volume.request, &list, &volume.report.failure);
	if (r < 0)
		return r;
	r = STAGE_NEXT;
	for (size_t i = 0; i < list.count && r == STAGE_NEXT; i++)
		r = list.stages[i].run(list.data, &volume.report);
	stage_list_done(&list);
	return r;
}

static int set_up_and_tear_down(unsigned int number)
{
	int r = run(volume.plugin->new_mounter), torn_down;

	torn_down = run(volume.plugin->new_unmounter);
	/* A teardown may have removed what the threads exchange. */
	(void) mkdirat(sandbox_fd(), "root/pods/u1/volumes", 0750);
	(void) mkdirat(sandbox_fd(), "root/pods/u1/plugins", 0750);
	return r < 0 ? r : torn_down;
}

/* Checked, and made when it is missing; a link that dangles is never the way to make it. */
static int make_host_path(unsigned int number)
{
	int r;

	volume.source.host_path_type = number % 2 ? "DirectoryOrCreate" : "FileOrCreate";
	r = run(volume.plugin->new_mounter);
	(void) unlinkat(sandbox_fd(), "host/new", number % 2 ? AT_REMOVEDIR : 0);
	(void) symlinkat(sandbox_path("outside/created"), sandbox_fd(), "host/link");
	return r;
}

#define HOSTILE                                                                                    \
	.swaps = { { "root/pods/u1/volumes", "root/pods/u1/link" },                                \
		   { "root/pods/u1", "root/pods/u2" },                                             \
		   { "root/pods/u1/plugins", "root/pods/u1/other-link" } },                        \
	.moves = { { "root/pods/u2/link", "root/pods/u2/away" } }, .finish = finish

const struct race race_empty_dir = { .name = "emptyDir",
				     .share = 4,
				     HOSTILE,
				     .prepare = prepare_empty_dir,
				     .attempt = set_up_and_tear_down };
const struct race race_memory = { .name = "emptyDir in memory",
				  .share = 4,
				  HOSTILE,
				  .prepare = prepare_memory,
				  .attempt = set_up_and_tear_down };
const struct race race_local = { .name = "local",
				 .share = 5,
				 HOSTILE,
				 .prepare = prepare_local,
				 .attempt = set_up_and_tear_down };
const struct race race_host_path = { .name = "hostPath made",
				     .share = 6,
				     .moves = { { "host/link", "host/new" } },
				     .prepare = prepare_host_path,
				     .attempt = make_host_path,
				     .finish = finish };
