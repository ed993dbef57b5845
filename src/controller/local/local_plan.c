/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan - what all local provisioners have in common, and podvol/local; see local_plan.h
 */
#include "controller/local/local_plan.h"

#include "base/cleanup.h"
#include "controller/controller.h"
#include "controller/csi/topology.h"
#include "controller/local/local_flavour.h"
#include "object/json/json.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define HOSTNAME_LABEL    "kubernetes.io/hostname"
#define DEFAULT_BASE_PATH "/var/lib/podvol/volumes"

static local_read_fn read_podvol;

static const struct {
	const char *provisioner;
	local_read_fn *read;
} flavours[] = {
	{ "podvol/local", read_podvol },
	{ LOCAL_DRIVER_NAME, read_podvol },
	{ "openebs.io/local", local_read_openebs },
	{ "rancher.io/local-path", local_read_rancher },
};

static local_read_fn *find_flavour(const char *provisioner)
{
	for (size_t i = 0; i < ARRAY_SIZE(flavours); i++)
		if (strcmp(flavours[i].provisioner, provisioner) == 0)
			return flavours[i].read;
	return NULL;
}

bool local_is_provisioner(const char *provisioner)
{
	return find_flavour(provisioner) != NULL;
}

bool local_should_provision(const struct persistent_volume_claim *claim,
			    const struct storage_class *storage_class, const char *node_name)
{
	if (!storage_class || !local_is_provisioner(storage_class->provisioner) ||
	    strcmp(claim->storage_provisioner, storage_class->provisioner) != 0)
		return false;
	if (claim->volume_name[0] || claim->object->meta.deletes)
		return false;
	/* A node that was selected for a class that does not wait means the same. */
	if (storage_class->waits_for_first_consumer || claim->selected_node[0])
		return strcmp(claim->selected_node, node_name) == 0;
	return true;
}

bool local_should_reschedule(const struct persistent_volume_claim *claim,
			     const struct storage_class *storage_class, bool node_exists)
{
	return !node_exists && claim->selected_node[0] &&
	       local_should_provision(claim, storage_class, claim->selected_node);
}

const char *local_volume_name(const struct object *claim, char buffer[LOCAL_VOLUME_NAME_BYTES])
{
	(void) snprintf(buffer, LOCAL_VOLUME_NAME_BYTES, "pvc-%s", claim->meta.uid);
	return buffer;
}

/* ---- reading ---- */

const char *local_annotation(const struct cJSON *tree, const char *key)
{
	return json_text(json_get_path(tree, "metadata.annotations"), key);
}

const char *local_parameter(const struct local_sources *sources, const char *key)
{
	return json_text(json_get(sources->storage_class, "parameters"), key);
}

const char *local_node_label(const struct local_request *request, const char *key)
{
	const struct labels *labels = &request->node->meta.labels;

	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->labels[i].key, key) == 0)
			return labels->labels[i].value;
	return "";
}

/* ---- paths ---- */

/* A line of the journal that names such a path would not be one line. */
static bool has_control(const char *path)
{
	for (; *path; path++)
		if ((unsigned char) *path < ' ' || *path == 0x7f)
			return true;
	return false;
}

/* "a//b/./c/" as "a/b/c"; false: it has ".." or control characters, or is too long. */
static bool clean_path(const char *path, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	if (has_control(path))
		return false;
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (length > 0 && !(length == 1 && path[0] == '.')) {
			if (used + length + 2 > size)
				return false;
			if (used > 0)
				ret[used++] = '/';
			memcpy(ret + used, path, length);
			used += length;
			ret[used] = '\0';
		}
		path += length;
		path += *path == '/';
	}
	return true;
}

int local_add_base_path(struct local_plan *plan, const char *path, struct failure *reterr)
{
	char clean[PATH_MAX];

	if (path[0] == '\0')
		return failed_plain(reterr, -EINVAL, "a base path is empty");
	if (path[0] != '/' || !clean_path(path, clean, sizeof(clean)))
		return failed_plain(
			reterr, -EINVAL,
			"base path '%s' is not absolute, or has '..' or control characters "
			"in it",
			path);
	if (clean[0] == '\0')
		return failed_plain(reterr, -EINVAL,
				    "base path '%s' would put the volume directory directly below "
				    "the root directory",
				    path);
	if (plan->base_count == LOCAL_BASE_PATHS_MAX)
		return failed_plain(reterr, -EINVAL, "more than %d base paths",
				    LOCAL_BASE_PATHS_MAX);
	if (asprintf(&plan->base_paths[plan->base_count], "/%s", clean) < 0)
		return failed(reterr, -ENOMEM, "cannot keep a base path");
	plan->base_count++;
	return 0;
}

