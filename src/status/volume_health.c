/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_health - counts the volumes that are not as pods want them; see volume_health.h
 */
#include "status/volume_health.h"

#include "base/cleanup.h"
#include "status/volume_row.h"

#include <assert.h>
#include <inttypes.h>

static const char *const trouble_names[] = {
	[TROUBLE_STUCK] = "stuck",
	[TROUBLE_FAILING] = "failing",
	[TROUBLE_HELD] = "held",
	[TROUBLE_PENDING] = "pending",
};
static_assert(ARRAY_SIZE(trouble_names) == TROUBLES, "name every trouble");

struct count_pass {
	const struct volume_tables *tables;
	uint64_t now_usec;
	struct volume_health *health;
};

/* TROUBLES: none. */
static enum volume_trouble trouble_of(const struct count_pass *pass, const struct volume_row *row,
				      bool is_mounted)
{
	struct failure ignored = { .error = 0 };
	struct operation_view view;

	if (volume_row_operation(pass->tables, row, &view)) {
		if (view.running && view.pace == PACE_STUCK)
			return TROUBLE_STUCK;
		if (view.attempts > 0)
			return TROUBLE_FAILING;
	}
	if (volume_row_is_lost(pass->tables, row))
		return TROUBLE_FAILING;
	if (row->want_pod)
		return is_mounted ? TROUBLES : TROUBLE_PENDING;
	return pass->tables->is_held && pass->tables->is_held(pass->tables->userdata, row, &ignored)
		       ? TROUBLE_HELD
		       : TROUBLES;
}

static int add_row(const struct volume_row *row, void *userdata)
{
	struct count_pass *pass = userdata;
	bool is_mounted = row->have_pod && row->have_pod->state == MOUNT_DONE;
	enum volume_trouble trouble = trouble_of(pass, row, is_mounted);

	if (trouble < TROUBLES)
		pass->health->count[trouble]++;
	if (row->want_pod && !is_mounted && pass->now_usec > row->want_pod->requested_usec) {
		uint64_t usec = pass->now_usec - row->want_pod->requested_usec;

		if (usec > pass->health->oldest_usec)
			pass->health->oldest_usec = usec;
	}
	return 0;
}

void volume_health_count(const struct volume_tables *tables, uint64_t now_usec,
			 struct volume_health *ret)
{
	struct count_pass pass = { tables, now_usec, ret };

	assert(tables && ret);
	*ret = (struct volume_health){ .oldest_usec = 0 };
	(void) volume_rows_of_all(tables, add_row, &pass);
}

void volume_health_print(const struct volume_health *health, FILE *file)
{
	(void) fputs("# HELP podvol_troubled_volumes Volumes of pods that are not as the pods want "
		     "them.\n# TYPE podvol_troubled_volumes gauge\n",
		     file);
	for (size_t i = 0; i < TROUBLES; i++)
		(void) fprintf(file, "podvol_troubled_volumes{state=\"%s\"} %zu\n",
			       trouble_names[i], health->count[i]);
	(void) fprintf(file,
		       "# HELP podvol_oldest_pending_seconds For how long the longest of the "
		       "volumes that are wanted and not mounted has been wanted.\n"
		       "# TYPE podvol_oldest_pending_seconds gauge\n"
		       "podvol_oldest_pending_seconds %.3f\n",
		       (double) health->oldest_usec / 1e6);
}
