/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconstruct - what exists already: the ledger and the directories become the actual state
 *
 * Everything that is not as the ledger says is reported here, once. Nothing is mounted or removed:
 * what is unfinished is finished or undone by the steps that every volume gets.
 */
#include "reconstruct/reconstruct.h"

#include "base/array.h"
#include "base/beside.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "config.h"
#include "reconcile/reconcile.h"

#include <string.h>

/* Borrows from the ledger until it changes. */
struct row_list {
	struct ledger_row *rows;
	size_t count, capacity;
};

static int add_row(const struct ledger_row *row, void *userdata)
{
	struct row_list *list = userdata;

	if (ARRAY_ROOM(list->rows, list->count, list->capacity, 64) < 0)
		return -ENOMEM;
	list->rows[list->count++] = *row;
	return 0;
}

/* ---- rows that are not as they should be ---- */

static void report_row(const struct rebuild_report *report, const struct log_subject *subject)
{
	const struct found_volume *volume = report->volume;

	switch (report->verdict) {
	case REBUILD_NOT_MOUNTED:
		log_about(LOG_WARNING, subject,
			  "volume '%s' of pod uid '%s' was mounted before the restart and no "
			  "longer is",
			  volume->volume_name, volume->pod_uid);
		return;
	case REBUILD_UNFINISHED:
		log_about(LOG_NOTICE, subject, "volume '%s'%s%s: %s", volume->volume_name,
			  *volume->pod_uid ? " of pod uid " : "", volume->pod_uid,
			  unfinished_text(report->row->unfinished));
		return;
	case REBUILD_UNUSED_DEVICE:
		log_about(*report->row->device_path ? LOG_NOTICE : LOG_DEBUG, subject,
			  "the device '%s' of volume '%s' is set up, and no pod uses it",
			  report->row->device_path, volume->volume_name);
		return;
	case REBUILD_UNKNOWN_PLUGIN:
		log_about(LOG_WARNING, subject,
			  "volume '%s' of pod uid '%s' needs the plugin '%s', which this podvold "
			  "does not have: left alone",
			  volume->volume_name, volume->pod_uid, volume->plugin_name);
		return;
	default: /* a hostPath has no directory, and what is gone needs nothing */
		return;
	}
}

/* ---- directories that no row speaks of ---- */

/* From the first commit on it is managed, with whatever options podvold is started next. Holds of
 * unlisted pods are in the ledger before: see inuse/store_epoch.c. */
static void take_over(struct ledger *ledger, const struct rebuild_report *report,
		      const struct log_subject *subject)
{
	if (ledger_put(ledger, report->row) < 0)
		log_about(LOG_ERR, subject, "volume '%s' cannot be kept: out of memory",
			  report->volume->volume_name);
	else if (report->row->entry.pod_uid)
		log_about(LOG_NOTICE, subject, "volume '%s' of pod uid '%s' (%s) is taken over%s",
			  report->volume->volume_name, report->volume->pod_uid,
			  report->volume->plugin_name,
			  report->volume->is_mount_point ? ", mounted" : "");
}

static void report_found(const struct rebuild_report *report, void *userdata)
{
	const struct reconstruct_options *options = userdata;
	struct log_subject subject = { .pod_uid = report->volume->pod_uid,
				       .plugin = report->volume->plugin_name };

	options->counts->volumes += report->verdict == REBUILD_NOT_UNDERSTOOD;
	options->counts->failures += report->verdict == REBUILD_NOT_UNDERSTOOD ||
				     report->verdict == REBUILD_UNKNOWN_PLUGIN;
	switch (report->verdict) {
	case REBUILD_TAKEN_OVER:
		take_over(*options->ledger, report, &subject);
		return;
	case REBUILD_FOREIGN:
	case REBUILD_NOT_UNDERSTOOD:
		foreign_volumes_add(*options->foreign_volumes, report->volume, report->why);
		return;
	default:
		report_row(report, &subject);
	}
}

/* ---- another root directory ---- */

/* Up to "/pods/<uid>/volumes": of the kinds that lie below the root directory. */
static int check_root_of(const struct reconstruct_options *options,
			 const struct actual_entry *entry, struct failure *reterr)
{
	cleanup_free char *below = NULL;
	const char *found;
	size_t length;

	if (!entry->pod_uid || !entry->path)
		return 0;
	below = new_text("/pods/%s/volume", entry->pod_uid);
	if (!below)
		return failed(reterr, -ENOMEM, "cannot read the ledger");
	found = strstr(entry->path, below);
	length = found ? (size_t) (found - entry->path) : 0;
	if (!found || (length == strlen(options->root->path) &&
		       strncmp(entry->path, options->root->path, length) == 0))
		return 0;
	return failed_plain(
		reterr, -EBUSY,
		"the root directory is '%s', and volumes of pods are mounted below "
		"'%.*s', such as '%s': they would never be unmounted. Start podvold with "
		"the root directory that it had, or unmount them with that one and "
		"--drain; if that directory itself was moved, remove '%s/ledger.db*'",
		options->root->path, (int) length, entry->path, entry->spec_name,
		options->config->run_dir);
}

