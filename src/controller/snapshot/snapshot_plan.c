/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_plan - the next versions of snapshots and contents; see snapshot_plan.h
 */
#include "controller/snapshot/snapshot_plan.h"

#include "base/cleanup.h"
#include "controller/controller.h"
#include "controller/local/local_plan.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/timestamp.h"

#include <inttypes.h>
#include <string.h>

#define OWN_PREFIX    "csi.storage.k8s.io/"
#define PODVOL_PREFIX "podvol.io/" /* of schedules */

enum { SECRET_NAME_BYTES = 254, NSEC_PER_USEC = 1000 };

const char *snapshot_driver_of(const struct persistent_volume *volume)
{
	if (volume->csi)
		return volume->csi->driver;
	if ((strcmp(volume->origin.provisioned_by, LOCAL_SNAPSHOT_DRIVER) == 0 ||
	     strcmp(volume->origin.provisioned_by, LOCAL_DRIVER_NAME) == 0) &&
	    (volume->local_path[0] || volume->program.flex))
		return LOCAL_SNAPSHOT_DRIVER;
	return "";
}

const char *snapshot_handle_of(const struct persistent_volume *volume)
{
	return volume->csi ? volume->csi->volume_handle : volume->object->meta.name;
}

const char *snapshot_content_name(const struct object *snapshot, char buffer[SNAPSHOT_NAME_BYTES])
{
	(void) snprintf(buffer, SNAPSHOT_NAME_BYTES, "%s%.46s",
			snapshot_words(snapshot->kind)->content_prefix, snapshot->meta.uid);
	return buffer;
}

const char *snapshot_name(const struct volume_snapshot_content *content,
			  char buffer[SNAPSHOT_NAME_BYTES])
{
	(void) snprintf(buffer, SNAPSHOT_NAME_BYTES, "%s%.46s",
			snapshot_words(content->object->kind)->name_prefix, content->snapshot_uid);
	return buffer;
}

bool snapshot_is_own_parameter(const char *key)
{
	return strncmp(key, OWN_PREFIX, strlen(OWN_PREFIX)) == 0 ||
	       strncmp(key, PODVOL_PREFIX, strlen(PODVOL_PREFIX)) == 0;
}

bool snapshot_is_named_by(const struct volume_snapshot_content *content,
			  const struct object *snapshot)
{
	return strcmp(content->snapshot_name, snapshot->meta.name) == 0 &&
	       strcmp(content->snapshot_namespace, snapshot->meta.name_space) == 0 &&
	       (content->snapshot_uid[0] == '\0' ||
		strcmp(content->snapshot_uid, snapshot->meta.uid) == 0);
}

bool snapshot_is_bound(const struct volume_snapshot_content *content, const struct object *snapshot)
{
	return content->snapshot_uid[0] && snapshot_is_named_by(content, snapshot);
}

int snapshot_check_content(const struct volume_snapshot_content *content,
			   const struct object *snapshot, const char *driver,
			   struct failure *reterr)
{
	const char *name = snapshot->meta.name;

	if (!content || !snapshot_is_bound(content, snapshot) || !content->snapshot_handle[0])
		return failed_plain(reterr, -EAGAIN,
				    "the VolumeSnapshot '%s' is not bound to its content", name);
	if (strcmp(content->driver, driver) != 0)
		return failed_plain(reterr, -EINVAL,
				    "the VolumeSnapshot '%s' is one of driver '%s', not of '%s'",
				    name, content->driver, driver);
	return 0;
}

/* ---- a content ---- */

static const char *secret_parameter(const struct volume_snapshot_class *class, const char *what)
{
	const char *prefix = snapshot_words(class->object->kind)->secret_parameter;
	size_t length = strlen(prefix);

	for (size_t i = 0; i < class->parameters.count; i++)
		if (strncmp(class->parameters.labels[i].key, prefix, length) == 0 &&
		    strcmp(class->parameters.labels[i].key + length, what) == 0)
			return class->parameters.labels[i].value;
	return "";
}

/* ${...} in a secret's name; a variable of no meaning is an error, also one of the other kind. */
static int expand(const char *template, const struct object *snapshot, const char *content_name,
		  char ret[SECRET_NAME_BYTES])
{
	static const char *const names[2][3] = {
		{ "${volumesnapshotcontent.name}", "${volumesnapshot.namespace}",
		  "${volumesnapshot.name}" },
		{ "${volumegroupsnapshotcontent.name}", "${volumegroupsnapshot.namespace}",
		  "${volumegroupsnapshot.name}" },
	};
	const char *const *variables = names[snapshot->kind == KIND_VOLUME_GROUP_SNAPSHOT];
	const char *const values[] = { content_name, snapshot->meta.name_space,
				       snapshot->meta.name };
	size_t used = 0;

	while (*template) {
		const char *piece = template;
		size_t length = strcspn(template, "$"), taken = length;

		for (size_t i = 0; length == 0 && i < ARRAY_SIZE(values); i++) {
			size_t known = strlen(variables[i]);

			if (strncmp(template, variables[i], known) != 0)
				continue;
			piece = values[i];
			length = strlen(piece);
			taken = known;
		}
		if (taken == 0 || used + length >= SECRET_NAME_BYTES)
			return -EINVAL;
		memcpy(ret + used, piece, length);
		used += length;
		template += taken;
	}
	ret[used] = '\0';
	return 0;
}

