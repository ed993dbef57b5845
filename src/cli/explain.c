/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain - show desired and actual state, what blocks it and what happens next, in whole sentences
 *
 * For the person on call: nothing here has to be known to read it. One paragraph per volume of a
 * pod, or per pod of a volume; first the verdict, then the reasons. Asks only, changes nothing.
 */
#include "cli/describe.h"
#include "cli/get.h"
#include "cli/kinds.h"

#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

#define ANNOTATION_SELECTED_NODE "volume.kubernetes.io/selected-node"

/* ---- one use of a volume ---- */

enum verdict {
	VERDICT_NONE,
	VERDICT_DONE,
	VERDICT_FAULTY,
	VERDICT_OVER_LIMIT,
	VERDICT_OLD_SIZE,
	VERDICT_RUNNING,
	VERDICT_RETRY,
	VERDICT_HELD,
	VERDICT_TURN
};

/* A faulty volume is mounted, and stays so. */
static bool is_mounted(const struct cJSON *row)
{
	return strcmp(json_text(row, "state"), "mounted") == 0 ||
	       strcmp(json_text(row, "state"), "faulty") == 0;
}

static bool is_settled(const struct cJSON *row)
{
	bool wanted = json_bool(json_get(row, "wanted"), false);

	return wanted == is_mounted(row) && *json_text(row, "step") == '\0';
}

static enum verdict judge(const struct cJSON *row, bool is_held)
{
	if (strcmp(json_text(row, "step"), "none") == 0)
		return VERDICT_NONE;
	if (is_settled(row) && *json_text(row, "fault"))
		return VERDICT_FAULTY;
	if (is_settled(row) && *json_text(row, "overLimit"))
		return VERDICT_OVER_LIMIT;
	if (is_settled(row))
		return *json_text(row, "resizeError") ? VERDICT_OLD_SIZE : VERDICT_DONE;
	/* A step that waits for another did not fail. */
	if ((is_held && !json_bool(json_get(row, "wanted"), false)) ||
	    strcmp(json_text(row, "step"), "wait") == 0)
		return VERDICT_HELD;
	if (*json_text(row, "error"))
		return VERDICT_RETRY;
	if (*json_text(row, "step"))
		return VERDICT_RUNNING;
	return VERDICT_TURN;
}

/* A step runs, and is known to be slow. */
static bool is_hanging(const struct cJSON *row)
{
	return *json_text(row, "waitsFor") && !*json_text(row, "error");
}

static void say_what_is(struct cli *cli, const struct cJSON *row)
{
	const char *state = json_text(row, "state"), *path = json_text(row, "path");

	if (strcmp(json_text(row, "step"), "none") == 0)
		say(cli, "Volume '%s' is not mounted.", json_text(row, "volume"));
	else if (is_mounted(row))
		say(cli, "It is mounted at %s%s.", path,
		    json_bool(json_get(row, "readOnly"), false) ? ", read-only" : "");
	else if (*json_text(row, "drift"))
		say(cli, "Its mount at %s was changed by another process.", path);
	else if (json_get(row, "users")) /* known once an unmount found it busy */
		say(cli, "It stays mounted%s%s while it is in use.", *path ? " at " : "", path);
	else if (strcmp(state, "uncertain") == 0 && is_hanging(row))
		say(cli, "Whether it is mounted%s%s is unknown until its step returns.",
		    *path ? " at " : "", path);
	else if (strcmp(state, "uncertain") == 0)
		say(cli,
		    "An operation was interrupted: whether it is mounted%s%s is unknown until the "
		    "next one.",
		    *path ? " at " : "", path);
	else
		say(cli, "It is not mounted.");
}

