/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - verbs that bring a pod's volumes up and down: mount, unmount, wait
 *
 * A wait that fails says which volume is missing, at which step, with which error, after how many
 * attempts and when the next comes: the daemon's sentence, as it is. On a terminal a long wait is
 * made of short ones, whose sentences are its progress.
 */
#include "cli/cli.h"
#include "cli/screen.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/direct.h"

#include <string.h>

/* ---- waiting with progress ---- */

enum { PROGRESS_STEP_MSEC = 1000 };

/* One wait of the daemon's: mount, unmount or wait, all alike. */
typedef int wait_fn(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata);

static int wait_in_steps(struct cli *cli, const char *pod, wait_fn *wait, void *userdata)
{
	uint64_t now = monotonic_usec(), end = now + cli->timeout_msec * USEC_PER_MSEC;
	int r;

	if (!progress_is_seen(cli))
		return wait(cli, pod, cli->timeout_msec, userdata);
	do {
		uint64_t left_msec = (end - now) / USEC_PER_MSEC;

		progress_show(cli, podvol_error(cli->podvol));
		r = wait(cli, pod,
			 left_msec < PROGRESS_STEP_MSEC ? (unsigned int) left_msec
							: PROGRESS_STEP_MSEC,
			 userdata);
		now = monotonic_usec();
	} while (r == -ETIMEDOUT && now + USEC_PER_MSEC < end);
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

/* The first step deletes, the others wait only. */
static int step_unmount(struct cli *cli, const char *pod, unsigned int timeout_msec, void *userdata)
{
	bool *is_deleted = userdata;

	if (*is_deleted)
		return podvol_pod_wait(cli->podvol, pod, PODVOL_UNMOUNTED, timeout_msec);
	*is_deleted = true;
	return podvol_pod_unmount(cli->podvol, pod, timeout_msec);
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
		bool warned;
		int r;

		if (strcmp(podvol_table_cell(applied, row, kind), "Pod") != 0)
			continue;
		if (asprintf(&pod, "%s/%s", podvol_table_cell(applied, row, name_space),
			     podvol_table_cell(applied, row, name)) < 0) {
			pod = NULL;
			return EXIT_FAILED;
		}
		warned = cli_warn_of_unused(cli, pod);
		r = wait_in_steps(cli, pod, step_mount, &volumes);
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

	if (!file || cli->argument_count != 1) {
		cli_complain(cli, "mount --direct takes -f FILE and one TARGET");
		return EXIT_USAGE;
	}
	if (direct_mount(file, cli->arguments[0], root_dir(cli), &why) == 0)
		return EXIT_DONE;
	cli_complain(cli, "%s", why.text);
	return EXIT_FAILED;
}

int verb_mount(struct cli *cli)
{
	struct podvol_table *applied = NULL;
	int status;

	if (cli_flag(cli, "direct"))
		return mount_direct(cli);
	if (cli->argument_count > 0) {
		cli_complain(cli, "mount takes a TARGET, '%s', only with --direct",
			     cli->arguments[0]);
		return EXIT_USAGE;
	}
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
	cli_complain(cli, "%s", why.text);
	return EXIT_FAILED;
}

int verb_unmount(struct cli *cli)
{
	cleanup_free char *pod = NULL;
	bool is_deleted = false;
	int r;

	if (cli_flag(cli, "direct"))
		return unmount_direct(cli);
	pod = cli_pod(cli, cli->arguments[0]);
	r = is_waiting(cli) ? wait_in_steps(cli, pod, step_unmount, &is_deleted)
			    : podvol_pod_unmount(cli->podvol, pod, 0);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "pod '%s' %s\n", pod, is_waiting(cli) ? "unmounted" : "deleted");
	return EXIT_DONE;
}

int verb_wait(struct cli *cli)
{
	cleanup_free char *pod = cli_pod(cli, cli->arguments[0]);
	int r;

	if (pod && cli->wait_for == PODVOL_MOUNTED)
		(void) cli_warn_of_unused(cli, pod);
	r = wait_in_steps(cli, pod, step_wait, &cli->wait_for);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "pod '%s' %s\n", pod,
		       cli->wait_for == PODVOL_MOUNTED ? "mounted" : "unmounted");
	return EXIT_DONE;
}
