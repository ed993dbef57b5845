/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_statistics - see status.h
 *
 * The answer of statistics_request() is kept as a table, one row for each claim, however many pods
 * have it. Nothing is asked while there is no reader: a node without Prometheus wakes up for
 * nothing. What is a few minutes old is no longer reported, as for a node that was not looked at.
 */
#include "status/status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "status/statistics.h"
#include "status/volume_row.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define ASK_AFTER_USEC (60 * USEC_PER_SEC) /* kubelet's period */
#define FORGET_USEC    (5 * ASK_AFTER_USEC)

#define STATS "kubelet_volume_stats_"

enum gauge {
	GAUGE_CAPACITY,
	GAUGE_AVAILABLE,
	GAUGE_USED,
	GAUGE_INODES,
	GAUGE_INODES_FREE,
	GAUGE_INODES_USED,
	GAUGE_ABNORMAL,
	GAUGE_COUNTED,
	GAUGES
};

/* @key: of the item. */
static const struct {
	const char *name, *key, *help;
} gauges[] = {
	[GAUGE_CAPACITY] = { STATS "capacity_bytes", "capacityBytes",
			     "Capacity in bytes of the volume" },
	[GAUGE_AVAILABLE] = { STATS "available_bytes", "availableBytes",
			      "Number of available bytes in the volume" },
	[GAUGE_USED] = { STATS "used_bytes", "usedBytes", "Number of used bytes in the volume" },
	[GAUGE_INODES] = { STATS "inodes", "inodes", "Maximum number of inodes in the volume" },
	[GAUGE_INODES_FREE] = { STATS "inodes_free", "inodesFree",
				"Number of free inodes in the volume" },
	[GAUGE_INODES_USED] = { STATS "inodes_used", "inodesUsed",
				"Number of used inodes in the volume" },
	[GAUGE_ABNORMAL] = { STATS "health_status_abnormal", "abnormal",
			     "Abnormal volume health status. The count is either 1 or 0. 1 "
			     "indicates "
			     "the volume is unhealthy, 0 indicates volume is healthy" },
	[GAUGE_COUNTED] = { "podvol_volume_counted_timestamp_seconds", "countedAt",
			    "When the files of the volume were counted, where they were" },
};
static_assert(ARRAY_SIZE(gauges) == GAUGES, "name every gauge");

struct row {
	const char *name_space, *claim; /* into the texts */
	int64_t values[GAUGES];
	bool is_known[GAUGES];
};

struct claim_statistics {
	struct statistics *statistics;
	struct statistics_call *call;       /* NULL: nothing is asked */
	uint64_t asked_usec, reported_usec; /* 0 never */
	struct row *rows;
	size_t count;
	char *texts; /* NULL: nothing was reported, or there was no memory for it */
};

int claim_statistics_new(struct statistics *statistics, struct claim_statistics **ret)
{
	assert(statistics && ret);
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->statistics = statistics;
	return 0;
}

static void forget(struct claim_statistics *claims)
{
	free(claims->rows);
	free(claims->texts);
	claims->rows = NULL;
	claims->texts = NULL;
	claims->count = 0;
}

struct claim_statistics *claim_statistics_free(struct claim_statistics *claims)
{
	if (!claims)
		return NULL;
	if (claims->call)
		statistics_cancel(claims->call);
	forget(claims);
	free(claims);
	return NULL;
}

void claim_statistics_name(struct cJSON *item, const struct volume_row *row)
{
	const struct persistent_volume *pv = row->want_pod ? spec_pv(&row->want_pod->spec) : NULL;

	assert(row);
	if (!pv || !pv->has_claim_ref)
		return;
	(void) json_set_string(item, "namespace", pv->claim_namespace);
	(void) json_set_string(item, "claim", pv->claim_name);
}

/* ---- what was reported ---- */

static bool value_of(const struct cJSON *item, enum gauge gauge, int64_t *ret)
{
	const struct cJSON *value = json_get(item, gauges[gauge].key);

	/* Not yet all of it. */
	if ((gauge == GAUGE_USED || gauge == GAUGE_INODES_USED) &&
	    json_bool(json_get(item, "usedIsMore"), false))
		return false;
	if (gauge == GAUGE_COUNTED)
		*ret = (int64_t) (timestamp_parse(json_string(value, "")) / USEC_PER_SEC);
	else if (gauge == GAUGE_ABNORMAL)
		*ret = json_bool(value, false);
	else
		return json_int64(value, ret);
	return value != NULL;
}