int local_set_name(struct local_plan *plan, const char *name, struct failure *reterr)
{
	if (name[0] == '/' || !clean_path(name, plan->name, sizeof(plan->name)) || !plan->name[0])
		return failed_plain(reterr, -EINVAL,
				    "'%s' is not the name of a directory below the base path",
				    name);
	return 0;
}

static const char *path_of_move(const struct local_request *request)
{
	return request && request->move_name ? claim_move_path(request->claim) : NULL;
}

/* As it is written, since it is compared as text. */
static int add_path(struct local_plan *plan, const char *path, struct failure *reterr)
{
	char clean[PATH_MAX];
	const char *name = strrchr(path, '/') + 1;
	cleanup_free char *base = strndup(path, (size_t) (name - 1 - path));
	int r;

	if (!base)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	if (!clean_path(path, clean, sizeof(clean)) || strcmp(clean, path + 1) != 0 || !base[0])
		return failed_plain(reterr, -EINVAL,
				    "a path is absolute and has a directory above it, and no '.', "
				    "'..', '//', '/' at its end or control characters");
	plan->is_named = true;
	r = local_add_base_path(plan, base, reterr);
	return r < 0 ? r : local_set_name(plan, name, reterr);
}

/* ---- the volume ---- */

void local_set_label(struct local_plan *plan, const char *key, const char *value)
{
	struct cJSON *metadata = json_ensure_object(plan->volume, "metadata");

	(void) json_set_string(json_ensure_object(metadata, "labels"), key, value);
}

void local_set_annotation(struct local_plan *plan, const char *key, const char *value)
{
	struct cJSON *metadata = json_ensure_object(plan->volume, "metadata");

	(void) json_set_string(json_ensure_object(metadata, "annotations"), key, value);
}

/* The list is rebuilt each time: trees are only added to. */
void local_add_affinity(struct local_plan *plan, const char *key, const char *value)
{
	struct cJSON *spec = json_ensure_object(plan->volume, "spec");
	struct cJSON *affinity = json_ensure_object(spec, "nodeAffinity");
	struct cJSON *required = json_ensure_object(affinity, "required");
	const struct cJSON *old =
		json_get(json_at(json_get(required, "nodeSelectorTerms"), 0), "matchExpressions");
	struct cJSON *terms = json_new_array(), *expressions, *expression;

	expressions = json_add_array(json_add_object(terms, NULL), "matchExpressions");
	JSON_FOREACH (i, old)
		(void) json_set(expressions, NULL, json_copy(i));
	expression = json_add_object(expressions, NULL);
	(void) json_set_string(expression, "key", key);
	(void) json_set_string(expression, "operator", "In");
	(void) json_set_string(json_add_array(expression, "values"), NULL, value);
	(void) json_set(required, "nodeSelectorTerms", terms);
}

static void start_volume(const struct local_sources *sources, struct local_plan *plan)
{
	const struct storage_class *class = sources->request->storage_class;
	const struct cJSON *asked = json_get(sources->claim, "spec");
	const struct cJSON *requests = json_get_path(asked, "resources.requests");
	struct cJSON *spec;

	plan->volume = json_new_object();
	(void) json_set_string(plan->volume, "apiVersion", "v1");
	(void) json_set_string(plan->volume, "kind", "PersistentVolume");
	(void) json_set_string(json_ensure_object(plan->volume, "metadata"), "name",
			       sources->volume_name);
	local_set_annotation(plan, ANNOTATION_PROVISIONED_BY, class->provisioner);
	local_set_annotation(plan, ANNOTATION_UNFINISHED, "yes");
	if (sources->request->move_name)
		local_set_annotation(plan, ANNOTATION_MOVED_FROM,
				     sources->request->claim->volume_name);
	if (sources->request->in_cluster)
		local_set_annotation(plan, ANNOTATION_MARKED_BY, "claim");
	if (sources->request->move_name ||
	    (sources->request->in_cluster && class->reclaim_policy == RECLAIM_DELETE))
		(void) metadata_add_finalizer(plan->volume, (void *) FINALIZER_PROVISIONER);
	spec = json_ensure_object(plan->volume, "spec");
	(void) json_set(spec, "accessModes", json_copy(json_get(asked, "accessModes")));
	(void) json_set_string(json_add_object(spec, "capacity"), "storage",
			       json_text(requests, "storage"));
	(void) json_set_string(spec, "persistentVolumeReclaimPolicy",
			       reclaim_policy_name(path_of_move(sources->request)
							   ? RECLAIM_RETAIN
							   : class->reclaim_policy));
	(void) json_set_string(spec, "storageClassName", class->object->meta.name);
	(void) json_set_string(spec, "volumeMode", "Filesystem");
	object_write_reference(sources->request->claim->object, json_add_object(spec, "claimRef"));
}

