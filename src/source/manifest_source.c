/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_source - the directory, the catalog, the plan and the store, wired together; see
 * source.h
 *
 * Whatever came in (a listing, a file, a change of the store, an answer) ends in finish(): affected
 * objects are looked at, what lost its manifest joins the deletion batch, news are reported.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/source.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/kinds/pod.h"
#include "source/manifest_apply.h"
#include "source/manifest_deletion_batch.h"
#include "source/manifest_dir.h"
#include "source/manifest_known.h"
#include "source/manifest_problem.h"

#include <assert.h>
#include <string.h>

enum { ALL_KINDS = (1 << KIND_COUNT) - 1 };

struct manifest_source {
	struct manifest_source_options options;
	char *directory, *node_name, *run_dir;
	struct store *store;
	struct manifest_catalog catalog;
	struct manifest_apply apply;
	struct manifest_deletion_batch deletion_batch;
	struct manifest_dir *dir;
	struct store_watch *watch;
	sd_event_source *judge_timer;
	struct manifest_known known; /* until what vanished before the start is judged */

	struct manifest_directory_note directory_note;
	unsigned int scan; /* number of the last listing */
	bool has_listed;   /* once, successfully or not */
	bool is_readable;  /* at the last listing */
	bool is_ready;
	bool has_news; /* the set of problems changed */
};

static void finish(struct manifest_source *source);

/* ---- deletion batches ---- */

static void arm_absence_check(struct manifest_source *source)
{
	if (!source->deletion_batch.is_active)
		return;
	(void) sd_event_source_set_time(
		source->judge_timer, manifest_deletion_batch_due_usec(&source->deletion_batch,
								      source->options.settle_usec));
	(void) sd_event_source_set_enabled(source->judge_timer, SD_EVENT_ONESHOT);
}

static void touch_deletion_batch(struct manifest_source *source)
{
	manifest_deletion_batch_touch(&source->deletion_batch, &source->catalog, monotonic_usec());
	arm_absence_check(source);
}

static enum manifest_absence check_absence(struct manifest_source *source)
{
	struct manifest_deletion_batch *deletion_batch = &source->deletion_batch;
	struct manifest_deletion_batch_facts facts = {
		.directory_is_readable = source->is_readable,
		.directory_is_same = !deletion_batch->is_replaced,
		.is_start = deletion_batch->is_start,
		.known_left = deletion_batch->is_start
				      ? manifest_known_left(&source->known, &source->catalog)
				      : 0,
	};

	manifest_deletion_batch_count(deletion_batch, &source->catalog, &facts);
	return manifest_judge_deletion_batch(&facts);
}

/* Without memory to tell: yes, for then it is asked again before anything is done. */
static bool is_stored_from_manifest(struct manifest_source *source, const struct manifest_key *key)
{
	const struct object *stored =
		store_get(source->store, key->kind, key->name_space, key->name);
	struct manifest_mark mark;

	return stored && (manifest_mark_read(stored, &mark) < 0 || mark.is_marked);
}

static void check_orphan(struct manifest_source *source, struct manifest_key *key,
			 enum manifest_absence verdict)
{
	if (key->definitions)
		return;
	/* A document that was edited out of a file that is still there was meant to go. */
	key->absence = key->lost_file ? verdict : MANIFEST_ABSENCE_REMOVED;
	if (key->kind == KIND_POD && key->absence == MANIFEST_ABSENCE_LOST &&
	    is_stored_from_manifest(source, key)) {
		key->is_kept = true;
		source->has_news = true;
		manifest_directory_note_keep(&source->directory_note, 1);
	}
	manifest_apply_key(&source->apply, key);
}

