/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_stats - how full a volume is, as its driver says; see csi.h
 */
#include "plugins/csi.h"

#include "csi/csi.pb-c.h"
#include "plugins/csi_caller.h"
#include "plugins/csi_paths.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct csi_stats {
	struct volume_metrics_call call; /* first: the caller frees by it */
	struct csi_caller caller;
	struct stage_report report;
	struct volume_metrics metrics;
	char *driver, *unique_name, *handle, *path;
	volume_metrics_fn *done;
	void *userdata;
};

static void csi_stats_free(struct volume_metrics_call *call)
{
	struct csi_stats *stats = (struct csi_stats *) call;

	csi_caller_done(&stats->caller);
	free(stats->driver);
	free(stats->unique_name);
	free(stats->handle);
	free(stats->path);
	free(stats);
}

static uint64_t unsigned_of(int64_t number)
{
	return number > 0 ? (uint64_t) number : 0;
}

/* Unknown units are passed over. */
static void take_usage(struct volume_metrics *metrics, const Csi__V1__VolumeUsage *usage)
{
	if (usage->unit == CSI__V1__VOLUME_USAGE__UNIT__BYTES) {
		metrics->has_bytes = true;
		metrics->capacity = unsigned_of(usage->total);
		metrics->used = unsigned_of(usage->used);
		metrics->available = unsigned_of(usage->available);
	} else if (usage->unit == CSI__V1__VOLUME_USAGE__UNIT__INODES) {
		metrics->has_inodes = true;
		metrics->inodes = unsigned_of(usage->total);
		metrics->inodes_used = unsigned_of(usage->used);
		metrics->inodes_free = unsigned_of(usage->available);
	}
}

static int take_stats(void *data, const ProtobufCMessage *message)
{
	struct csi_stats *stats = data;
	const Csi__V1__NodeGetVolumeStatsResponse *reply =
		(const Csi__V1__NodeGetVolumeStatsResponse *) message;
	const Csi__V1__VolumeCondition *condition = reply->volume_condition;
	struct volume_metrics *metrics = &stats->metrics;

	for (size_t i = 0; i < reply->n_usage; i++)
		take_usage(metrics, reply->usage[i]);
	if (condition && stats->caller.capabilities & CSI_CAN(VOLUME_CONDITION)) {
		metrics->has_condition = true;
		metrics->abnormal = condition->abnormal;
		(void) snprintf(metrics->condition, sizeof(metrics->condition), "%s",
				condition->message);
	}
	if (reply->n_usage == 0 && !metrics->has_condition)
		return failed_plain(&stats->report.failure, -ENODATA,
				    "driver '%s' reports no statistics of volume '%s'",
				    stats->driver, stats->handle);
	return STAGE_NEXT;
}

static int send_stats(void *data, const ProtobufCMessage *reply)
{
	struct csi_stats *stats = data;
	Csi__V1__NodeGetVolumeStatsRequest message = CSI__V1__NODE_GET_VOLUME_STATS_REQUEST__INIT;
	int r;

	if (!(stats->caller.capabilities & CSI_CAN(GET_VOLUME_STATS)))
		return failed_plain(&stats->report.failure, -EOPNOTSUPP,
				    "driver '%s' reports no statistics", stats->driver);
	message.volume_id = stats->handle;
	message.volume_path = stats->path;
	r = csi_caller_call(&stats->caller, CSI_NODE_GET_VOLUME_STATS, &message.base, NULL,
			    take_stats, stats);
	return r < 0 ? r : 1;
}

static void finish(void *token, int result)
{
	struct csi_stats *stats = token;

	stats->done(stats->userdata, &stats->metrics, result < 0 ? &stats->report.failure : NULL);
}

/* A volume that is written out in its pod has no driver in its name. */
static int name_handle(const struct volume_request *request, struct csi_stats *stats)
{
	const struct volume_spec *spec = request->spec;

	if (csi_split_unique_name(request->unique_name, &stats->driver, &stats->handle) == 0)
		return 0;
	if (!spec || !spec->source || !spec->source->csi)
		return -ENOENT;
	stats->driver = strdup(spec->source->csi->driver);
	stats->handle = csi_inline_handle(request->pod_uid, request->volume_name);
	return stats->driver && stats->handle ? 0 : -ENOMEM;
}

int csi_start_metrics(const struct volume_request *request, const char *path,
		      volume_metrics_fn *done, void *userdata, struct volume_metrics_call **ret)
{
	struct csi_stats *stats = calloc(1, sizeof(*stats));
	const struct csi_stage_end end = { stats ? &stats->report : NULL, finish, stats };
	int r;

	assert(request && request->host && path && done && ret);
	if (!stats)
		return -ENOMEM;
	stats->call.free = csi_stats_free;
	stats->done = done;
	stats->userdata = userdata;
	stats->unique_name = strdup(request->unique_name);
	stats->path = strdup(path);
	r = stats->unique_name && stats->path ? name_handle(request, stats) : -ENOMEM;
	if (r == 0 && !request->host->csi_drivers)
		r = -ENOTCONN;
	stats->caller = (struct csi_caller){ .drivers = request->host->csi_drivers,
					     .driver = stats->driver,
					     .about = stats->unique_name };
	if (r == 0)
		r = csi_caller_start(&stats->caller, &end, send_stats, stats);
	if (r < 0)
		csi_stats_free(&stats->call);
	else
		*ret = &stats->call;
	return r < 0 ? r : 0;
}
