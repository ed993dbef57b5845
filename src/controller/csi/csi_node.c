/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_node - see csi_node.h; what is changed is decided in csi_node_edit.h
 *
 * A job compares and writes what differs, one object at a time, until nothing differs. So a
 * conflict, an object that others delete, and an entry that is removed before it is added again
 * take the same loop. Attempts are bounded.
 */
#include "controller/csi/csi_node.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
	WRITES_MAX = 16, /* of one job: two objects, twice, and others who write between */
	STEPS = 4,       /* of a driver's job; the first one of all has more */
	STEPS_FIRST = 6,
	FACTOR = 5,
	FACTOR_FIRST = 6,
};

#define STEP_USEC       (10 * USEC_PER_MSEC)
#define STEP_FIRST_USEC (15 * USEC_PER_MSEC)

enum job_kind { JOB_BEGIN, JOB_INSTALL, JOB_UNINSTALL };

struct job {
	enum job_kind kind;
	struct csi_node_entry entry; /* strings are its own */
	struct label *labels;
	csi_node_done_fn *done;
	void *userdata;
	unsigned int writes, failures;
	struct failure why; /* of the last write that failed */
	struct job *prev, *next;
};

struct csi_node {
	sd_event *event;
	struct store *store;
	const char *node_name;
	struct job *jobs; /* the first one is being done */
	struct job *kept; /* what CSINode has: done, and not removed again */
	struct store_watch *watch;
	sd_event_source *timer;
	char node_uid[OBJECT_UID_BYTES_MAX + 1]; /* seen last; "": none */
	bool is_writing; /* a callback of the store is due, maybe after csi_node_free() */
	bool is_closed;
};

/* ---- jobs ---- */

static struct job *job_free(struct job *job)
{
	if (!job)
		return NULL;
	for (size_t i = 0; job->labels && i < job->entry.topology.count; i++) {
		free((char *) job->labels[i].key);
		free((char *) job->labels[i].value);
	}
	free(job->labels);
	free((char *) job->entry.driver);
	free((char *) job->entry.node_id);
	free(job);
	return NULL;
}

static int copy_labels(struct job *job, const struct labels *topology)
{
	job->labels = calloc(topology->count + 1, sizeof(*job->labels));
	if (!job->labels)
		return -ENOMEM;
	job->entry.topology = (struct labels){ job->labels, topology->count };
	for (size_t i = 0; i < topology->count; i++) {
		job->labels[i].key = strdup(topology->labels[i].key);
		job->labels[i].value = strdup(topology->labels[i].value);
		if (!job->labels[i].key || !job->labels[i].value)
			return -ENOMEM;
	}
	return 0;
}

static struct job *job_new(enum job_kind kind, const struct csi_node_entry *entry)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->kind = kind;
	job->entry.driver = strdup(entry->driver);
	job->entry.node_id = strdup(entry->node_id);
	job->entry.max_volumes = entry->max_volumes;
	if (!job->entry.driver || !job->entry.node_id || copy_labels(job, &entry->topology) < 0)
		return job_free(job);
	return job;
}

static void forget_kept(struct csi_node *csi_node, const char *driver)
{
	struct job *job, *next;

	DL_FOREACH_SAFE (csi_node->kept, job, next) {
		if (strcmp(job->entry.driver, driver) != 0)
			continue;
		DL_DELETE(csi_node->kept, job);
		(void) job_free(job);
	}
}

/* In case the object is deleted. Out of memory it is created with the next registration. */
static void keep(struct csi_node *csi_node, const struct job *done)
{
	struct job *job = job_new(JOB_INSTALL, &done->entry);

	forget_kept(csi_node, done->entry.driver);
	if (job)
		DL_APPEND(csi_node->kept, job);
}

static void end_job(struct csi_node *csi_node, int error, const struct failure *why)
{
	struct job *job = csi_node->jobs;

	DL_DELETE(csi_node->jobs, job);
	if (job->kind == JOB_INSTALL && error == 0)
		keep(csi_node, job);
	if (csi_node->jobs)
		timer_set_in(csi_node->timer, 0);
	if (job->done)
		job->done(job->userdata, error, why);
	else if (error < 0)
		log_message(LOG_ERR, "the CSINode '%s' could not be created: %s",
			    csi_node->node_name, why->text);
	(void) job_free(job);
}

