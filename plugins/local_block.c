/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_block - volumeMode Block of a local volume: the device itself, mapped by block_map.h
 *
 * The plugin sets nothing up for the device as a whole, and does not enforce read-only: the
 * runtime's device rule does.
 */
#include "plugins/local.h"

#include "base/cleanup.h"
#include "plugins/block_map.h"
#include "plugins/layout.h"

#include <assert.h>
#include <string.h>

struct block_mapper {
	struct block_map map;
	struct local_source source; /* mapping only */
	char *global_map_path, *pod_map_path, *volume_name, *pod_uid;
};

static void block_mapper_free(void *data)
{
	struct block_mapper *mapper = data;

	if (!mapper)
		return;
	local_source_done(&mapper->source);
	free(mapper->global_map_path);
	free(mapper->pod_map_path);
	free(mapper->volume_name);
	free(mapper->pod_uid);
	free(mapper);
}

static int map_device(void *data, struct stage_report *report)
{
	struct block_mapper *mapper = data;
	struct local_found found;
	int r;

	r = local_look_up(&mapper->source, false, &found, &report->failure);
	if (r < 0)
		return r;
	(void) close(found.fd);
	if (found.kind != LOCAL_DEVICE)
		return failed_plain(&report->failure, -ENOTBLK,
				    "volume mode is Block, but '%s' is %s", mapper->source.path,
				    found.kind == LOCAL_DIRECTORY ? "a directory" : "an image");
	if (strlen(mapper->source.path) >= sizeof(report->device_path))
		return failed_plain(&report->failure, -ENAMETOOLONG,
				    "the path of the device '%s' is too long", mapper->source.path);
	(void) snprintf(report->device_path, sizeof(report->device_path), "%s",
			mapper->source.path);

	r = block_map_device(&mapper->map, mapper->source.path, &report->failure);
	if (r < 0)
		report->error_class = ERROR_UNCERTAIN;
	return r;
}

static int unmap_device(void *data, struct stage_report *report)
{
	const struct block_mapper *mapper = data;

	report->error_class = ERROR_UNCERTAIN;
	return block_unmap_device(&mapper->map, &report->failure);
}

/* What mapping and unmapping share. */
static int new_mapper(const struct volume_request *request, struct block_mapper **ret,
		      struct failure *reterr)
{
	struct block_mapper *mapper;
	int r;

	assert(request->host && request->volume_name && request->pod_uid);

	mapper = calloc(1, sizeof(*mapper));
	if (!mapper)
		return failed(reterr, -ENOMEM, "cannot map volume '%s'", request->volume_name);
	r = layout_child(LOCAL_MAP_BASE, request->volume_name, &mapper->global_map_path, reterr);
	if (r == 0)
		r = layout_pod_path(request->pod_uid, "volumeDevices", LOCAL_PLUGIN_NAME, NULL,
				    &mapper->pod_map_path, reterr);
	mapper->volume_name = strdup(request->volume_name);
	mapper->pod_uid = strdup(request->pod_uid);
	if (r == 0 && (!mapper->volume_name || !mapper->pod_uid))
		r = failed(reterr, -ENOMEM, "cannot map volume '%s'", request->volume_name);
	if (r < 0) {
		block_mapper_free(mapper);
		return r;
	}
	mapper->map = (struct block_map){
		.host = request->host,
		.global_map_path = mapper->global_map_path,
		.pod_map_path = mapper->pod_map_path,
		.volume_name = mapper->volume_name,
		.pod_uid = mapper->pod_uid,
	};
	*ret = mapper;
	return 0;
}

int local_new_block_mapper(const struct volume_request *request, struct stage_list *ret,
			   struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("map the device", map_device),
	};
	struct block_mapper *mapper;
	int r;

	assert(request->spec);

	r = new_mapper(request, &mapper, reterr);
	if (r < 0)
		return r;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mapper, block_mapper_free };
	r = local_source_init(request, &mapper->source, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

int local_new_block_unmapper(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("unmap the device", unmap_device),
	};
	struct block_mapper *mapper;
	int r = new_mapper(request, &mapper, reterr);

	if (r < 0)
		return r;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mapper, block_mapper_free };
	return 0;
}

/* ---- TearDownDevice ---- */

struct device_unmapper {
	const struct plugin_host *host;
	char *global_map_path, *device_path;
};

static void device_unmapper_free(void *data)
{
	struct device_unmapper *unmapper = data;

	if (!unmapper)
		return;
	free(unmapper->global_map_path);
	free(unmapper->device_path);
	free(unmapper);
}

static int tear_down_device(void *data, struct stage_report *report)
{
	const struct device_unmapper *unmapper = data;

	report->error_class = ERROR_UNCERTAIN;
	return block_tear_down_device(unmapper->host, unmapper->global_map_path,
				      unmapper->device_path, &report->failure);
}

int local_new_device_unmapper(const struct volume_request *request, struct stage_list *ret,
			      struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("release the device", tear_down_device),
	};
	struct device_unmapper *unmapper;
	int r;

	assert(request->host && request->volume_name);

	unmapper = calloc(1, sizeof(*unmapper));
	if (!unmapper)
		return failed(reterr, -ENOMEM, "cannot release volume '%s'", request->volume_name);
	unmapper->host = request->host;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), unmapper, device_unmapper_free };
	r = layout_child(LOCAL_MAP_BASE, request->volume_name, &unmapper->global_map_path, reterr);
	unmapper->device_path = strdup(request->device_path ? request->device_path : "");
	if (r == 0 && !unmapper->device_path)
		r = failed(reterr, -ENOMEM, "cannot release volume '%s'", request->volume_name);
	if (r < 0)
		stage_list_done(ret);
	return r;
}
