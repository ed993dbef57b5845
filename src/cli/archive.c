/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive - backup and restore: what is in a local volume, as a tar stream
 *
 * The daemon says where the volume is; this process, as root, reads or fills it (see
 * archive_direct.h). Progress goes to standard error when that is a terminal, and one sentence at
 * the end always does: standard output is the archive.
 */
#include "cli/direct/archive_direct.h"
#include "cli/cli.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_MAX = 20, BYTES_TEXT = 32 };

struct archive_call {
	struct cli *cli;
	char *volume; /* its name; NULL: a directory was named, and no daemon is asked */
	char *directory;
	char *base;    /* of the snapshot that a backup is compared with; or NULL */
	char *run_dir; /* podvold's: where volumes are locked */
	bool is_snapshot;
	const char *doing;
	size_t notes;
};

/* ---- where the volume is ---- */

/* @path: freed; NULL: no memory. */
static int get_object(struct cli *cli, char *path, struct podvol_object **ret)
{
	int r = path ? podvol_object_get(cli->podvol, path, ret) : -ENOMEM;

	free(path);
	return r;
}

/* The volume that a claim is bound to; a restore has one made for a claim that waits. */
static int find_claimed(struct cli *cli, const char *claim, char **ret)
{
	const char *space = cli->name_space ? cli->name_space : "default";
	struct podvol_object *object = NULL;
	int r;

	cli_about(cli, "persistentvolumeclaim", space, claim);
	r = get_object(cli, cli_path(CLAIMS_PATH "/%s", space, claim), &object);
	if (r < 0)
		return cli_failed(cli, r);
	*ret = strdup(podvol_object_text(object, "spec.volumeName"));
	podvol_object_free(object);
	if (!*ret)
		return cli_failed(cli, -ENOMEM);
	if (**ret)
		return EXIT_DONE;
	free(TAKE_PTR(*ret));
	if (strcmp(cli->verb->name, "restore") == 0)
		return claim_volume_here(cli, space, claim, ret);
	return cli_end(cli, EXIT_FAILED, "claim '%s/%s' has no volume yet", space, claim);
}

static int find_path(struct cli *cli, const char *volume, char **ret)
{
	struct podvol_object *object = NULL;
	const char *path;
	int r, status;

	cli_about(cli, "persistentvolume", "", volume);
	r = get_object(cli, cli_path("/api/v1/persistentvolumes/%s", volume), &object);
	if (r < 0) {
		status = cli_failed(cli, r);
		if (status == EXIT_NOT_FOUND)
			claim_hint(cli, volume);
		return status;
	}
	path = podvol_object_text(object, "spec.local.path");
	if (*path == '\0')
		path = podvol_object_text(object, "spec.hostPath.path");
	*ret = *path ? strdup(path) : NULL;
	podvol_object_free(object);
	if (*ret)
		return EXIT_DONE;
	cli_complain(cli,
		     "volume '%s' is not a directory of this node: only local and hostPath "
		     "volumes can be backed up and restored",
		     volume);
	return EXIT_FAILED;
}

/* The directory that is a snapshot's handle. */
static int find_content_path(struct cli *cli, const char *snapshot, const char *content, char **ret)
{
	struct podvol_object *object = NULL;
	int r;

	cli_about(cli, "volumesnapshotcontent", "", content);
	r = get_object(
		cli,
		cli_path("/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents/%s", content),
		&object);
	if (r < 0)
		return cli_failed(cli, r);
	if (strcmp(podvol_object_text(object, "spec.driver"), "podvol/local") == 0)
		*ret = strdup(podvol_object_text(object, "status.snapshotHandle"));
	else
		cli_complain(cli,
			     "snapshot '%s' is one of driver '%s': only those of podvol/local are "
			     "directories of this node",
			     snapshot, podvol_object_text(object, "spec.driver"));
	podvol_object_free(object);
	return *ret ? EXIT_DONE : EXIT_FAILED;
}

static int find_snapshot(struct cli *cli, const char *name, char **ret)
{
	const char *space = cli->name_space ? cli->name_space : "default";
	cleanup_free char *content = NULL;
	struct podvol_object *object = NULL;
	bool is_ready;
	int r;

	cli_about(cli, "volumesnapshot", space, name);
	r = get_object(cli,
		       cli_path("/apis/snapshot.storage.k8s.io/v1/namespaces/%s/volumesnapshots/%s",
				space, name),
		       &object);
	if (r < 0)
		return cli_failed(cli, r);
	is_ready = strcmp(podvol_object_text(object, "status.readyToUse"), "true") == 0;
	content = strdup(podvol_object_text(object, "status.boundVolumeSnapshotContentName"));
	podvol_object_free(object);
	if (!content)
		return cli_failed(cli, -ENOMEM);
	if (is_ready && *content)
		return find_content_path(cli, name, content, ret);
	return cli_end(cli, EXIT_FAILED, "snapshot '%s/%s' is not ready to use", space, name);
}