/* The first job of all waits for minutes when there is no Node. Every driver's does its work too,
 * so none has to wait behind it. */
static bool gives_way(const struct csi_node *csi_node)
{
	const struct job *job = csi_node->jobs;

	return job->kind == JOB_BEGIN && job->failures > 0 && job->next && !csi_node->is_writing;
}

static void drop_first(struct csi_node *csi_node)
{
	struct job *job = csi_node->jobs;

	DL_DELETE(csi_node->jobs, job);
	(void) job_free(job);
	timer_set_in(csi_node->timer, 0);
}

/* Later, a few times: who wrote in between is done soon. A tenth more or less keeps two apart. */
static void end_or_retry(struct csi_node *csi_node, int error, const struct failure *why)
{
	struct job *job = csi_node->jobs;
	bool is_first = job->kind == JOB_BEGIN;
	uint64_t delay_usec = is_first ? STEP_FIRST_USEC : STEP_USEC;

	job->why = *why;
	if (error == -EINVAL || error == -ECANCELED ||
	    ++job->failures > (is_first ? STEPS_FIRST : STEPS)) {
		end_job(csi_node, error, &job->why);
		return;
	}
	if (gives_way(csi_node)) {
		drop_first(csi_node);
		return;
	}
	for (unsigned int i = 1; i < job->failures; i++)
		delay_usec *= is_first ? FACTOR_FIRST : FACTOR;
	timer_set_in(csi_node->timer, delay_usec + delay_usec / 10 * (monotonic_usec() % 11) / 10);
}

/* ---- writes ---- */

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct csi_node *csi_node = userdata;

	csi_node->is_writing = false;
	if (csi_node->is_closed)
		free(csi_node);
	else if (error < 0)
		end_or_retry(csi_node, error, why);
	else
		timer_set_in(csi_node->timer, 0);
}

/* 1 changed, 0 nothing to change, negative errno. Called again with a newer object. */
static int edit_tree(const struct csi_node *csi_node, enum object_kind kind, struct cJSON *tree,
		     struct failure *reterr)
{
	const struct job *job = csi_node->jobs;
	const struct csi_node_entry *entry = &job->entry;
	int r;

	if (kind == KIND_NODE)
		return job->kind == JOB_INSTALL
			       ? csi_node_edit_node(tree, entry, reterr)
			       : csi_node_edit_node_back(tree, entry->driver, reterr);
	if (job->kind == JOB_UNINSTALL)
		return csi_node_edit_entry_back(tree, entry->driver);
	r = csi_node_edit_migrated(tree);
	if (r < 0)
		return failed(reterr, r, "cannot change the CSINode");
	if (*csi_node->node_uid)
		r |= csi_node_edit_owner(tree, csi_node->node_name, csi_node->node_uid);
	if (job->kind == JOB_INSTALL) {
		int changed = csi_node_edit_entry(tree, entry, reterr);

		return changed < 0 ? changed : changed | r;
	}
	return r;
}

/* @ret is NULL when there is nothing to change. */
static int edit_object(const struct csi_node *csi_node, const struct object *present,
		       const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(present);
	int r;

	*ret = NULL;
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot change '%s'", present->meta.name);
	r = edit_tree(csi_node, present->kind, tree, reterr);
	return r <= 0 ? r : object_propose(tree, ret, reterr);
}

/* Others wrote meanwhile: the same change to what is there now. */
static int edit_again(void *userdata, const struct object *present, const struct object **ret,
		      struct failure *why)
{
	struct csi_node *csi_node = userdata;
	int r;

	if (csi_node->is_closed)
		return failed_plain(why, -ECANCELED, "podvold is shutting down");
	r = edit_object(csi_node, present, ret, why);
	if (r == 0 && !*ret)
		*ret = object_ref(present);
	return r;
}

static int write_change(struct csi_node *csi_node, const struct object *object,
			struct failure *reterr)
{
	struct store_precondition precondition = { .resource_version =
							   object->meta.resource_version };
	int r = store_edit(csi_node->store, object, &precondition, edit_again, on_written,
			   csi_node);

	return r < 0 ? failed(reterr, r, "cannot write '%s'", object->meta.name) : 1;
}

