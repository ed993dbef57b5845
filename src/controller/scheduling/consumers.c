/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consumers - who waits for a claim; see consumers.h
 */
#include "controller/scheduling/consumers.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct search {
	struct store *store;
	const char *node_name;
	const struct object *claim, *node;
	const struct scheduling_assumed *assumed;
	struct consumers *ret;
};

bool consumers_has_claim(const struct pod *pod, const char *claim)
{
	for (size_t i = 0; i < pod->volume_count; i++)
		if (pod->volumes[i].claim_name && strcmp(pod->volumes[i].claim_name, claim) == 0)
			return true;
	return false;
}

bool consumers_may_use(const struct pod *pod, const struct object *claim)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct pod_volume *volume = &pod->volumes[i];

		if (volume->claim_name && strcmp(volume->claim_name, claim->meta.name) == 0 &&
		    (volume->source != SOURCE_EPHEMERAL ||
		     strcmp(claim->claim->controller_owner_uid, pod->object->meta.uid) == 0))
			return true;
	}
	return false;
}

/* "0/1 nodes are available: 1 node(s) had volume node affinity conflict." What is about the pod
 * itself is not counted. */
static void print_why(const struct scheduling_verdict *verdict, char text[CONSUMER_TEXT_BYTES])
{
	size_t used = (size_t) snprintf(text, CONSUMER_TEXT_BYTES, "0/1 nodes are available:");

	for (size_t i = 0; i < verdict->count && used < CONSUMER_TEXT_BYTES; i++) {
		const char *reason = verdict->reasons[i].text;

		used += (size_t) snprintf(text + used, CONSUMER_TEXT_BYTES - used, "%s %s%s",
					  i > 0 ? "," : "",
					  strncmp(reason, "node", 4) == 0 ? "1 " : "", reason);
	}
	if (used < CONSUMER_TEXT_BYTES)
		(void) snprintf(text + used, CONSUMER_TEXT_BYTES - used, ".");
}

static bool waits(const struct scheduling_query *question, const struct pod_volume *volume)
{
	const struct object *claim = scheduling_claim(question, volume);
	const struct storage_class *class = claim ? scheduling_class(question, claim) : NULL;

	return class && class->waits_for_first_consumer && !claim->claim->volume_name[0] &&
	       !claim->claim->selected_node[0];
}

/* One of them tells for all. */
static bool is_first_waiting(const struct scheduling_query *question, const char *claim)
{
	const struct pod *pod = question->pod;

	for (size_t i = 0; i < pod->volume_count; i++)
		if (waits(question, &pod->volumes[i]))
			return strcmp(pod->volumes[i].claim_name, claim) == 0;
	return false;
}

static void start_query(struct search *search, const struct object *pod)
{
	const struct scheduling_query question = { search->store, pod->pod, search->node,
						   search->assumed };
	struct scheduling_verdict verdict;
	struct consumers *ret = search->ret;

	scheduling_check(&question, &verdict);
	if (verdict.count == 0) {
		ret->node = search->node;
		return;
	}
	ret->is_crowded |= scheduling_is_crowded(&verdict);
	if (!ret->reason[0])
		(void) snprintf(ret->reason, sizeof(ret->reason), "%s", verdict.reasons[0].text);
	if (ret->refused || !is_first_waiting(&question, search->claim->meta.name))
		return;
	ret->refused = pod;
	print_why(&verdict, ret->why);
}

/* A pod without a node is this node's; one of another node counts for that one's podvold. */
static int take_consumer(const struct object *object, void *userdata)
{
	struct search *search = userdata;
	const struct pod *pod = object->pod;
	char *names = search->ret->names;
	size_t used = strlen(names);

	if (object->meta.deletes || pod->containers_terminated ||
	    !consumers_has_claim(pod, search->claim->meta.name))
		return 0;
	(void) snprintf(names + used, CONSUMER_NAMES_BYTES - used, "%s%s", used > 0 ? "," : "",
			object->meta.name);
	if (search->node && !search->ret->node &&
	    (!pod->node_name[0] || strcmp(pod->node_name, search->node_name) == 0))
		start_query(search, object);
	return 0;
}

void consumers_find(struct store *store, const char *node_name, const struct object *claim,
		    const struct scheduling_assumed *assumed, struct consumers *ret)
{
	struct search search = { store, node_name, claim, NULL, assumed, ret };

	assert(store && claim && ret && claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	ret->node = ret->refused = NULL;
	ret->is_crowded = false;
	ret->names[0] = ret->why[0] = ret->reason[0] = '\0';
	if (node_name)
		search.node = store_get(store, KIND_NODE, "", node_name);
	(void) store_list(store, KIND_POD, claim->meta.name_space, take_consumer, &search);
	if (ret->node)
		ret->refused = NULL;
}