static void say_what_is_wanted(struct cli *cli, const struct cJSON *row)
{
	const char *source = json_text(row, "source"), *plugin = json_text(row, "plugin");

	if (!json_bool(json_get(row, "wanted"), false))
		say(cli, "Volume '%s' of pod '%s' is no longer wanted: it will be unmounted.",
		    json_text(row, "volume"), json_text(row, "pod"));
	else
		say(cli, "Volume '%s' is wanted by pod '%s'%s%s%s%s%s.", json_text(row, "volume"),
		    json_text(row, "pod"), *source ? ", from '" : "", source, *source ? "'" : "",
		    *plugin ? " by " : "", plugin);
}

static void say_advice(struct cli *cli, const struct cJSON *row)
{
	if (*json_text(row, "advice"))
		say(cli, "To do: %s.", json_text(row, "advice"));
}

/* What is under way: a step, its part, since when, which try. */
static void say_step(struct cli *cli, const struct cJSON *row)
{
	const char *stage = json_text(row, "stage"), *progress = json_text(row, "progress");
	char since[SENTENCE_TIME_BYTES];
	int64_t attempts = 0;

	(void) json_int64(json_get(row, "attempts"), &attempts);
	sentence_since(json_text(row, "since"), since);
	say(cli, "Step '%s' is running%s%s%s%s%s%s%s.", json_text(row, "step"),
	    *stage ? ", at '" : "", stage, *stage ? "'" : "", *since ? ", for " : "", since,
	    *progress ? ": " : "", progress);
	if (attempts > 0)
		say(cli, "%lld earlier %s failed.", (long long) attempts,
		    attempts == 1 ? "attempt" : "attempts");
	if (*json_text(row, "waitsFor"))
		say(cli, "It is slow: %s.", json_text(row, "waitsFor"));
	say_advice(cli, row);
	if (is_hanging(row))
		say(cli, "It is not retried before it returns.");
}

/* Processes and mounts that kept it from being unmounted. */
static void say_users(struct cli *cli, const struct cJSON *users)
{
	int64_t total = 0;

	(void) json_int64(json_get(users, "total"), &total);
	users_say(cli, json_get(users, "items"), total);
}

static void say_failure(struct cli *cli, const struct cJSON *row)
{
	const char *failed = json_text(row, "failedAt");
	const char *stage = *failed ? failed : json_text(row, "stage");
	char since[SENTENCE_TIME_BYTES], next[SENTENCE_TIME_BYTES];
	int64_t attempts = 0;

	sentence_since(json_text(row, "since"), since);
	if (strcmp(json_text(row, "step"), "look_up") == 0) {
		say(cli, "It is blocked%s%s: %s.", *since ? ", for " : "", since,
		    json_text(row, "error"));
		say_advice(cli, row);
		say(cli, "It continues when the named objects exist and match.");
		return;
	}
	(void) json_int64(json_get(row, "attempts"), &attempts);
	sentence_until(json_text(row, "nextRetry"), next);
	say(cli, "It is blocked: step '%s' failed%s%s%s: %s.", json_text(row, "step"),
	    *stage ? " at '" : "", stage, *stage ? "'" : "", json_text(row, "error"));
	sentence_since(json_text(row, "failingSince"), since);
	if (attempts > 0)
		say(cli, "That was attempt %lld%s%s.", (long long) attempts,
		    *since ? "; it has failed for " : "", since);
	say_users(cli, json_get(row, "users"));
	say_advice(cli, row);
	if (*next)
		say(cli, "It is retried %s%s.", next,
		    *json_text(row, "advice") ? "" : "; no action needed");
	else if (*json_text(row, "waitsFor"))
		say(cli, "It %s, and is retried then.", json_text(row, "waitsFor"));
	else
		say(cli, "It is being retried now.");
}

/* "volume 'v': is hidden since ..." as a sentence about the volume that was named. */
static void say_what_it_waits_for(struct cli *cli, const struct cJSON *row)
{
	cleanup_free char *name = new_text("volume '%s': ", json_text(row, "volume"));
	const char *error = json_text(row, "error");

	if (name && strncmp(error, name, strlen(name)) == 0)
		say(cli, "It %s.", error + strlen(name));
	else
		say(cli, "It waits: %s.", error);
}

