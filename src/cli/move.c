/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move - a claim's data go to a volume of another StorageClass, or at a path
 *
 * Asks podvold for it by an annotation of the claim and waits; podvold does it, also when this
 * process ends, and says in another annotation what came of it. Moves nothing itself, and looks at
 * no path: podvold does.
 */
#include "cli/pod_wait.h"
#include "cli/cli.h"
#include "cli/get.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#include <string.h>

#define MOVE_TO   "podvol.io/move-to"
#define LAST_MOVE "podvol.io/last-move"

struct move {
	struct cli *cli;
	const char *to;
	char *space, *name, *volume; /* the claim, and the volume that it has */
	char *path;                  /* of the claim */
	bool is_moved, is_gone;
	char *outcome;
};

static const char *annotation(const struct cJSON *item, const char *key)
{
	return json_text(json_get_path(item, "metadata.annotations"), key);
}

/* ---- what is moved ---- */

/* Of a kind without namespaces. @path: freed; NULL: no memory. */
static int get_object(struct cli *cli, char *path, const char *singular, const char *name,
		      struct cJSON **ret)
{
	cleanup_free char *owned = path;

	cli_about(cli, singular, "", name);
	return owned ? get_tree(cli, owned, ret) : cli_failed(cli, -ENOMEM);
}

static int set_claim(struct move *move, const char *space, const char *name)
{
	cli_about(move->cli, "persistentvolumeclaim", space, name);
	move->space = strdup(space);
	move->name = strdup(name);
	move->path = cli_path(CLAIMS_PATH "/%s", space, name);
	return move->space && move->name && move->path ? EXIT_DONE : cli_failed(move->cli, -ENOMEM);
}

/* "pvc/CLAIM", else a volume's name, whose claim is meant. */
static int find_claim(struct move *move)
{
	struct cli *cli = move->cli;
	const char *claim = named_claim(cli->arguments[0]);
	const char *name = named_volume(cli->arguments[0]) ?: cli->arguments[0];
	cleanup_json struct cJSON *volume = NULL;
	int status;

	if (claim)
		return set_claim(move, cli->name_space ? cli->name_space : "default", claim);
	status = get_object(cli, cli_path("/api/v1/persistentvolumes/%s", name), "persistentvolume",
			    name, &volume);
	if (status == EXIT_NOT_FOUND)
		claim_hint(cli, name);
	if (status != EXIT_DONE)
		return status;
	if (strcmp(json_text_at(volume, "status.phase"), "Bound") != 0)
		return cli_end(cli, EXIT_FAILED, "volume '%s' is not bound to a claim", name);
	return set_claim(move, json_text_at(volume, "spec.claimRef.namespace"),
			 json_text_at(volume, "spec.claimRef.name"));
}

/* ---- whether it can be ---- */

static int check_node(struct cli *cli)
{
	cleanup_json struct cJSON *version = NULL;
	int status = get_tree(cli, "/podvol/v1/version", &version);

	if (status == EXIT_DONE && strcmp(json_text_at(version, "store"), "embedded") != 0)
		return cli_end(cli, EXIT_FAILED,
			       "this node belongs to a cluster, whose PersistentVolumes are the "
			       "kube-apiserver's: podvold rebinds no claim there");
	return status;
}

static bool is_local(const char *provisioner)
{
	return strcmp(provisioner, "podvol/local") == 0 ||
	       strcmp(provisioner, "local.podvol.io") == 0;
}

static bool is_to_path(const struct move *move)
{
	return move->to[0] == '/';
}

/* At a path it is the claim's own. */
static int check_class(struct move *move, const struct cJSON *claim, struct cJSON **ret)
{
	const char *name =
		is_to_path(move) ? json_text_at(claim, "spec.storageClassName") : move->to;
	int status =
		get_object(move->cli, cli_path("/apis/storage.k8s.io/v1/storageclasses/%s", name),
			   "storageclass", name, ret);

	if (status == EXIT_DONE && !is_local(json_text_at(*ret, "provisioner")))
		return cli_end(move->cli, EXIT_FAILED,
			       "class '%s' is one of '%s': only to classes of podvol/local can be "
			       "moved",
			       name, json_text_at(*ret, "provisioner"));
	return status;
}

