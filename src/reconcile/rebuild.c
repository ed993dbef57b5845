/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild - the actual state after a restart; see reconcile.h
 *
 * The ledger decides what is ours, the directories only show what else is there. Opens and asks
 * nothing: both were read by somebody else.
 */
#include "reconcile/reconcile.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* A directory, and whether a row of the ledger speaks of it. */
struct match {
	const struct found_volume *volume;
	bool is_ours;
};

struct matches {
	struct match *matches; /* sorted by compare() */
	size_t count;
};

static int compare_volumes(const struct found_volume *a, const struct found_volume *b)
{
	int order = strcmp(a->pod_uid, b->pod_uid);

	if (order == 0)
		order = strcmp(a->plugin_name, b->plugin_name);
	if (order == 0)
		order = strcmp(a->volume_name, b->volume_name);
	return order != 0 ? order : (int) a->block - (int) b->block;
}

static int compare(const void *a, const void *b)
{
	return compare_volumes(((const struct match *) a)->volume,
			       ((const struct match *) b)->volume);
}

static int sort_found(const struct found_list *found, struct matches *ret)
{
	ret->count = found->count;
	ret->matches = calloc(found->count > 0 ? found->count : 1, sizeof(*ret->matches));
	if (!ret->matches)
		return -ENOMEM;

	for (size_t i = 0; i < found->count; i++)
		ret->matches[i].volume = &found->volumes[i];
	qsort(ret->matches, ret->count, sizeof(*ret->matches), compare);
	return 0;
}

static struct match *find_match(const struct matches *matches, const struct found_volume *volume)
{
	struct match key = { .volume = volume };

	return bsearch(&key, matches->matches, matches->count, sizeof(key), compare);
}

/* The directory that a row's volume should have. */
static struct found_volume directory_of(const struct actual_entry *entry)
{
	return (struct found_volume){
		.pod_uid = entry->pod_uid ? entry->pod_uid : "",
		.plugin_name = entry->plugin_name,
		.volume_name = entry->spec_name,
		.block = entry->block,
	};
}

/* Sub-paths lie beside the volumes and name no plugin: whatever has the volume's row has them. */
static void claim_sub_paths(const struct matches *matches, const struct actual_entry *entry)
{
	struct found_volume directory = { .pod_uid = entry->pod_uid,
					  .plugin_name = "",
					  .volume_name = entry->spec_name };
	struct match *match = entry->pod_uid ? find_match(matches, &directory) : NULL;

	if (match)
		match->is_ours = true;
}

/* A row of a device says by itself that there may be one: it was written before the stage. */
static int adopt(struct actual *actual, const struct ledger_row *row,
		 const struct actual_entry *entry)
{
	bool may_have_device = !entry->pod_uid && entry->device_mountable;

	return actual_add_rebuilt(actual, entry, may_have_device ? MOUNT_UNCERTAIN : MOUNT_ABSENT,
				  row->device_path, row->device_mount_path);
}

int rebuild(struct actual *actual, const struct ledger_row *rows, size_t row_count,
	    const struct found_list *found,
	    void (*report)(const struct found_volume *volume, enum rebuild_verdict verdict,
			   void *userdata),
	    void *userdata)
{
	struct matches matches;
	int adopted = 0;

	assert(actual && report && found && (rows || row_count == 0));

	if (sort_found(found, &matches) < 0)
		return -ENOMEM;

	for (size_t i = 0; i < row_count; i++) {
		struct actual_entry entry = rows[i].entry;
		struct found_volume directory = directory_of(&entry);
		struct match *match = entry.pod_uid ? find_match(&matches, &directory) : NULL;

		entry.plugin = plugin_by_name(entry.plugin_name);
		if (adopt(actual, &rows[i], &entry) < 0) {
			free(matches.matches);
			return -ENOMEM;
		}
		if (match)
			match->is_ours = true;
		claim_sub_paths(&matches, &entry);
		if (!entry.plugin)
			report(match ? match->volume : &directory, REBUILD_UNKNOWN_PLUGIN,
			       userdata);
		else if (entry.pod_uid && !match)
			report(&directory, REBUILD_ADOPT, userdata);
		adopted += entry.plugin != NULL;
	}

	for (size_t i = 0; i < matches.count; i++)
		if (!matches.matches[i].is_ours)
			report(matches.matches[i].volume, REBUILD_FOREIGN, userdata);
	free(matches.matches);
	return adopted;
}