static int on_absence_check(sd_event_source *event_source, uint64_t usec, void *userdata)
{
	struct manifest_source *source = userdata;
	struct manifest_key *key, *next;
	enum manifest_absence verdict;

	/* Files that are being read may be those that are missed; idle calls again. */
	if (!source->deletion_batch.is_active || !manifest_dir_is_idle(source->dir))
		return 0;
	verdict = check_absence(source);
	if (source->apply.has_started)
		manifest_known_done(&source->known);
	for (key = manifest_deletion_batch_end(&source->deletion_batch); key; key = next) {
		next = key->next_orphan;
		check_orphan(source, key, verdict);
	}
	finish(source);
	return 0;
}

/* ---- what was stored before this process ---- */

/* Its file is there and cannot be read: that is no reason to take anything away. Return: 1 it stays
 * in force; 0 its file does not have it; -ENOMEM. */
static int stand_in(struct manifest_source *source, const struct object *object,
		    const struct manifest_mark *mark)
{
	struct manifest_entry *entry = manifest_catalog_entry(&source->catalog, mark->file);
	int r;

	if (!entry)
		return 0;
	r = manifest_catalog_stand_in(&source->catalog, entry, object, mark->hash, realtime_usec());
	source->has_news |= r > 0;
	return r;
}

/* Where its own file leaves it open, the first by name of that one and the others has it. */
static int compare_defined(struct manifest_source *source, struct manifest_key *key,
			   const struct object *object, const struct manifest_mark *mark)
{
	int r;

	if (!mark->is_marked || mark->is_gone ||
	    strcmp(key->definitions->entry->name, mark->file) == 0)
		return 0;
	r = stand_in(source, object, mark);
	manifest_catalog_affect(&source->catalog, key);
	return r < 0 ? r : 0;
}

static int compare_stored(const struct object *object, void *userdata)
{
	struct manifest_source *source = userdata;
	struct manifest_key *key = manifest_catalog_key(&source->catalog, object);
	struct manifest_mark mark;
	int r;

	/* What is stored stands for the document that it was made from. */
	if (key && key->definitions && key->definitions->object == object)
		return 0;
	if (manifest_mark_read(object, &mark) < 0)
		return -ENOMEM;
	if (key && key->definitions)
		return compare_defined(source, key, object, &mark);
	if (!mark.is_marked)
		return 0;
	key = manifest_catalog_add_key(&source->catalog, object);
	if (!key)
		return -ENOMEM;
	if (mark.is_gone) {
		/* Judged by an earlier process. */
		if (object->kind == KIND_POD && !key->is_kept) {
			key->is_kept = true;
			manifest_directory_note_keep(&source->directory_note, 1);
			source->has_news = true;
		}
		manifest_catalog_forget(&source->catalog, key);
		return 0;
	}
	r = stand_in(source, object, &mark);
	if (r != 0)
		return r < 0 ? r : 0;
	/* Without a definition stand_in() has forgotten the key. */
	key = manifest_catalog_add_key(&source->catalog, object);
	if (!key)
		return -ENOMEM;
	key->lost_file = true;
	key->gone = NULL;
	key->absence = MANIFEST_ABSENCE_UNJUDGED;
	touch_deletion_batch(source);
	source->deletion_batch.is_start = true;
	manifest_deletion_batch_add_orphan(&source->deletion_batch, key);
	return 0;
}

static void start(struct manifest_source *source)
{
	int r = 0;

	for (int kind = 0; kind < KIND_COUNT && r == 0; kind++)
		r = store_list(source->store, kind, NULL, compare_stored, source);
	source->apply.has_started = r == 0;
	if (r == 0)
		return;
	log_message(LOG_ERR, "manifests: out of memory: what vanished while podvold was down is "
			     "looked for again later");
	manifest_dir_list_later(source->dir);
}

/* ---- what the directory says ---- */

static void lose_entry(struct manifest_source *source, struct manifest_entry *entry)
{
	touch_deletion_batch(source);
	if (manifest_deletion_batch_lose(&source->deletion_batch, entry) < 0) {
		manifest_dir_check(source->dir, entry->name);
		return;
	}
	source->has_news |= entry->note_count > 0;
	manifest_catalog_remove(&source->catalog, entry);
}

