/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns - what kubectl shows of the kinds that are decoded, in its order and its words
 *
 * A new column is one row here: a member and a type of cell, or a function of its own.
 */
#include "object/schema/table.h"

#include "base/cleanup.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"

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

void cell_name(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text, source->object->meta.name, "");
}

void cell_age(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	table_age(source->object->meta.creation_usec, source->now_usec, text);
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

void put_member(char text[TABLE_CELL_BYTES], enum cell_type type, const void *member,
		const char *when_absent)
{
	if (type == CELL_NUMBER)
		(void) snprintf(text, TABLE_CELL_BYTES, "%u", *(const unsigned int *) member);
	else if (type == CELL_QUANTITY)
		put_quantity(text, member);
	else if (type == CELL_ACCESS_MODES)
		put_access_modes(text, *(const unsigned int *) member);
	else
		put(text, *(const char *const *) member, when_absent);
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

static void cell_pod_ready(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%u/%zu", source->object->pod->ready_count,
			regular_containers(source->object->pod));
}

/* While its phase says no more than that it is there. */
static const char *pending_word(const struct table_source *source)
{
	const struct table_words *words = source->words;
	const char *word = words ? words->pod_volumes(words->userdata, source->object) : NULL;

	return word ?: "Pending";
}

/* The order of kubectl: going, then the reason, then the phase. */
static void cell_pod_status(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct pod *pod = source->object->pod;
	bool is_pending = !*pod->phase || strcmp(pod->phase, "Pending") == 0;

	if (source->object->meta.deletes)
		put(text, "Terminating", "");
	else if (!*pod->reason && is_pending)
		put(text, pending_word(source), "");
	else
		put(text, pod->reason, pod->phase);
}

static void cell_pod_gates(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct pod *pod = source->object->pod;

	put(text, "", "<none>");
	if (pod->readiness_gate_count > 0)
		(void) snprintf(text, TABLE_CELL_BYTES, "%u/%u", pod->readiness_gates_passed,
				pod->readiness_gate_count);
}

const struct table_column pod_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_BY("Ready", cell_pod_ready),
	COLUMN_BY("Status", cell_pod_status),
	COLUMN_OF("Restarts", NUMBER, pod, restart_count),
	COLUMN_BY("Age", cell_age),
	COLUMN_OF("IP", TEXT, pod, address, WIDE, ABSENT("<none>")),
	COLUMN_OF("Node", TEXT, pod, node_name, WIDE, ABSENT("<none>")),
	COLUMN_OF("Nominated Node", TEXT, pod, nominated_node_name, WIDE, ABSENT("<none>")),
	COLUMN_BY("Readiness Gates", cell_pod_gates, WIDE),
	{ 0 },
};

/* ---- volumes ---- */

static void cell_pv_reclaim_policy(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text, reclaim_policy_name(source->object->persistent_volume->reclaim_policy), "");
}

static void cell_pv_status(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	if (source->object->meta.deletes)
		put(text, "Terminating", "");
	else
		put(text, volume_phase_name(source->object->persistent_volume->phase), "Pending");
}

/* Empty when unbound, unlike other cells: kubectl writes nothing there. */
static void cell_pv_claim(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct persistent_volume *volume = source->object->persistent_volume;

	if (volume->has_claim_ref)
		(void) snprintf(text, TABLE_CELL_BYTES, "%s/%s", volume->claim_namespace,
				volume->claim_name);
}

static void cell_pv_mode(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text, volume_mode_name(source->object->persistent_volume->mode), "<unset>");
}

const struct table_column persistent_volume_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_OF("Capacity", QUANTITY, persistent_volume, capacity),
	COLUMN_OF("Access Modes", ACCESS_MODES, persistent_volume, access_modes),
	COLUMN_BY("Reclaim Policy", cell_pv_reclaim_policy),
	COLUMN_BY("Status", cell_pv_status),
	COLUMN_BY("Claim", cell_pv_claim),
	COLUMN_OF("StorageClass", TEXT, persistent_volume, storage_class),
	COLUMN_OF("VolumeAttributesClass", TEXT, persistent_volume, attributes_class,
		  ABSENT("<unset>")),
	COLUMN_OF("Reason", TEXT, persistent_volume, reason),
	COLUMN_BY("Age", cell_age),
	COLUMN_BY("VolumeMode", cell_pv_mode, WIDE),
	/* podvol's: which plugin will have it */
	COLUMN_OF("Source", TEXT, persistent_volume, source_key, WIDE),
	{ 0 },
};

/* ---- claims ---- */

static void cell_claim_status(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	if (source->object->meta.deletes)
		put(text, "Terminating", "");
	else
		put(text, claim_phase_name(source->object->claim->phase), "Pending");
}

/* kubectl shows a claim's capacity and modes only when it has a volume. */
static void cell_claim_capacity(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	if (*source->object->claim->volume_name && source->object->claim->status_capacity.is_set)
		put_quantity(text, &source->object->claim->status_capacity);
}

static void cell_claim_access_modes(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	if (*source->object->claim->volume_name)
		put_access_modes(text, source->object->claim->access_modes);
}

static void cell_claim_mode(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text, volume_mode_name(source->object->claim->mode), "<unset>");
}

const struct table_column claim_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_BY("Status", cell_claim_status),
	COLUMN_OF("Volume", TEXT, persistent_volume_claim, volume_name),
	COLUMN_BY("Capacity", cell_claim_capacity),
	COLUMN_BY("Access Modes", cell_claim_access_modes),
	COLUMN_OF("StorageClass", TEXT, persistent_volume_claim, storage_class),
	COLUMN_OF("VolumeAttributesClass", TEXT, persistent_volume_claim, attributes_class,
		  ABSENT("<unset>")),
	COLUMN_BY("Age", cell_age),
	COLUMN_BY("VolumeMode", cell_claim_mode, WIDE),
	/* podvol's: why it may not bind */
	COLUMN_OF("Request", QUANTITY, persistent_volume_claim, request, WIDE),
	{ 0 },
};

/* ---- classes ---- */

/* Marked where a claim without a class would find it. */
static void cell_class_name(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%s%s", source->object->meta.name,
			source->object->storage_class->is_default ? " (default)" : "");
}

static void cell_class_reclaim_policy(const struct table_source *source,
				      char text[TABLE_CELL_BYTES])
{
	put(text, reclaim_policy_name(source->object->storage_class->reclaim_policy), "");
}

static void cell_class_binding(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text,
	    source->object->storage_class->waits_for_first_consumer ? "WaitForFirstConsumer"
								    : "Immediate",
	    "");
}

static void cell_class_expansion(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put(text, source->object->storage_class->allow_volume_expansion ? "true" : "false", "");
}

const struct table_column storage_class_columns[] = {
	COLUMN_BY("Name", cell_class_name),
	COLUMN_OF("Provisioner", TEXT, storage_class, provisioner),
	COLUMN_BY("ReclaimPolicy", cell_class_reclaim_policy),
	COLUMN_BY("VolumeBindingMode", cell_class_binding),
	COLUMN_BY("AllowVolumeExpansion", cell_class_expansion),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};