static int create_csi_node(struct csi_node *csi_node, const struct object *node,
			   struct failure *reterr)
{
	cleanup_json struct cJSON *tree = csi_node_tree(csi_node->node_name, node->meta.uid);
	cleanup_object const struct object *object = NULL;
	int r = tree ? edit_tree(csi_node, KIND_CSI_NODE, tree, reterr)
		     : failed(reterr, -ENOMEM, "cannot make the CSINode");

	if (r >= 0)
		r = object_propose(tree, &object, reterr);
	if (r < 0)
		return r;
	r = store_create(csi_node->store, object, on_written, csi_node);
	return r < 0 ? failed(reterr, r, "cannot write the CSINode") : 1;
}

/* ---- sync ---- */

/* Return: 1 a write was queued; 0 the object is up to date; negative errno. */
static int sync_present(struct csi_node *csi_node, const struct object *present,
			struct failure *reterr)
{
	cleanup_object const struct object *object = NULL;
	int r = edit_object(csi_node, present, &object, reterr);

	return r < 0 || !object ? r : write_change(csi_node, object, reterr);
}

static int sync_csi_node(struct csi_node *csi_node, const struct object *node,
			 struct failure *reterr)
{
	const struct object *present =
		store_get(csi_node->store, KIND_CSI_NODE, "", csi_node->node_name);

	if (present)
		return sync_present(csi_node, present, reterr);
	return csi_node->jobs->kind == JOB_UNINSTALL ? 0 : create_csi_node(csi_node, node, reterr);
}

/* The Node first when a driver is added, CSINode first when one is removed: a reader of an entry
 * there finds the Node complete. */
static int sync_item(struct csi_node *csi_node, struct failure *reterr)
{
	const struct job *job = csi_node->jobs;
	const struct object *node = store_get(csi_node->store, KIND_NODE, "", csi_node->node_name);
	int r = 0;

	if (!node && job->kind != JOB_UNINSTALL)
		return failed_plain(reterr, -ENOENT, "Node '%s' not found", csi_node->node_name);
	if (job->kind == JOB_INSTALL)
		r = sync_present(csi_node, node, reterr);
	if (r == 0)
		r = sync_csi_node(csi_node, node, reterr);
	if (r == 0 && job->kind == JOB_UNINSTALL && node)
		r = sync_present(csi_node, node, reterr);
	return r;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct csi_node *csi_node = userdata;
	struct failure why = { .error = 0 };
	struct job *job = csi_node->jobs;
	int r;

	if (!job || csi_node->is_writing)
		return 0;
	r = job->writes == WRITES_MAX
		    ? failed_plain(&why, -EBUSY,
				   "conflict: the Node or CSINode '%s' keeps changing",
				   csi_node->node_name)
		    : sync_item(csi_node, &why);
	if (r > 0) {
		job->writes++;
		csi_node->is_writing = true;
	} else if (r == 0 || r == -EEXIST || r == -EBUSY) {
		end_job(csi_node, r, &why);
	} else {
		end_or_retry(csi_node, r, &why);
	}
	return 0;
}

/* ---- what others call ---- */

static int add_job(struct csi_node *csi_node, struct job *job, csi_node_done_fn *done,
		   void *userdata)
{
	if (!job)
		return -ENOMEM;
	job->done = done;
	job->userdata = userdata;
	DL_APPEND(csi_node->jobs, job);
	if (job == csi_node->jobs)
		timer_set_in(csi_node->timer, 0);
	else if (gives_way(csi_node))
		drop_first(csi_node);
	return 0;
}

/* ---- deleted by others, or the Node was made again ---- */

static const struct csi_node_entry none = { .driver = "", .node_id = "" };

/* Jobs compare before they write: without a difference they do nothing. */
static void restore(struct csi_node *csi_node)
{
	const struct job *kept;
	int r = add_job(csi_node, job_new(JOB_BEGIN, &none), NULL, NULL);

	DL_FOREACH (csi_node->kept, kept)
		if (r == 0)
			r = add_job(csi_node, job_new(JOB_INSTALL, &kept->entry), NULL, NULL);
	if (r < 0)
		log_message(LOG_ERR, "out of memory: the CSINode '%s' is not made again",
			    csi_node->node_name);
}

