/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_volume - one element of spec.volumes: its sources, as one table; see kinds.h
 *
 * The sources that become files (configMap, secret, downwardAPI, projected) have their own file.
 */
#include "object/kinds/pod_field.h"

#include "base/cleanup.h"
#include "object/kinds/claim_spec.h"
#include "object/kinds/file_source.h"
#include "object/kinds/volume_source.h"
#include "object/schema/schemas.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { CLAIM_NAME_BYTES = 2 * 254 }; /* two names and what joins and ends them */

/* ---- defaults ---- */

static int default_ephemeral(struct cJSON *source)
{
	struct cJSON *template, *spec;

	if (!json_get(source, "volumeClaimTemplate"))
		return 0; /* validation will say so */
	template = json_ensure_object(source, "volumeClaimTemplate");
	spec = json_ensure_object(template, "spec");
	return spec ? claim_spec_set_defaults(spec) : -ENOMEM;
}

/* ---- validation ---- */

/* Any size of huge pages is fine that is a quantity; whether the node has it shows in mounting. */
static bool check_empty_dir(const struct field *source)
{
	static const char *const media[] = { "", "HugePages", "HugePages-<size>", "Memory", NULL };
	static const char sized[] = "HugePages-";
	const char *medium = json_text(source->item, "medium");
	struct quantity page;

	if (strncmp(medium, sized, strlen(sized)) == 0 &&
	    quantity_parse(medium + strlen(sized), &page, NULL) == 0 && page.milli > 0)
		medium = "";
	if (*medium != '\0' && strcmp(medium, "Memory") != 0 && strcmp(medium, "HugePages") != 0)
		return field_not_supported(FIELD(source, "medium"), medium, media);
	return field_check_quantity(FIELD(source, "sizeLimit"), false);
}

static bool check_claim(const struct field *source)
{
	return field_check_subdomain(FIELD(source, "claimName"));
}

/* The claim is made from it, so it must be a claim that would be admitted. */
static bool check_ephemeral(const struct field *source)
{
	const struct field *template = FIELD(source, "volumeClaimTemplate");

	if (!template->item)
		return field_required(template, "");
	return claim_spec_validate(FIELD(template, "spec"));
}

/* Its row in the schema of a volume; NULL: a source of tomorrow. */
static const struct schema_field *field_of_source(const struct cJSON *source)
{
	const struct schema_field *row = volume_schema.fields;

	while (row->name && strcmp(row->name, json_key(source)) != 0)
		row++;
	return row->name ? row : NULL;
}

/* What the schema requires must be there, and a quantity must be one. */
static bool check_by_schema(const struct field *source)
{
	for (const struct schema_field *row = field_of_source(source->item)->of->fields; row->name;
	     row++) {
		const struct field *at = FIELD(source, row->name);
		bool is_empty = !at->item || (json_is_string(at->item) && *field_text(at) == '\0');

		if ((row->flags & REQUIRED) && is_empty) {
			if (!field_required(at, ""))
				return false;
		} else if (row->type == SCHEMA_QUANTITY && !field_check_quantity(at, false)) {
			return false;
		}
	}
	return true;
}

static bool check_image(const struct field *source)
{
	static const char *const policies[] = { "Always", "IfNotPresent", "Never", NULL };

	if (*json_text(source->item, "reference") == '\0')
		return field_required(FIELD(source, "reference"), "");
	return field_check_one_of(FIELD(source, "pullPolicy"), policies, true);
}

/* ---- decoding ---- */

static void decode_host_path(const struct cJSON *source, struct arena *arena,
			     struct pod_volume *volume)
{
	volume->host_path = arena_text(arena, source, "path");
	volume->host_path_type = arena_text(arena, source, "type");
}

static void decode_empty_dir(const struct cJSON *source, struct arena *arena,
			     struct pod_volume *volume)
{
	struct quantity limit = quantity_decode(json_get(source, "sizeLimit"));

