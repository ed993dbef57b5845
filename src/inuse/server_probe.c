/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_probe - does the server behind a mount answer; see server_probe.h
 *
 * The descriptor of a question that hangs keeps the mount busy; it goes when the server answers, or
 * when the file system gives the question up.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "inuse/server_probe.h"

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "mount/mount.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>

/* Belongs to the worker until it is over; no other thread reads @result before. */
struct probe {
	struct worker_job job;
	struct server_probes *probes; /* NULL: freed meanwhile */
	uint64_t begun_usec;
	bool over;
	int result;
	UT_hash_handle hh; /* by mount_point */
	char mount_point[];
};

struct server_probes {
	struct worker_pool *workers;
	struct probe *list;
	unsigned int running;
};

static void run_probe(struct worker_job *job)
{
	struct probe *probe = (struct probe *) job;
	cleanup_close int fd = open_host_path(probe->mount_point, O_PATH | O_NOFOLLOW, NULL);
	struct statfs answer;

	probe->result = fd < 0 ? fd : 0;
	if (fd >= 0 && fstatfs(fd, &answer) < 0)
		probe->result = -errno;
}

static void probe_done(struct worker_job *job)
{
	struct probe *probe = (struct probe *) job;

	if (!probe->probes) {
		free(probe);
		return;
	}
	probe->over = true;
	probe->probes->running--;
}

/* What a server says that is there, such as EACCES or ESTALE, is an answer. */
static bool says_gone(int error)
{
	return error == -ENOTCONN || error == -EHOSTDOWN || error == -ETIMEDOUT ||
	       error == -ECONNABORTED;
}

static void begin(struct server_probes *probes, const char *mount_point, uint64_t now_usec)
{
	size_t length = strlen(mount_point);
	struct probe *probe =
		probes->running < SERVER_PROBES_MAX ? calloc(1, sizeof(*probe) + length + 1) : NULL;

	if (!probe)
		return;
	memcpy(probe->mount_point, mount_point, length);
	probe->probes = probes;
	probe->begun_usec = now_usec;
	probe->job.run = run_probe;
	probe->job.done = probe_done;
	HASH_ADD_KEYPTR(hh, probes->list, probe->mount_point, length, probe);
	if (!probe->hh.tbl) {
		free(probe);
		return;
	}
	probes->running++;
	worker_submit(probes->workers, &probe->job);
}

enum server_state server_probes_check(struct server_probes *probes, const char *mount_point,
				      uint64_t now_usec)
{
	enum server_state state;
	struct probe *probe;

	assert(probes && mount_point);
	HASH_FIND_STR(probes->list, mount_point, probe);
	if (!probe) {
		begin(probes, mount_point, now_usec);
		return SERVER_UNKNOWN;
	}
	if (!probe->over)
		return now_usec >= probe->begun_usec + SERVER_SILENT_USEC ? SERVER_SILENT
									  : SERVER_UNKNOWN;
	state = says_gone(probe->result) ? SERVER_SILENT : SERVER_ANSWERS;
	HASH_DEL(probes->list, probe);
	free(probe);
	return state;
}

int server_probes_new(struct worker_pool *workers, struct server_probes **ret)
{
	assert(workers && ret);
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->workers = workers;
	return 0;
}

struct server_probes *server_probes_free(struct server_probes *probes)
{
	struct probe *probe, *next;

	if (!probes)
		return NULL;
	HASH_ITER (hh, probes->list, probe, next) {
		HASH_DEL(probes->list, probe);
		if (probe->over)
			free(probe);
		else
			probe->probes = NULL; /* freed when its thread comes back, if ever */
	}
	free(probes);
	return NULL;
}