static void on_changed(void *userdata);

static int watch(struct csi_node *csi_node)
{
	csi_node->watch = store_watch_free(csi_node->watch);
	return store_watch_new(csi_node->store, 1U << KIND_CSI_NODE | 1U << KIND_NODE,
			       store_resource_version(csi_node->store), on_changed, csi_node,
			       &csi_node->watch);
}

/* Return: is the Node another one of this name? What drivers said of this node is not in it. */
static bool note_node(struct csi_node *csi_node)
{
	const struct object *node = store_get(csi_node->store, KIND_NODE, "", csi_node->node_name);
	bool is_other;

	if (!node || strcmp(csi_node->node_uid, node->meta.uid) == 0)
		return false;
	is_other = *csi_node->node_uid;
	(void) snprintf(csi_node->node_uid, sizeof(csi_node->node_uid), "%s", node->meta.uid);
	return is_other;
}

static void on_changed(void *userdata)
{
	struct csi_node *csi_node = userdata;
	const struct store_change *change;
	bool is_gone = false;
	int r;

	while ((r = store_watch_next(csi_node->watch, &change)) > 0)
		if (change->object->kind == KIND_CSI_NODE &&
		    strcmp(change->object->meta.name, csi_node->node_name) == 0)
			is_gone = change->type == STORE_DELETED;
	if (r < 0) { /* too many changes at once */
		is_gone = !store_get(csi_node->store, KIND_CSI_NODE, "", csi_node->node_name);
		if (watch(csi_node) < 0)
			log_message(LOG_WARNING,
				    "out of memory: a CSINode that is deleted comes back with the "
				    "next driver");
	}
	if (is_gone)
		log_message(LOG_NOTICE, "CSINode '%s' was deleted: creating it again",
			    csi_node->node_name);
	if (note_node(csi_node) || is_gone)
		restore(csi_node);
}

/* ---- birth and death ---- */

int csi_node_new(sd_event *event, struct store *store, const char *node_name, struct csi_node **ret)
{
	struct csi_node *csi_node = calloc(1, sizeof(*csi_node));
	int r;

	assert(event && store && node_name && ret);
	if (!csi_node)
		return -ENOMEM;
	csi_node->event = event;
	csi_node->store = store;
	csi_node->node_name = node_name;
	r = timer_new(event, USEC_PER_MSEC, on_timer, csi_node, &csi_node->timer);
	if (r >= 0)
		r = watch(csi_node);
	(void) note_node(csi_node);
	if (r >= 0)
		r = add_job(csi_node, job_new(JOB_BEGIN, &none), NULL, NULL);
	if (r < 0) {
		(void) csi_node_free(csi_node);
		return r;
	}
	*ret = csi_node;
	return 0;
}

struct csi_node *csi_node_free(struct csi_node *csi_node)
{
	struct job *job, *next;

	if (!csi_node)
		return NULL;
	sd_event_source_disable_unref(csi_node->timer);
	csi_node->watch = store_watch_free(csi_node->watch);
	DL_CONCAT(csi_node->jobs, csi_node->kept);
	DL_FOREACH_SAFE (csi_node->jobs, job, next)
		(void) job_free(job);
	csi_node->jobs = csi_node->kept = NULL;
	csi_node->is_closed = true;
	if (!csi_node->is_writing)
		free(csi_node);
	return NULL;
}

int csi_node_install(struct csi_node *csi_node, const struct csi_node_entry *entry,
		     csi_node_done_fn *done, void *userdata)
{
	assert(csi_node && entry && entry->driver && entry->node_id && done);
	if (entry->max_volumes < 0)
		log_message(LOG_ERR,
			    "driver '%s' reports a limit of %lld volumes, ignoring: there is no "
			    "limit",
			    entry->driver, (long long) entry->max_volumes);
	return add_job(csi_node, job_new(JOB_INSTALL, entry), done, userdata);
}

int csi_node_uninstall(struct csi_node *csi_node, const char *driver, csi_node_done_fn *done,
		       void *userdata)
{
	const struct csi_node_entry entry = { .driver = driver, .node_id = "" };

	assert(csi_node && driver && done);
	forget_kept(csi_node, driver);
	return add_job(csi_node, job_new(JOB_UNINSTALL, &entry), done, userdata);
}