	volume->medium = arena_text(arena, source, "medium");
	volume->has_size_limit = limit.is_set;
	volume->size_limit_bytes = quantity_value(&limit);
}

static void decode_claim(const struct cJSON *source, struct arena *arena, struct pod_volume *volume)
{
	volume->claim_name = arena_text(arena, source, "claimName");
	volume->claim_read_only = json_bool(json_get(source, "readOnly"), false);
}

/* In a pod the publish secret is the only one, and its namespace the pod's. */
static void decode_csi(const struct cJSON *source, struct arena *arena, struct pod_volume *volume)
{
	volume->csi = csi_source_decode(source, NULL, arena);
}

static void decode_nfs(const struct cJSON *source, struct arena *arena, struct pod_volume *volume)
{
	volume->nfs = nfs_source_decode(source, arena);
}

static void decode_flex(const struct cJSON *source, struct arena *arena, struct pod_volume *volume)
{
	volume->flex = flex_source_decode(source, arena);
}

static void decode_image(const struct cJSON *source, struct arena *arena, struct pod_volume *volume)
{
	volume->image = arena_text(arena, source, "reference");
}

/* The scalars, as text. */
static void decode_by_schema(const struct cJSON *source, struct arena *arena,
			     struct pod_volume *volume)
{
	struct pod_volume_field *fields =
		arena_array(arena, json_count(source), sizeof(*volume->fields));

	volume->fields = fields;
	for (const struct cJSON *item = json_first(source); item && fields;
	     item = json_next(item)) {
		char number[24] = "";
		int64_t value;

		if (json_int64(item, &value))
			(void) snprintf(number, sizeof(number), "%" PRId64, value);
		else if (json_is_bool(item))
			(void) snprintf(number, sizeof(number), "%s",
					json_bool(item, false) ? "true" : "false");
		fields[volume->field_count++] = (struct pod_volume_field){
			arena_string(arena, json_key(item)),
			arena_string(arena, json_string(item, number)),
		};
	}
}

/* ---- the table ---- */

static const struct source_row {
	const char *key;
	enum volume_source_kind kind;
	int (*set_defaults)(struct cJSON *source);
	bool (*validate)(const struct field *source);
	void (*decode)(const struct cJSON *source, struct arena *arena, struct pod_volume *volume);
} rows[] = {
	{ "emptyDir", SOURCE_EMPTY_DIR, NULL, check_empty_dir, decode_empty_dir },
	{ "hostPath", SOURCE_HOST_PATH, host_path_set_defaults, host_path_validate,
	  decode_host_path },
	{ "persistentVolumeClaim", SOURCE_CLAIM, NULL, check_claim, decode_claim },
	{ "ephemeral", SOURCE_EPHEMERAL, default_ephemeral, check_ephemeral, NULL },
	{ "configMap", SOURCE_CONFIG_MAP, file_source_set_mode, config_map_source_validate,
	  config_map_source_decode },
	{ "secret", SOURCE_SECRET, file_source_set_mode, secret_source_validate,
	  secret_source_decode },
	{ "downwardAPI", SOURCE_DOWNWARD_API, downward_api_source_set_defaults,
	  downward_api_source_validate, downward_api_source_decode },
	{ "projected", SOURCE_PROJECTED, projected_source_set_defaults, projected_source_validate,
	  projected_source_decode },
	{ "csi", SOURCE_CSI, NULL, check_by_schema, decode_csi },
	{ "nfs", SOURCE_NFS, NULL, nfs_validate, decode_nfs },
	{ "flexVolume", SOURCE_FLEX, NULL, check_by_schema, decode_flex },
	{ "image", SOURCE_IMAGE, NULL, check_image, decode_image },
};

static const struct source_row by_schema = { NULL, SOURCE_OTHER, NULL, check_by_schema,
					     decode_by_schema };

static const char *const no_sources[] = { "name", NULL };