/* "vs/NAME" as kubectl takes it; NULL: the word means something else. */
static const char *snapshot_in(const char *word)
{
	static const char *const prefixes[] = { "vs/", "volumesnapshot/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(word, prefixes[i], strlen(prefixes[i])) == 0)
			return word + strlen(prefixes[i]);
	return NULL;
}

/* NULL: no memory, or no working directory. */
static char *absolute(const char *path)
{
	cleanup_free char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);

	return here ? new_text("%s%s%s", here, *here ? "/" : "", path) : NULL;
}

/* "pvc/NAME" as kubectl takes it, else a volume's name. */
static int find_volume(struct cli *cli, const char *word, char **ret)
{
	const char *claim = named_claim(word);

	if (claim)
		return find_claimed(cli, claim, ret);
	*ret = strdup(named_volume(word) ?: word);
	return *ret ? EXIT_DONE : cli_failed(cli, -ENOMEM);
}

/* The directory of the socket, also where no daemon is asked. */
static char *find_run_dir(const struct cli *cli)
{
	const char *socket = cli->socket_path ?: getenv("PODVOL_SOCKET");
	const char *slash;

	if (!socket || !*socket)
		socket = PODVOL_SOCKET_DEFAULT;
	slash = strrchr(socket, '/');
	return slash && slash > socket ? strndup(socket, (size_t) (slash - socket)) : strdup(".");
}

static int find_directory(struct archive_call *call)
{
	struct cli *cli = call->cli;
	int status;

	call->run_dir = find_run_dir(cli);
	if (!call->run_dir)
		return cli_failed(cli, -ENOMEM);
	if (cli_flag(cli, "directory")) {
		call->directory = absolute(cli->arguments[0]);
		return call->directory ? EXIT_DONE : cli_failed(cli, -ENOMEM);
	}
	if (snapshot_in(cli->arguments[0]) && strcmp(cli->verb->name, "backup") == 0) {
		call->is_snapshot = true;
		return find_snapshot(cli, snapshot_in(cli->arguments[0]), &call->directory);
	}
	status = find_volume(cli, cli->arguments[0], &call->volume);
	return status == EXIT_DONE ? find_path(cli, call->volume, &call->directory) : status;
}

/* A VolumeSnapshot, or the directory that is its handle. */
static int find_base(struct archive_call *call)
{
	struct cli *cli = call->cli;
	const char *since = cli_value(cli, "since");

	if (!since)
		return EXIT_DONE;
	if (cli->argument_count > 1)
		return cli_end(cli, EXIT_USAGE,
			       "--since cannot be combined with parts: the increment is either "
			       "since a snapshot or since the last part");
	if (*since == '/') {
		call->base = strdup(since);
		return call->base ? EXIT_DONE : cli_failed(cli, -ENOMEM);
	}
	if (cli_flag(cli, "directory")) {
		cli_complain(
			cli,
			"with --directory, --since takes the directory of a snapshot, not '%s'",
			since);
		return EXIT_USAGE;
	}
	return find_snapshot(cli, snapshot_in(since) ?: since, &call->base);
}

static void archive_call_done(struct archive_call *call)
{
	free(call->volume);
	free(call->directory);
	free(call->base);
	free(call->run_dir);
}

/* Whether any pod has the volume or is about to get it, as the daemon knows. */
static int check_unwanted(void *userdata, struct failure *reterr)
{
	const struct archive_call *call = userdata;
	cleanup_free char *path = NULL;
	struct podvol_table *uses = NULL;
	const char *pod;
	int r;

	if (!call->volume)
		return 0;
	path = cli_path("/podvol/v1/volumes/%s", call->volume);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot determine who uses it");
	r = podvol_table_get(call->cli->podvol, path, &uses);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return failed(reterr, r, "cannot determine who uses it");
	pod = podvol_table_cell(uses, 0, podvol_table_find(uses, "Pod"));
	r = failed_plain(reterr, -EBUSY, "pod '%s' uses it: delete the pod first", pod);
	podvol_table_free(uses);
	return r;
}

/* ---- telling ---- */

static const char *print_bytes(uint64_t bytes, char text[BYTES_TEXT])
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;
	uint64_t tenths = bytes * 10;

	for (; unit + 1 < ARRAY_SIZE(units) && tenths >= 10240; unit++)
		tenths /= 1024;
	if (unit == 0)
		(void) snprintf(text, BYTES_TEXT, "%" PRIu64 " bytes", bytes);
	else
		(void) snprintf(text, BYTES_TEXT, "%" PRIu64 ".%u %s", tenths / 10,
				(unsigned int) (tenths % 10), units[unit]);
	return text;
}

static void on_progress(void *userdata, const struct archive_summary *so_far)
{
	const struct archive_call *call = userdata;
	char line[120], bytes[BYTES_TEXT];

	if (!progress_is_seen(call->cli))
		return;
	(void) snprintf(line, sizeof(line), "%s: %" PRIu64 " entries, %s", call->doing,
			so_far->entries, print_bytes(so_far->bytes, bytes));
	progress_show(call->cli, line);
}

static void on_note(void *userdata, const char *path, const char *text)
{
	struct archive_call *call = userdata;

	if (++call->notes > NOTES_MAX)
		return;
	progress_end(call->cli);
	(void) fputs("podvolctl: '", call->cli->err);
	cli_print_text(call->cli->err, path);
	(void) fprintf(call->cli->err, "' %s\n", text);
}