/* The secret for deleting it later is kept in the content: the class may be gone by then. */
static int add_secret(const struct snapshot_sources *sources, const char *content_name,
		      struct cJSON *annotations, struct failure *reterr)
{
	const struct object *snapshot = sources->snapshot->object;
	const struct snapshot_words *words = snapshot_words(snapshot->kind);
	const char *name = secret_parameter(sources->class, "-name");
	const char *space = secret_parameter(sources->class, "-namespace");
	char text[SECRET_NAME_BYTES];

	if (!*name && !*space)
		return 0;
	if (!*name || !*space)
		return failed_plain(reterr, -EINVAL,
				    "the class '%s' names half a secret: both its name and its "
				    "namespace are needed",
				    sources->class->object->meta.name);
	if (expand(name, snapshot, content_name, text) < 0)
		return failed_plain(reterr, -EINVAL, "'%s' cannot be the name of a secret", name);
	(void) json_set_string(annotations, words->secret_name, text);
	if (strstr(space, "snapshot.name}") || expand(space, snapshot, content_name, text) < 0)
		return failed_plain(reterr, -EINVAL, "'%s' cannot be the namespace of a secret",
				    space);
	(void) json_set_string(annotations, words->secret_space, text);
	return 0;
}

static void add_source(const struct snapshot_sources *sources, struct cJSON *spec)
{
	struct cJSON *source = json_add_object(spec, "source"), *list;

	if (sources->volume) {
		(void) json_set_string(source, "volumeHandle", snapshot_handle_of(sources->volume));
		(void) json_set_string(spec, "sourceVolumeMode",
				       sources->volume->mode == VOLUME_MODE_BLOCK ? "Block"
										  : "Filesystem");
		return;
	}
	list = json_add_array(source, "volumeHandles");
	for (size_t i = 0; i < sources->volume_count; i++)
		(void) json_set_string(list, NULL, snapshot_handle_of(sources->volumes[i]));
}

int snapshot_plan_content(const struct snapshot_sources *sources, const struct object **ret,
			  struct failure *reterr)
{
	const struct volume_snapshot_class *class = sources->class;
	const struct persistent_volume *volume = sources->volume;
	const struct snapshot_words *words = snapshot_words(class->object->kind);
	bool deletes = class->deletion_policy == SNAPSHOT_DELETE;
	cleanup_json struct cJSON *tree = json_new_object();
	char name[SNAPSHOT_NAME_BYTES];
	struct cJSON *metadata, *annotations, *spec;
	int r;

	(void) snapshot_content_name(sources->snapshot->object, name);
	(void) json_set_string(tree, "apiVersion", words->api_version);
	(void) json_set_string(tree, "kind", kind_row(words->content)->name);
	metadata = json_ensure_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(json_add_array(metadata, "finalizers"), NULL,
			       words->content_finalizer);
	if (sources->managed_by)
		(void) json_set_string(json_add_object(metadata, "labels"),
				       LABEL_SNAPSHOT_MANAGED_BY, sources->managed_by);
	annotations = json_ensure_object(metadata, "annotations");
	if (volume && volume->origin.base_path[0])
		(void) json_set_string(annotations, ANNOTATION_BASE_PATH, volume->origin.base_path);
	spec = json_ensure_object(tree, "spec");
	(void) json_set_string(spec, "deletionPolicy", deletes ? "Delete" : "Retain");
	(void) json_set_string(spec, "driver", class->driver);
	add_source(sources, spec);
	(void) json_set_string(spec, words->class_field, class->object->meta.name);
	object_write_reference(sources->snapshot->object, json_add_object(spec, words->ref_field));
	r = add_secret(sources, name, annotations, reterr);
	return r < 0 ? r : object_propose(tree, ret, reterr);
}

/* ---- what a driver says of a group ---- */

/* By volume, or by its own handle where only that is known. */
static size_t count_of(const struct snapshot_member *asked, const struct snapshot_member *members,
		       size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += *asked->volume_handle
				 ? strcmp(members[i].volume_handle, asked->volume_handle) == 0
				 : strcmp(members[i].handle, asked->handle) == 0;
	return found;
}