static void report_new_notes(const struct manifest_source *source,
			     const struct manifest_entry *entry, uint64_t now_usec)
{
	for (const struct manifest_note *note = entry->notes; note; note = note->next)
		if (note->since_usec == now_usec)
			manifest_note_report(note, entry->name, source->store, &source->options);
}

/* To be parsed: what is stored of it is not enough any more. */
static void on_unread(struct manifest_entry *entry, void *userdata)
{
	struct manifest_source *source = userdata;

	entry->identity = (struct manifest_identity){ 0 };
	manifest_dir_check(source->dir, entry->name);
}

static uint64_t on_known_text(const char *name, void *userdata)
{
	return manifest_known_text(&((const struct manifest_source *) userdata)->known, name);
}

/* A file that is known already says something only as a whole: what it does not have any more is
 * to go. */
static void on_part(const struct manifest_part *part, void *userdata)
{
	struct manifest_source *source = userdata;
	struct manifest_entry *entry = manifest_catalog_entry(&source->catalog, part->name);
	bool is_new = !entry;

	if (is_new ? HASH_COUNT(source->catalog.entries) >= MANIFEST_FILES_MAX : !entry->is_partial)
		return;
	if (manifest_catalog_add_part(&source->catalog, part, realtime_usec(), &entry) < 0)
		log_message(LOG_ERR, "manifest '%s': out of memory while it is read", part->name);
	if (!entry)
		return;
	if (is_new)
		manifest_deletion_batch_gain(&source->deletion_batch, entry);
	entry->scan = source->scan;
	finish(source);
}

static void on_read(struct manifest_file *file, void *userdata)
{
	struct manifest_source *source = userdata;
	struct manifest_entry *entry = manifest_catalog_entry(&source->catalog, file->name);
	uint64_t now_usec = realtime_usec();
	bool is_new = !entry;
	int r;

	if (!file->is_present) {
		if (entry)
			lose_entry(source, entry);
		finish(source);
		return;
	}
	if (is_new && HASH_COUNT(source->catalog.entries) >= MANIFEST_FILES_MAX)
		return;
	source->has_news |= entry && entry->note_count > 0;
	r = manifest_known_take(&source->known, file);
	if (r == 0)
		r = manifest_catalog_put(&source->catalog, file, now_usec, &entry);
	if (r < 0) {
		if (r != -EAGAIN)
			log_message(LOG_ERR, "manifest '%s': out of memory, reading it again",
				    file->name);
		manifest_dir_check(source->dir, file->name);
		return;
	}
	if (is_new)
		manifest_deletion_batch_gain(&source->deletion_batch, entry);
	entry->scan = source->scan;
	source->has_news |= entry->note_count > 0;
	report_new_notes(source, entry, now_usec);
	finish(source);
}

static void take_listing(struct manifest_source *source, const struct manifest_listing *listing)
{
	struct manifest_entry *entry, *next;

	source->scan++;
	for (size_t i = 0; i < listing->count; i++) {
		const struct manifest_listed *listed = &listing->files[i];

		entry = manifest_catalog_entry(&source->catalog, listed->name);
		if (entry)
			entry->scan = source->scan;
		if (!entry || !manifest_identity_is_same(&entry->identity, &listed->identity))
			manifest_dir_check(source->dir, listed->name);
	}
	HASH_ITER (hh, source->catalog.entries, entry, next) {
		if (entry->scan == source->scan)
			continue;
		touch_deletion_batch(source);
		source->deletion_batch.is_replaced |= !listing->is_same;
		lose_entry(source, entry);
	}
}

static void on_listed(const struct manifest_listing *listing, void *userdata)
{
	struct manifest_source *source = userdata;

	source->has_listed = true;
	source->is_readable = listing->error == 0;
	source->has_news |=
		manifest_directory_note_set(&source->directory_note, listing, realtime_usec());
	if (listing->error == 0)
		take_listing(source, listing);
	finish(source);
}