static void explain_row(struct cli *cli, const struct cJSON *row, bool is_held)
{
	bool wanted = json_bool(json_get(row, "wanted"), false);
	enum verdict verdict = judge(row, is_held);

	if (verdict != VERDICT_NONE)
		say_what_is_wanted(cli, row);
	say_what_is(cli, row);
	if (is_mounted(row) && !json_get(row, "users"))
		users_search_and_say(cli, json_text(row, "uniqueName"), !wanted);
	switch (verdict) {
	case VERDICT_NONE:
		say(cli, "It will not be: %s.", json_text(row, "error"));
		break;
	case VERDICT_DONE:
		say(cli, "Healthy; no action needed.");
		break;
	case VERDICT_FAULTY:
		say(cli, "It is faulty: %s.", json_text(row, "fault"));
		say(cli, "podvold repairs nothing while a pod uses it.");
		say_advice(cli, row);
		break;
	case VERDICT_OVER_LIMIT:
		say(cli, "%s.", json_text(row, "overLimit"));
		break;
	case VERDICT_OLD_SIZE:
		say(cli, "It is used at its old size: it could not be expanded: %s.",
		    json_text(row, "resizeError"));
		say(cli, "That is retried, at the latest with the next mount; remove the cause.");
		break;
	case VERDICT_RUNNING:
		say_step(cli, row);
		break;
	case VERDICT_RETRY:
		say_failure(cli, row);
		break;
	case VERDICT_HELD:
		if (is_held)
			say(cli, "It stays until the containers that hold the pod have ended.");
		else
			say_what_it_waits_for(cli, row);
		break;
	case VERDICT_TURN:
		say(cli, "It is queued to be %s; no action needed.",
		    wanted ? "mounted" : "unmounted");
		break;
	}
	say_end(cli);
}

/* ---- a pod ---- */

/* A daemon that knows no holds yet has none. */
static bool explain_holds(struct cli *cli, const char *pod, const char *asked)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *path = cli_pod_path(asked, "/holds");

	if (!path || get_tree_if_there(cli, path, &tree) != EXIT_DONE || !tree)
		return false;
	JSON_FOREACH (hold, json_get(tree, "items")) {
		char since[SENTENCE_TIME_BYTES];
		int64_t pid = 0;

		(void) json_int64(json_get(hold, "pid"), &pid);
		sentence_since(json_text(hold, "since"), since);
		say(cli, "Container '%s' holds the pod%s%s: none of its volumes is unmounted.",
		    json_text(hold, "container"), *since ? ", for " : "", since);
		if (pid > 0)
			say(cli, "That ends with process %lld.", (long long) pid);
		else if (*json_text(hold, "cgroup"))
			say(cli, "That ends when cgroup '%s' is empty.", json_text(hold, "cgroup"));
		else
			say(cli, "That ends with: podvolctl release %s %s.", pod,
			    json_text(hold, "id"));
		say_end(cli);
	}
	return json_count(json_get(tree, "items")) > 0;
}

/* A manifest that was refused: what is in force is older than what the file says. */
static void explain_manifest(struct cli *cli, const char *name_space, const char *name)
{
	cleanup_json struct cJSON *tree = NULL;

	if (get_tree_if_there(cli, "/podvol/v1/manifests", &tree) != EXIT_DONE)
		return;
	JSON_FOREACH (item, json_get(tree, "items")) {
		const char *space = json_text(item, "namespace");
		char since[SENTENCE_TIME_BYTES];
		int64_t line = 0;

		if (strcmp(json_text(item, "kind"), "Pod") != 0 ||
		    strcmp(json_text(item, "name"), name) != 0 ||
		    strcmp(*space && strcmp(space, "-") != 0 ? space : "default", name_space) != 0)
			continue;
		(void) json_int64(json_get(item, "line"), &line);
		sentence_since(json_text(item, "since"), since);
		say(cli, "Its manifest '%s' is refused%s%s, because of line %lld: %s.",
		    json_text(item, "file"), *since ? ", for " : "", since, (long long) line,
		    json_text(item, "text"));
		say(cli, "Until the file is fixed, the last accepted version stays in force.");
		say_end(cli);
	}
}