/* An image is what is mounted, and the volume says so, since nothing else could know after a
 * reboot. Kubelet refuses a file here: better than a directory without a limit. */
static int add_source(const struct local_plan *plan, struct cJSON *spec, const char *base_path,
		      bool is_image)
{
	cleanup_free char *path = NULL;
	struct cJSON *source;

	if (strcmp(plan->capacity, LOCAL_PLUGIN) == 0)
		return 0; /* it was added when the class was read */
	source = json_add_object(spec, plan->is_host_path ? "hostPath" : "local");
	if (asprintf(&path, "%s/%s%s", base_path, plan->name, is_image ? LOCAL_IMAGE : "") < 0)
		return -ENOMEM;
	(void) json_set_string(source, "path", path);
	/* Local-path says DirectoryOrCreate: a pod whose volume's disk is not mounted would start
	 * on an empty directory. */
	if (plan->is_host_path)
		(void) json_set_string(source, "type", "Directory");
	if (is_image)
		(void) json_set_string(source, "fsType", plan->fs_type);
	return 0;
}

int local_plan_volume(const struct local_plan *plan, size_t base_index, const char *capacity,
		      const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_copy(plan->volume);
	const char *base_path = plan->base_paths[base_index];
	bool is_image = strcmp(capacity, "image") == 0;
	struct cJSON *annotations;

	assert(base_index < plan->base_count && plan->name[0]);
	if (!tree || add_source(plan, json_ensure_object(tree, "spec"), base_path, is_image) < 0)
		return failed(reterr, -ENOMEM, "cannot make a volume");
	annotations = json_ensure_object(json_ensure_object(tree, "metadata"), "annotations");
	(void) json_set_string(annotations, ANNOTATION_BASE_PATH, base_path);
	if (strcmp(capacity, "none") != 0)
		(void) json_set_string(annotations, ANNOTATION_CAPACITY, capacity);
	return object_propose(tree, ret, reterr);
}

/* ---- making ---- */

int local_check_modes(const struct local_sources *sources, unsigned int modes,
		      struct failure *reterr)
{
	if (sources->request->claim->access_modes & ~modes)
		return failed_plain(reterr, -EINVAL,
				    "only the access mode%s ReadWriteOnce%s can be provided by a "
				    "directory of one node",
				    modes & ACCESS_READ_WRITE_ONCE_POD ? "s" : "",
				    modes & ACCESS_READ_WRITE_ONCE_POD ? " and ReadWriteOncePod"
								       : "");
	return 0;
}

static int check_claim(const struct persistent_volume_claim *claim, const char *provisioner,
		       struct failure *reterr)
{
	if (claim->data_source.kind != DATA_SOURCE_NONE && find_flavour(provisioner) != read_podvol)
		return failed_plain(
			reterr, -EINVAL,
			"a directory of '%s' cannot be made from a dataSource: snapshots "
			"and clones of other volumes are not supported",
			provisioner);
	if (claim->selector)
		return failed_plain(reterr, -EINVAL,
				    "a claim with a selector cannot be provisioned: a new volume "
				    "has no labels to select");
	if (claim->mode == VOLUME_MODE_BLOCK)
		return failed_plain(reterr, -EINVAL,
				    "volumeMode Block cannot be provided by a directory");
	return 0;
}

/* Octal, as for chmod(1). Directories that others may enter are what a class has to ask for. */
static int read_mode(const struct local_sources *sources, struct local_plan *plan,
		     struct failure *reterr)
{
	const char *text = local_parameter(sources, "podvol.io/directory-mode");
	char *end = NULL;
	unsigned long mode;

	plan->mode = LOCAL_DIRECTORY_MODE;
	if (!text[0])
		return 0;
	mode = strtoul(text, &end, 8);
	if (*end || text[strspn(text, "01234567")] || mode > 07777 || mode == 0)
		return failed_plain(reterr, -EINVAL,
				    "parameter podvol.io/directory-mode: '%s' is not a mode such "
				    "as 0770",
				    text);
	plan->mode = (mode_t) mode;
	return 0;
}

int local_plan_make(const struct local_request *request, struct local_plan *ret,
		    struct failure *reterr)
{
	char name[LOCAL_VOLUME_NAME_BYTES];
	cleanup_json struct cJSON *claim = object_tree(request->claim->object);
	cleanup_json struct cJSON *class = object_tree(request->storage_class->object);
	const struct local_sources sources = {
		request, claim, class,
		request->move_name ?: local_volume_name(request->claim->object, name)
	};
	local_read_fn *read = find_flavour(request->storage_class->provisioner);
	int64_t bytes = quantity_value(&request->claim->request);
	int r;

