/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_log - the last calls to drivers: what describe and metrics tell of them
 *
 * The ring holds pointers to records. A record that is pushed out while its call runs stays until
 * the call ends, so that every call is counted, also one that outlasts thousands of others.
 */
#include "csi/csi_log.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <string.h>

enum { SUMS_MAX = 4096 }; /* drivers come and go under new names; their sums stay */

struct csi_log_record {
	char *driver, *about; /* about "" for none */
	enum csi_method method;
	uint64_t began_usec, took_usec;
	bool running, in_ring;
	enum grpc_code code;
	char *text; /* NULL: none */
};

struct sum {
	struct csi_log_sum sum;
	char *driver;
};

struct csi_log {
	struct csi_log_record *ring[CSI_LOG_ENTRIES];
	uint64_t count; /* ever begun; the newest is at (count - 1) % CSI_LOG_ENTRIES */
	struct sum *sums;
	size_t sum_count, sum_capacity;
};

static const uint64_t bounds_usec[] = {
	100000,   250000,   500000,   1000000,   2500000,   5000000,   10000000,
	15000000, 25000000, 50000000, 120000000, 300000000, 600000000,
};
static_assert(ARRAY_SIZE(bounds_usec) == ARRAY_SIZE(((struct csi_log_sum *) NULL)->buckets),
	      "one bucket for each bound");

int csi_log_new(struct csi_log **ret)
{
	struct csi_log *log = calloc(1, sizeof(*log));

	assert(ret);

	if (!log)
		return -ENOMEM;
	*ret = log;
	return 0;
}

static struct csi_log_record *record_free(struct csi_log_record *record)
{
	if (!record)
		return NULL;
	free(record->driver);
	free(record->about);
	free(record->text);
	free(record);
	return NULL;
}

static void cleanup_record(struct csi_log_record **record)
{
	(void) record_free(*record);
}

struct csi_log *csi_log_free(struct csi_log *log)
{
	if (!log)
		return NULL;
	for (size_t i = 0; i < CSI_LOG_ENTRIES; i++) {
		assert(!log->ring[i] || !log->ring[i]->running);
		(void) record_free(log->ring[i]);
	}
	for (size_t i = 0; i < log->sum_count; i++)
		free(log->sums[i].driver);
	free(log->sums);
	free(log);
	return NULL;
}

struct csi_log_record *csi_log_begin(struct csi_log *log, const char *driver, const char *about,
				     enum csi_method method)
{
	cleanup(cleanup_record) struct csi_log_record *record = NULL;
	struct csi_log_record **slot;

	assert(driver);

	if (!log)
		return NULL;
	record = calloc(1, sizeof(*record));
	if (!record)
		return NULL;
	record->driver = strdup(driver);
	record->about = strdup(about ? about : "");
	record->method = method;
	record->began_usec = monotonic_usec();
	if (!record->driver || !record->about)
		return NULL;
	record->running = record->in_ring = true;

	slot = &log->ring[log->count++ % CSI_LOG_ENTRIES];
	if (*slot && (*slot)->running)
		(*slot)->in_ring = false;
	else
		(void) record_free(*slot);
	*slot = record;
	return TAKE_PTR(record);
}

/* NULL: there is no memory, or there are too many. */
static struct csi_log_sum *sum_of(struct csi_log *log, const struct csi_log_record *record)
{
	struct sum *sum;

	for (size_t i = 0; i < log->sum_count; i++) {
		sum = &log->sums[i];
		if (sum->sum.method == record->method && sum->sum.code == record->code &&
		    strcmp(sum->driver, record->driver) == 0)
			return &sum->sum;
	}
	if (log->sum_count == SUMS_MAX)
		return NULL;
	if (ARRAY_ROOM(log->sums, log->sum_count, log->sum_capacity, 16) < 0)
		return NULL;
	sum = &log->sums[log->sum_count];
	*sum = (struct sum){ .sum = { .method = record->method, .code = record->code } };
	sum->driver = strdup(record->driver);
	if (!sum->driver)
		return NULL;
	log->sum_count++;
	return &sum->sum;
}

static void count(struct csi_log *log, const struct csi_log_record *record)
{
	struct csi_log_sum *sum = sum_of(log, record);

	if (!sum)
		return;
	sum->count++;
	sum->total_usec += record->took_usec;
	for (size_t i = 0; i < ARRAY_SIZE(bounds_usec); i++)
		sum->buckets[i] += record->took_usec <= bounds_usec[i];
}

void csi_log_end(struct csi_log *log, struct csi_log_record *record,
		 const struct grpc_result *result)
{
	assert(result);

	if (!record)
		return;
	assert(log && record->running);

	record->running = false;
	record->took_usec = monotonic_usec() - record->began_usec;
	record->code = result->code;
	if (result->text[0])
		record->text = strdup(result->text);
	count(log, record);
	if (!record->in_ring)
		(void) record_free(record);
}

static void fill_entry(const struct csi_log_record *record, struct csi_log_entry *ret)
{
	*ret = (struct csi_log_entry){
		.driver = record->driver,
		.about = record->about,
		.method = record->method,
		.began_usec = record->began_usec,
		.took_usec = record->took_usec,
		.running = record->running,
		.code = record->code,
		.text = record->text ?: "",
	};
}

int csi_log_walk(const struct csi_log *log, const char *driver, const char *about,
		 int (*visit)(const struct csi_log_entry *entry, void *userdata), void *userdata)
{
	uint64_t kept = log->count < CSI_LOG_ENTRIES ? log->count : CSI_LOG_ENTRIES;

	assert(log && visit);

	for (uint64_t i = 0; i < kept; i++) {
		const struct csi_log_record *record =
			log->ring[(log->count - 1 - i) % CSI_LOG_ENTRIES];
		struct csi_log_entry entry;
		int r;

		if ((driver && strcmp(driver, record->driver) != 0) ||
		    (about && strcmp(about, record->about) != 0))
			continue;
		fill_entry(record, &entry);
		r = visit(&entry, userdata);
		if (r != 0)
			return r;
	}
	return 0;
}

int csi_log_walk_sums(const struct csi_log *log,
		      int (*visit)(const struct csi_log_sum *sum, void *userdata), void *userdata)
{
	assert(log && visit);

	for (size_t i = 0; i < log->sum_count; i++) {
		struct csi_log_sum sum = log->sums[i].sum;
		int r;

		sum.driver = log->sums[i].driver;
		r = visit(&sum, userdata);
		if (r != 0)
			return r;
	}
	return 0;
}
