/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_volume - configMap, secret, downwardAPI and projected: files made from other objects
 *
 * What the files hold is known before anything is made; they lie on an
 * emptyDir of their own (scratch.h), in memory for all but configMaps, and change all at once
 * (mount/files/atomic_writer.h). A change of an object runs the same stages again; one that fails
 * leaves what the pod has (spec: plugins, 5). Secret bytes are overwritten at teardown.
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "mount/files/atomic_writer.h"
#include "plugins/layout.h"
#include "plugins/payload_cache.h"
#include "plugins/pod_target.h"
#include "plugins/scratch.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

/* As in kubelet: apart from emptyDirs of the same name. */
#define READY_PREFIX "wrapped_"

/* ---- SetUpAt ---- */

struct file_mounter {
	struct scratch scratch;
	const struct object *pod;             /* a reference; @source is its */
	const struct pod_volume *source;      /* what the volume is */
	const struct object **objects;        /* references, as source->objects */
	const struct object *service_account; /* a reference, for tokens; NULL: there is none */
	struct file_trust *trust;             /* as source->trust_bundles */
	struct shared_payload *payload;
	bool is_ready; /* it was set up before: this is an update */
};

static void file_mounter_free(void *data)
{
	struct file_mounter *mounter = data;

	if (!mounter)
		return;
	for (size_t i = 0; mounter->objects && i < mounter->source->object_count; i++)
		object_unref(mounter->objects[i]);
	free(mounter->objects);
	(void) file_trust_free(mounter->trust, mounter->source);
	shared_payload_unref(mounter->payload);
	scratch_done(&mounter->scratch);
	object_unref(mounter->service_account);
	object_unref(mounter->pod);
	free(mounter);
}

/* The token that the volume shows; what cannot be read is made again. */
static char *current_token(void *userdata, const char *path)
{
	const int *volume_fd = userdata;
	char *text = NULL;

	if (*volume_fd >= 0)
		(void) atomic_read(*volume_fd, path, TOKEN_BYTES_MAX, &text);
	return text;
}

/* First of all: a pod whose objects are missing finds nothing made. */
static int gather_files(void *data, struct stage_report *report)
{
	struct file_mounter *mounter = data;
	const struct plugin_host *host = mounter->scratch.host;
	cleanup_close int volume_fd =
		mounter->source->has_tokens
			? open_beneath(host->root_fd, mounter->scratch.path, O_RDONLY | O_DIRECTORY,
				       PATH_NO_SYMLINKS_ANY_MOUNT, NULL)
			: -EBADF;
	struct file_tokens tokens = {
		.source = host->tokens,
		.pod = mounter->pod,
		.service_account = mounter->service_account,
		.current = current_token,
		.userdata = &volume_fd,
	};
	const struct file_inputs inputs = {
		.pod = mounter->pod,
		.source = mounter->source,
		.objects = mounter->objects,
		.allocatable = host->allocatable,
		.tokens = &tokens,
		.trust = mounter->trust,
	};
	int r = payload_cache_get(host->payloads, &inputs, &mounter->payload, &report->failure);

	report->renew_usec = tokens.renew_usec;
	return r;
}

static int make_volume(void *data, struct stage_report *report)
{
	struct file_mounter *mounter = data;
	int r = scratch_check(&mounter->scratch, report);

	mounter->is_ready = r == STAGE_LIST_DONE;
	return r == STAGE_NEXT ? scratch_make(&mounter->scratch, report) : r < 0 ? r : STAGE_NEXT;
}

/* A directory for another mount, unless a file of the volume has its name. */
struct nesting {
	const struct file_mounter *mounter;
	int directory_fd;
	struct failure *reterr;
};

static bool shows_name(const struct payload *payload, const char *path)
{
	size_t length = payload_top_length(path);

	for (size_t i = 0; i < payload->count; i++)
		if (payload_top_length(payload->files[i].path) == length &&
		    memcmp(payload->files[i].path, path, length) == 0)
			return true;
	return false;
}

static int make_nested(const char *path, void *userdata)
{
	const struct nesting *nesting = userdata;
	int fd;

	if (shows_name(shared_payload_files(nesting->mounter->payload), path))
		return 0;
	fd = make_directories(nesting->directory_fd, path, 0755, nesting->reterr);
	if (fd < 0)
		return fd;
	(void) close(fd);
	return 0;
}