static void split_pod(const char *pod, char name_space[64], char name[254])
{
	const char *slash = strchr(pod, '/');

	(void) snprintf(name_space, 64, "%.*s", slash ? (int) (slash - pod) : 7,
			slash ? pod : "default");
	(void) snprintf(name, 254, "%s", slash ? slash + 1 : pod);
}

static int explain_pod(struct cli *cli, const char *pod, const struct cJSON *rows)
{
	const struct cJSON *row = json_first(json_get(rows, "items"));
	const char *known_as = row ? json_text(row, "pod") : pod;
	char name_space[64], name[254];
	bool is_held;

	split_pod(*known_as ? known_as : pod, name_space, name);
	is_held = explain_holds(cli, *known_as ? known_as : pod, pod);
	explain_manifest(cli, name_space, name);
	if (!row) {
		say(cli, "Pod '%s/%s' is stored and has no volumes that podvold has to mount.",
		    name_space, name);
		say_end(cli);
	}
	for (; row; row = json_next(row))
		explain_row(cli, row, is_held);
	return EXIT_DONE;
}

/* ---- what is not mounted for anybody ---- */

/* What is deleted stays until those who put a finalizer took it away. Return: whether it is. */
static bool say_deletion(struct cli *cli, const struct cJSON *object)
{
	const struct cJSON *metadata = json_get(object, "metadata");
	const struct cJSON *finalizer = json_first(json_get(metadata, "finalizers"));
	char since[SENTENCE_TIME_BYTES];

	if (!*json_text(metadata, "deletionTimestamp"))
		return false;
	sentence_since(json_text(metadata, "deletionTimestamp"), since);
	say(cli, "It was deleted %s%s and is still there because of its finalizers:", since,
	    *since ? " ago" : "");
	for (; finalizer; finalizer = json_next(finalizer))
		say(cli, "'%s'%s", json_string(finalizer, ""), json_next(finalizer) ? "," : ".");
	say(cli, "It is removed once they are.");
	return true;
}

static int explain_stored_volume(struct cli *cli, const char *word, const struct cJSON *volume)
{
	const struct cJSON *claim = json_get(json_get(volume, "spec"), "claimRef");

	say(cli, "Volume '%s' is stored, in phase '%s'.", word,
	    json_text(json_get(volume, "status"), "phase"));
	if (claim)
		say(cli, "It belongs to claim '%s/%s'.", json_text(claim, "namespace"),
		    json_text(claim, "name"));
	else
		say(cli, "It belongs to no claim.");
	if (!say_deletion(cli, volume))
		say(cli, "No pod of this node uses it; no action needed.");
	say_end(cli);
	return EXIT_DONE;
}

/* The newest event about the claim: the binder or provisioner says there what it waits for. */
static void say_why_unbound(struct cli *cli, const char *name_space, const char *word,
			    const struct cJSON *claim)
{
	const struct cJSON *metadata = json_get(claim, "metadata");
	const char *node = json_text(json_get(metadata, "annotations"), ANNOTATION_SELECTED_NODE);
	cleanup_free char *path = describe_events_path("PersistentVolumeClaim", name_space, word);
	cleanup_json struct cJSON *list = NULL;
	const char *why = "";

	if (path && get_tree_if_there(cli, path, &list) == EXIT_DONE && list)
		(void) sort_events(cli, &list);
	JSON_FOREACH (i, json_get(list, "items"))
		if (strcmp(json_text(json_get(i, "involvedObject"), "uid"),
			   json_text(metadata, "uid")) == 0)
			why = json_text(i, "message");
	if (*node)
		say(cli, "Node '%s' was selected for it.", node);
	if (*why)
		say(cli, "It has no volume yet: %s", why);
	else
		say(cli,
		    "It has no volume yet: one that is free and fits has to be stored, or made.");
}

