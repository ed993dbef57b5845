/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_stats - how full a volume is, as its driver says; see csi_stats.h
 */
#include "plugins/csi_stats.h"

#include "base/cleanup.h"
#include "csi/csi.pb-c.h"
#include "plugins/csi_caller.h"
#include "plugins/csi_paths.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct csi_stats {
	struct csi_caller caller;
	struct stage_report report;
	struct csi_fullness fullness;
	char *driver, *unique_name, *handle, *path;
	csi_stats_fn *done;
	void *userdata;
};

struct csi_stats *csi_stats_free(struct csi_stats *stats)
{
	if (!stats)
		return NULL;
	csi_caller_done(&stats->caller);
	free(stats->driver);
	free(stats->unique_name);
	free(stats->handle);
	free(stats->path);
	free(stats);
	return NULL;
}

static uint64_t unsigned_of(int64_t number)
{
	return number > 0 ? (uint64_t) number : 0;
}

/* Units that nobody knows are passed over. */
static void take_usage(struct csi_fullness *fullness, const Csi__V1__VolumeUsage *usage)
{
	if (usage->unit == CSI__V1__VOLUME_USAGE__UNIT__BYTES) {
		fullness->has_bytes = true;
		fullness->capacity = unsigned_of(usage->total);
		fullness->used = unsigned_of(usage->used);
		fullness->available = unsigned_of(usage->available);
	} else if (usage->unit == CSI__V1__VOLUME_USAGE__UNIT__INODES) {
		fullness->has_inodes = true;
		fullness->inodes = unsigned_of(usage->total);
		fullness->inodes_used = unsigned_of(usage->used);
		fullness->inodes_free = unsigned_of(usage->available);
	}
}

static int take_stats(void *data, const ProtobufCMessage *message)
{
	struct csi_stats *stats = data;
	const Csi__V1__NodeGetVolumeStatsResponse *reply =
		(const Csi__V1__NodeGetVolumeStatsResponse *) message;
	const Csi__V1__VolumeCondition *condition = reply->volume_condition;
	struct csi_fullness *fullness = &stats->fullness;

	for (size_t i = 0; i < reply->n_usage; i++)
		take_usage(fullness, reply->usage[i]);
	if (condition && stats->caller.capabilities & CSI_CAN(VOLUME_CONDITION)) {
		fullness->has_condition = true;
		fullness->abnormal = condition->abnormal;
		(void) snprintf(fullness->condition, sizeof(fullness->condition), "%s",
				condition->message);
	}
	if (reply->n_usage == 0 && !fullness->has_condition)
		return failed_plain(&stats->report.failure, -ENODATA,
				    "driver '%s' tells nothing of volume '%s'", stats->driver,
				    stats->handle);
	return STAGE_NEXT;
}

static int ask_stats(void *data, const ProtobufCMessage *reply)
{
	struct csi_stats *stats = data;
	Csi__V1__NodeGetVolumeStatsRequest message = CSI__V1__NODE_GET_VOLUME_STATS_REQUEST__INIT;
	int r;

	(void) reply;
	if (!(stats->caller.capabilities & CSI_CAN(GET_VOLUME_STATS)))
		return failed_plain(&stats->report.failure, -EOPNOTSUPP,
				    "driver '%s' tells no statistics", stats->driver);
	message.volume_id = stats->handle;
	message.volume_path = stats->path;
	r = csi_caller_call(&stats->caller, CSI_NODE_GET_VOLUME_STATS, &message.base, NULL,
			    take_stats, stats);
	return r < 0 ? r : 1;
}

static void finish(void *token, int result)
{
	struct csi_stats *stats = token;

	stats->done(stats->userdata, &stats->fullness, result < 0 ? &stats->report.failure : NULL);
}

static int name_handle(const struct csi_stats_request *request, struct csi_stats *stats)
{
	cleanup_free char *driver = NULL;

	if (csi_split_unique_name(request->unique_name, &driver, &stats->handle) < 0)
		stats->handle = csi_inline_handle(request->pod_uid, request->volume_name);
	return stats->handle ? 0 : -ENOMEM;
}

int csi_stats_start(const struct csi_stats_request *request, csi_stats_fn *done, void *userdata,
		    struct csi_stats **ret, struct failure *reterr)
{
	struct csi_stats *stats = calloc(1, sizeof(*stats));
	const struct csi_stage_end end = { stats ? &stats->report : NULL, finish, stats };
	int r;

	assert(request && request->host && request->path && done && ret);
	if (!stats)
		return failed(reterr, -ENOMEM, "cannot ask for statistics");
	stats->done = done;
	stats->userdata = userdata;
	stats->driver = strdup(request->driver);
	stats->unique_name = strdup(request->unique_name);
	stats->path = strdup(request->path);
	r = stats->driver && stats->unique_name && stats->path ? name_handle(request, stats)
							       : -ENOMEM;
	stats->caller = (struct csi_caller){ .drivers = request->host->csi_drivers,
					     .driver = stats->driver,
					     .about = stats->unique_name };
	if (r < 0)
		(void) failed(reterr, r, "cannot ask for statistics");
	if (r == 0) {
		r = csi_caller_ask(&stats->caller, &end, ask_stats, stats);
		if (r < 0 && reterr)
			*reterr = stats->report.failure;
	}
	if (r < 0) {
		csi_stats_free(stats);
		return r;
	}
	*ret = stats;
	return 0;
}