static int write_files(void *data, struct stage_report *report)
{
	struct file_mounter *mounter = data;
	const struct pod *pod = mounter->pod->pod;
	cleanup_close int fd =
		open_beneath(mounter->scratch.place.parent_fd, mounter->scratch.place.name,
			     O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	struct nesting nesting = { mounter, fd, &report->failure };
	int r;

	report->error_class = ERROR_UNCERTAIN; /* there is a directory, and perhaps a tmpfs */
	if (fd < 0)
		return fd;
	r = scratch_check_memory(&mounter->scratch, fd, &report->failure);
	if (r == 0)
		r = nested_mounts(pod, mounter->source->name, make_nested, &nesting,
				  &report->failure);
	if (r == 0)
		r = atomic_write(
			&(struct atomic_write){
				.directory_fd = fd,
				.path = mounter->scratch.place.path,
				.payload = shared_payload_files(mounter->payload),
				.has_group = pod->has_fs_group,
				.group = pod->fs_group,
			},
			&report->failure);
	return r < 0 ? r : mounter->is_ready ? STAGE_LIST_DONE : STAGE_NEXT;
}

static int mark_ready(void *data, struct stage_report *report)
{
	return scratch_mark_ready(&((struct file_mounter *) data)->scratch, report);
}

static struct object_reference service_account_of(const struct object *pod)
{
	return (struct object_reference){ KIND_SERVICE_ACCOUNT, pod->meta.name_space,
					  pod->pod->service_account_name };
}

/* An object counts as absent only when its server says so (case 142). */
static int take_object(const struct object_finder *objects, const char *name_space,
		       const struct pod_volume_object *wanted, const struct object **ret,
		       struct failure *reterr)
{
	const struct object_reference reference = { wanted->kind, name_space, wanted->name };

	*ret = object_ref(objects->find(objects->userdata, &reference));
	if (*ret || !objects->is_unknown || !objects->is_unknown(objects->userdata, &reference))
		return 0;
	return failed_plain(reterr, -EAGAIN, "%s \"%s\" has not been received from the server yet",
			    wanted->kind == KIND_SECRET ? "secret" : "configmap", wanted->name);
}

static int take_objects(struct file_mounter *mounter, const struct volume_request *request,
			struct failure *reterr)
{
	const struct pod_volume *source = mounter->source;
	int r = 0;

	assert((source->object_count == 0 && !source->has_tokens) || request->objects);
	mounter->objects = calloc(source->object_count + 1, sizeof(*mounter->objects));
	if (!mounter->objects || file_trust_gather(source, request->objects, &mounter->trust) < 0)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->volume_name);
	if (source->has_tokens) {
		const struct object_reference account = service_account_of(request->pod);

		mounter->service_account =
			object_ref(request->objects->find(request->objects->userdata, &account));
	}
	for (size_t i = 0; i < source->object_count && r == 0; i++)
		r = take_object(request->objects, request->pod->meta.name_space,
				&source->objects[i], &mounter->objects[i], reterr);
	return r;
}

static int new_mounter(const struct volume_request *request, struct stage_list *ret,
		       struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("gather the files", gather_files),
		WORKER_STAGE("make the volume", make_volume),
		WORKER_STAGE("write the files", write_files),
		WORKER_STAGE("mark it ready", mark_ready),
	};
	const struct pod_volume *source = request->spec->source;
	struct file_mounter *mounter;
	int r;

	assert(request->host && source && request->pod && request->pod_uid);
	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->volume_name);
	mounter->scratch = SCRATCH_EMPTY;
	mounter->pod = object_ref(request->pod);
	mounter->source = source;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, file_mounter_free };
	r = scratch_init_for(&mounter->scratch, request, READY_PREFIX, reterr);
	if (r == 0)
		r = take_objects(mounter, request, reterr);
	if (r < 0) {
		stage_list_done(ret);
		return r;
	}
	if (source->source != SOURCE_CONFIG_MAP)
		scratch_use_memory(&mounter->scratch,
				   empty_dir_memory_size(request->pod->pod, source,
							 request->host->allocatable.memory_bytes));
	return 0;
}

/* ---- TearDownAt ---- */

/* What cannot be overwritten goes with the memory, all the same; but that is reported.
 */