/* Who has it, as far as is known now; podvold asks again. */
static int check_users(struct move *move)
{
	cleanup_json struct cJSON *rows = NULL;
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s", move->volume);
	const char *pod;
	int status;

	if (!path)
		return cli_failed(move->cli, -ENOMEM);
	status = get_tree_if_there(move->cli, path, &rows);
	if (status != EXIT_DONE || json_count(json_get(rows, "items")) == 0)
		return status;
	/* What is staged and waits for its unmounting has no pod any more. */
	pod = json_text_at(json_first(json_get(rows, "items")), "pod");
	return cli_end(move->cli, EXIT_FAILED,
		       "volume '%s' is in use%s%s%s: delete the pods that mount it, and wait until "
		       "it is unmounted",
		       move->volume, *pod ? " by pod '" : "", pod, *pod ? "'" : "");
}

static int check_volume(struct move *move, const struct cJSON *claim, struct cJSON **ret)
{
	const char *name = json_text_at(claim, "spec.volumeName");
	int status;

	if (strcmp(json_text_at(claim, "status.phase"), "Bound") != 0)
		return cli_end(move->cli, EXIT_FAILED, "claim '%s/%s' is not bound to a volume",
			       move->space, move->name);
	move->volume = strdup(name);
	if (!move->volume)
		return cli_failed(move->cli, -ENOMEM);
	status = get_object(move->cli, cli_path("/api/v1/persistentvolumes/%s", name),
			    "persistentvolume", name, ret);
	if (status != EXIT_DONE)
		return status;
	if (!is_local(annotation(*ret, "pv.kubernetes.io/provisioned-by")) ||
	    strcmp(json_text_at(*ret, "spec.volumeMode"), "Block") == 0)
		return cli_end(move->cli, EXIT_FAILED,
			       "volume '%s' is not a directory that podvol/local made", name);
	return check_users(move);
}

/* One move of a claim at a time: else the first command reports the end of the second. */
static int check_moving(struct move *move, const struct cJSON *claim)
{
	const char *to = annotation(claim, MOVE_TO);

	if (!*to || strcmp(to, move->to) == 0)
		return EXIT_DONE;
	return cli_end(move->cli, EXIT_FAILED,
		       "claim '%s/%s' is being moved to '%s': wait, or call that off by "
		       "'podvolctl annotate pvc %s " MOVE_TO "-'",
		       move->space, move->name, to, move->name);
}

/* ---- asking and waiting ---- */

static int ask(const struct move *move, const struct cJSON *claim)
{
	cleanup_json struct cJSON *patch = json_new_object();
	cleanup_free char *body = NULL;
	struct cJSON *metadata = json_add_object(patch, "metadata");

	(void) json_set_string(metadata, "resourceVersion",
			       json_text_at(claim, "metadata.resourceVersion"));
	(void) json_set_string(json_add_object(metadata, "annotations"), MOVE_TO, move->to);
	body = json_print(patch);
	cli_about(move->cli, "persistentvolumeclaim", move->space, move->name);
	return cli_send_patch(move->cli, move->path, TYPE_MERGE_PATCH, body);
}

static bool is_over(void *userdata, const struct podvol_event *event)
{
	const struct json_limits limits = { .bytes = event->length + 1, .depth = 80 };
	struct move *move = userdata;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *claim;

	if (json_parse(event->object, event->length, &limits, &tree, NULL) < 0)
		return false; /* interrupted: it goes on */
	claim = event->type == PODVOL_LISTED ? json_first(json_get(tree, "items")) : tree;
	move->is_gone = !claim || event->type == PODVOL_DELETED;
	if (move->is_gone || *annotation(claim, MOVE_TO))
		return move->is_gone;
	move->is_moved = strcmp(json_text_at(claim, "spec.volumeName"), move->volume) != 0;
	move->outcome = strdup(annotation(claim, LAST_MOVE));
	return true;
}

static void show_progress(void *userdata)
{
	const struct move *move = userdata;
	cleanup_json struct cJSON *rows = NULL;
	cleanup_free char *about = NULL, *text = NULL;
	const struct cJSON *row = NULL;

	about = new_text("persistentvolumeclaim %s/%s", move->space, move->name);
	if (about && get_tree_if_there(move->cli, "/podvol/v1/operations", &rows) == EXIT_DONE)
		row = json_find(json_get(rows, "items"), "about", about);
	text = new_text("moving '%s/%s'%s%s", move->space, move->name, row ? ": " : "",
			row ? json_text_at(row, "progress") : "");
	progress_show(move->cli, text ?: "moving");
}

