/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild - the actual state after a restart; see reconcile.h
 *
 * The ledger decides what is managed, the directories only show what else is there, until
 * all of it is taken over. Opens and asks nothing itself: both were read before, and
 * what a plugin makes of a directory it answers by itself.
 */
#include "reconcile/reconcile.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* A directory, and whether a row of the ledger speaks of it. */
struct match {
	const struct found_volume *volume;
	bool is_managed;
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
		match->is_managed = true;
}

struct rebuilding {
	struct actual *actual;
	const struct rebuild_input *input;
	struct matches matches;
	void (*report)(const struct rebuild_report *report, void *userdata);
	void *userdata;
	int adopted;
};

static void report_verdict(const struct rebuilding *work, enum rebuild_verdict verdict,
			   const struct found_volume *volume, const struct ledger_row *row,
			   const char *why)
{
	work->report(&(struct rebuild_report){ verdict, volume, row, why }, work->userdata);
}

/* ---- rows of the ledger ---- */

/* A row of a device says by itself that there may be one: it was written before the stage. */
static int adopt(struct rebuilding *work, const struct ledger_row *row)
{
	const struct actual_entry *entry = &row->entry;
	bool may_have_device = !entry->pod_uid && entry->device_mountable;
	int r = actual_add_rebuilt(work->actual, entry,
				   may_have_device ? MOUNT_UNCERTAIN : MOUNT_ABSENT,
				   row->device_path, row->device_mount_path);

	if (r == 0)
		work->adopted += entry->plugin != NULL;
	return r;
}

/* Of these a pod's directory is always a mount; others may have mounted nothing. */
static bool is_always_mounted(const struct volume_plugin *plugin, bool device_mountable, bool block)
{
	return device_mountable && !block && !(plugin->traits & VOLUME_MAY_LACK_MOUNT);
}

/* Rows come sorted: those of a device's pods follow it. */
static bool has_pod_row(const struct rebuild_input *input, size_t device)
{
	const char *unique_name = input->rows[device].entry.unique_name;

	return device + 1 < input->row_count &&
	       strcmp(input->rows[device + 1].entry.unique_name, unique_name) == 0;
}

static void match_row(const struct rebuilding *work, size_t at, const struct ledger_row *row,
		      const struct found_volume *directory, bool is_there)
{
	const struct actual_entry *entry = &row->entry;

	if (!entry->plugin)
		report_verdict(work, REBUILD_UNKNOWN_PLUGIN, directory, row, NULL);
	else if (entry->pod_uid && !is_there)
		report_verdict(work, REBUILD_GONE, directory, row, NULL);
	else if (entry->pod_uid && row->state == MOUNT_DONE &&
		 row->unfinished != UNFINISHED_TEARDOWN && !directory->is_mount_point &&
		 is_always_mounted(entry->plugin, entry->device_mountable, entry->block))
		report_verdict(work, REBUILD_NOT_MOUNTED, directory, row, NULL);
	if (row->unfinished != UNFINISHED_NOTHING)
		report_verdict(work, REBUILD_UNFINISHED, directory, row, NULL);
	else if (entry->plugin && !entry->pod_uid && !has_pod_row(work->input, at))
		report_verdict(work, REBUILD_UNUSED_DEVICE, directory, row, NULL);
}

/* Some plugins have another name for what is staged. */
static int name_staged(const struct actual_entry *entry, struct found_volume *directory, char **ret)
{
	if (entry->pod_uid || entry->block || !entry->plugin || !entry->plugin->get_found_name)
		return 0;
	*ret = entry->plugin->get_found_name(entry->unique_name);
	directory->volume_name = *ret;
	return *ret ? 0 : -ENOMEM;
}

/* A step that mounts nothing is a stage without a device. */
static bool may_lack_mount(const struct ledger_row *row, const struct found_volume *volume)
{
	return !row->entry.pod_uid && !*row->device_path && !volume;
}

/* What the step before left is there, exactly: nothing else may be confirmed. */
static void keep_recorded(struct ledger_row *row, const struct found_volume *volume)
{
	struct actual_entry *entry = &row->entry;
	bool is_whole = row->state == MOUNT_DONE && row->unfinished == UNFINISHED_NOTHING;

	if (!is_whole || entry->block || entry->mount_mark != (volume ? volume->mount_mark : 0) ||
	    (entry->mount_mark == 0 && !may_lack_mount(row, volume))) {
		entry->served = entry->mount_mark = 0;
		return;
	}
	entry->mount_id = volume ? volume->mount_id : 0;
}