static void check_ready(struct manifest_source *source)
{
	if (source->is_ready || !source->has_listed || !manifest_dir_is_idle(source->dir) ||
	    source->apply.pending_count > 0 ||
	    (source->is_readable && !source->apply.has_started) || source->deletion_batch.is_start)
		return;
	source->is_ready = true;
	if (source->options.ready)
		source->options.ready(source->options.userdata);
}

static void on_idle(void *userdata)
{
	struct manifest_source *source = userdata;

	if (source->is_readable && !source->apply.has_started)
		start(source);
	arm_absence_check(source);
	finish(source);
}

/* ---- what the store says ---- */

static void on_deleted(struct manifest_source *source, const struct object *object)
{
	struct manifest_key *key = manifest_catalog_key(&source->catalog, object);

	if (object->kind == KIND_POD)
		manifest_apply_uid_freed(&source->apply, object->meta.uid);
	if (!key)
		return;
	if (key->is_kept) {
		key->is_kept = false;
		source->has_news = true;
		manifest_directory_note_keep(&source->directory_note, -1);
	}
	/* What comes next is another object, whatever uid its document names. */
	if (key->definitions) {
		free(key->used_uid);
		key->used_uid = strdup(object->meta.uid);
	}
	manifest_catalog_affect(&source->catalog, key);
}

/* The ring went on without us: whatever is missing now was deleted. */
static int watch_again(struct manifest_source *source);

static void on_changes(void *userdata)
{
	struct manifest_source *source = userdata;
	const struct store_change *change;
	int r;

	while ((r = store_watch_next(source->watch, &change)) > 0)
		if (change->type == STORE_DELETED)
			on_deleted(source, change->object);
		else
			manifest_apply_stored(&source->apply, change->object);
	if (r < 0 && watch_again(source) < 0)
		log_message(LOG_ERR, "manifests: cannot watch the store any more");
	finish(source);
}

static int watch_again(struct manifest_source *source)
{
	struct manifest_key *key, *next;

	HASH_ITER (hh, source->catalog.keys, key, next)
		manifest_catalog_affect(&source->catalog, key);
	source->watch = store_watch_free(source->watch);
	return store_watch_new(source->store, ALL_KINDS, store_resource_version(source->store),
			       on_changes, source, &source->watch);
}

/* ---- the end of every event ---- */

static void read_key(struct manifest_source *source, struct manifest_key *key)
{
	if (key->definitions && key->is_kept) {
		key->is_kept = false;
		source->has_news = true;
		manifest_directory_note_keep(&source->directory_note, -1);
	}
	/* Several files have it: who comes first is reported. */
	source->has_news |= key->definitions && key->definitions->next_in_key;
	if (!key->definitions && key->absence == MANIFEST_ABSENCE_UNJUDGED && !key->is_kept &&
	    (key->is_writing || is_stored_from_manifest(source, key))) {
		touch_deletion_batch(source);
		manifest_deletion_batch_add_orphan(&source->deletion_batch, key);
		return;
	}
	manifest_apply_key(&source->apply, key);
}

static void finish(struct manifest_source *source)
{
	struct manifest_key *key;

	while ((key = manifest_catalog_take_affected(&source->catalog)))
		read_key(source, key);
	check_ready(source);
	if (!source->has_news && !source->apply.has_news)
		return;
	source->has_news = false;
	source->apply.has_news = false;
	if (source->options.changed)
		source->options.changed(source->options.userdata);
}

static void on_answered(void *userdata)
{
	finish(userdata);
}

void manifest_source_uid_freed(struct manifest_source *source, const char *uid)
{
	if (!source || source->apply.uid_waiters == 0)
		return;
	manifest_apply_uid_freed(&source->apply, uid);
	finish(source);
}

/* ---- life ---- */

