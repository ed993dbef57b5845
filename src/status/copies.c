/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies - how far each copy is, in words, rows and numbers; see copies.h
 */
#include "status/copies.h"

#include "status/status.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "events/events.h"
#include "object/json/json.h"
#include "status/view_time.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <utlist.h>

enum {
	EARLY_USEC = 200000, /* before that a rate says nothing */
	SHOWN_MAX = 64,      /* in metrics; the rest is only counted */
	BYTES_TEXT = 32,
};

/* ---- the list ---- */

int copies_add(struct copies *copies, struct copy *copy, const struct store_key *about,
	       const char *target)
{
	assert(!copy->target && about->name && target);
	copy->kind = about->kind;
	copy->name_space = strdup(about->name_space ?: "");
	copy->name = strdup(about->name);
	copy->target = strdup(target);
	DL_APPEND(copies->first, copy);
	if (!copy->name_space || !copy->name || !copy->target)
		return -ENOMEM;
	walks_expect(copies->walks);
	return 0;
}

void copies_remove(struct copies *copies, struct copy *copy, int error)
{
	if (!copy->prev)
		return;
	DL_DELETE(copies->first, copy);
	copy->prev = NULL;
	copies->done += error == 0;
	copies->failed += error < 0 && error != -ECANCELED;
	copies->entries += atomic_load(&copy->progress.entries);
	copies->bytes += atomic_load(&copy->progress.bytes);
	free(copy->name_space);
	free(copy->name);
	free(copy->target);
}

void copy_begins(struct copy *copy)
{
	atomic_store(&copy->begun_usec, monotonic_usec());
}

/* ---- words ---- */

static void print_bytes(uint64_t bytes, char ret[BYTES_TEXT])
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double scaled = (double) bytes;
	size_t unit = 0;

	for (; unit + 1 < ARRAY_SIZE(units) && scaled >= 1024; unit++)
		scaled /= 1024;
	(void) snprintf(ret, BYTES_TEXT, "%.*f %s", unit > 0, scaled, units[unit]);
}

void copy_text(const struct copy *copy, uint64_t now_usec, char ret[COPY_TEXT_BYTES])
{
	uint64_t begun_usec = atomic_load(&copy->begun_usec);
	uint64_t entries = atomic_load(&copy->progress.entries);
	char bytes[BYTES_TEXT], rate[48] = "";

	assert(ret);
	if (begun_usec == 0) {
		(void) snprintf(ret, COPY_TEXT_BYTES, "waiting: other copies are under way");
		return;
	}
	print_bytes(atomic_load(&copy->progress.bytes), bytes);
	if (now_usec > begun_usec + EARLY_USEC)
		(void) snprintf(rate, sizeof(rate), ", %.0f entries a second",
				(double) entries * 1e6 / (double) (now_usec - begun_usec));
	(void) snprintf(ret, COPY_TEXT_BYTES, "%" PRIu64 " entries, %s copied%s", entries, bytes,
			rate);
}

static const char *deed(const struct copy *copy)
{
	return copy->kind == KIND_PERSISTENT_VOLUME_CLAIM ? "fill" : "snapshot";
}

/* ---- rows ---- */

static void add_row(const struct copy *copy, struct cJSON *items)
{
	struct cJSON *item = json_add_object(items, NULL);
	uint64_t begun_usec = atomic_load(&copy->begun_usec);
	cleanup_free char *about = NULL;
	char text[COPY_TEXT_BYTES];

	about = new_text("%s %s/%s", kind_row(copy->kind)->name, copy->name_space, copy->name);
	copy_text(copy, monotonic_usec(), text);
	(void) json_set_string(item, "uniqueName", copy->target);
	(void) json_set_string(item, "volume", copy->target);
	(void) json_set_string(item, "about", about ?: "");
	(void) json_set_string(item, "step", deed(copy));
	(void) json_set_string(item, "stage", "copy");
	(void) json_set_bool(item, "running", begun_usec > 0);
	(void) json_set_int(item, "attempts", 1);
	view_set_time(item, "since", begun_usec);
	(void) json_set_string(item, "progress", text);
}

void copies_view(const struct copies *copies, struct cJSON *items)
{
	const struct copy *copy;

	DL_FOREACH (copies->first, copy)
		add_row(copy, items);
}

