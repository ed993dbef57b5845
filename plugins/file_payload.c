/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_payload - what the files of a volume hold; see file_payload.h
 */
#include "plugins/file_payload.h"

#include "base/cleanup.h"
#include "object/json/base64.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

/* What the functions below share; lives for one call. */
struct build {
	const struct file_inputs *inputs;
	const struct cJSON *pod;
	size_t next_object; /* of inputs->objects: sources name them in this order */
	size_t next_trust;  /* of inputs->trust, in the same way */
	int64_t default_mode;
	struct payload *payload;
};

/* ---- one file ---- */

static mode_t item_mode(const struct build *build, const struct cJSON *item)
{
	int64_t mode = build->default_mode;

	(void) json_int64(json_get(item, "mode"), &mode);
	return (mode_t) mode;
}

/* Text, or base64 of bytes; overwritten in memory when it was decoded. */
static int add_value(struct build *build, const char *path, const char *value, bool is_base64,
		     mode_t mode, struct failure *reterr)
{
	struct payload_file file = { .path = (char *) path, .mode = mode };
	cleanup_free char *bytes = NULL;
	int r = 0;

	if (is_base64)
		r = base64_decode(value, &bytes, &file.length);
	if (r < 0)
		return failed(reterr, r, "cannot decode the value for '%s'", path);
	file.data = is_base64 ? bytes : (char *) value;
	if (!is_base64)
		file.length = strlen(value);
	r = payload_add(build->payload, &file, reterr);
	if (bytes)
		explicit_bzero(bytes, file.length);
	return r;
}

/* ---- configMap and secret ---- */

/* The maps of an object that hold its entries. */
struct entries {
	const char *word; /* in messages: "configmap" */
	const struct cJSON *maps[2];
	bool are_base64[2];
};

static struct entries entries_of(enum object_kind kind, const struct cJSON *tree)
{
	if (kind == KIND_SECRET)
		return (struct entries){ "secret", { json_get(tree, "data"), NULL }, { true } };
	return (struct entries){ "configmap",
				 { json_get(tree, "data"), json_get(tree, "binaryData") },
				 { false, true } };
}

static int add_all(struct build *build, const struct entries *entries, struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(entries->maps); i++)
		for (const struct cJSON *item = json_first(entries->maps[i]); item && r == 0;
		     item = json_next(item))
			r = add_value(build, json_key(item), json_string(item, ""),
				      entries->are_base64[i], item_mode(build, NULL), reterr);
	return r;
}

static int add_item(struct build *build, const struct entries *entries, const struct cJSON *item,
		    bool optional, struct failure *reterr)
{
	const char *key = json_text(item, "key");

	for (size_t i = 0; i < ARRAY_SIZE(entries->maps); i++) {
		const struct cJSON *value = json_get(entries->maps[i], key);

		if (value)
			return add_value(build, json_text(item, "path"), json_string(value, ""),
					 entries->are_base64[i], item_mode(build, item), reterr);
	}
	if (optional)
		return 0;
	return failed_plain(reterr, -ENOENT, "%s references non-existent %s key: %s", entries->word,
			    entries->word[0] == 's' ? "secret" : "config", key);
}

static int add_items(struct build *build, const struct entries *entries, const struct cJSON *source,
		     struct failure *reterr)
{
	const struct cJSON *items = json_get(source, "items");
	bool optional = json_bool(json_get(source, "optional"), false);
	int r = 0;

	if (json_count(items) == 0)
		return add_all(build, entries, reterr);
	for (const struct cJSON *item = json_first(items); item && r == 0; item = json_next(item))
		r = add_item(build, entries, item, optional, reterr);
	return r;
}

static int add_object(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	const struct pod_volume *volume = build->inputs->source;
	size_t at = build->next_object++;
	const struct object *object;
	cleanup_json struct cJSON *tree = NULL;
	struct entries entries;

	assert(at < volume->object_count);
	object = build->inputs->objects[at];
	entries = entries_of(volume->objects[at].kind, NULL);
	if (!object && json_bool(json_get(source, "optional"), false))
		return 0;
	if (!object)
		return failed_plain(reterr, -ENOENT, "%s \"%s\" not found", entries.word,
				    volume->objects[at].name);
	tree = object_tree(object);
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot read %s \"%s\"", entries.word,
			      object->meta.name);
	entries = entries_of(object->kind, tree);
	return add_items(build, &entries, source, reterr);
}

