/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns - what kubectl shows of each kind, in its order and its words
 *
 * A new column is one function and one row here.
 */
#include "object/kinds.h"

#include "base/cleanup.h"
#include "object/persistent_volume.h"
#include "object/pod.h"
#include "object/storage_class.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A cell is never empty where kubectl has a word for nothing. */
static void put(char text[TABLE_CELL_BYTES], const char *value, const char *when_empty)
{
	assert(value && when_empty);
	(void) snprintf(text, TABLE_CELL_BYTES, "%s", *value ? value : when_empty);
}

static void cell_name(const struct object *object, uint64_t now_usec, char text[TABLE_CELL_BYTES])
{
	put(text, object->meta.name, "");
}

static void cell_age(const struct object *object, uint64_t now_usec, char text[TABLE_CELL_BYTES])
{
	table_age(object->meta.creation_usec, now_usec, text);
}

/* "RWO,ROX", in Kubernetes' own order. */
static void put_access_modes(char text[TABLE_CELL_BYTES], unsigned int set)
{
	static const struct {
		enum access_mode mode;
		const char *name;
	} modes[] = {
		{ ACCESS_READ_WRITE_ONCE, "RWO" },
		{ ACCESS_READ_ONLY_MANY, "ROX" },
		{ ACCESS_READ_WRITE_MANY, "RWX" },
		{ ACCESS_READ_WRITE_ONCE_POD, "RWOP" },
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (set & modes[i].mode)
			used += (size_t) snprintf(text + used, TABLE_CELL_BYTES - used, "%s%s",
						  used ? "," : "", modes[i].name);
	}
}

/* In the largest unit that loses nothing: "10Gi", "1500m". */
static void put_quantity(char text[TABLE_CELL_BYTES], const struct quantity *quantity)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	int64_t value = quantity_value(quantity);
	size_t unit = 0;

	assert(quantity);
	while (value != 0 && value % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	(void) snprintf(text, TABLE_CELL_BYTES, "%" PRId64 "%s", value, units[unit]);
}

/* ---- pods ---- */

/* Init and ephemeral containers do not count in "1/2". */
static size_t regular_containers(const struct pod *pod)
{
	size_t count = 0;

	for (size_t i = 0; i < pod->container_count; i++)
		count += pod->containers[i].type == CONTAINER_REGULAR ? 1 : 0;
	return count;
}

static void cell_pod_ready(const struct object *object, uint64_t now_usec,
			   char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%u/%zu", object->pod->ready_count,
			regular_containers(object->pod));
}

/* The order of kubectl: going, then the reason, then the phase. */
static void cell_pod_status(const struct object *object, uint64_t now_usec,
			    char text[TABLE_CELL_BYTES])
{
	if (object->meta.deletes)
		put(text, "Terminating", "");
	else
		put(text, object->pod->reason,
		    *object->pod->phase ? object->pod->phase : "Pending");
}

static void cell_pod_restarts(const struct object *object, uint64_t now_usec,
			      char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%u", object->pod->restart_count);
}

static void cell_pod_node(const struct object *object, uint64_t now_usec,
			  char text[TABLE_CELL_BYTES])
{
	put(text, object->pod->node_name, "<none>");
}

const struct table_column pod_columns[POD_COLUMN_COUNT] = {
	{ "Name", 0, cell_name },         { "Ready", 0, cell_pod_ready },
	{ "Status", 0, cell_pod_status }, { "Restarts", 0, cell_pod_restarts },
	{ "Age", 0, cell_age },           { "Node", 1, cell_pod_node },
};

/* ---- volumes ---- */

static void cell_pv_capacity(const struct object *object, uint64_t now_usec,
			     char text[TABLE_CELL_BYTES])
{
	put_quantity(text, &object->persistent_volume->capacity);
}

static void cell_pv_access_modes(const struct object *object, uint64_t now_usec,
				 char text[TABLE_CELL_BYTES])
{
	put_access_modes(text, object->persistent_volume->access_modes);
}

static void cell_pv_reclaim_policy(const struct object *object, uint64_t now_usec,
				   char text[TABLE_CELL_BYTES])
{
	put(text, reclaim_policy_name(object->persistent_volume->reclaim_policy), "");
}

static void cell_pv_status(const struct object *object, uint64_t now_usec,
			   char text[TABLE_CELL_BYTES])
{
	if (object->meta.deletes)
		put(text, "Terminating", "");
	else
		put(text, volume_phase_name(object->persistent_volume->phase), "Pending");
}

/* Empty when unbound, unlike other cells: kubectl writes nothing there. */
static void cell_pv_claim(const struct object *object, uint64_t now_usec,
			  char text[TABLE_CELL_BYTES])
{
	const struct persistent_volume *volume = object->persistent_volume;

	if (volume->has_claim_ref)
		(void) snprintf(text, TABLE_CELL_BYTES, "%s/%s", volume->claim_namespace,
				volume->claim_name);
}

static void cell_pv_class(const struct object *object, uint64_t now_usec,
			  char text[TABLE_CELL_BYTES])
{
	put(text, object->persistent_volume->storage_class, "");
}