static int explain_claim(struct cli *cli, const char *name_space, const char *word,
			 const struct cJSON *claim)
{
	const char *volume = json_text(json_get(claim, "spec"), "volumeName");
	const char *phase = json_text(json_get(claim, "status"), "phase");

	say(cli, "Claim '%s/%s' is stored, in phase '%s'.", name_space, word,
	    *phase ? phase : "Pending");
	(void) say_deletion(cli, claim);
	if (*volume)
		say(cli, "Its volume is '%s': podvolctl explain-state %s says more.", volume,
		    volume);
	else
		say_why_unbound(cli, name_space, word, claim);
	say_end(cli);
	return EXIT_DONE;
}

/* Return: EXIT_NOT_FOUND without a complaint when nothing has this name. */
static int explain_stored(struct cli *cli, const char *word, bool is_claim)
{
	const char *name_space = cli->name_space ? cli->name_space : "default";
	cleanup_free char *volume_path = cli_path("/api/v1/persistentvolumes/%s", word);
	cleanup_free char *claim_path = cli_path(CLAIMS_PATH "/%s", name_space, word);
	cleanup_json struct cJSON *volume = NULL, *claim = NULL;
	int status = EXIT_DONE;

	if (!volume_path || !claim_path)
		return EXIT_FAILED;
	if (!is_claim)
		status = get_tree_if_there(cli, volume_path, &volume);
	if (status == EXIT_DONE && volume)
		return explain_stored_volume(cli, word, volume);
	if (status == EXIT_DONE)
		status = get_tree_if_there(cli, claim_path, &claim);
	if (status == EXIT_DONE && claim)
		return explain_claim(cli, name_space, word, claim);
	return status == EXIT_DONE ? EXIT_NOT_FOUND : status;
}

/* ---- the verb ---- */

/* Without its kind: paths and unique names have more slashes than a namespace and a name. */
static bool may_be_pod(const char *pod)
{
	const char *slash = strchr(pod, '/');

	return !slash || (slash != pod && slash[1] && !strchr(slash + 1, '/'));
}

/* A manifest that was refused may be why. */
static void complain_unknown(struct cli *cli, const char *word, const char *pod)
{
	char name_space[64], name[254];

	if (!may_be_pod(pod)) {
		cli_complain(cli, "no volume '%s' is known here", word);
		return;
	}
	split_pod(pod, name_space, name);
	explain_manifest(cli, name_space, name);
	cli_complain(cli, "no pod or claim '%s/%s' and no volume '%s' is known here", name_space,
		     name, word);
}

int verb_explain_state(struct cli *cli)
{
	const char *claim = named_claim(cli->arguments[0]);
	const char *volume = named_volume(cli->arguments[0]);
	const char *word = claim ?: volume ?: cli->arguments[0];
	cleanup_free char *pod = NULL, *of_pod = NULL, *of_volume = NULL;
	cleanup_json struct cJSON *rows = NULL;
	int status = cli_pod(cli, word, &pod);

	if (status != EXIT_DONE)
		return status;
	of_pod = cli_pod_path(pod, "/volumes");
	of_volume = cli_path("/podvol/v1/volumes/%s", word);
	if (!of_pod || !of_volume)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	if (!claim && !volume && may_be_pod(pod))
		status = get_tree_if_there(cli, of_pod, &rows);
	if (status == EXIT_DONE && rows)
		return explain_pod(cli, pod, rows);
	if (status == EXIT_DONE && !claim)
		status = get_tree_if_there(cli, of_volume, &rows);
	if (status == EXIT_DONE && rows) {
		const struct cJSON *row = json_first(json_get(rows, "items"));

		for (; row; row = json_next(row))
			explain_row(cli, row, false);
		return EXIT_DONE;
	}
	if (status == EXIT_DONE)
		status = explain_stored(cli, word, claim);
	if (status == EXIT_NOT_FOUND)
		complain_unknown(cli, word, pod);
	return status;
}