static void wipe(const struct place *place)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = open_beneath(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY,
					    PATH_NO_SYMLINKS_ANY_MOUNT, &why);

	if (fd < 0 || atomic_write_wipe(fd, place->path, &why) < 0)
		log_message(LOG_WARNING,
			    "files of '%s' were not overwritten before their memory was given "
			    "back: %s",
			    place->path, why.text);
}

static int new_unmounter(const struct volume_request *request, struct stage_list *ret,
			 struct failure *reterr)
{
	return scratch_new_unmounter(request, READY_PREFIX, wipe, ret, reterr);
}

/* ---- queries of the loop ---- */

static int get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	*ret = strdup(spec->name);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static struct volume_attributes get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = true,
					   .managed = true,
					   .selinux_relabel = true };
}

static bool requires_remount(const struct volume_spec *spec, const struct object_finder *objects)
{
	return true;
}

static int references(const struct volume_spec *spec, const char *node_name,
		      int (*visit)(const struct object_reference *reference, void *userdata),
		      void *userdata)
{
	const struct object_meta *meta = &spec->pod->meta;
	const struct pod_volume *source = spec->source;
	int r = 0;

	for (size_t i = 0; i < source->object_count && r == 0; i++)
		r = visit(&(struct object_reference){ source->objects[i].kind, meta->name_space,
						      source->objects[i].name },
			  userdata);
	for (size_t i = 0; i < source->trust_bundle_count && r == 0; i++)
		r = visit(&(struct object_reference){ KIND_CLUSTER_TRUST_BUNDLE, "",
						      source->trust_bundles[i].name },
			  userdata);
	if (r == 0 && source->has_tokens) {
		const struct object_reference account = service_account_of(spec->pod);

		r = visit(&account, userdata);
	}
	if (r == 0 && source->shows_pod)
		r = visit(&(struct object_reference){ KIND_POD, meta->name_space, meta->name },
			  userdata);
	return r;
}

/* The name is all there is to know, once the ready file says that the directory is such a volume;
 * where that file lies does not depend on the kind. */
static int construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
				 const char *volume_name, bool block, struct volume_spec *ret,
				 struct failure *reterr)
{
	const struct scratch_name name = { .pod_uid = pod_uid,
					   .plugin_name = EMPTY_DIR_PLUGIN_NAME,
					   .volume_name = volume_name,
					   .ready_prefix = READY_PREFIX };
	int r;

	if (block || !layout_is_component(volume_name))
		return failed_plain(reterr, -EINVAL, "'%s' is not a volume of files", volume_name);
	r = scratch_check_ready(host, &name, reterr);
	if (r < 0)
		return r;
	*ret = (struct volume_spec){ .name = volume_name };
	return 0;
}

/* ---- the four plugins ---- */

static bool is_inline(const struct volume_spec *spec, enum volume_source_kind source)
{
	return !spec->pv && spec->source && spec->source->source == source;
}

static bool is_config_map(const struct volume_spec *spec)
{
	return is_inline(spec, SOURCE_CONFIG_MAP);
}

static bool is_secret(const struct volume_spec *spec)
{
	return is_inline(spec, SOURCE_SECRET);
}

static bool is_downward_api(const struct volume_spec *spec)
{
	return is_inline(spec, SOURCE_DOWNWARD_API);
}

static bool is_projected(const struct volume_spec *spec)
{
	return is_inline(spec, SOURCE_PROJECTED);
}

/* What is particular to one of them is in its objects: all but the name is the same. */
#define FILE_VOLUME_SLOTS                                                                          \
	.get_volume_name = get_volume_name, .get_attributes = get_attributes,                      \
	.requires_remount = requires_remount, .references = references,                            \
	.new_mounter = new_mounter, .new_unmounter = new_unmounter,                                \
	.get_path = pod_target_get_path, .construct_volume_spec = construct_volume_spec

const struct volume_plugin config_map_volume_plugin = { .name = "kubernetes.io/configmap",
							.can_support = is_config_map,
							FILE_VOLUME_SLOTS };
const struct volume_plugin secret_volume_plugin = { .name = "kubernetes.io/secret",
						    .can_support = is_secret,
						    FILE_VOLUME_SLOTS };
const struct volume_plugin downward_api_volume_plugin = { .name = "kubernetes.io/downward-api",
							  .can_support = is_downward_api,
							  FILE_VOLUME_SLOTS };
const struct volume_plugin projected_volume_plugin = { .name = "kubernetes.io/projected",
						       .can_support = is_projected,
						       FILE_VOLUME_SLOTS };
