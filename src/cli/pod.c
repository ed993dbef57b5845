/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - verbs that bring a pod's volumes up and down: mount, unmount, wait
 *
 * A wait that fails says which volume is missing, at which step, with which error, after how many
 * attempts and when the next comes: the daemon's sentence, as it is. On a terminal a long wait is
 * made of short ones, whose sentences are its progress.
 */
#include "cli/await.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/direct/direct.h"

#include <string.h>

/* ---- waiting with progress ---- */

enum { PROGRESS_STEP_MSEC = 1000 };

/* One wait of the daemon's: mount, unmount or wait, all alike. */
typedef int wait_fn(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata);

/* @end: of --timeout, which begins with the first wait of several; 0 before it. */
static void begin_timeout(const struct cli *cli, uint64_t now, uint64_t *end)
{
	if (*end == 0)
		*end = now + cli->timeout_msec * USEC_PER_MSEC;
}

static int wait_in_steps(struct cli *cli, const char *pod, uint64_t *end, wait_fn *wait,
			 void *userdata)
{
	uint64_t now = monotonic_usec();
	int r;

	begin_timeout(cli, now, end);
	if (now > *end)
		now = *end;
	if (!progress_is_seen(cli))
		return wait(cli, pod, (unsigned int) ((*end - now) / USEC_PER_MSEC), userdata);
	do {
		uint64_t left_msec = (*end - now) / USEC_PER_MSEC;

		progress_show(cli, podvol_error(cli->podvol));
		r = wait(cli, pod,
			 left_msec < PROGRESS_STEP_MSEC ? (unsigned int) left_msec
							: PROGRESS_STEP_MSEC,
			 userdata);
		now = monotonic_usec();
	} while (r == -ETIMEDOUT && now + USEC_PER_MSEC < *end);
	progress_end(cli);
	return r;
}

static int step_mount(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata)
{
	struct podvol_table **ret = userdata;

	return podvol_pod_mount(cli->podvol, pod, timeout_msec, ret);
}

static int step_wait(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata)
{
	const enum podvol_wait_for *what = userdata;

	return podvol_pod_wait(cli->podvol, pod, *what, timeout_msec);
}

/* ---- mount ---- */

/* A volume that is never mounted does not keep its pod waiting. */
static void warn_of_unmounted(struct cli *cli, const struct podvol_table *volumes)
{
	size_t step = podvol_table_find(volumes, "Step");
	size_t error = podvol_table_find(volumes, "Error");

	for (size_t row = 0; row < podvol_table_rows(volumes); row++)
		if (strcmp(podvol_table_cell(volumes, row, step), "none") == 0)
			cli_complain(cli, "warning: %s", podvol_table_cell(volumes, row, error));
}

static int wait_mounted(struct cli *cli, const struct podvol_table *applied)
{
	size_t kind = podvol_table_find(applied, "Kind");
	size_t name = podvol_table_find(applied, "Name");
	size_t name_space = podvol_table_find(applied, "Namespace");
	int status = EXIT_DONE;

	for (size_t row = 0; row < podvol_table_rows(applied); row++) {
		struct podvol_table *volumes = NULL;
		cleanup_free char *pod = NULL;
		uint64_t end = 0;
		bool warned;
		int r;

		if (strcmp(podvol_table_cell(applied, row, kind), "Pod") != 0)
			continue;
		pod = new_text("%s/%s", podvol_table_cell(applied, row, name_space),
			       podvol_table_cell(applied, row, name));
		if (!pod)
			return EXIT_FAILED;
		cli_about_pod(cli, pod);
		warned = cli_warn_of_unused(cli, pod);
		r = wait_in_steps(cli, pod, &end, step_mount, &volumes);
		if (r < 0)
			status = cli_failed(cli, r);
		else
			cli_print_table(cli, volumes, 0, false);
		if (r == 0 && !warned)
			warn_of_unmounted(cli, volumes);
		podvol_table_free(volumes);
	}
	return status;
}

/* A time-out is for waiting. */
static bool is_waiting(const struct cli *cli)
{
	return cli_flag(cli, "wait") || cli_flag(cli, "timeout");
}

static const char *root_dir(const struct cli *cli)
{
	const char *given = cli_value(cli, "root-dir");

	return given ? given : "/var/lib/kubelet";
}

