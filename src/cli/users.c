/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users - who uses a volume, searched for now; see describe.h
 *
 * An unmount need not have failed before. What could not be found out is said, never taken for
 * "no users".
 */
#include "cli/describe.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

struct cJSON *users_search(struct cli *cli, const char *volume)
{
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s/users", volume), *text = NULL;
	const struct podvol_request request = { .method = "GET", .path = path };
	struct cJSON *tree = NULL;
	int r = cli_request_tree(cli, &request, &tree);

	if (r == 0 || r == -ENOENT)
		return tree;
	tree = json_new_object();
	text = new_text("unknown: %s", podvol_error(cli->podvol));
	(void) json_set_string(tree, "result", text ?: "unknown");
	return tree;
}

void users_say(struct cli *cli, const struct cJSON *users, int64_t total)
{
	const struct cJSON *user = json_first(users);

	if (user)
		say(cli, "It is used by:");
	for (; user; user = json_next(user))
		say(cli, "%s%s", json_text(user, "text"), json_next(user) ? ";" : ".");
	if (total > (int64_t) json_count(users))
		say(cli, "%lld more use it.", (long long) total - (long long) json_count(users));
}

void users_search_and_say(struct cli *cli, const char *volume, bool with_unknown)
{
	cleanup_json struct cJSON *tree = users_search(cli, volume);
	const char *result = json_text(tree, "result");
	int64_t total = 0;

	(void) json_int64(json_get(tree, "total"), &total);
	if (total > 0)
		users_say(cli, json_get(tree, "users"), total);
	else if (strcmp(result, "no users") == 0)
		say(cli, "No process uses it.");
	else if (*result && with_unknown)
		say(cli, "Its users are %s.", result);
}