static int check_root(const struct reconstruct_options *options, const struct row_list *rows,
		      struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < rows->count && r == 0; i++)
		r = check_root_of(options, &rows->rows[i].entry, reterr);
	return r;
}

/* ---- all of it ---- */

static void count_adopted(const struct reconstruct_options *options)
{
	const struct actual_volume *volume = actual_first(options->actual);

	for (; volume; volume = volume->hh.next)
		options->counts->volumes += HASH_COUNT(volume->pods);
}

/* The directories, read on a thread while the ledger is. Nothing is begun yet that changes either.
 */
struct look {
	struct beside beside;
	int root_fd;
	struct found_list found;
	int result;
	struct failure failure;
};

static void look_at_directories(void *userdata)
{
	struct look *look = userdata;

	look->result = found_read(look->root_fd, &look->found, &look->failure);
}

static int note_source(const struct mount_entry *entry, void *userdata)
{
	const struct found_list *found = userdata;

	if (strncmp(entry->source, "/dev/", strlen("/dev/")) != 0)
		return 0;
	for (size_t i = 0; i < found->count; i++)
		if (found->volumes[i].mount_id == entry->mount_id && !found->volumes[i].source)
			found->volumes[i].source = strdup(entry->source);
	return 0;
}

/* What is taken over has no record of its device. Without one it is not unmounted. */
static void look_up_sources(const struct reconstruct_options *options, struct found_list *found)
{
	struct failure failure = { .error = 0 };

	if (mount_table_refresh(options->host->mount_table, &failure) < 0)
		log_message(LOG_WARNING,
			    "cannot look up which devices are staged: %s; those without a record "
			    "are not unmounted",
			    failure.text);
	(void) mount_table_walk(options->host->mount_table, note_source, found);
}

/* The ledger knows what was begun, the disk what is there: neither alone is enough. */
static int rebuild_from(const struct reconstruct_options *options, const struct row_list *rows,
			struct look *look, struct failure *reterr)
{
	struct rebuild_input input = {
		.rows = rows->rows,
		.row_count = rows->count,
		/* Without a store no pod is held: what other agents' containers may use stays
		 * foreign. */
		.takeover = options->config->takeover.how != CONFIG_TAKEOVER_NONE &&
			    !config_has_no_store(options->config),
		.takes_unused = options->config->takeover.how == CONFIG_TAKEOVER_REMOVE,
		.host = options->host,
	};
	int r = look->result;

	if (r > 0)
		log_message(LOG_WARNING, "%s", look->failure.text);
	if (r < 0) {
		*reterr = look->failure;
		return r;
	}
	if (input.takeover)
		look_up_sources(options, &look->found);
	r = foreign_volumes_new(&options->foreign, &look->found, options->foreign_volumes);
	if (r < 0)
		return failed(reterr, r, "cannot record foreign volumes");
	input.found = foreign_volumes_found(*options->foreign_volumes);
	r = rebuild(options->actual, &input, report_found, (void *) (uintptr_t) options);
	if (r < 0)
		return failed(reterr, r, "cannot rebuild the state from ledger and directories");
	count_adopted(options);
	if (r > 0)
		log_message(LOG_INFO, "%d entries known from before the start", r);
	return 0;
}

static void print_counter(FILE *file, const char *name, const char *help, size_t value)
{
	(void) fprintf(file, "# HELP %s %s\n# TYPE %s counter\n%s %zu\n", name, help, name, name,
		       value);
}

void reconstruct_print_metrics(const struct reconstruct_counts *counts, FILE *file)
{
	print_counter(file, "reconstruct_volume_operations_total",
		      "Volumes that this start tried to reconstruct.", counts->volumes);
	print_counter(file, "reconstruct_volume_operations_errors_total",
		      "Those of them that could not be reconstructed and are left alone.",
		      counts->failures);
	print_counter(file, "force_cleaned_failed_volume_operations_total",
		      "Always 0: a volume that could not be reconstructed is left alone.", 0);
	print_counter(file, "force_cleaned_failed_volume_operation_errors_total",
		      "Always 0, as those.", 0);
}

/* A damaged ledger is no reason not to start: the directories are looked at as well. */
static int read_ledger(const struct reconstruct_options *options, struct row_list *ret,
		       struct failure *reterr)
{
	struct failure damage = { .error = 0 };
	int r = ledger_open(options->config->run_dir, options->ledger, &damage);

	if (r < 0) {
		*reterr = damage;
		return r;
	}
	if (r > 0)
		log_message(LOG_ERR, "%s", damage.text);
	r = ledger_walk(*options->ledger, add_row, ret);
	return r < 0 ? failed(reterr, r, "cannot read the ledger")
		     : check_root(options, ret, reterr);
}

int reconstruct(const struct reconstruct_options *options, struct failure *reterr)
{
	struct look look = { .root_fd = options->root->fd };
	struct row_list rows = { .count = 0 };
	int r;

	beside_start(&look.beside, "directories", look_at_directories, &look);
	r = read_ledger(options, &rows, reterr);
	beside_wait(&look.beside);
	if (r >= 0)
		r = rebuild_from(options, &rows, &look, reterr);
	found_list_done(&look.found);
	free(rows.rows);
	return r;
}
