/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_patch - what a write sends: JSON merge patches of what differs, main part and status
 *
 * Out of two objects, or of an answer; sends nothing. What the server alone writes is in no patch.
 */
#include "cluster/write_patch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/kinds/persistent_volume.h"
#include "object/timestamp.h"
#include "store/remote/server_answer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void add_difference(const struct cJSON *old, const struct cJSON *new, struct cJSON *patch);

static void add_member(const struct cJSON *before, const struct cJSON *after, struct cJSON *patch)
{
	const char *key = json_key(after);
	struct cJSON *inner;

	if (json_equal(before, after))
		return;
	if (!json_is_object(before) || !json_is_object(after)) {
		(void) json_set(patch, key, json_copy(after));
		return;
	}
	inner = json_new_object();
	add_difference(before, after, inner);
	(void) json_set(patch, key, inner);
}

/* RFC 7386: what a merge of @patch makes of @old is @new. */
static void add_difference(const struct cJSON *old, const struct cJSON *new, struct cJSON *patch)
{
	JSON_FOREACH (item, old)
		if (!json_get(new, json_key(item)))
			(void) json_set_null(patch, json_key(item));
	JSON_FOREACH (item, new)
		add_member(json_get(old, json_key(item)), item, patch);
}

static void strip(struct cJSON *tree)
{
	static const char *const keys[] = { "resourceVersion", "uid", "creationTimestamp",
					    "generation", "managedFields" };
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_remove(metadata, keys[i]);
}

char *write_create_text(const struct object *object)
{
	cleanup_json struct cJSON *tree = object_tree(object);

	strip(tree);
	return json_print(tree);
}

char *write_delete_text(const struct write *write, const struct object *present)
{
	cleanup_json struct cJSON *tree = json_new_object();

	(void) json_set_string(tree, "kind", "DeleteOptions");
	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(json_add_object(tree, "preconditions"), "uid",
			       write->uid ?: present->meta.uid);
	if (write->has_grace)
		(void) json_set_int(tree, "gracePeriodSeconds", write->grace_seconds);
	return json_print(tree);
}

/* NULL: no memory; "": nothing differs. @version: of the server, which it changes; 0: any. */
static char *patch_text(const struct object *present, struct cJSON *patch, uint64_t version)
{
	struct cJSON *metadata;
	char text[24];

	if (json_count(patch) == 0)
		return strdup("");
	metadata = json_ensure_object(patch, "metadata");
	(void) json_set_string(metadata, "uid", present->meta.uid);
	if (version > 0 && present->kind != KIND_NODE) {
		(void) snprintf(text, sizeof(text), "%" PRIu64, version);
		(void) json_set_string(metadata, "resourceVersion", text);
	}
	return json_print(patch);
}

int write_patch_make(const struct object *present, const struct object *wanted, uint64_t version,
		     char **ret_main, char **ret_status)
{
	cleanup_json struct cJSON *old = object_tree(present);
	cleanup_json struct cJSON *new = object_tree(wanted);
	cleanup_json struct cJSON *main_patch = json_new_object();
	cleanup_json struct cJSON *status_patch = json_new_object();
	cleanup_json struct cJSON *inner = json_new_object();

	assert(present->kind == wanted->kind && ret_main && ret_status);
	strip(old);
	strip(new);
	if (kind_row(present->kind)->has_status) {
		add_difference(json_get(old, "status"), json_get(new, "status"), inner);
		if (json_count(inner) > 0)
			(void) json_set(status_patch, "status", TAKE_PTR(inner));
		json_remove(old, "status");
		json_remove(new, "status");
	}
	add_difference(old, new, main_patch);
	*ret_main = patch_text(present, main_patch, version);
	/* After the first patch the version is another one. */
	*ret_status = patch_text(present, status_patch, json_count(main_patch) > 0 ? 0 : version);
	return *ret_main && *ret_status ? 0 : -ENOMEM;
}

int write_patch_created(const struct object *object, const struct object **ret,
			struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	char uid[UUID_BYTES], now[TIMESTAMP_BYTES];
	int r = uuid_make(uid);

	if (r < 0)
		return r;
	timestamp_print(realtime_usec(), now);
	(void) json_set_string(metadata, "uid", uid);
	(void) json_set_string(metadata, "creationTimestamp", now);
	return object_from_json(tree, ret, reterr);
}

int write_edit_again(struct write *write, const struct object *present, struct failure *reterr)
{
	const struct object *object;
	int r;

	if (write->uid && strcmp(write->uid, present->meta.uid) != 0)
		return failed_plain(reterr, -ESTALE, "%s '%s' was replaced",
				    kind_row(write->kind)->singular, write->name);
	if (write->expected_version == 0 ||
	    write->expected_version == present->meta.resource_version)
		return 0;
	if (!write->edit)
		return failed_plain(reterr, -ESTALE, "%s '%s' was changed meanwhile: read it again",
				    kind_row(write->kind)->singular, write->name);
	r = write->edit(write->userdata, present, &object, reterr);
	if (r < 0)
		return r;
	(void) object_unref(write->object);
	write->object = object;
	write->expected_version = present->meta.resource_version;
	return 0;
}

static bool has_finalizers(const struct object *object)
{
	cleanup_json struct cJSON *tree = object_tree(object);

	return json_count(json_get(json_get(tree, "metadata"), "finalizers")) > 0;
}

bool write_is_unfinished(const struct object *object)
{
	return object && object->kind == KIND_PERSISTENT_VOLUME &&
	       object->persistent_volume->origin.is_unfinished;
}

bool write_answer_is_of_another(const struct write *write, const struct object *present,
				const struct object *answered)
{
	return present && !write_is_unfinished(present) &&
	       strcmp(present->meta.uid, answered->meta.uid) != 0 &&
	       (write->verb != ADMIT_CREATE || write->kind == KIND_POD);
}

bool write_ends_object(const struct object *object)
{
	return object->kind != KIND_POD && object->meta.deletes && !has_finalizers(object);
}

bool write_answer_has_finalizers(const struct write *write, const struct http_answer *answer,
				 const struct object **ret)
{
	struct failure why = { 0 };

	return write->kind != KIND_POD && !write->dry_run &&
	       server_object_read(kind_row(write->kind), write->name, answer->body, answer->length,
				  ret, &why) == 0 &&
	       has_finalizers(*ret);
}