static void cell_pv_reason(const struct object *object, uint64_t now_usec,
			   char text[TABLE_CELL_BYTES])
{
	put(text, object->persistent_volume->reason, "");
}

static void cell_pv_mode(const struct object *object, uint64_t now_usec,
			 char text[TABLE_CELL_BYTES])
{
	put(text, volume_mode_name(object->persistent_volume->mode), "<unset>");
}

static void cell_pv_source(const struct object *object, uint64_t now_usec,
			   char text[TABLE_CELL_BYTES])
{
	put(text, object->persistent_volume->source_key, "");
}

const struct table_column persistent_volume_columns[PERSISTENT_VOLUME_COLUMN_COUNT] = {
	{ "Name", 0, cell_name },
	{ "Capacity", 0, cell_pv_capacity },
	{ "Access Modes", 0, cell_pv_access_modes },
	{ "Reclaim Policy", 0, cell_pv_reclaim_policy },
	{ "Status", 0, cell_pv_status },
	{ "Claim", 0, cell_pv_claim },
	{ "StorageClass", 0, cell_pv_class },
	{ "Reason", 0, cell_pv_reason },
	{ "Age", 0, cell_age },
	{ "VolumeMode", 1, cell_pv_mode },
	{ "Source", 1, cell_pv_source }, /* ours: which plugin will have it */
};

/* ---- claims ---- */

static void cell_claim_status(const struct object *object, uint64_t now_usec,
			      char text[TABLE_CELL_BYTES])
{
	if (object->meta.deletes)
		put(text, "Terminating", "");
	else
		put(text, claim_phase_name(object->claim->phase), "Pending");
}

static void cell_claim_volume(const struct object *object, uint64_t now_usec,
			      char text[TABLE_CELL_BYTES])
{
	put(text, object->claim->volume_name, "");
}

/* kubectl shows a claim's capacity and modes only when it has a volume. */
static void cell_claim_capacity(const struct object *object, uint64_t now_usec,
				char text[TABLE_CELL_BYTES])
{
	if (*object->claim->volume_name && object->claim->status_capacity.is_set)
		put_quantity(text, &object->claim->status_capacity);
}

static void cell_claim_access_modes(const struct object *object, uint64_t now_usec,
				    char text[TABLE_CELL_BYTES])
{
	if (*object->claim->volume_name)
		put_access_modes(text, object->claim->access_modes);
}

static void cell_claim_class(const struct object *object, uint64_t now_usec,
			     char text[TABLE_CELL_BYTES])
{
	put(text, object->claim->storage_class, "");
}

static void cell_claim_request(const struct object *object, uint64_t now_usec,
			       char text[TABLE_CELL_BYTES])
{
	put_quantity(text, &object->claim->request);
}

static void cell_claim_mode(const struct object *object, uint64_t now_usec,
			    char text[TABLE_CELL_BYTES])
{
	put(text, volume_mode_name(object->claim->mode), "<unset>");
}

const struct table_column claim_columns[CLAIM_COLUMN_COUNT] = {
	{ "Name", 0, cell_name },
	{ "Status", 0, cell_claim_status },
	{ "Volume", 0, cell_claim_volume },
	{ "Capacity", 0, cell_claim_capacity },
	{ "Access Modes", 0, cell_claim_access_modes },
	{ "StorageClass", 0, cell_claim_class },
	{ "Age", 0, cell_age },
	{ "VolumeMode", 1, cell_claim_mode },
	{ "Request", 1, cell_claim_request }, /* ours: why it may not bind */
};

/* ---- classes ---- */

/* Marked where a claim without a class would find it. */
static void cell_class_name(const struct object *object, uint64_t now_usec,
			    char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%s%s", object->meta.name,
			object->storage_class->is_default ? " (default)" : "");
}

static void cell_class_provisioner(const struct object *object, uint64_t now_usec,
				   char text[TABLE_CELL_BYTES])
{
	put(text, object->storage_class->provisioner, "");
}

static void cell_class_reclaim_policy(const struct object *object, uint64_t now_usec,
				      char text[TABLE_CELL_BYTES])
{
	put(text, reclaim_policy_name(object->storage_class->reclaim_policy), "");
}

static void cell_class_binding(const struct object *object, uint64_t now_usec,
			       char text[TABLE_CELL_BYTES])
{
	put(text,
	    object->storage_class->waits_for_first_consumer ? "WaitForFirstConsumer" : "Immediate",
	    "");
}

static void cell_class_expansion(const struct object *object, uint64_t now_usec,
				 char text[TABLE_CELL_BYTES])
{
	put(text, object->storage_class->allow_volume_expansion ? "true" : "false", "");
}

const struct table_column storage_class_columns[STORAGE_CLASS_COLUMN_COUNT] = {
	{ "Name", 0, cell_class_name },
	{ "Provisioner", 0, cell_class_provisioner },
	{ "ReclaimPolicy", 0, cell_class_reclaim_policy },
	{ "VolumeBindingMode", 0, cell_class_binding },
	{ "AllowVolumeExpansion", 0, cell_class_expansion },
	{ "Age", 0, cell_age },
};
