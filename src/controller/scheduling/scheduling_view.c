/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_view - a verdict of the scheduling checks as a tree; see scheduling.h
 */
#include "controller/scheduling/scheduling.h"

#include "object/json/json.h"

#include <assert.h>

struct cJSON *scheduling_view(struct store *store, const char *node_name, const struct object *pod,
			      const struct object *node)
{
	struct scheduling_query question = { .store = store, .pod = pod->pod };
	struct scheduling_verdict verdict = { .count = 0 };
	char key[POD_KEY_BYTES];
	struct cJSON *tree = json_new_object(), *reasons;

	assert(pod->kind == KIND_POD);
	question.node = node ? node : store_get(store, KIND_NODE, "", node_name);
	(void) json_set_string(tree, "pod", pod_key(pod->pod, key));
	(void) json_set_string(tree, "node", node_name);
	if (question.node)
		scheduling_check(&question, &verdict);
	else /* for a moment after the first start */
		scheduling_add(&verdict, "NodeName", true, "node \"%s\" not found", node_name);
	if (question.node)
		(void) json_set_string(tree, "node", question.node->meta.name);
	(void) json_set_bool(tree, "fits", verdict.count == 0);
	reasons = json_add_array(tree, "reasons");
	for (size_t i = 0; i < verdict.count; i++) {
		struct cJSON *reason = json_add_object(reasons, NULL);

		(void) json_set_string(reason, "plugin", verdict.reasons[i].plugin);
		(void) json_set_string(reason, "reason", verdict.reasons[i].text);
		(void) json_set_bool(reason, "resolvable", verdict.reasons[i].is_resolvable);
	}
	return tree;
}