static int wait_until_over(struct move *move)
{
	struct cli *cli = move->cli;
	cleanup_free char *path =
		cli_path(CLAIMS_PATH "?fieldSelector=metadata.name%%3D%s", move->space, move->name);
	cleanup_free char *what =
		new_text("waiting for claim '%s/%s' to be moved", move->space, move->name);
	struct cli_awaited awaited = {
		.path = path,
		.what = what,
		.end_usec = UINT64_MAX,
		.show = show_progress,
		.is_over = is_over,
		.userdata = move,
	};
	int r;

	if (cli_value(cli, "timeout"))
		awaited.end_usec = monotonic_usec() + cli->timeout_msec * USEC_PER_MSEC;
	r = path && what ? cli_await(cli, &awaited) : -ENOMEM;
	if (r == -ETIMEDOUT)
		cli_complain(cli,
			     "claim '%s/%s' is not moved yet, and podvold goes on: see 'podvolctl "
			     "get operations'",
			     move->space, move->name);
	return r < 0 ? cli_exit_status(r, 0) : EXIT_DONE;
}

static int move_claim(struct move *move, const struct cJSON *claim)
{
	struct cli *cli = move->cli;
	int status = ask(move, claim);

	if (status == EXIT_DONE)
		status = wait_until_over(move);
	if (status != EXIT_DONE)
		return status;
	if (move->is_gone)
		return cli_end(cli, EXIT_NOT_FOUND, "claim '%s/%s' was deleted", move->space,
			       move->name);
	if (!move->is_moved)
		return cli_end(cli, EXIT_FAILED, "claim '%s/%s' is %s", move->space, move->name,
			       move->outcome && *move->outcome ? move->outcome : "not moved");
	(void) fprintf(cli->out, "claim '%s/%s' is %s\n", move->space, move->name,
		       move->outcome ?: "moved");
	return EXIT_DONE;
}

static int foretell(const struct move *move, const struct cJSON *volume, const struct cJSON *class)
{
	const char *bases = json_text(json_get(class, "parameters"), "basePaths");

	(void) fprintf(move->cli->out,
		       "would move claim '%s/%s' from volume '%s' in '%s' to a new ", move->space,
		       move->name, move->volume, json_text_at(volume, "spec.local.path"));
	if (is_to_path(move))
		(void) fprintf(move->cli->out, "volume at '%s'", move->to);
	else
		(void) fprintf(move->cli->out, "volume of class '%s' below '%s'", move->to,
			       *bases ? bases : "/var/lib/podvol/volumes");
	(void) fprintf(move->cli->out, "; the old volume would be retained (dry run)\n");
	return EXIT_DONE;
}

static int run(struct move *move)
{
	cleanup_json struct cJSON *claim = NULL, *volume = NULL, *class = NULL;
	int status = check_node(move->cli);

	if (status == EXIT_DONE)
		status = find_claim(move);
	if (status == EXIT_DONE)
		status = get_tree(move->cli, move->path, &claim);
	if (status == EXIT_DONE)
		status = check_moving(move, claim);
	if (status == EXIT_DONE)
		status = check_class(move, claim, &class);
	if (status == EXIT_DONE)
		status = check_volume(move, claim, &volume);
	if (status != EXIT_DONE)
		return status;
	return cli_flag(move->cli, "dry-run") ? foretell(move, volume, class)
					      : move_claim(move, claim);
}

int verb_move(struct cli *cli)
{
	struct move move = { .cli = cli, .to = cli_value(cli, "to") };
	int status;

	if (!move.to || !*move.to)
		return cli_end(cli, EXIT_USAGE, "move needs --to CLASS or --to PATH");
	if (!is_to_path(&move) && strchr(move.to, '/'))
		return cli_end(cli, EXIT_USAGE,
			       "'%s' is neither a StorageClass nor an absolute path", move.to);
	status = run(&move);
	free(move.space);
	free(move.name);
	free(move.volume);
	free(move.path);
	free(move.outcome);
	return status;
}
