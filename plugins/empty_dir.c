/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_dir - a pod's own scratch space on disk, in memory or in huge pages: kubelet's emptyDir
 *
 * A "ready" file outside the volume says that set-up was finished, so that a repetition after a
 * crash neither mounts twice nor changes owners again under a running pod. Teardown goes by what is
 * there and not by what a manifest says: a tmpfs or hugetlbfs is unmounted first; any other mount
 * on the directory is foreign and is refused. The content goes by
 * remove_empty_dir_contents() alone, which never leaves the directory's file system.
 */
#include "plugins/scratch.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/capacity/capacity.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#define HUGE_PAGES_PREFIX "HugePages-"

/* ---- what the medium says: pure ---- */

/* What is unknown is refused: silently writing to disk would be worse. */
static int medium_parse(const char *medium, enum empty_dir_medium *ret, struct failure *reterr)
{
	assert(medium && ret);
	if (medium[0] == '\0')
		*ret = MEDIUM_DEFAULT;
	else if (strcmp(medium, "Memory") == 0)
		*ret = MEDIUM_MEMORY;
	else if (strcmp(medium, "HugePages") == 0 ||
		 strncmp(medium, HUGE_PAGES_PREFIX, strlen(HUGE_PAGES_PREFIX)) == 0)
		*ret = MEDIUM_HUGE_PAGES;
	else
		return failed_plain(reterr, -EINVAL, "unknown storage medium \"%s\"", medium);
	return 0;
}

/* Limits come from manifests: their sum may be more than there are numbers. */
static int64_t saturated_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Sidecars run beside the containers after them and are part of the sum; other init containers run
 * one by one. Return: 0 when a container declares no limit. */
static int64_t containers_memory_limit(const struct pod *pod)
{
	int64_t sidecars = 0, regular = 0, init = 0;

	for (size_t i = 0; i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];
		int64_t limit = container->memory_limit_bytes;

		if (container->type == CONTAINER_EPHEMERAL)
			continue;
		if (limit <= 0)
			return 0;
		if (container->type == CONTAINER_REGULAR) {
			regular = saturated_sum(regular, limit);
			continue;
		}
		limit = saturated_sum(sidecars, limit);
		if (container->sidecar)
			sidecars = limit;
		if (limit > init)
			init = limit;
	}
	regular = saturated_sum(regular, sidecars);
	return init > regular ? init : regular;
}

/* What the pod's cgroup would get: the pod's own limit, or that of all its containers. */
static int64_t pod_memory_limit(const struct pod *pod)
{
	int64_t limit = pod->memory_limit_bytes > 0 ? pod->memory_limit_bytes
						    : containers_memory_limit(pod);

	return limit > 0 ? saturated_sum(limit, pod->memory_overhead_bytes) : 0;
}

/* A limit counts when it is set and not above what is already known; 0 stands for unknown. */
static int64_t lower_bound(int64_t current, int64_t limit)
{
	return limit > 0 && (current == 0 || limit <= current) ? limit : current;
}

/* The least of what the node, the pod and the volume allow; 0 when none of them says. */
int64_t empty_dir_memory_size(const struct pod *pod, const struct pod_volume *source,
			      int64_t allocatable_bytes)
{
	int64_t size = allocatable_bytes;

	if (pod)
		size = lower_bound(size, pod_memory_limit(pod));
	if (source->has_size_limit)
		size = lower_bound(size, source->size_limit_bytes);
	return size;
}

/* Compared as numbers: "2Mi" and "2048Ki" are the same size. */
static int64_t page_bytes(const char *page_size)
{
	struct quantity quantity;

	return quantity_parse(page_size, &quantity, NULL) < 0 ? 0 : quantity_value(&quantity);
}