static const struct volume_source_names source_names = { no_sources, &volume_schema };

/* NULL: a source that no plugin here knows. */
static const struct source_row *row_of(const struct cJSON *source)
{
	const struct schema_field *known = field_of_source(source);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].key, json_key(source)) == 0)
			return &rows[i];
	}
	return known && (known->flags & BY_SCHEMA) ? &by_schema : NULL;
}

/* A volume without a source is an emptyDir, as in Kubernetes. */
int pod_volume_set_defaults(struct cJSON *volume)
{
	const struct cJSON *first = volume_source_first(volume, &source_names);

	assert(volume);
	if (!first)
		return json_add_object(volume, "emptyDir") ? 0 : -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = 0;

		if (rows[i].set_defaults && json_get(volume, rows[i].key))
			r = rows[i].set_defaults(json_ensure_object(volume, rows[i].key));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Kubernetes' name for the claim of an ephemeral volume. Return: its length, as from snprintf(). */
static int name_ephemeral_claim(const char *pod_name, const char *volume_name,
				char name[CLAIM_NAME_BYTES])
{
	return snprintf(name, CLAIM_NAME_BYTES, "%s-%s", pod_name, volume_name);
}

/* Reported when the pod is written, not when its claim cannot be made. */
static bool check_ephemeral_name(const struct field *volume_name, const char *pod_name)
{
	char name[CLAIM_NAME_BYTES];

	(void) name_ephemeral_claim(pod_name, field_text(volume_name), name);
	return field_is_subdomain(name) ||
	       field_invalid(volume_name, name,
			     "the claim's name, made of the pod's and the volume's, must be "
			     "a lowercase RFC 1123 subdomain");
}

bool pod_volume_validate(const struct field *volume, const char *pod_name)
{
	const struct field *name = FIELD(volume, "name");
	const struct source_row *row;
	const struct cJSON *source;

	assert(volume && pod_name);
	if (!field_check_label(name) || !volume_source_validate(volume, &source_names))
		return false;
	source = volume_source_first(volume->item, &source_names);
	row = row_of(source);
	if (!row)
		return true;
	if (row->kind == SOURCE_EPHEMERAL && !check_ephemeral_name(name, pod_name))
		return false;
	return row->validate(FIELD_OF(volume, json_key(source), source));
}

static const char *ephemeral_claim_name(const char *pod_name, const char *volume_name,
					struct arena *arena)
{
	char name[CLAIM_NAME_BYTES];
	int length = name_ephemeral_claim(pod_name, volume_name, name);

	return arena_string_length(arena, name, (size_t) length); /* both were validated */
}

void pod_volume_decode(const struct cJSON *volume, const char *pod_name, struct arena *arena,
		       struct pod_volume *ret)
{
	const struct cJSON *source = volume_source_first(volume, &source_names);
	const struct source_row *row = row_of(source);

	assert(volume && pod_name && arena && ret);
	*ret = (struct pod_volume){
		.name = arena_text(arena, volume, "name"),
		.source = row ? row->kind : SOURCE_OTHER,
		.source_key = arena_string(arena, json_key(source)),
		.host_path = "",
		.host_path_type = "",
		.medium = "",
		.claim_name = "",
		.image = "",
	};
	if (row && row->decode)
		row->decode(source, arena, ret);
	if (ret->source == SOURCE_EPHEMERAL)
		ret->claim_name = ephemeral_claim_name(pod_name, ret->name, arena);
}

const char *pod_volume_field(const struct pod_volume *volume, const char *name)
{
	assert(volume && name);
	for (size_t i = 0; i < volume->field_count; i++)
		if (strcmp(volume->fields[i].name, name) == 0)
			return volume->fields[i].value;
	return "";
}

bool pod_volume_may_be_block(const struct cJSON *volume)
{
	return json_get(volume, "persistentVolumeClaim") || json_get(volume, "ephemeral");
}
