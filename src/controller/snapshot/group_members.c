/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_members - what a VolumeGroupSnapshot is taken of, and the VolumeSnapshots that it becomes;
 * see snapshotter.h
 *
 * The names of these follow from the group's content and the volume, so that a start finds what was
 * made before a kill. They go before the group does, and not one by one.
 */
#include "controller/snapshot/snapshotter_internal.h"

#include "base/cleanup.h"
#include "csi/csi_drivers.h"
#include "object/json/json.h"

#include <string.h>

enum { MEMBER_NAME_BYTES = 16 + CSI_HASH_TEXT_BYTES };

static bool is_group(const struct volume_snapshot *snapshot)
{
	return snapshot->object->kind == KIND_VOLUME_GROUP_SNAPSHOT;
}

/* ---- its claims ---- */

struct volume_search {
	const struct snapshot_item *item;
	const struct volume_snapshot *group;
	const struct persistent_volume **found;
	size_t count;
	struct failure *why;
};

/* Objects are listed by name: it is the same order each time. */
static int take_claim(const struct object *claim, void *userdata)
{
	struct volume_search *search = userdata;
	const struct persistent_volume *volume;

	if (!label_selector_matches(search->group->selector, &claim->meta.labels))
		return 0;
	volume = snapshot_find_volume(search->item, claim);
	if (!volume)
		return failed_plain(search->why, -EAGAIN,
				    "the claim '%s' is not yet bound to a volume: no snapshot can "
				    "be taken of it",
				    claim->meta.name);
	if (!volume->csi ||
	    (search->count && strcmp(volume->csi->driver, search->found[0]->csi->driver) != 0))
		return failed_plain(search->why, -EINVAL,
				    "the volume of claim '%s' is not of the CSI driver of the "
				    "others",
				    claim->meta.name);
	if (search->count == GROUP_VOLUMES_MAX)
		return failed_plain(search->why, -E2BIG, "the selector matches more than %d claims",
				    GROUP_VOLUMES_MAX);
	search->found[search->count++] = volume;
	return 0;
}

int group_find_volumes(const struct snapshot_item *item, const struct volume_snapshot *group,
		       const struct persistent_volume ***ret, size_t *ret_count,
		       struct failure *reterr)
{
	cleanup_free const struct persistent_volume **found =
		calloc(GROUP_VOLUMES_MAX, sizeof(struct persistent_volume *));
	struct volume_search search = {
		.item = item, .group = group, .found = found, .why = reterr
	};
	int r;

	if (!found)
		return failed(reterr, -ENOMEM, "cannot find the claims of a group");
	r = store_list(snapshot_store(item), KIND_PERSISTENT_VOLUME_CLAIM,
		       group->object->meta.name_space, take_claim, &search);
	if (r == 0 && search.count == 0)
		r = failed_plain(reterr, -ENOENT, "the selector matches no claim");
	if (r < 0)
		return r;
	*ret_count = search.count;
	*ret = TAKE_PTR(found);
	return 0;
}

/* ---- its snapshots ---- */

/* As external-snapshotter names them, so that each finds what the other made. */
static int member_name(const char *prefix, const struct volume_snapshot_content *content,
		       const struct snapshot_member *member, char ret[MEMBER_NAME_BYTES])
{
	char hash[CSI_HASH_TEXT_BYTES];
	cleanup_free char *text = NULL;
	int r;

	if (asprintf(&text, "%s%s", content->object->meta.uid, member->volume_handle) < 0)
		return -ENOMEM;
	r = csi_hash_text(text, hash);
	if (r < 0)
		return r;
	(void) snprintf(ret, MEMBER_NAME_BYTES, "%s%s", prefix, hash);
	return 0;
}

static struct cJSON *new_member(const char *kind, const char *name, const char *name_space)
{
	struct cJSON *tree = json_new_object(), *metadata;

	(void) json_set_string(tree, "apiVersion",
			       snapshot_words(KIND_VOLUME_SNAPSHOT)->api_version);
	(void) json_set_string(tree, "kind", kind);
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	if (name_space)
		(void) json_set_string(metadata, "namespace", name_space);
	return tree;
}

static int plan_content(const struct volume_snapshot_content *group,
			const struct snapshot_member *member, const char *names[2],
			const struct object **ret)
{
	cleanup_json struct cJSON *tree = new_member("VolumeSnapshotContent", names[1], NULL);
	struct cJSON *spec = json_add_object(tree, "spec"), *ref, *status;

	(void) json_set_string(spec, "deletionPolicy",
			       group->deletion_policy == SNAPSHOT_DELETE ? "Delete" : "Retain");
	(void) json_set_string(spec, "driver", group->driver);
	(void) json_set_string(json_add_object(spec, "source"), "snapshotHandle", member->handle);
	ref = json_add_object(spec, "volumeSnapshotRef");
	(void) json_set_string(ref, "name", names[0]);
	(void) json_set_string(ref, "namespace", group->snapshot_namespace);
	status = json_add_object(tree, "status");
	(void) json_set_string(status, "snapshotHandle", member->handle);
	(void) json_set_string(status, "volumeGroupSnapshotHandle", group->snapshot_handle);
	(void) json_set_bool(status, "readyToUse", member->is_ready);
	if (member->creation_nsec > 0)
		(void) json_set_int(status, "creationTime", member->creation_nsec);
	if (member->bytes > 0)
		(void) json_set_int(status, "restoreSize", member->bytes);
	return object_propose(tree, ret, NULL);
}