int snapshot_check_members(const struct volume_snapshot_content *content,
			   const struct snapshot_member *members, size_t count,
			   struct failure *reterr)
{
	if (content->member_count > GROUP_VOLUMES_MAX)
		return failed_plain(reterr, -E2BIG, "a group has at most %d snapshots",
				    GROUP_VOLUMES_MAX);
	if (count != content->member_count)
		return failed_plain(reterr, -EBADMSG,
				    "the driver returned %zu snapshots instead of %zu", count,
				    content->member_count);
	for (size_t i = 0; i < count; i++) {
		const struct snapshot_member *asked = &content->members[i];
		const struct snapshot_member one = { .volume_handle = "",
						     .handle = members[i].handle };

		if (!*members[i].handle || count_of(&one, members, count) != 1)
			return failed_plain(reterr, -EBADMSG,
					    "the driver returned a snapshot without a handle of "
					    "its own");
		if (count_of(asked, members, count) != 1)
			return failed_plain(reterr, -EBADMSG,
					    "the driver returned no snapshot, or several, of "
					    "'%.100s'",
					    *asked->volume_handle ? asked->volume_handle
								  : asked->handle);
		/* What it becomes is named by its volume: member_name() of group_members.c. */
		if (!*members[i].volume_handle || count_of(&members[i], members, count) != 1)
			return failed_plain(
				reterr, -EBADMSG,
				"the driver returned for snapshot '%.100s' no volume, or "
				"that of another snapshot",
				members[i].handle);
	}
	return 0;
}

/* ---- what a snapshot says ---- */

struct status_edit {
	const struct volume_snapshot_content *content;
	const char *error, *error_time;
};

static int write_error(struct cJSON *status, const char *text, const char *time)
{
	struct cJSON *error = json_add_object(status, "error");

	(void) json_set_string(error, "message", text);
	return json_set_string(error, "time", time);
}

static int edit_status(struct cJSON *tree, void *userdata)
{
	const struct status_edit *edit = userdata;
	const struct volume_snapshot_content *content = edit->content;
	struct cJSON *status = json_ensure_object(tree, "status");
	char text[TIMESTAMP_BYTES];

	(void) json_set_string(status, snapshot_words(content->object->kind)->bound_field,
			       content->object->meta.name);
	if (content->creation_nsec > 0) {
		timestamp_print((uint64_t) content->creation_nsec / NSEC_PER_USEC, text);
		(void) json_set_string(status, "creationTime", text);
	}
	(void) json_set_bool(status, "readyToUse",
			     content->state.is_ready && !content->object->meta.deletes);
	if (content->state.restore_size.is_set) {
		(void) snprintf(text, sizeof(text), "%" PRId64,
				quantity_value(&content->state.restore_size));
		(void) json_set_string(status, "restoreSize", text);
	}
	json_remove(status, "error");
	if (!content->state.has_error)
		return 0;
	return write_error(status, content->state.error, content->state.error_time);
}

/* NULL where the edit changes nothing. */
static int drop_same(const struct object *object, const struct object *made,
		     const struct object **ret)
{
	bool same = object->json_length == made->json_length &&
		    memcmp(object->json, made->json, made->json_length) == 0;

	*ret = same ? object_unref(made) : made;
	return 0;
}

int snapshot_plan_status(const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_content *content, const struct object **ret)
{
	struct status_edit edit = { .content = content };
	const struct object *made = NULL;
	int r = object_edit(snapshot->object, edit_status, &edit, &made, NULL);

	return r < 0 ? r : drop_same(snapshot->object, made, ret);
}

static int edit_error(struct cJSON *tree, void *userdata)
{
	const struct status_edit *edit = userdata;
	struct cJSON *status = json_ensure_object(tree, "status");

	(void) json_set_bool(status, "readyToUse", false);
	return write_error(status, edit->error, edit->error_time);
}

int snapshot_plan_error(const struct object *object, const char *text, uint64_t now_usec,
			const struct object **ret)
{
	const struct snapshot_state *state = object->kind == snapshot_words(object->kind)->snapshot
						     ? &object->volume_snapshot->state
						     : &object->volume_snapshot_content->state;
	char now[TIMESTAMP_BYTES];
	struct status_edit edit = { .error = text, .error_time = now };

	*ret = NULL;
	if (state->has_error && strcmp(state->error, text) == 0)
		return 0; /* since then, not since now */
	timestamp_print(now_usec, now);
	return object_edit(object, edit_error, &edit, ret, NULL);
}

/* ---- finalizers ---- */

int snapshot_with_finalizer(const struct object *object, const char *finalizer,
			    const struct object **ret)
{
	return object_edit(object, metadata_add_finalizer, (void *) finalizer, ret, NULL);
}

int snapshot_without_finalizer(const struct object *object, const char *finalizer,
			       const struct object **ret)
{
	return object_edit(object, metadata_remove_finalizer, (void *) finalizer, ret, NULL);
}
