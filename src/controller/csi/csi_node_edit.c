/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_node_edit - see csi_node_edit.h
 */
#include "controller/csi/csi_node_edit.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ANNOTATION_BYTES_MAX = 256 * 1024 };

/* ---- the annotation of node ids ---- */

/* @ret: an object, empty when there is no annotation. */
static int read_ids(const struct cJSON *node, struct cJSON **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = ANNOTATION_BYTES_MAX, .depth = 2 };
	const struct cJSON *annotations = json_get_path(node, "metadata.annotations");
	const char *text = json_text(annotations, CSI_NODE_ID_ANNOTATION);
	cleanup_json struct cJSON *ids = NULL;

	if (*text == '\0') {
		ids = json_new_object();
	} else if (json_parse(text, strlen(text), &limits, &ids, reterr) < 0) {
		return failure_prefix(reterr, "the annotation %s of the Node",
				      CSI_NODE_ID_ANNOTATION);
	} else if (!json_is_object(ids)) {
		return failed_plain(reterr, -EINVAL,
				    "the annotation %s of the Node is not a JSON object",
				    CSI_NODE_ID_ANNOTATION);
	}
	if (!ids)
		return failed(reterr, -ENOMEM, "cannot read the Node");
	*ret = TAKE_PTR(ids);
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(json_key(*(const struct cJSON *const *) a),
		      json_key(*(const struct cJSON *const *) b));
}

/* Sorted by driver, as kubelet writes them. NULL: no memory. */
static char *print_ids(const struct cJSON *ids)
{
	cleanup_json struct cJSON *sorted = json_new_object();
	size_t count = json_count(ids), i = 0;
	cleanup_free const struct cJSON **items = calloc(count + 1, sizeof(*items));

	if (!items)
		return NULL;
	JSON_FOREACH (item, ids)
		items[i++] = item;
	qsort(items, count, sizeof(*items), compare_keys);
	for (i = 0; i < count; i++)
		(void) json_set(sorted, json_key(items[i]), json_copy(items[i]));
	return json_print(sorted);
}

/* Dropped with its key when nothing is left in it. */
static int write_ids(struct cJSON *node, const struct cJSON *ids)
{
	struct cJSON *metadata = json_ensure_object(node, "metadata");
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");
	cleanup_free char *text = print_ids(ids);

	if (!annotations || !text)
		return -ENOMEM;
	if (json_count(ids) == 0)
		json_remove(annotations, CSI_NODE_ID_ANNOTATION);
	else
		(void) json_set_string(annotations, CSI_NODE_ID_ANNOTATION, text);
	return 1;
}

static int edit_ids(struct cJSON *node, const char *driver, const char *node_id,
		    struct failure *reterr)
{
	cleanup_json struct cJSON *ids = NULL;
	const struct cJSON *known;
	int r = read_ids(node, &ids, reterr);

	if (r < 0)
		return r;
	known = json_get(ids, driver);
	if (node_id ? known && strcmp(json_string(known, ""), node_id) == 0 : !known)
		return 0;
	if (node_id)
		(void) json_set_string(ids, driver, node_id);
	else
		json_remove(ids, driver);
	r = write_ids(node, ids);
	return r < 0 ? failed(reterr, r, "cannot change the Node") : r;
}

/* ---- the Node ---- */

static int check_labels(const struct cJSON *node, const struct labels *topology,
			struct failure *reterr)
{
	const struct cJSON *labels = json_get_path(node, "metadata.labels");

	for (size_t i = 0; i < topology->count; i++) {
		const struct label *label = &topology->labels[i];
		const struct cJSON *known = json_get(labels, label->key);

		if (known && strcmp(json_string(known, ""), label->value) != 0)
			return failed_plain(reterr, -EEXIST,
					    "the driver says that '%.80s' is '%.40s', but the "
					    "Node has a label that says '%.40s'",
					    label->key, label->value, json_string(known, ""));
	}
	return 0;
}

static int add_labels(struct cJSON *node, const struct labels *topology)
{
	struct cJSON *labels;
	int changed = 0;

	if (topology->count == 0)
		return 0;
	labels = json_ensure_object(json_ensure_object(node, "metadata"), "labels");
	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < topology->count; i++) {
		const struct label *label = &topology->labels[i];

		if (json_get(labels, label->key))
			continue;
		(void) json_set_string(labels, label->key, label->value);
		changed = 1;
	}
	return changed;
}

/* Limits were once listed as a resource of the Node; CSINode has them now. */
static int remove_old_limit(struct cJSON *node, const char *driver)
{
	static const char *const members[] = { "capacity", "allocatable" };
	char key[128];
	int changed = 0;

	(void) snprintf(key, sizeof(key), "attachable-volumes-csi-%s", driver);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		struct cJSON *resources;

		if (!json_get(json_get(json_get(node, "status"), members[i]), key))
			continue;
		resources = json_ensure_object(json_ensure_object(node, "status"), members[i]);
		json_remove(resources, key);
		changed = 1;
	}
	return changed;
}

/* What can be refused is looked at before anything is changed. */
int csi_node_edit_node(struct cJSON *node, const struct csi_node_entry *entry,
		       struct failure *reterr)
{
	int r, changed;

	assert(node && entry && entry->driver && entry->node_id);
	if (*entry->node_id == '\0')
		return failed_plain(reterr, -EINVAL, "driver '%s' reports no node id",
				    entry->driver);
	r = check_labels(node, &entry->topology, reterr);
	if (r < 0)
		return r;
	changed = edit_ids(node, entry->driver, entry->node_id, reterr);
	if (changed < 0)
		return changed;
	r = add_labels(node, &entry->topology);
	if (r < 0)
		return failed(reterr, r, "cannot change the Node");
	return changed | r | remove_old_limit(node, entry->driver);
}

