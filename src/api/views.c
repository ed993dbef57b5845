/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views - what no store holds, read only: volumes, operations, manifests, events, versions
 *
 * The agent makes the trees; here they are filtered and given the form that was asked for.
 */
#include "api/exchange.h"

#include "api/view_table.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <string.h>
#include <sys/utsname.h>

void views_reply(struct exchange *exchange, int status, struct cJSON *tree,
		 const struct view_columns *columns)
{
	struct failure why = { 0 };
	struct cJSON *table;
	int r;

	assert(exchange && columns);
	r = tree ? view_filter(&exchange->path, columns, &tree, &why) : 0;
	if (r < 0) {
		json_free(tree);
		if (r == -EINVAL)
			reply_refusal(exchange, API_BAD_REQUEST, "%s", why.text);
		else
			reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	if (!tree || exchange->form != FORM_TABLE) {
		reply_tree(exchange, status, tree);
		return;
	}
	table = view_table(tree, columns, realtime_usec());
	json_free(tree);
	reply_tree(exchange, status, table);
}

void views_reply_volumes(struct exchange *exchange, int status, struct cJSON *tree)
{
	views_reply(exchange, status, tree, &view_volume_columns);
}

void views_reply_holds(struct exchange *exchange, struct cJSON *tree)
{
	views_reply(exchange, 200, tree, &view_hold_columns);
}

void views_reply_applied(struct exchange *exchange, struct cJSON *tree)
{
	views_reply(exchange, 200, tree, &view_applied_columns);
}

void views_volume(struct exchange *exchange)
{
	const char *word = exchange->path.segments[3];
	struct cJSON *tree = agent_view_volume(exchange->agent, word);

	if (tree && json_count(json_get(tree, "items")) == 0) {
		json_free(tree);
		reply_refusal(exchange, API_NOT_FOUND, "volume \"%s\" not found", word);
		return;
	}
	views_reply_volumes(exchange, 200, tree);
}

void views_operations(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_operations(exchange->agent), &view_operation_columns);
}

void views_steps(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_steps(exchange->agent), &view_step_columns);
}

void views_manifests(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_manifests(exchange->agent), &view_manifest_columns);
}

void views_metrics(struct exchange *exchange)
{
	char *text = agent_metrics(exchange->agent);

	reply_bytes(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", text,
		    text ? strlen(text) : 0);
}

void views_drivers(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_drivers(exchange->agent, NULL), &view_driver_columns);
}

void views_driver(struct exchange *exchange)
{
	const char *name = exchange->path.segments[3];
	struct cJSON *tree = agent_view_drivers(exchange->agent, name);

	if (tree && json_count(json_get(tree, "items")) == 0) {
		json_free(tree);
		reply_refusal(exchange, API_NOT_FOUND, "driver \"%s\" not found", name);
		return;
	}
	views_reply(exchange, 200, tree, &view_driver_columns);
}

void views_foreign_volumes(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_foreign_volumes(exchange->agent),
		    &view_foreign_volume_columns);
}

void views_threads(struct exchange *exchange)
{
	views_reply(exchange, 200, agent_view_threads(exchange->agent), &view_thread_columns);
}

/* ---- versions ---- */

void views_podvol_version(struct exchange *exchange)
{
	cleanup_json struct cJSON *version = agent_view_version(exchange->agent);
	struct cJSON *view, *items;

	if (!version || exchange->form != FORM_TABLE) {
		reply_tree(exchange, 200, TAKE_PTR(version));
		return;
	}
	view = json_new_object();
	items = json_add_array(view, "items");
	JSON_FOREACH (member, version) {
		struct cJSON *item = json_add_object(items, NULL);
		cleanup_free char *text = NULL;

		(void) json_set_string(item, "name", json_key(member));
		if (json_is_string(member))
			(void) json_set_string(item, "value", json_string(member, ""));
		else if ((text = json_print(member)))
			(void) json_set_string(item, "value", text);
	}
	views_reply(exchange, 200, view, &view_version_columns);
}

/* As Go names it, which is how clients know machines. */
static const char *platform(void)
{
	static const struct {
		const char *machine, *platform;
	} rows[] = {
		{ "x86_64", "linux/amd64" },
		{ "aarch64", "linux/arm64" },
		{ "riscv64", "linux/riscv64" },
	};
	struct utsname name;

	if (uname(&name) < 0)
		return "linux";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].machine, name.machine) == 0)
			return rows[i].platform;
	return "linux";
}

/* What kubectl version and client libraries read: version.Info of the Kubernetes that we speak. */
void views_version(struct exchange *exchange)
{
	static const char *const go_only[] = { "gitCommit", "buildDate", "goVersion", "compiler" };
	cleanup_json struct cJSON *version = agent_view_version(exchange->agent);
	const char *kubernetes = json_string(json_get(version, "kubernetes"), "v1.32.0");
	struct cJSON *info = json_new_object();
	unsigned int major = 0, minor = 0;
	char text[128];

	(void) sscanf(kubernetes, "v%u.%u", &major, &minor);
	(void) snprintf(text, sizeof(text), "%u", major);
	(void) json_set_string(info, "major", text);
	(void) snprintf(text, sizeof(text), "%u", minor);
	(void) json_set_string(info, "minor", text);
	(void) snprintf(text, sizeof(text), "%s+podvol-%s", kubernetes,
			json_string(json_get(version, "podvol"), "unknown"));
	(void) json_set_string(info, "gitVersion", text);
	(void) json_set_string(info, "gitTreeState", "");
	for (size_t i = 0; i < ARRAY_SIZE(go_only); i++)
		(void) json_set_string(info, go_only[i], "");
	(void) json_set_string(info, "platform", platform());
	reply_tree(exchange, 200, info);
}