static void sum_up(const struct archive_call *call, const char *done,
		   const struct archive_summary *sum)
{
	struct cli *cli = call->cli;
	char bytes[BYTES_TEXT];

	progress_end(cli);
	if (call->notes > NOTES_MAX)
		(void) fprintf(cli->err, "podvolctl: and %zu more of that kind\n",
			       call->notes - NOTES_MAX);
	(void) fprintf(cli->err, "%s: %" PRIu64 " entries, %s", done, sum->entries,
		       print_bytes(sum->bytes, bytes));
	if (sum->unchanged > 0 || sum->removed > 0)
		(void) fprintf(cli->err, "; %" PRIu64 " removed, %" PRIu64 " unchanged",
			       sum->removed, sum->unchanged);
	if (sum->left_out > 0)
		(void) fprintf(cli->err, "; %zu left out", sum->left_out);
	if (sum->changed > 0)
		(void) fprintf(cli->err, "; %zu changed meanwhile", sum->changed);
	(void) fputs("\n", cli->err);
}

static int complain(struct archive_call *call, const struct failure *why)
{
	progress_end(call->cli);
	(void) fputs("podvolctl: ", call->cli->err);
	cli_print_text(call->cli->err, why->text);
	(void) fputs("\n", call->cli->err);
	return EXIT_FAILED;
}

static bool may_run(struct cli *cli, const char *verb, int stream_fd, const char *stream)
{
	if (geteuid() != 0)
		cli_complain(cli,
			     "%s: run it as root, which can read and set all owners and attributes",
			     verb);
	else if (isatty(stream_fd))
		cli_complain(cli, "%s: %s is a terminal: the archive goes through it", verb,
			     stream);
	else
		return true;
	return false;
}

/* ---- the verbs ---- */

int verb_backup(struct cli *cli)
{
	cleanup(archive_call_done) struct archive_call call = { .cli = cli, .doing = "backing up" };
	struct archive_direct direct = {
		.stream_fd = STDOUT_FILENO,
		.progress = on_progress,
		.note = on_note,
		.userdata = &call,
	};
	struct archive_summary sum = { 0 };
	struct failure why = { .error = 0 };
	int status;

	if (!may_run(cli, "backup", STDOUT_FILENO, "standard output"))
		return EXIT_FAILED;
	status = find_directory(&call);
	if (status == EXIT_DONE)
		status = find_base(&call);
	if (status != EXIT_DONE)
		return status;
	direct.directory = call.directory;
	direct.is_snapshot = call.is_snapshot;
	direct.base = call.base;
	direct.run_dir = call.run_dir;
	direct.parts = cli->arguments + 1;
	direct.part_count = (size_t) cli->argument_count - 1;
	if (archive_direct_backup(&direct, &sum, &why) < 0)
		return complain(&call, &why);
	sum_up(&call, "backed up", &sum);
	if (sum.devices > 0 || sum.links_out > 0)
		(void) fprintf(cli->err,
			       "%zu devices and %zu symbolic links that lead out of the volume "
			       "are in it: restore asks for --devices and --links-out\n",
			       sum.devices, sum.links_out);
	return EXIT_DONE;
}

int verb_restore(struct cli *cli)
{
	cleanup(archive_call_done) struct archive_call call = { .cli = cli, .doing = "restoring" };
	struct archive_direct direct = {
		.stream_fd = STDIN_FILENO,
		.allow_devices = cli_flag(cli, "devices"),
		.allow_links_out = cli_flag(cli, "links-out"),
		.allow_privileges = cli_flag(cli, "setuid"),
		.allow_content = cli_flag(cli, "overwrite"),
		.allow_used = cli_flag(cli, "in-use"),
		.check_unwanted = check_unwanted,
		.progress = on_progress,
		.note = on_note,
		.userdata = &call,
	};
	struct archive_summary sum = { 0 };
	struct failure why = { .error = 0 };
	bool begun = false;
	int status;

	if (!may_run(cli, "restore", cli->argument_count > 1 ? -EBADF : STDIN_FILENO,
		     "standard input"))
		return EXIT_FAILED;
	status = find_directory(&call);
	if (status != EXIT_DONE)
		return status;
	direct.directory = call.directory;
	direct.run_dir = call.run_dir;
	direct.parts = cli->arguments + 1;
	direct.part_count = (size_t) cli->argument_count - 1;
	if (archive_direct_restore(&direct, &sum, &begun, &why) < 0) {
		status = complain(&call, &why);
		if (begun)
			cli_complain(cli,
				     "the volume holds a part only, %" PRIu64
				     " entries of the archive: restore it again",
				     sum.entries);
		return status;
	}
	sum_up(&call, "restored", &sum);
	if (sum.privileges > 0)
		(void) fprintf(cli->err,
			       "%zu setuid or setgid bits, file capabilities, security and "
			       "trusted attributes were left out: --setuid restores them\n",
			       sum.privileges);
	if (sum.lost == 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED,
		       "%zu extended attributes are not kept by the file system at '%s'", sum.lost,
		       call.directory);
}