/* "2Mi", borrowed: as the container wrote it, which is what kubelet gives to the mount. */
static int find_page_size(const struct pod *pod, const char *medium, const char **ret,
			  struct failure *reterr)
{
	bool any = strcmp(medium, "HugePages") == 0;
	const char *wanted = any ? NULL : medium + strlen(HUGE_PAGES_PREFIX);
	const char *found = NULL;

	for (size_t i = 0; pod && i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];

		for (size_t k = 0; k < container->huge_page_count; k++) {
			const char *size = container->huge_pages[k].page_size;

			if (!any && page_bytes(size) != page_bytes(wanted))
				continue;
			if (found && page_bytes(size) != page_bytes(found))
				return failed_plain(reterr, -EINVAL,
						    "medium HugePages cannot tell between requests "
						    "for multiple huge page sizes: %s and %s",
						    found, size);
			found = size;
		}
	}
	if (!found || page_bytes(found) <= 0)
		return failed_plain(reterr, -EINVAL,
				    "no container requests huge pages for medium %s", medium);
	*ret = found;
	return 0;
}

/* ---- SetUpAt ---- */

struct empty_dir_mounter {
	struct scratch scratch;
	bool has_fs_group;
	gid_t fs_group;
	uint64_t limit_bytes; /* of a directory; 0: none */
};

static void empty_dir_mounter_free(void *data)
{
	struct empty_dir_mounter *mounter = data;

	if (!mounter)
		return;
	scratch_done(&mounter->scratch);
	free(mounter);
}

static int check_directory(void *data, struct stage_report *report)
{
	return scratch_check(&((struct empty_dir_mounter *) data)->scratch, report);
}

static int make_volume(void *data, struct stage_report *report)
{
	return scratch_make(&((struct empty_dir_mounter *) data)->scratch, report);
}

/* Before anything is in it. Where it has no quota its usage is counted; see status/size_limits.h.
 */
static int limit_size(void *data, struct stage_report *report)
{
	const struct empty_dir_mounter *mounter = data;
	const struct place *place = &mounter->scratch.place;
	struct failure failure;
	cleanup_close int fd = -EBADF;
	int r;

	if (mounter->limit_bytes == 0)
		return STAGE_NEXT;
	fd = open_beneath(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS,
			  &failure);
	r = fd < 0 ? fd : capacity_limit_project(fd, place->path, mounter->limit_bytes, &failure);
	if (r < 0 && r != -EOPNOTSUPP)
		log_message(LOG_WARNING, "sizeLimit is watched, not enforced: %s", failure.text);
	return STAGE_NEXT;
}

static int write_ready(void *data, struct stage_report *report)
{
	return scratch_mark_ready(&((struct empty_dir_mounter *) data)->scratch, report);
}

