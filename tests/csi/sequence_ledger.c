/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_ledger - the ledger of sequence_world: in memory, and as forgetful as a real one
 *
 * What was queued and not committed is lost with the daemon; a commit that fails keeps it queued.
 */
#include "sequence_ledger.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS_MAX = 32, TEXT_BYTES = 320, TEXTS = 9 };

struct kept_row {
	bool is_used, is_there; /* a queued removal is used and not there */
	struct ledger_row row;  /* its texts are these */
	char texts[TEXTS][TEXT_BYTES];
};

static struct kept_row committed[ROWS_MAX], queued[ROWS_MAX];
bool sequence_ledger_fails;

static const char *keep(struct kept_row *kept, unsigned int at, const char *text)
{
	assert_true(!text || strlen(text) < TEXT_BYTES);
	(void) snprintf(kept->texts[at], TEXT_BYTES, "%s", text ?: "");
	return kept->texts[at];
}

static bool is_same(const struct kept_row *kept, const char *unique_name, const char *pod_uid)
{
	return kept->is_used && strcmp(kept->row.entry.unique_name, unique_name) == 0 &&
	       strcmp(kept->row.entry.pod_uid ?: "", pod_uid ?: "") == 0;
}

static struct kept_row *slot_for(struct kept_row *rows, const char *unique_name,
				 const char *pod_uid)
{
	for (size_t i = 0; i < ROWS_MAX; i++)
		if (is_same(&rows[i], unique_name, pod_uid))
			return &rows[i];
	for (size_t i = 0; i < ROWS_MAX; i++)
		if (!rows[i].is_used)
			return &rows[i];
	fail_msg("the ledger is full");
	return NULL;
}

static void keep_row(struct kept_row *kept, const struct ledger_row *row)
{
	*kept = (struct kept_row){ .is_used = true, .is_there = true, .row = *row };
	kept->row.entry.plugin = NULL;
	kept->row.entry.unique_name = keep(kept, 0, row->entry.unique_name);
	kept->row.entry.plugin_name = keep(kept, 1, row->entry.plugin_name);
	kept->row.entry.spec_name = keep(kept, 2, row->entry.spec_name);
	kept->row.entry.pod_uid = row->entry.pod_uid ? keep(kept, 3, row->entry.pod_uid) : NULL;
	kept->row.entry.pod_key = keep(kept, 4, row->entry.pod_key);
	kept->row.entry.outer_name = keep(kept, 5, row->entry.outer_name);
	kept->row.entry.path = keep(kept, 6, row->entry.path);
	kept->row.device_path = keep(kept, 7, row->device_path);
	kept->row.device_mount_path = keep(kept, 8, row->device_mount_path);
}

/* ---- what podvold calls ---- */

int __wrap_ledger_put(struct ledger *ledger, const struct ledger_row *row);
int __wrap_ledger_put(struct ledger *ledger, const struct ledger_row *row)
{
	keep_row(slot_for(queued, row->entry.unique_name, row->entry.pod_uid), row);
	return 0;
}

int __wrap_ledger_forget(struct ledger *ledger, const char *unique_name, const char *pod_uid);
int __wrap_ledger_forget(struct ledger *ledger, const char *unique_name, const char *pod_uid)
{
	struct kept_row *kept = slot_for(queued, unique_name, pod_uid);
	const struct ledger_row row = { .entry = { .unique_name = unique_name,
						   .pod_uid = pod_uid } };

	keep_row(kept, &row);
	kept->is_there = false;
	return 0;
}

int __wrap_ledger_commit(struct ledger *ledger, struct failure *reterr);
int __wrap_ledger_commit(struct ledger *ledger, struct failure *reterr)
{
	if (sequence_ledger_fails)
		return failed_plain(reterr, -ENOSPC, "no space");
	for (size_t i = 0; i < ROWS_MAX; i++) {
		struct kept_row *row = &queued[i], *kept;

		if (!row->is_used)
			continue;
		kept = slot_for(committed, row->row.entry.unique_name, row->row.entry.pod_uid);
		if (row->is_there)
			keep_row(kept, &row->row);
		else
			kept->is_used = false;
		row->is_used = false;
	}
	return 0;
}

/* ---- what the test asks ---- */

void sequence_ledger_clear(void)
{
	for (size_t i = 0; i < ROWS_MAX; i++)
		committed[i].is_used = queued[i].is_used = false;
}

void sequence_ledger_kill(void)
{
	for (size_t i = 0; i < ROWS_MAX; i++)
		queued[i].is_used = false;
}

static int compare_rows(const void *a, const void *b)
{
	const struct ledger_row *one = a, *other = b;
	int order = strcmp(one->entry.unique_name, other->entry.unique_name);

	return order ?: strcmp(one->entry.pod_uid ?: "", other->entry.pod_uid ?: "");
}

size_t sequence_ledger_rows(struct ledger_row *ret, size_t capacity)
{
	size_t count = 0;

	for (size_t i = 0; i < ROWS_MAX; i++)
		if (committed[i].is_used) {
			assert_true(count < capacity);
			ret[count++] = committed[i].row;
		}
	qsort(ret, count, sizeof(*ret), compare_rows);
	return count;
}
