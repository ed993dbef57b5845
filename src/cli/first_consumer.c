/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_consumer - a volume for a claim that waits for its first consumer, without one
 *
 * Says to its controllers what a scheduler says for a pod: that the claim gets this node. Only to a
 * claim whose class waits, and that no node was chosen for yet.
 */
#include "cli/pod_wait.h"

#include "cli/get.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#include <string.h>

#define ANNOTATION "volume.kubernetes.io/selected-node"

struct bound_wait {
	char *volume; /* NULL: not bound yet */
	bool is_gone;
};

static bool is_bound_or_gone(void *userdata, const struct podvol_event *event)
{
	const struct json_limits limits = { .bytes = event->length + 1, .depth = 80 };
	struct bound_wait *wait = userdata;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *claim;

	if (json_parse(event->object, event->length, &limits, &tree, NULL) < 0)
		return false; /* interrupted: it goes on */
	claim = event->type == PODVOL_LISTED ? json_first(json_get(tree, "items")) : tree;
	wait->is_gone = !claim || event->type == PODVOL_DELETED;
	if (strcmp(json_text_at(claim, "status.phase"), "Bound") == 0)
		wait->volume = strdup(json_text_at(claim, "spec.volumeName"));
	return wait->volume || wait->is_gone;
}

static int wait_until_bound(struct cli *cli, struct bound_wait *wait, const char *path,
			    const char *claim)
{
	cleanup_free char *what = new_text("waiting for claim '%s' to be bound", claim);
	const struct cli_awaited awaited = {
		.path = path,
		.what = what,
		.end_usec = monotonic_usec() + cli->timeout_msec * USEC_PER_MSEC,
		.is_over = is_bound_or_gone,
		.userdata = wait,
	};
	int r = what ? cli_await(cli, &awaited) : -ENOMEM;

	if (r == -ETIMEDOUT)
		cli_complain(cli,
			     "claim '%s' is not bound yet: see 'podvolctl explain-state pvc/%s'",
			     claim, claim);
	else if (r == 0 && wait->is_gone)
		cli_complain(cli, "claim '%s' was deleted", claim);
	if (r < 0)
		return cli_exit_status(r, 0);
	return wait->volume ? EXIT_DONE : EXIT_NOT_FOUND;
}

/* Does the class wait for a consumer, and is it not known yet which? */
static int is_waiting(struct cli *cli, const struct cJSON *claim, bool *ret)
{
	const char *class = json_text_at(claim, "spec.storageClassName");
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *path = cli_path("/apis/storage.k8s.io/v1/storageclasses/%s", class);
	const struct cJSON *annotations = json_get_path(claim, "metadata.annotations");
	int status;

	*ret = false;
	if (!*class || *json_text(annotations, ANNOTATION))
		return EXIT_DONE;
	if (!path)
		return cli_failed(cli, -ENOMEM);
	status = get_tree(cli, path, &tree);
	*ret = strcmp(json_text_at(tree, "volumeBindingMode"), "WaitForFirstConsumer") == 0;
	return status;
}

/* With the version that was read: a pod may come first, and its node counts. */
static int select_node(struct cli *cli, const char *path, const struct cJSON *claim)
{
	cleanup_json struct cJSON *version = NULL, *patch = json_new_object();
	cleanup_free char *body = NULL;
	struct cJSON *metadata = json_add_object(patch, "metadata");
	int status = get_tree(cli, "/podvol/v1/version", &version);

	if (status != EXIT_DONE)
		return status;
	(void) json_set_string(metadata, "resourceVersion",
			       json_text_at(claim, "metadata.resourceVersion"));
	(void) json_set_string(json_add_object(metadata, "annotations"), ANNOTATION,
			       json_text_at(version, "nodeName"));
	body = json_print(patch);
	return cli_send_patch(cli, path, TYPE_MERGE_PATCH, body);
}

int claim_volume_here(struct cli *cli, const char *space, const char *name, char **ret)
{
	cleanup_json struct cJSON *claim = NULL;
	cleanup_free char *path = cli_path(CLAIMS_PATH "/%s", space, name);
	cleanup_free char *watched =
		cli_path(CLAIMS_PATH "?fieldSelector=metadata.name%%3D%s", space, name);
	struct bound_wait wait = { .is_gone = false };
	bool waits = false;
	int status;

	if (!path || !watched)
		return cli_failed(cli, -ENOMEM);
	status = get_tree(cli, path, &claim);
	if (status == EXIT_DONE)
		status = is_waiting(cli, claim, &waits);
	if (status != EXIT_DONE)
		return status;
	if (!waits)
		return cli_end(cli, EXIT_FAILED, "claim '%s' has no volume yet", name);
	status = select_node(cli, path, claim);
	if (status == EXIT_DONE)
		status = wait_until_bound(cli, &wait, watched, name);
	*ret = wait.volume;
	return status;
}

void claim_hint(struct cli *cli, const char *name)
{
	cli_complain(cli, "to name claim '%s', write 'pvc/%s'", name, name);
}