/* A copy at @texts, which moves on. */
static const char *put_text(char **texts, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = memcpy(*texts, text, bytes);

	*texts += bytes;
	return copy;
}

/* The names go to @texts, which moves on. */
static bool read_row(const struct cJSON *item, char **texts, struct row *ret)
{
	const char *name_space = json_text(item, "namespace"), *claim = json_text(item, "claim");

	if (*claim == '\0')
		return false;
	*ret = (struct row){ .name_space = put_text(texts, name_space) };
	ret->claim = put_text(texts, claim);
	for (enum gauge gauge = 0; gauge < GAUGES; gauge++)
		ret->is_known[gauge] = value_of(item, gauge, &ret->values[gauge]);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct row *one = a, *other = b;
	int order = strcmp(one->name_space, other->name_space);

	return order ?: strcmp(one->claim, other->claim);
}

/* Pods that share a claim tell the same. */
static void keep_one_of_each(struct claim_statistics *claims)
{
	size_t kept = 0;

	qsort(claims->rows, claims->count, sizeof(*claims->rows), compare);
	for (size_t i = 0; i < claims->count; i++)
		if (kept == 0 || compare(&claims->rows[kept - 1], &claims->rows[i]) != 0)
			claims->rows[kept++] = claims->rows[i];
	claims->count = kept;
}

static size_t text_bytes(const struct cJSON *items)
{
	size_t bytes = 1;

	JSON_FOREACH (item, items)
		bytes +=
			strlen(json_text(item, "namespace")) + strlen(json_text(item, "claim")) + 2;
	return bytes;
}

/* Kept are names and numbers: the tree is six times as large. */
static void keep(struct claim_statistics *claims, const struct cJSON *items)
{
	char *texts;

	claims->rows = calloc(json_count(items) + 1, sizeof(*claims->rows));
	claims->texts = texts = malloc(text_bytes(items));
	if (!claims->rows || !texts) {
		forget(claims);
		return;
	}
	JSON_FOREACH (item, items)
		claims->count += read_row(item, &texts, &claims->rows[claims->count]);
	keep_one_of_each(claims);
}

static void on_statistics(void *userdata, struct cJSON *tree)
{
	struct claim_statistics *claims = userdata;

	claims->call = NULL;
	forget(claims);
	claims->reported_usec = monotonic_usec();
	keep(claims, json_get(tree, "items"));
	json_free(tree);
}

/* What cannot be asked now is asked at the next request. */
static void start_query(struct claim_statistics *claims)
{
	uint64_t now_usec = monotonic_usec();

	if (claims->call || (claims->asked_usec && now_usec - claims->asked_usec < ASK_AFTER_USEC))
		return;
	if (statistics_request(claims->statistics,
			       &(struct statistics_about){ .claims_only = true }, on_statistics,
			       claims, &claims->call) >= 0)
		claims->asked_usec = now_usec;
}

/* ---- printing ---- */

static void print_gauge(const struct claim_statistics *claims, enum gauge gauge, FILE *file)
{
	const char *name = gauges[gauge].name;

	(void) fprintf(file, "# HELP %s %s.\n# TYPE %s gauge\n", name, gauges[gauge].help, name);
	for (size_t i = 0; i < claims->count; i++) {
		const struct row *row = &claims->rows[i];

		if (row->is_known[gauge])
			(void) fprintf(file,
				       "%s{namespace=\"%s\","
				       "persistentvolumeclaim=\"%s\"} %" PRId64 "\n",
				       name, row->name_space, row->claim, row->values[gauge]);
	}
}

void claim_statistics_print(struct claim_statistics *claims, FILE *file)
{
	assert(claims && file);
	if (claims->texts && monotonic_usec() - claims->reported_usec >= FORGET_USEC)
		forget(claims);
	for (enum gauge gauge = 0; gauge < GAUGES; gauge++)
		print_gauge(claims, gauge, file);
	start_query(claims);
}