static int adopt_row(struct rebuilding *work, size_t at)
{
	struct ledger_row row = work->input->rows[at];
	cleanup_free char *found_name = NULL;
	struct found_volume directory;
	struct match *match;

	row.entry.plugin = plugin_by_name(row.entry.plugin_name);
	row.entry.left = row.unfinished;
	row.entry.was_mounted = row.state == MOUNT_DONE;
	directory = directory_of(&row.entry);
	if (name_staged(&row.entry, &directory, &found_name) < 0)
		return -ENOMEM;
	match = find_match(&work->matches, &directory);
	keep_recorded(&row, match ? match->volume : NULL);
	if (adopt(work, &row) < 0)
		return -ENOMEM;
	if (match)
		match->is_managed = true;
	claim_sub_paths(&work->matches, &row.entry);
	match_row(work, at, &row, match ? match->volume : &directory, match);
	return 0;
}

/* ---- directories that no row speaks of ---- */

/* One volume as a plugin reads it from its directory; strings are freed by candidate_done(). */
struct candidate {
	const struct volume_plugin *plugin;
	struct volume_spec spec;
	char *unique_name, *path, *device_mount_path;
};

static void candidate_done(struct candidate *candidate)
{
	object_unref(candidate->spec.pv);
	free(candidate->unique_name);
	free(candidate->path);
	free(candidate->device_mount_path);
}

static bool is_device_mountable(const struct candidate *candidate)
{
	return candidate->plugin->can_device_mount &&
	       candidate->plugin->can_device_mount(&candidate->spec);
}

static int name_candidate(const struct rebuild_input *input, const struct found_volume *volume,
			  struct candidate *candidate, struct failure *reterr)
{
	const struct volume_plugin *plugin = candidate->plugin;
	struct volume_request request = { .host = input->host,
					  .plugin = plugin,
					  .spec = &candidate->spec,
					  .volume_name = candidate->spec.name,
					  .pod_uid = volume->pod_uid };
	int r = plugin_unique_name(plugin, &candidate->spec, volume->pod_uid,
				   &candidate->unique_name, reterr);

	if (r < 0)
		return r;
	if (*volume->pod_uid)
		candidate->path = plugin->get_path(&request);
	if (is_device_mountable(candidate) && plugin->get_device_mount_path)
		candidate->device_mount_path = plugin->get_device_mount_path(&request);
	else
		candidate->device_mount_path = strdup("");
	if ((*volume->pod_uid && !candidate->path) || !candidate->device_mount_path)
		return failed(reterr, -ENOMEM, "cannot build the paths of '%s'",
			      volume->volume_name);
	return 0;
}

/* Return: 0 a volume to be managed; -ENOENT none that is known, which is no mistake; another
 * negative errno with the reason why it is none. */
static int read_candidate(const struct rebuild_input *input, const struct found_volume *volume,
			  struct candidate *ret, struct failure *reterr)
{
	const struct volume_plugin *plugin =
		volume->sub_paths ? NULL : plugin_by_name(volume->plugin_name);
	int r;

	if (!plugin || !plugin->construct_volume_spec)
		return -ENOENT;
	ret->plugin = plugin;
	r = plugin->construct_volume_spec(input->host, volume->pod_uid, volume->volume_name,
					  volume->block, &ret->spec, reterr);
	if (r < 0)
		return r == -ENOENT ? -EINVAL : r;
	if (volume->block ? !plugin->new_block_unmapper : !plugin->new_unmounter)
		return failed_plain(reterr, -EINVAL, "no plugin can unmount such a volume");
	if (!*volume->pod_uid && !is_device_mountable(ret))
		return failed_plain(reterr, -EINVAL, "such a volume has no device");
	/* What is left of one: a clean-up of pod directories may remove it. */
	if (!volume->is_mount_point && *volume->pod_uid &&
	    is_always_mounted(plugin, is_device_mountable(ret), volume->block))
		return -ENOENT;
	return name_candidate(input, volume, ret, reterr);
}

static int take_over_row(struct rebuilding *work, const struct found_volume *volume,
			 const struct ledger_row *row)
{
	if (adopt(work, row) < 0)
		return -ENOMEM;
	report_verdict(work, REBUILD_TAKEN_OVER, volume, row, NULL);
	return 0;
}

