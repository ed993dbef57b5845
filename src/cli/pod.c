/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - verbs that bring a pod's volumes up and down: mount, unmount, wait, apply, delete
 *
 * A wait that fails says which volume is missing, at which step, with which error, after how many
 * attempts and when the next comes: the daemon's sentence, as it is.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "cli/direct.h"

#include <fcntl.h>
#include <string.h>

enum {
	FILE_BYTES_MAX = 64 * 1024 * 1024, /* the daemon's own limit is lower */
	FILE_PIECE_BYTES = 64 * 1024,
	STATUS_ACCEPTED = 202, /* HTTP's: begun, not done */
};

/* ---- files ---- */

static int read_all(FILE *file, char **ret, size_t *ret_length)
{
	cleanup_free char *bytes = NULL;
	size_t length = 0, allocated = 0;

	for (;;) {
		size_t got;

		if (length + FILE_PIECE_BYTES > allocated) {
			char *grown;

			allocated = allocated ? allocated * 2 : (size_t) 2 * FILE_PIECE_BYTES;
			grown = realloc(bytes, allocated);
			if (!grown)
				return -ENOMEM;
			bytes = grown;
		}
		got = fread(bytes + length, 1, FILE_PIECE_BYTES, file);
		length += got;
		if (length > FILE_BYTES_MAX)
			return -EFBIG;
		if (got < FILE_PIECE_BYTES)
			break;
	}
	if (ferror(file))
		return errno > 0 ? -errno : -EIO;
	*ret = TAKE_PTR(bytes);
	*ret_length = length;
	return 0;
}

/* "-" is standard input. */
static int read_file(struct cli *cli, const char *name, char **ret, size_t *ret_length)
{
	cleanup_fclose FILE *opened = NULL;
	FILE *file = stdin;
	int r;

	if (strcmp(name, "-") != 0) {
		opened = fopen(name, "re");
		if (!opened) {
			cli_complain(cli, "cannot open '%s': %s", name, strerror(errno));
			return -EIO;
		}
		file = opened;
	}
	r = read_all(file, ret, ret_length);
	if (r < 0)
		cli_complain(cli, "cannot read '%s': %s", name, strerror(-r));
	return r;
}

/* ---- apply ---- */

static void print_lower(FILE *out, const char *text)
{
	for (; *text; text++)
		(void) fputc(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text, out);
}

/* "pod/web created", as kubectl says it. */
static void print_applied(struct cli *cli, const struct podvol_table *table)
{
	size_t kind = podvol_table_find(table, "Kind"), name = podvol_table_find(table, "Name");
	size_t result = podvol_table_find(table, "Result");

	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		print_lower(cli->out, podvol_table_cell(table, row, kind));
		(void) fprintf(cli->out, "/%s %s\n", podvol_table_cell(table, row, name),
			       podvol_table_cell(table, row, result));
	}
	(void) fflush(cli->out);
}

/* Return: EXIT_DONE and @ret, or the exit status after a complaint. */
static int apply_file(struct cli *cli, struct podvol_table **ret)
{
	const char *file = cli_value(cli, "filename");
	cleanup_free char *bytes = NULL;
	size_t length;
	int r;

	if (!file) {
		cli_complain(cli, "which file? Name it with -f FILE, or -f - for standard input");
		return EXIT_USAGE;
	}
	if (read_file(cli, file, &bytes, &length) < 0)
		return EXIT_FAILED;
	r = podvol_apply(cli->podvol, bytes, length, ret);
	if (r < 0)
		return cli_failed(cli, r);
	print_applied(cli, *ret);
	return EXIT_DONE;
}

int verb_apply(struct cli *cli)
{
	struct podvol_table *applied = NULL;
	int status;

	status = apply_file(cli, &applied);
	podvol_table_free(applied);
	return status;
}

/* ---- mount ---- */

static int wait_mounted(struct cli *cli, const struct podvol_table *applied)
{
	size_t kind = podvol_table_find(applied, "Kind");
	size_t name = podvol_table_find(applied, "Name");
	size_t name_space = podvol_table_find(applied, "Namespace");
	int status = EXIT_DONE;

	for (size_t row = 0; row < podvol_table_rows(applied); row++) {
		struct podvol_table *volumes = NULL;
		cleanup_free char *pod = NULL;
		int r;

		if (strcmp(podvol_table_cell(applied, row, kind), "Pod") != 0)
			continue;
		if (asprintf(&pod, "%s/%s", podvol_table_cell(applied, row, name_space),
			     podvol_table_cell(applied, row, name)) < 0) {
			pod = NULL;
			return EXIT_FAILED;
		}
		r = podvol_pod_mount(cli->podvol, pod, cli->timeout_msec, &volumes);
		if (r < 0)
			status = cli_failed(cli, r);
		else
			cli_print_table(cli->out, volumes, 0, false);
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
	status = apply_file(cli, &applied);
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
	int r;

	if (cli_flag(cli, "direct"))
		return unmount_direct(cli);
	pod = cli_pod(cli, cli->arguments[0]);
	r = podvol_pod_unmount(cli->podvol, pod, is_waiting(cli) ? cli->timeout_msec : 0);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "pod '%s' %s\n", pod, is_waiting(cli) ? "unmounted" : "deleted");
	return EXIT_DONE;
}

int verb_wait(struct cli *cli)
{
	cleanup_free char *pod = cli_pod(cli, cli->arguments[0]);
	int r;

	r = podvol_pod_wait(cli->podvol, pod, cli->wait_for, cli->timeout_msec);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "pod '%s' %s\n", pod,
		       cli->wait_for == PODVOL_MOUNTED ? "mounted" : "unmounted");
	return EXIT_DONE;
}

/* ---- delete ---- */

int verb_delete(struct cli *cli)
{
	struct podvol_request request = { .method = "DELETE" };
	cleanup_free char *path = NULL;
	const char *singular;
	int r;

	path = cli_object_path(cli, cli->arguments[0], cli->arguments[1], &singular);
	if (!path)
		return EXIT_USAGE;
	request.path = path;
	r = podvol_request(cli->podvol, &request, NULL);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "%s '%s' %s\n", singular, cli->arguments[1],
		       podvol_status(cli->podvol) == STATUS_ACCEPTED
			       ? "is being deleted: its finalizers hold it while it is in use"
			       : "deleted");
	return EXIT_DONE;
}