/* ---- numbers ---- */

enum copy_gauge { COPY_ENTRIES, COPY_BYTES, COPY_SECONDS, COPY_GAUGES };

static const struct {
	const char *name, *help;
} gauges[] = {
	[COPY_ENTRIES] = { "entries", "Entries that a copy under way has made" },
	[COPY_BYTES] = { "bytes", "Bytes that it has copied, and not shared" },
	[COPY_SECONDS] = { "seconds", "Seconds since it began" },
};
static_assert(ARRAY_SIZE(gauges) == COPY_GAUGES, "name every gauge");

static double gauge_value(const struct copy *copy, enum copy_gauge gauge)
{
	switch (gauge) {
	case COPY_ENTRIES:
		return (double) atomic_load(&copy->progress.entries);
	case COPY_BYTES:
		return (double) atomic_load(&copy->progress.bytes);
	default:
		return (double) ((monotonic_usec() - atomic_load(&copy->begun_usec)) / 1000) / 1e3;
	}
}

static void print_gauge(const struct copies *copies, FILE *file, enum copy_gauge gauge)
{
	const char *name = gauges[gauge].name;
	const struct copy *copy;
	size_t shown = 0;

	(void) fprintf(file, "# HELP podvol_copy_%s %s.\n# TYPE podvol_copy_%s gauge\n", name,
		       gauges[gauge].help, name);
	DL_FOREACH (copies->first, copy) {
		if (atomic_load(&copy->begun_usec) == 0 || shown++ >= SHOWN_MAX)
			continue;
		(void) fprintf(
			file, "podvol_copy_%s{deed=\"%s\",namespace=\"%s\",name=\"%s\"} %.15g\n",
			name, deed(copy), copy->name_space, copy->name, gauge_value(copy, gauge));
	}
}

void copies_print_metrics(const struct copies *copies, FILE *file)
{
	const struct copy *copy;
	size_t running = 0, waiting = 0;

	DL_FOREACH (copies->first, copy) {
		running += atomic_load(&copy->begun_usec) > 0;
		waiting += atomic_load(&copy->begun_usec) == 0;
	}
	(void) fprintf(
		file,
		"# HELP podvol_copies Snapshots that are taken, and volumes that are filled.\n"
		"# TYPE podvol_copies gauge\n"
		"podvol_copies{state=\"running\"} %zu\n"
		"podvol_copies{state=\"waiting\"} %zu\n"
		"# HELP podvol_copies_total Those that ended.\n"
		"# TYPE podvol_copies_total counter\n"
		"podvol_copies_total{result=\"done\"} %" PRIu64 "\n"
		"podvol_copies_total{result=\"failed\"} %" PRIu64 "\n"
		"# HELP podvol_copied_entries_total Entries that they made.\n"
		"# TYPE podvol_copied_entries_total counter\n"
		"podvol_copied_entries_total %" PRIu64 "\n"
		"# HELP podvol_copied_bytes_total Bytes that they copied, and did not share.\n"
		"# TYPE podvol_copied_bytes_total counter\n"
		"podvol_copied_bytes_total %" PRIu64 "\n",
		running, waiting, copies->done, copies->failed, copies->entries, copies->bytes);
	for (enum copy_gauge gauge = 0; gauge < COPY_GAUGES; gauge++)
		print_gauge(copies, file, gauge);
}

/* ---- events ---- */

static void report(const struct reporter *reporter, const struct copy *copy)
{
	const struct object *about =
		store_get(*reporter->store, copy->kind, copy->name_space, copy->name);
	char progress[COPY_TEXT_BYTES], text[EVENT_TEXT_BYTES];

	if (!about)
		return;
	copy_text(copy, monotonic_usec(), progress);
	(void) snprintf(text, sizeof(text), "%s: %s",
			copy->kind == KIND_PERSISTENT_VOLUME_CLAIM ? "filling the volume"
								   : "taking the snapshot",
			progress);
	reporter->record(reporter->userdata, about, "Normal", "VolumeCopyInProgress", text);
}

bool copies_report(const struct copies *copies, const struct reporter *reporter)
{
	const struct copy *copy;

	DL_FOREACH (copies->first, copy)
		report(reporter, copy);
	return copies->first != NULL;
}