static int copy_options(struct manifest_source *source,
			const struct manifest_source_options *options)
{
	source->options = *options;
	source->directory = strdup(options->directory);
	source->node_name = strdup(options->node_name);
	source->run_dir = options->run_dir ? strdup(options->run_dir) : NULL;
	source->options.directory = source->directory;
	source->options.node_name = source->node_name;
	source->options.run_dir = source->run_dir;
	return source->directory && source->node_name && !source->run_dir == !options->run_dir
		       ? 0
		       : -ENOMEM;
}

static int set_up(struct manifest_source *source, sd_event *event)
{
	const struct manifest_dir_callbacks callbacks = {

		.listed = on_listed,
		.known_text = on_known_text,
		.part = on_part,
		.read = on_read,
		.idle = on_idle,
		.userdata = source
	};
	int r;

	source->apply = (struct manifest_apply){
		.store = source->store,
		.catalog = &source->catalog,
		.node_name = source->node_name,
		.unread = on_unread,
		.answered = on_answered,
		.userdata = source,
	};
	r = manifest_apply_init(&source->apply, event);
	if (r < 0)
		return r;
	r = sd_event_add_time(event, &source->judge_timer, CLOCK_MONOTONIC, UINT64_MAX, 1,
			      on_absence_check, source);
	if (r >= 0)
		r = sd_event_source_set_enabled(source->judge_timer, SD_EVENT_OFF);
	if (r >= 0)
		r = watch_again(source);
	if (r >= 0)
		r = manifest_known_load(&source->known, source->store, source->run_dir);
	if (r < 0)
		return r;
	return manifest_dir_new(event, source->directory, source->node_name,
				source->options.settle_usec, &callbacks, &source->dir);
}

static void free_pointer(struct manifest_source **source)
{
	(void) manifest_source_free(*source);
}

int manifest_source_new(sd_event *event, struct store *store,
			const struct manifest_source_options *options, struct manifest_source **ret,
			struct failure *reterr)
{
	cleanup(free_pointer) struct manifest_source *source = calloc(1, sizeof(*source));
	int r = source ? 0 : -ENOMEM;

	assert(event && store && options->directory && options->node_name && ret);
	if (source) {
		source->store = store;
		r = copy_options(source, options);
	}
	if (r == 0)
		r = set_up(source, event);
	if (r < 0)
		return failed(
			reterr, r, "cannot watch the manifest directory '%s'%s", options->directory,
			r == -EMFILE ? " (raise fs.inotify.max_user_instances or LimitNOFILE=)"
				     : "");
	*ret = TAKE_PTR(source);
	return 0;
}

struct manifest_source *manifest_source_free(struct manifest_source *source)
{
	if (!source)
		return NULL;
	(void) manifest_dir_free(source->dir);
	if (source->is_ready && source->run_dir)
		manifest_known_save(&source->known, &source->catalog, source->run_dir);
	manifest_apply_done(&source->apply);
	(void) store_watch_free(source->watch);
	(void) sd_event_source_disable_unref(source->judge_timer);
	manifest_deletion_batch_done(&source->deletion_batch);
	manifest_known_done(&source->known);
	manifest_catalog_done(&source->catalog);
	free(source->directory);
	free(source->node_name);
	free(source->run_dir);
	free(source);
	return NULL;
}

/* ---- questions ---- */

int manifest_source_problems(struct manifest_source *source,
			     int (*visit)(const struct manifest_problem *problem, void *userdata),
			     void *userdata)
{
	return manifest_problems_walk(&source->directory_note, &source->catalog, visit, userdata);
}

struct cJSON *manifest_source_view(struct manifest_source *source)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	if (source)
		(void) manifest_source_problems(source, manifest_problem_view, items);
	return list;
}

const char *manifest_source_file_of(struct manifest_source *source, const struct object *object)
{
	const struct manifest_key *key =
		source ? manifest_catalog_key(&source->catalog, object) : NULL;

	return key && key->definitions && is_stored_from_manifest(source, key)
		       ? key->definitions->entry->name
		       : NULL;
}
