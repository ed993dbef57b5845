/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - verbs that bring a pod's volumes up and down: mount, unmount, wait
 *
 * A wait that fails says which volume is missing, at which step, with which error, after how many
 * attempts and when the next comes: the daemon's sentence, as it is. Waiting is pod_wait.c's.
 */
#include "cli/pod_wait.h"

#include "base/cleanup.h"
#include "cli/direct/direct.h"

#include <string.h>

/* ---- mount ---- */

static void show_volumes(struct cli *cli, const char *pod)
{
	struct podvol_table *volumes = NULL;

	if (podvol_pod_mount(cli->podvol, pod, 0, &volumes) == 0)
		cli_print_table(cli, volumes, 0, false);
	podvol_table_free(volumes);
}

static int wait_mounted(struct cli *cli, const struct podvol_table *applied)
{
	static const struct pod_waits waits = { .what = PODVOL_MOUNTED,
						.are_stored = true,
						.done = show_volumes };
	size_t kind = podvol_table_find(applied, "Kind");
	size_t name = podvol_table_find(applied, "Name");
	size_t name_space = podvol_table_find(applied, "Namespace");
	cleanup(pod_list_done) struct pod_list pods = { 0 };
	int r = pod_list_make_room(&pods, podvol_table_rows(applied));

	for (size_t row = 0; r == 0 && row < podvol_table_rows(applied); row++)
		if (strcmp(podvol_table_cell(applied, row, kind), "Pod") == 0)
			r = pod_list_add(&pods, podvol_table_cell(applied, row, name_space),
					 podvol_table_cell(applied, row, name));
	return r == 0 ? pod_wait(cli, &pods, &waits) : cli_failed(cli, r);
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

/* To a program a pod that is gone is unmounted; a person may have mistyped its name. */
static int find_pod(struct cli *cli, const char *pod)
{
	struct podvol_table *volumes = NULL;
	int r;

	cli_about_pod(cli, pod);
	r = podvol_volumes(cli->podvol, pod, &volumes);
	podvol_table_free(volumes);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

static void say_done(struct cli *cli, const char *pod, const char *what)
{
	(void) fputs("pod '", cli->out);
	cli_print_text(cli->out, pod);
	(void) fprintf(cli->out, "' %s\n", what);
	(void) fflush(cli->out);
}

static void say_mounted(struct cli *cli, const char *pod)
{
	say_done(cli, pod, "mounted");
}

static void say_unmounted(struct cli *cli, const char *pod)
{
	say_done(cli, pod, "unmounted");
}

/* Return: an exit status. */
static int delete_pod(struct cli *cli, const char *pod)
{
	int r = podvol_pod_unmount(cli->podvol, pod, 0);

	if (r < 0)
		return cli_failed(cli, r);
	say_done(cli, pod, "deleted");
	return EXIT_DONE;
}

/* Each by one request: it waits for this pod, also when another of its name comes meanwhile. */
static int unmount_all(struct cli *cli, struct pod_list *pods)
{
	static const struct pod_waits waits = {
		.what = PODVOL_UNMOUNTED, .deletes = true, .are_stored = true, .done = say_unmounted
	};
	bool waits_too = is_waiting(cli);

	for (size_t i = 0; i < pods->count; i++) {
		pods->status[i] = find_pod(cli, pods->names[i]);
		if (pods->status[i] == EXIT_DONE && !waits_too)
			pods->status[i] = delete_pod(cli, pods->names[i]);
		if (pods->status[i] == EXIT_UNREACHABLE)
			return EXIT_UNREACHABLE;
	}
	return waits_too ? pod_wait(cli, pods, &waits) : pod_list_status(pods);
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
	return status == EXIT_DONE ? unmount_all(cli, &pods) : status;
}

int verb_wait(struct cli *cli)
{
	cleanup(pod_list_done) struct pod_list pods = { 0 };
	const struct pod_waits waits = { .what = cli->wait_for,
					 .done = cli->wait_for == PODVOL_MOUNTED ? say_mounted
										 : say_unmounted };
	int status = pod_list_read(cli, &pods);

	return status == EXIT_DONE ? pod_wait(cli, &pods, &waits) : status;
}