static int mount_direct(struct cli *cli)
{
	const char *file = cli_value(cli, "filename");
	struct failure why = { 0 };

	if (!file || cli->argument_count != 1)
		return cli_end(cli, EXIT_USAGE, "mount --direct takes -f FILE and one TARGET");
	if (direct_mount(file, cli->arguments[0], root_dir(cli), &why) == 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED, "%s", why.text);
}

int verb_mount(struct cli *cli)
{
	struct podvol_table *applied = NULL;
	int status;

	if (cli_flag(cli, "direct"))
		return mount_direct(cli);
	if (cli->argument_count > 0)
		return cli_end(cli, EXIT_USAGE, "mount takes a TARGET, '%s', only with --direct",
			       cli->arguments[0]);
	status = apply_file(cli, cli_value(cli, "filename"), &applied);
	if (status == EXIT_DONE && is_waiting(cli))
		status = wait_mounted(cli, applied);
	podvol_table_free(applied);
	return status;
}

/* ---- unmount, wait ---- */

static int unmount_direct(struct cli *cli)
{
	struct failure why = { 0 };

	if (direct_unmount(cli->arguments[0], root_dir(cli), &why) == 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED, "%s", why.text);
}

/* Which of several failed stays visible: the first failure is the exit status. */
static void note(int *status, int one)
{
	if (*status == EXIT_DONE)
		*status = one;
}

/* To a program a pod that is gone is unmounted; a person may have mistyped its name. */
static int unmount_known(struct cli *cli, const char *pod, unsigned int timeout_msec)
{
	struct podvol_table *volumes = NULL;
	int r = podvol_volumes(cli->podvol, pod, &volumes);

	podvol_table_free(volumes);
	return r < 0 ? r : podvol_pod_unmount(cli->podvol, pod, timeout_msec);
}