int csi_node_edit_node_back(struct cJSON *node, const char *driver, struct failure *reterr)
{
	int r;

	assert(node && driver);
	r = edit_ids(node, driver, NULL, reterr);
	return r < 0 ? r : r | remove_old_limit(node, driver);
}

/* ---- CSINode ---- */

static int compare_labels(const void *a, const void *b)
{
	return strcmp((*(const struct label *const *) a)->key,
		      (*(const struct label *const *) b)->key);
}

static struct cJSON *new_keys(const struct labels *topology)
{
	cleanup_free const struct label **sorted = calloc(topology->count + 1, sizeof(*sorted));
	struct cJSON *keys = json_new_array();

	if (!sorted) {
		json_free(keys);
		return NULL;
	}
	for (size_t i = 0; i < topology->count; i++)
		sorted[i] = &topology->labels[i];
	qsort(sorted, topology->count, sizeof(*sorted), compare_labels);
	for (size_t i = 0; i < topology->count; i++)
		if (i == 0 || strcmp(sorted[i - 1]->key, sorted[i]->key) != 0)
			(void) json_set_string(keys, NULL, sorted[i]->key);
	return keys;
}

/* NULL: no memory. */
static struct cJSON *new_entry(const struct csi_node_entry *entry)
{
	struct cJSON *tree = json_new_object(), *keys = new_keys(&entry->topology);
	int64_t count = entry->max_volumes < INT32_MAX ? entry->max_volumes : INT32_MAX;

	if (!tree || !keys) {
		json_free(tree);
		json_free(keys);
		return NULL;
	}
	if (count > 0)
		(void) json_set_int(json_add_object(tree, "allocatable"), "count", count);
	(void) json_set_string(tree, "name", entry->driver);
	(void) json_set_string(tree, "nodeID", entry->node_id);
	if (json_count(keys) > 0)
		(void) json_set(tree, "topologyKeys", keys);
	else
		json_free(keys);
	return tree;
}

static const struct cJSON *find_entry(const struct cJSON *csi_node, const char *driver)
{
	return json_find(json_get_path(csi_node, "spec.drivers"), "name", driver);
}

/* A list without this driver, and with @appended, which is taken, at its end. */
static int replace_list(struct cJSON *csi_node, const char *driver, struct cJSON *appended)
{
	const struct cJSON *old = json_get_path(csi_node, "spec.drivers");
	struct cJSON *list = json_new_array();
	struct cJSON *spec = json_ensure_object(csi_node, "spec");

	if (!list || !spec) {
		json_free(list);
		json_free(appended);
		return -ENOMEM;
	}
	JSON_FOREACH (item, old)
		if (!json_text_is(item, "name", driver))
			(void) json_set(list, NULL, json_copy(item));
	if (appended)
		(void) json_set(list, NULL, appended);
	(void) json_set(spec, "drivers", list);
	return 1;
}

int csi_node_edit_entry(struct cJSON *csi_node, const struct csi_node_entry *entry,
			struct failure *reterr)
{
	struct cJSON *wanted;
	const struct cJSON *known;
	int r;

	assert(csi_node && entry && entry->driver && entry->node_id);
	wanted = new_entry(entry);
	if (!wanted)
		return failed(reterr, -ENOMEM, "cannot change the CSINode");
	known = find_entry(csi_node, entry->driver);
	if (known && json_equal(known, wanted)) {
		json_free(wanted);
		return 0;
	}
	if (known) {
		json_free(wanted);
		wanted = NULL;
	}
	r = replace_list(csi_node, entry->driver, wanted);
	return r < 0 ? failed(reterr, r, "cannot change the CSINode") : r;
}

int csi_node_edit_entry_back(struct cJSON *csi_node, const char *driver)
{
	assert(csi_node && driver);
	return find_entry(csi_node, driver) ? replace_list(csi_node, driver, NULL) : 0;
}

int csi_node_edit_migrated(struct cJSON *csi_node)
{
	struct cJSON *annotations;

	assert(csi_node);
	if (!json_get(json_get_path(csi_node, "metadata.annotations"), CSI_MIGRATED_ANNOTATION))
		return 0;
	annotations = json_ensure_object(json_ensure_object(csi_node, "metadata"), "annotations");
	if (!annotations)
		return -ENOMEM;
	json_remove(annotations, CSI_MIGRATED_ANNOTATION);
	return 1;
}

static void set_owner(struct cJSON *metadata, const char *node_name, const char *node_uid)
{
	struct cJSON *owner;

	json_remove(metadata, "ownerReferences");
	owner = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	(void) json_set_string(owner, "apiVersion", "v1");
	(void) json_set_string(owner, "kind", "Node");
	(void) json_set_string(owner, "name", node_name);
	(void) json_set_string(owner, "uid", node_uid);
}

int csi_node_edit_owner(struct cJSON *csi_node, const char *node_name, const char *node_uid)
{
	struct cJSON *metadata = json_ensure_object(csi_node, "metadata");

	assert(node_name && node_uid);
	JSON_FOREACH (owner, json_get(metadata, "ownerReferences"))
		if (json_text_is(owner, "uid", node_uid))
			return 0;
	set_owner(metadata, node_name, node_uid);
	return 1;
}

struct cJSON *csi_node_tree(const char *node_name, const char *node_uid)
{
	struct cJSON *tree = json_new_object(), *metadata;

	assert(node_name && node_uid);
	(void) json_set_string(tree, "apiVersion", "storage.k8s.io/v1");
	(void) json_set_string(tree, "kind", "CSINode");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", node_name);
	set_owner(metadata, node_name, node_uid);
	(void) json_add_array(json_add_object(tree, "spec"), "drivers");
	return tree;
}
