/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_capacity_rule - which classes have a capacity, and what it looks like; see
 * csi_capacity_rule.h
 */
#include "controller/csi/csi_capacity_rule.h"

#include "controller/csi/topology.h"
#include "object/json/json.h"
#include "object/quantity.h"

#include <assert.h>
#include <string.h>

/* ---- what it should be ---- */

bool csi_capacity_has_place(const struct csi_driver *driver)
{
	return driver->plugin_capabilities & CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS;
}

/* A selector of nodes. An empty one, of a driver whose volumes can be reached from everywhere,
 * selects all. */
static struct cJSON *node_topology(const struct csi_driver *driver)
{
	struct cJSON *selector = json_new_object();
	struct cJSON *labels;

	if (!csi_capacity_has_place(driver) || driver->segment_count == 0)
		return selector;
	labels = json_add_object(selector, "matchLabels");
	for (size_t i = 0; i < driver->segment_count; i++)
		(void) json_set_string(labels, driver->segments[i].key, driver->segments[i].value);
	return selector;
}

static void set_bytes(struct cJSON *tree, const char *key, int64_t bytes)
{
	char text[QUANTITY_TEXT_BYTES];

	quantity_print_bytes(bytes, text);
	(void) json_set_string(tree, key, text);
}

static void set_figures(struct cJSON *tree, const struct csi_capacity_figures *figures)
{
	set_bytes(tree, "capacity", figures->available);
	if (figures->has_maximum)
		set_bytes(tree, "maximumVolumeSize", figures->maximum);
	else
		json_remove(tree, "maximumVolumeSize");
}

static int edit_figures(struct cJSON *tree, void *userdata)
{
	set_figures(tree, userdata);
	return 0;
}

static void set_metadata(struct cJSON *metadata, const struct csi_capacity_facts *facts)
{
	const struct object_meta *class = &facts->storage_class->object->meta;
	struct cJSON *labels, *owner;

	(void) json_set_string(metadata, "name", class->name);
	(void) json_set_string(metadata, "namespace", CSI_CAPACITY_NAMESPACE);
	labels = json_add_object(metadata, "labels");
	(void) json_set_string(labels, CSI_CAPACITY_LABEL_DRIVER, facts->driver->name);
	(void) json_set_string(labels, CSI_CAPACITY_LABEL_MANAGED_BY, CSI_CAPACITY_MANAGED_BY);
	if (!facts->node)
		return;
	owner = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	(void) json_set_string(owner, "apiVersion", "v1");
	(void) json_set_string(owner, "kind", "Node");
	(void) json_set_string(owner, "name", facts->node->meta.name);
	(void) json_set_string(owner, "uid", facts->node->meta.uid);
	(void) json_set_bool(owner, "controller", true);
}

int csi_capacity_make(const struct csi_capacity_facts *facts, const struct object **ret,
		      struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;

	assert(facts->figures);
	if (facts->object)
		return object_edit(facts->object, edit_figures, (void *) facts->figures, ret,
				   reterr);
	tree = json_new_object();
	(void) json_set_string(tree, "apiVersion", "storage.k8s.io/v1");
	(void) json_set_string(tree, "kind", "CSIStorageCapacity");
	set_metadata(json_add_object(tree, "metadata"), facts);
	(void) json_set_string(tree, "storageClassName", facts->storage_class->object->meta.name);
	(void) json_set(tree, "nodeTopology", node_topology(facts->driver));
	set_figures(tree, facts->figures);
	return object_propose(tree, ret, reterr);
}

/* ---- what there is ---- */

static bool has_label(const struct object *object, const char *key, const char *value)
{
	const char *found = topology_label(&object->meta.labels, key);

	return found && strcmp(found, value) == 0;
}

bool csi_capacity_is_managed(const struct object *object)
{
	return has_label(object, CSI_CAPACITY_LABEL_MANAGED_BY, CSI_CAPACITY_MANAGED_BY);
}

static bool is_quantity(const struct cJSON *tree, const char *key, bool is_there, int64_t bytes)
{
	const char *text = json_text(tree, key);
	struct quantity quantity;

	if (!is_there || !text[0])
		return !is_there && !text[0];
	return quantity_parse(text, &quantity, NULL) == 0 && quantity_value(&quantity) == bytes;
}

/* No memory: no. It is written once more. */
static bool says(const struct object *object, const struct csi_capacity_figures *figures)
{
	cleanup_json struct cJSON *tree = object_tree(object);

	return tree && is_quantity(tree, "capacity", true, figures->available) &&
	       is_quantity(tree, "maximumVolumeSize", figures->has_maximum, figures->maximum);
}

/* What it is of cannot be changed in an object. No memory: yes. */
static bool is_of(const struct object *object, const struct csi_capacity_facts *facts)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	cleanup_json struct cJSON *place = node_topology(facts->driver);

	return !tree || !place ||
	       (json_equal(json_get(tree, "nodeTopology"), place) &&
		json_text_is(tree, "storageClassName", facts->storage_class->object->meta.name) &&
		has_label(object, CSI_CAPACITY_LABEL_DRIVER, facts->driver->name));
}

/* ---- what is next ---- */

bool csi_capacity_is_wanted(const struct csi_capacity_facts *facts)
{
	const struct storage_class *class = facts->storage_class;
	const struct csi_driver *driver = facts->driver;

	return class && class->waits_for_first_consumer && !class->object->meta.deletes &&
	       facts->csi_driver && facts->csi_driver->csi_driver->storage_capacity &&
	       !(driver && driver->capabilities_known &&
		 !csi_driver_can(driver, CSI_CAN_GET_CAPACITY));
}

enum csi_capacity_next csi_capacity_decide(const struct csi_capacity_facts *facts)
{
	const struct object *object = facts->object;

	if (object && (!csi_capacity_is_managed(object) || object->meta.deletes))
		return CSI_CAPACITY_NOTHING;
	if (!csi_capacity_is_wanted(facts))
		return object ? CSI_CAPACITY_REMOVE : CSI_CAPACITY_NOTHING;
	/* One that restarts is the same as before, mostly. */
	if (!facts->driver || !facts->driver->capabilities_known)
		return CSI_CAPACITY_NOTHING;
	if (object && !is_of(object, facts))
		return CSI_CAPACITY_REMOVE;
	if (!facts->figures)
		return CSI_CAPACITY_ASK;
	return object && says(object, facts->figures) ? CSI_CAPACITY_NOTHING : CSI_CAPACITY_WRITE;
}