static int plan_snapshot(const struct volume_snapshot *group, const char *names[2],
			 const struct object **ret)
{
	cleanup_json struct cJSON *tree =
		new_member("VolumeSnapshot", names[0], group->object->meta.name_space);
	struct cJSON *source = json_add_object(json_add_object(tree, "spec"), "source");

	(void) json_set_string(source, "volumeSnapshotContentName", names[1]);
	(void) json_set_string(json_add_object(tree, "status"), "volumeGroupSnapshotName",
			       group->object->meta.name);
	return object_propose(tree, ret, NULL);
}

/* The content first: it says that the driver does not delete it alone. */
static bool make_member(struct snapshot_item *item, const struct volume_snapshot *group,
			const struct volume_snapshot_content *content,
			const struct snapshot_member *member)
{
	char name[MEMBER_NAME_BYTES], content_name[MEMBER_NAME_BYTES];
	const char *names[2] = { name, content_name };
	const struct object *made = NULL;
	int r = member_name("snapshot-", content, member, name);

	if (r == 0)
		r = member_name("snapcontent-", content, member, content_name);
	if (r == 0 &&
	    !store_get(snapshot_store(item), KIND_VOLUME_SNAPSHOT_CONTENT, "", content_name))
		r = plan_content(content, member, names, &made);
	else if (r == 0 && !store_get(snapshot_store(item), KIND_VOLUME_SNAPSHOT,
				      group->object->meta.name_space, name))
		r = plan_snapshot(group, names, &made);
	else if (r == 0)
		return false;
	work_item_create(&item->work, r, made);
	return true;
}

bool group_make_members(struct snapshot_item *item, const struct volume_snapshot *group,
			const struct volume_snapshot_content *content)
{
	for (size_t i = 0; is_group(group) && i < content->member_count; i++)
		if (make_member(item, group, content, &content->members[i]))
			return true;
	return false;
}

/* ---- their end ---- */

static const struct volume_snapshot_content *content_of(const struct snapshot_item *item,
							enum object_kind kind, const char *bound,
							const char *named)
{
	const struct object *object =
		store_get(snapshot_store(item), kind, "", *bound ? bound : named);

	return object ? object->volume_snapshot_content : NULL;
}

/* By the driver's own handle, which stands in the content: a client that may write the status of a
 * VolumeSnapshot does not choose what is deleted with a group. */
static bool is_of_group(const struct volume_snapshot_content *content,
			const struct volume_snapshot_content *group)
{
	return *content->group_handle &&
	       strcmp(content->group_handle, group->snapshot_handle) == 0 &&
	       strcmp(content->driver, group->driver) == 0;
}

static bool is_member(const struct snapshot_item *item, const struct volume_snapshot *snapshot,
		      const struct volume_snapshot *group,
		      const struct volume_snapshot_content *group_content)
{
	const struct volume_snapshot_content *content;

	if (strcmp(snapshot->group_name, group->object->meta.name) != 0)
		return false;
	content = content_of(item, KIND_VOLUME_SNAPSHOT_CONTENT, snapshot->bound_content,
			     snapshot->content_name);
	return content && snapshot_is_named_by(content, snapshot->object) &&
	       is_of_group(content, group_content);
}

struct member_search {
	const struct snapshot_item *item;
	const struct volume_snapshot *group;
	const struct volume_snapshot_content *content;
	size_t count;
	const struct object *to_delete;
};

static int take_member(const struct object *object, void *userdata)
{
	struct member_search *search = userdata;

	if (!is_member(search->item, object->volume_snapshot, search->group, search->content))
		return 0;
	search->count++;
	if (!object->meta.deletes)
		search->to_delete = object;
	return 0;
}

/* A content that no VolumeSnapshot was made for before the group was deleted. */
static int take_unbound(const struct object *object, void *userdata)
{
	const struct volume_snapshot_content *content = object->volume_snapshot_content;
	struct member_search *search = userdata;

	if (!is_of_group(content, search->content) || *content->snapshot_uid ||
	    content->deletion_policy != SNAPSHOT_DELETE ||
	    strcmp(content->snapshot_namespace, search->group->object->meta.name_space) != 0)
		return 0;
	search->count++;
	if (!object->meta.deletes)
		search->to_delete = object;
	return 0;
}

bool group_delete_members(struct snapshot_item *item, const struct volume_snapshot *group,
			  const struct volume_snapshot_content *content)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	struct member_search search = { .item = item, .group = group, .content = content };

	if (!is_group(group) || !content || !snapshot_is_named_by(content, group->object))
		return false;
	(void) store_list(snapshot_store(item), KIND_VOLUME_SNAPSHOT,
			  group->object->meta.name_space, take_member, &search);
	if (search.count == 0)
		(void) store_list(snapshot_store(item), KIND_VOLUME_SNAPSHOT_CONTENT, NULL,
				  take_unbound, &search);
	if (search.to_delete && options->common.is_complete(options->common.userdata))
		work_item_delete(&item->work, search.to_delete);
	return search.count > 0;
}

const struct object *group_that_holds(const struct snapshot_item *item,
				      const struct volume_snapshot *snapshot)
{
	const struct volume_snapshot_content *content;
	const struct object *object = NULL;
	const struct volume_snapshot *group;

	if (*snapshot->group_name)
		object = store_get(snapshot_store(item), KIND_VOLUME_GROUP_SNAPSHOT,
				   snapshot->object->meta.name_space, snapshot->group_name);
	if (!object || object->meta.deletes)
		return NULL;
	group = object->volume_snapshot;
	content = content_of(item, KIND_VOLUME_GROUP_SNAPSHOT_CONTENT, group->bound_content,
			     group->content_name);
	return content && is_member(item, snapshot, group, content) ? object : NULL;
}