	assert(read);
	*ret = (struct local_plan){ .base_count = 0 };
	if (!claim || !class)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	r = check_claim(request->claim, request->storage_class->provisioner, reterr);
	if (r == 0 && !request->node)
		r = failed_plain(reterr, -ENODEV, "there is no Node object of the selected node");
	if (r == 0 && !topology_allows(request->storage_class, &request->node->meta.labels))
		r = failed_plain(reterr, -EINVAL,
				 "the class's allowedTopologies leave out node '%s'",
				 request->node->meta.name);
	if (r < 0)
		return r;
	start_volume(&sources, ret);
	ret->bytes = bytes > 0 ? (uint64_t) bytes : 0;
	(void) snprintf(ret->capacity, sizeof(ret->capacity), "none");
	r = read_mode(&sources, ret, reterr);
	return r < 0 ? r : read(&sources, ret, reterr);
}

void local_plan_done(struct local_plan *plan)
{
	for (size_t i = 0; i < plan->base_count; i++)
		free(plan->base_paths[i]);
	json_free(plan->volume);
	*plan = (struct local_plan){ .base_count = 0 };
}

/* ---- podvol/local ---- */

static int add_base_paths(struct local_plan *plan, const char *list, struct failure *reterr)
{
	cleanup_free char *copy = strdup(list);
	char *rest = copy, *path;
	int r = copy ? 0 : failed(reterr, -ENOMEM, "cannot plan a volume");

	while (r == 0 && (path = strsep(&rest, ","))) {
		path += strspn(path, " ");
		path[strcspn(path, " ")] = '\0';
		r = local_add_base_path(plan, path, reterr);
	}
	return r;
}

/* Without a plugin, whose options may have any name. A misspelt basePaths would put data on another
 * disk than the class's author meant. */
static int check_parameters(const struct local_sources *sources, struct failure *reterr)
{
	static const char *const known[] = { "basePaths", "capacity", "fsType",
					     "podvol.io/directory-mode" };

	JSON_FOREACH (item, json_get(sources->storage_class, "parameters")) {
		size_t i = 0;

		while (i < ARRAY_SIZE(known) && strcmp(json_key(item), known[i]) != 0)
			i++;
		if (i == ARRAY_SIZE(known))
			return failed_plain(reterr, -EINVAL,
					    "unknown parameter '%.200s': a class without plugin "
					    "has basePaths, capacity, fsType and "
					    "podvol.io/directory-mode",
					    json_key(item));
	}
	return 0;
}

static int read_base_paths(const struct local_sources *sources, struct local_plan *plan,
			   struct failure *reterr)
{
	const char *list = local_parameter(sources, "basePaths");
	int r;

	if (local_parameter(sources, "plugin")[0])
		return local_read_plugin(sources, plan, reterr);
	r = check_parameters(sources, reterr);
	if (r == 0)
		r = local_read_capacity(sources, plan, reterr);
	return r < 0 ? r : add_base_paths(plan, list[0] ? list : DEFAULT_BASE_PATH, reterr);
}

int local_plan_room(const struct storage_class *storage_class, struct local_plan *ret,
		    struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(storage_class->object);
	const struct local_sources sources = { .storage_class = tree };

	*ret = (struct local_plan){ .bytes = INT64_MAX, .capacity = "none" };
	return read_base_paths(&sources, ret, reterr);
}

static int read_podvol(const struct local_sources *sources, struct local_plan *plan,
		       struct failure *reterr)
{
	const char *host = local_node_label(sources->request, HOSTNAME_LABEL);
	const struct cJSON *options = json_get(sources->storage_class, "mountOptions");
	const char *path = path_of_move(sources->request);
	int r = local_check_modes(sources, ACCESS_READ_WRITE_ONCE | ACCESS_READ_WRITE_ONCE_POD,
				  reterr);

	if (r == 0 && path)
		r = local_read_capacity(sources, plan, reterr);
	else if (r == 0)
		r = read_base_paths(sources, plan, reterr);
	if (r == 0)
		r = path ? add_path(plan, path, reterr)
			 : local_set_name(plan, sources->volume_name, reterr);
	if (r < 0)
		return r;
	if (options)
		(void) json_set(json_ensure_object(plan->volume, "spec"), "mountOptions",
				json_copy(options));
	local_add_affinity(plan, HOSTNAME_LABEL,
			   host[0] ? host : sources->request->node->meta.name);
	return 0;
}