static int delete_pod(struct cli *cli, const char *pod)
{
	int r;

	cli_about_pod(cli, pod);
	r = unmount_known(cli, pod, 0);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

static bool is_there(void *userdata, const struct podvol_event *event)
{
	const struct json_limits limits = { .bytes = event->length + 1, .depth = 80 };
	cleanup_json struct cJSON *tree = NULL;

	if (json_parse(event->object, event->length, &limits, &tree, NULL) < 0)
		return false; /* interrupted: it goes on */
	return event->type == PODVOL_ADDED || json_count(json_get(tree, "items")) > 0;
}

/* Who waits may come before who creates. Return: an exit status. */
static int wait_until_created(struct cli *cli, const char *pod, uint64_t end)
{
	const char *slash = strchr(pod, '/'), *name = slash ? slash + 1 : pod;
	cleanup_free char *name_space =
		strndup(slash ? pod : "default", slash ? (size_t) (slash - pod) : 7);
	cleanup_free char *path = NULL, *what = NULL;
	cleanup_free char *space = podvol_escape(name_space ?: ""), *escaped = podvol_escape(name);
	struct cli_awaited awaited = { .end_usec = end, .is_over = is_there };
	int r;

	if (!name_space || !space || !escaped)
		return cli_failed(cli, -ENOMEM);
	awaited.path = path = new_text(
		"/api/v1/namespaces/%s/pods?fieldSelector=metadata.name%%3D%s", space, escaped);
	awaited.what = what = new_text("waiting for pod '%s/%s' to be created", name_space, name);
	r = path && what ? cli_await(cli, &awaited) : -ENOMEM;
	if (r == -ETIMEDOUT)
		return cli_end(cli, EXIT_NOT_FOUND,
			       "pod '%s/%s' not found: it was not created in time", name_space,
			       name);
	return r < 0 ? cli_exit_status(r, 0) : EXIT_DONE;
}

static bool is_unknown(struct cli *cli, const char *pod)
{
	return podvol_pod_wait(cli->podvol, pod, PODVOL_MOUNTED, 0) == -ENOENT &&
	       podvol_status(cli->podvol) != 0;
}

static int wait_for(struct cli *cli, const char *pod, uint64_t *end, enum podvol_wait_for what)
{
	int status, r;

	cli_about_pod(cli, pod);
	if (what == PODVOL_MOUNTED && is_unknown(cli, pod)) {
		begin_timeout(cli, monotonic_usec(), end);
		status = wait_until_created(cli, pod, *end);
		if (status != EXIT_DONE)
			return status;
	}
	if (what == PODVOL_MOUNTED)
		(void) cli_warn_of_unused(cli, pod);
	r = wait_in_steps(cli, pod, end, step_wait, &what);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

static void say_done(struct cli *cli, const char *pod, const char *what)
{
	(void) fputs("pod '", cli->out);
	cli_print_text(cli->out, pod);
	(void) fprintf(cli->out, "' %s\n", what);
	(void) fflush(cli->out);
}

/* The first step deletes, the others wait only. */
static int step_unmount(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata)
{
	bool *is_deleted = userdata;

	if (*is_deleted)
		return podvol_pod_wait(cli->podvol, pod, PODVOL_UNMOUNTED, timeout_msec);
	*is_deleted = true;
	return unmount_known(cli, pod, timeout_msec);
}

/* By one request: it waits for this pod, also when another of its name comes meanwhile. */
static int unmount_one(struct cli *cli, const char *pod)
{
	bool is_deleted = false;
	uint64_t end = 0;
	int r = wait_in_steps(cli, pod, &end, step_unmount, &is_deleted);

	if (r < 0)
		return cli_failed(cli, r);
	say_done(cli, pod, "unmounted");
	return EXIT_DONE;
}

/* All are deleted before the first is waited for. */
static int unmount_all(struct cli *cli, const struct pod_list *pods)
{
	uint64_t end = 0;
	int status = EXIT_DONE;

	for (size_t i = 0; i < pods->count && status != EXIT_UNREACHABLE; i++) {
		pods->status[i] = delete_pod(cli, pods->names[i]);
		note(&status, pods->status[i]);
	}
	for (size_t i = 0; i < pods->count && status != EXIT_UNREACHABLE; i++) {
		if (pods->status[i] == EXIT_DONE && is_waiting(cli))
			pods->status[i] = wait_for(cli, pods->names[i], &end, PODVOL_UNMOUNTED);
		note(&status, pods->status[i]);
		if (pods->status[i] == EXIT_DONE)
			say_done(cli, pods->names[i], is_waiting(cli) ? "unmounted" : "deleted");
	}
	return status;
}

int verb_unmount(struct cli *cli)
{
	cleanup(pod_list_done) struct pod_list pods = { 0 };
	int status;

	if (cli_flag(cli, "direct") && cli->argument_count == 1)
		return unmount_direct(cli);
	if (cli_flag(cli, "direct"))
		return cli_end(cli, EXIT_USAGE, "unmount --direct takes one TARGET");
	status = pod_list_read(cli, &pods);
	if (status == EXIT_DONE && pods.count == 1 && is_waiting(cli))
		return unmount_one(cli, pods.names[0]);
	return status == EXIT_DONE ? unmount_all(cli, &pods) : status;
}

static int wait_and_say(struct cli *cli, const char *pod, uint64_t *end)
{
	int status = wait_for(cli, pod, end, cli->wait_for);

	if (status == EXIT_DONE)
		say_done(cli, pod, cli->wait_for == PODVOL_MOUNTED ? "mounted" : "unmounted");
	return status;
}

/* Does a wait for it take no time? */
static bool is_so(struct cli *cli, const char *pod)
{
	return podvol_pod_wait(cli->podvol, pod, cli->wait_for, 0) == 0;
}

/* The wait for one of them may take all of the time, and others be deleted meanwhile: what is so
 * already counts. */
int verb_wait(struct cli *cli)
{
	cleanup(pod_list_done) struct pod_list pods = { 0 };
	int status = pod_list_read(cli, &pods);
	uint64_t end = 0;

	for (size_t i = 0; i < pods.count; i++)
		pods.status[i] = pods.count > 1 && is_so(cli, pods.names[i])
					 ? wait_and_say(cli, pods.names[i], &end)
					 : EXIT_TIMED_OUT;
	for (size_t i = 0; i < pods.count && status != EXIT_UNREACHABLE; i++) {
		if (pods.status[i] == EXIT_TIMED_OUT)
			pods.status[i] = wait_and_say(cli, pods.names[i], &end);
		note(&status, pods.status[i]);
	}
	return status;
}