/* ---- downwardAPI ---- */

static int read_field(const struct build *build, const struct cJSON *item, char **ret,
		      struct failure *reterr)
{
	const struct cJSON *field = json_get(item, "fieldRef");

	if (field)
		return pod_file_field_value(build->pod, json_text(field, "fieldPath"), ret, reterr);
	return pod_resource_value(build->pod, NULL, json_get(item, "resourceFieldRef"),
				  &build->inputs->allocatable, ret, reterr);
}

static int add_field(struct build *build, const struct cJSON *item, struct failure *reterr)
{
	cleanup_free char *value = NULL;
	int r = read_field(build, item, &value, reterr);

	if (r < 0)
		return r;
	return add_value(build, json_text(item, "path"), value, false, item_mode(build, item),
			 reterr);
}

/* ---- several errors as one text ---- */

static void join(struct failure *all, const struct failure *one)
{
	size_t length = strlen(all->text);

	if (all->error == 0) {
		*all = *one;
		return;
	}
	(void) snprintf(all->text + length, sizeof(all->text) - length, ", %.*s",
			(int) (sizeof(all->text) - length), one->text);
}

static int add_fields(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	struct failure all = { .error = 0 };

	JSON_FOREACH (item, json_get(source, "items")) {
		struct failure one = { .error = 0 };

		if (add_field(build, item, &one) < 0)
			join(&all, &one);
	}
	if (all.error < 0 && reterr)
		*reterr = all;
	return all.error;
}

/* ---- sources ---- */

static int add_token(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	assert(build->inputs->tokens);
	return file_tokens_add(build->inputs->tokens, source, (mode_t) build->default_mode,
			       build->payload, reterr);
}

static int add_trust(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	size_t at = build->next_trust++;

	assert(at < build->inputs->source->trust_bundle_count && build->inputs->trust);
	return file_trust_add(&build->inputs->trust[at], build->inputs->pod, source,
			      (mode_t) build->default_mode, build->payload, reterr);
}

static int add_unknown(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	return failed_plain(reterr, -EOPNOTSUPP, "%s is not supported", json_key(source));
}

static const struct {
	const char *key;
	int (*add)(struct build *build, const struct cJSON *source, struct failure *reterr);
} source_rows[] = {
	{ "configMap", add_object },         { "secret", add_object },
	{ "downwardAPI", add_fields },       { "serviceAccountToken", add_token },
	{ "clusterTrustBundle", add_trust },
};

static int add_source(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	for (size_t i = 0; i < ARRAY_SIZE(source_rows); i++)
		if (strcmp(source_rows[i].key, json_key(source)) == 0)
			return source_rows[i].add(build, source, reterr);
	return add_unknown(build, source, reterr);
}

static int add_projected(struct build *build, const struct cJSON *source, struct failure *reterr)
{
	struct failure all = { .error = 0 };

	JSON_FOREACH (item, json_get(source, "sources")) {
		struct failure one = { .error = 0 };

		if (add_source(build, json_first(item), &one) < 0)
			join(&all, &one);
	}
	if (all.error < 0 && reterr)
		*reterr = all;
	return all.error;
}

int file_payload_build(const struct file_inputs *inputs, struct payload *ret,
		       struct failure *reterr)
{
	cleanup_json struct cJSON *pod = object_tree(inputs->pod);
	struct payload payload = { .count = 0 };
	struct build build = { .inputs = inputs, .pod = pod, .payload = &payload };
	const struct cJSON *source = json_get(
		json_find(json_get_path(pod, "spec.volumes"), "name", inputs->source->name),
		inputs->source->source_key);
	int r;

	assert(inputs->source && ret);
	if (!source)
		return failed(reterr, -ENOMEM, "cannot read the volume's source");
	if (!json_int64(json_get(source, "defaultMode"), &build.default_mode))
		return failed_plain(reterr, -EINVAL, "there is no defaultMode");
	r = inputs->source->source == SOURCE_PROJECTED ? add_projected(&build, source, reterr)
						       : add_source(&build, source, reterr);
	if (r == 0)
		r = payload_finish(&payload, reterr);
	if (r < 0) {
		payload_done(&payload);
		return r;
	}
	*ret = payload;
	return 0;
}
