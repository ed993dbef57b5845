/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_source - dataSource and dataSourceRef of a claim; see kinds.h
 */
#include "object/kinds.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define SNAPSHOT_GROUP "snapshot.storage.k8s.io"

/* ---- defaults ---- */

static int copy_member(struct cJSON *to, const struct cJSON *from, const char *key)
{
	const struct cJSON *value = json_get(from, key);

	return value ? json_set(to, key, json_copy(value)) : 0;
}

static int make_other(struct cJSON *spec, const char *key, const struct cJSON *from)
{
	struct cJSON *made = json_ensure_object(spec, key);
	int r = made ? copy_member(made, from, "apiGroup") : -ENOMEM;

	if (r == 0)
		r = copy_member(made, from, "kind");
	return r < 0 ? r : copy_member(made, from, "name");
}

int data_source_set_defaults(struct cJSON *spec)
{
	const struct cJSON *source = json_get(spec, "dataSource");
	const struct cJSON *reference = json_get(spec, "dataSourceRef");

	if (json_is_object(source) && !reference)
		return make_other(spec, "dataSourceRef", source);
	if (json_is_object(reference) && !source && json_text(reference, "namespace")[0] == '\0')
		return make_other(spec, "dataSource", reference);
	return 0;
}

/* ---- validation ---- */

static bool check_one(const struct field *source)
{
	const struct field *kind = FIELD(source, "kind");
	const char *name = field_text(kind);

	if (!source->item)
		return true;
	if (!field_check_present(FIELD(source, "name")) || !field_check_present(kind))
		return false;
	return !*name || *json_text(source->item, "apiGroup") ||
	       strcmp(name, "PersistentVolumeClaim") == 0 ||
	       field_invalid(source, name,
			     "must be 'PersistentVolumeClaim' when referencing the default "
			     "apiGroup");
}

static bool same_member(const struct cJSON *a, const struct cJSON *b, const char *key)
{
	return json_text_is(a, key, json_text(b, key));
}

bool data_source_validate(const struct field *spec)
{
	const struct cJSON *source = json_get(spec->item, "dataSource");
	const struct cJSON *reference = json_get(spec->item, "dataSourceRef");

	if (!check_one(FIELD(spec, "dataSource")) || !check_one(FIELD(spec, "dataSourceRef")))
		return false;
	if (!source || !reference)
		return true;
	if (json_text(reference, "namespace")[0] != '\0')
		return field_invalid(spec, NULL,
				     "may not specify dataSource when dataSourceRef.namespace is "
				     "specified");
	return (same_member(source, reference, "apiGroup") &&
		same_member(source, reference, "kind") && same_member(source, reference, "name")) ||
	       field_invalid(spec, NULL, "must match dataSourceRef");
}

/* ---- decoding ---- */

static enum data_source_kind kind_of(const struct cJSON *source)
{
	const char *group = json_text(source, "apiGroup");
	const char *kind = json_text(source, "kind");

	if (*group == '\0' && strcmp(kind, "PersistentVolumeClaim") == 0)
		return DATA_SOURCE_CLAIM;
	if (strcmp(group, SNAPSHOT_GROUP) == 0 && strcmp(kind, "VolumeSnapshot") == 0)
		return DATA_SOURCE_SNAPSHOT;
	return DATA_SOURCE_OTHER;
}

struct data_source data_source_decode(const struct cJSON *spec, struct arena *arena)
{
	const struct cJSON *source = json_get(spec, "dataSourceRef");

	assert(arena);
	if (!source)
		source = json_get(spec, "dataSource");
	return (struct data_source){
		.kind = source ? kind_of(source) : DATA_SOURCE_NONE,
		.name_space = arena_text(arena, source, "namespace"),
		.name = arena_text(arena, source, "name"),
	};
}

/* ---- use ---- */

int claim_check_data_source(const struct persistent_volume_claim *claim, struct failure *reterr)
{
	const char *name_space = claim->data_source.name_space;

	if (!name_space[0] || strcmp(name_space, claim->object->meta.name_space) == 0)
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "a volume cannot be made from something in another namespace");
}