static int own_volume(void *data, struct stage_report *report)
{
	struct empty_dir_mounter *mounter = data;
	struct ownership ownership = { .gid = mounter->fs_group, .progress = report->progress };
	struct ownership_counts counts;
	cleanup_close int fd = -EBADF;
	int r;

	report->error_class = ERROR_UNCERTAIN;
	if (!mounter->has_fs_group)
		return STAGE_NEXT;

	/* What the pod will see: the descriptor from before shows the directory below the mount. */
	fd = open_beneath(mounter->scratch.place.parent_fd, mounter->scratch.place.name,
			  O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	if (fd < 0)
		return fd;
	r = ownership_apply(fd, &ownership, report->cancelled, &counts, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

/* Medium, and the options it needs. */
static int choose_medium(struct scratch *scratch, const struct volume_request *request,
			 struct failure *reterr)
{
	const struct pod_volume *source = request->spec->source;
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	const char *page_size = "";
	int r;

	r = medium_parse(source->medium, &scratch->medium, reterr);
	if (r < 0)
		return r;
	if (scratch->medium == MEDIUM_HUGE_PAGES) {
		r = find_page_size(pod, source->medium, &page_size, reterr);
		if (r < 0)
			return r;
		scratch->page_bytes = page_bytes(page_size);
		(void) snprintf(scratch->options, sizeof(scratch->options), "pagesize=%s",
				page_size);
	} else if (scratch->medium == MEDIUM_MEMORY) {
		scratch_use_memory(scratch,
				   empty_dir_memory_size(pod, source,
							 request->host->allocatable.memory_bytes));
	}
	return 0;
}

static int empty_dir_new_mounter(const struct volume_request *request, struct stage_list *ret,
				 struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("check the directory", check_directory),
		WORKER_STAGE("make the volume", make_volume),
		WORKER_STAGE("limit its size", limit_size),
		WORKER_STAGE("apply ownership", own_volume),
		WORKER_STAGE("mark it ready", write_ready),
	};
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	struct empty_dir_mounter *mounter;
	int r;

	assert(request->host && request->spec && request->spec->source && request->pod_uid);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	mounter->scratch = SCRATCH_EMPTY;
	mounter->has_fs_group = pod && pod->has_fs_group;
	mounter->fs_group = mounter->has_fs_group ? pod->fs_group : 0;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, empty_dir_mounter_free };
	r = scratch_init_for(&mounter->scratch, request, "", reterr);
	if (r == 0)
		r = choose_medium(&mounter->scratch, request, reterr);
	if (r == 0 && mounter->scratch.medium == MEDIUM_DEFAULT &&
	    request->spec->source->size_limit_bytes > 0)
		mounter->limit_bytes = (uint64_t) request->spec->source->size_limit_bytes;
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- TearDownAt ---- */

static int empty_dir_new_unmounter(const struct volume_request *request, struct stage_list *ret,
				   struct failure *reterr)
{
	return scratch_new_unmounter(request, "", NULL, ret, reterr);
}

/* ---- queries of the loop ---- */

static bool empty_dir_can_support(const struct volume_spec *spec)
{
	return !spec->pv && spec->source && spec->source->source == SOURCE_EMPTY_DIR;
}

/* Unique within its pod only; plugin_unique_name() adds the pod. */
static int empty_dir_get_volume_name(const struct volume_spec *spec, char **ret,
				     struct failure *reterr)
{
	*ret = strdup(spec->name);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static const char *empty_dir_get_source(const struct volume_spec *spec)
{
	return spec->source->medium;
}

static struct volume_attributes empty_dir_get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .managed = true, .selinux_relabel = true };
}

/* Memory and huge pages; a directory outlives its mount. */
static bool empty_dir_lives_in_mount(const struct volume_spec *spec)
{
	return spec->source && *spec->source->medium;
}

/* Its maker says that it is one; teardown goes by what is mounted. */
static int empty_dir_construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
					   const char *volume_name, bool block,
					   struct volume_spec *ret, struct failure *reterr)
{
	const struct scratch_name name = { .pod_uid = pod_uid,
					   .plugin_name = EMPTY_DIR_PLUGIN_NAME,
					   .volume_name = volume_name,
					   .ready_prefix = "" };
	int r;

	if (block || !layout_is_component(volume_name))
		return failed_plain(reterr, -EINVAL, "'%s' is not an emptyDir", volume_name);
	r = scratch_check_ready(host, &name, reterr);
	if (r < 0)
		return r;
	*ret = (struct volume_spec){ .name = volume_name };
	return 0;
}

const struct volume_plugin empty_dir_volume_plugin = {
	.name = EMPTY_DIR_PLUGIN_NAME,
	.can_support = empty_dir_can_support,
	.get_volume_name = empty_dir_get_volume_name,
	.get_attributes = empty_dir_get_attributes,
	.get_source = empty_dir_get_source,
	.lives_in_mount = empty_dir_lives_in_mount,
	.traits = VOLUME_REMOVES_FILES,
	.new_mounter = empty_dir_new_mounter,
	.new_unmounter = empty_dir_new_unmounter,
	.get_path = pod_target_get_path,
	.construct_volume_spec = empty_dir_construct_volume_spec,
};