/* The directory of a device whose pod is taken over: it is managed with that pod. What is mounted
 * there is recorded as what was staged if the pod's mount shows the same. */
static int claim_staged(const struct rebuilding *work, const struct found_volume *volume,
			struct ledger_row *row)
{
	struct found_volume directory = directory_of(&row->entry);
	cleanup_free char *found_name = NULL;
	struct match *match;

	if (name_staged(&row->entry, &directory, &found_name) < 0)
		return -ENOMEM;
	match = find_match(&work->matches, &directory);
	if (!match)
		return 0;
	match->is_managed = true;
	if (volume->source && match->volume->source &&
	    strcmp(volume->source, match->volume->source) == 0)
		row->device_path = volume->source;
	return 0;
}

/* The pod's mount, and the device behind it unless that is known already. */
static int take_over(struct rebuilding *work, const struct found_volume *volume,
		     const struct candidate *candidate)
{
	const struct actual_volume *known = actual_find(work->actual, candidate->unique_name);
	struct ledger_row row = {
		.entry = { .unique_name = candidate->unique_name,
			   .plugin_name = candidate->plugin->name,
			   .plugin = candidate->plugin,
			   .spec_name = candidate->spec.name,
			   .device_mountable = is_device_mountable(candidate),
			   .taken_over = true,
			   .block = candidate->spec.block },
		.state = MOUNT_UNCERTAIN,
		.device_path = "",
		.device_mount_path = candidate->device_mount_path,
	};
	bool has_device = known && known->device_state != MOUNT_ABSENT;
	int r = 0;

	if (row.entry.device_mountable)
		r = claim_staged(work, volume, &row);
	if (r == 0 && row.entry.device_mountable && !has_device)
		r = take_over_row(work, volume, &row);
	if (r < 0 || !*volume->pod_uid)
		return r;
	row.entry.pod_uid = volume->pod_uid;
	row.entry.pod_key = "";
	row.entry.outer_name = candidate->spec.name;
	row.entry.path = candidate->path;
	r = take_over_row(work, volume, &row);
	claim_sub_paths(&work->matches, &row.entry);
	return r;
}

static int match_foreign_volume(struct rebuilding *work, struct match *match)
{
	const struct found_volume *volume = match->volume;
	cleanup(candidate_done) struct candidate candidate = { .plugin = NULL };
	struct failure failure = { .error = 0 };
	int r;

	if (!work->input->takeover || (!*volume->pod_uid && !work->input->takes_unused))
		return 0;
	r = read_candidate(work->input, volume, &candidate, &failure);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT)
		return 0;
	match->is_managed = true;
	if (r == 0)
		return take_over(work, volume, &candidate);
	report_verdict(work, REBUILD_NOT_UNDERSTOOD, volume, NULL, failure.text);
	return 0;
}

static int match_foreign_of(struct rebuilding *work, bool staged)
{
	struct matches *matches = &work->matches;
	int r = 0;

	for (size_t i = 0; r == 0 && i < matches->count; i++)
		if (!matches->matches[i].is_managed &&
		    (*matches->matches[i].volume->pod_uid == '\0') == staged)
			r = match_foreign_volume(work, &matches->matches[i]);
	return r;
}

/* What is staged after the pods' volumes, which tell what it is. Sub-paths last: whether they are
 * managed is known when all volumes are. */
static int match_foreign_volumes(struct rebuilding *work)
{
	struct matches *matches = &work->matches;
	int r = match_foreign_of(work, false);

	if (r == 0)
		r = match_foreign_of(work, true);
	for (size_t i = 0; r == 0 && i < matches->count; i++)
		if (!matches->matches[i].is_managed)
			report_verdict(work, REBUILD_FOREIGN, matches->matches[i].volume, NULL,
				       NULL);
	return r;
}

int rebuild(struct actual *actual, const struct rebuild_input *input,
	    void (*report)(const struct rebuild_report *report, void *userdata), void *userdata)
{
	struct rebuilding work = {
		.actual = actual, .input = input, .report = report, .userdata = userdata
	};
	int r = 0;

	assert(actual && input && report && input->found);
	assert(input->rows || input->row_count == 0);
	assert(input->host || !input->takeover);

	if (sort_found(input->found, &work.matches) < 0)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < input->row_count; i++)
		r = adopt_row(&work, i);
	if (r == 0)
		r = match_foreign_volumes(&work);
	free(work.matches.matches);
	return r < 0 ? r : work.adopted;
}
