/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_dir - inotify and the reading thread; see manifest_dir.h
 *
 * The watch is set on the opened directory, not on its path, so that events and listing are about
 * one and the same inode. A job compares the path with it each time: a directory that was
 * replaced without an event (something mounted over it) is found at the next occasion.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/manifest_dir.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/worker.h"
#include "source/manifest_scan.h"

#include <assert.h>
#include <string.h>
#include <sys/inotify.h>

enum {
	READ_MAX = 64, /* files in one job: the loop handles some while the next are read */
	/* How long the end of the daemon waits for a thread that hangs in the directory: its other
	 * use, starting a spare thread, never comes with one job at a time. */
	SET_ASIDE_USEC = USEC_PER_SEC,
	EVENT_BYTES = 64 * 1024,
	/* What fails for want of something, or at a server, brings no event when it would work. */
	RETRY_FIRST_SEC = 1,
	RETRY_LAST_SEC = 30,
};

/* A name to be read. */
struct due_file {
	UT_hash_handle hh;
	uint64_t due_usec; /* monotonic; 0: at once */
	char name[];
};

/* A name whose file was written to and not closed since. */
struct unclosed {
	UT_hash_handle hh;
	char name[];
};

struct manifest_dir {
	struct manifest_dir_callbacks callbacks;
	uint64_t settle_usec;
	const char *node_name;
	struct worker_return *to_loop;
	struct worker_pool *pool;
	sd_event_source *inotify_source, *timer, *retry_timer;
	int inotify_fd;

	char *path;
	struct manifest_place place; /* what is watched now; jobs get a copy */
	struct due_file *due;
	struct unclosed *unclosed;
	bool must_list;
	bool is_put_off;        /* the retry timer runs, for a listing */
	unsigned int retry_sec; /* how long a listing was put off last; 0: all is well */
	enum { JOB_NONE, JOB_LISTS, JOB_READS } running;
	bool is_closing;
};

/* The thread's between worker_submit() and done(), but for @dir, which it does not follow. */
struct job {
	struct worker_job job;
	struct manifest_dir *dir;
	bool is_listing;
	struct manifest_place place;
	int inotify_fd;
	struct manifest_scan scan;
	struct manifest_part_sender sender;
	struct manifest_file *files, **files_end;
	size_t count;
	const char *node_name;
	char *names[READ_MAX];
	uint64_t known_texts[READ_MAX];
};

static void start_job(struct manifest_dir *dir);
static void go_on(struct manifest_dir *dir);

/* ---- files to read ---- */

static void add_due(struct manifest_dir *dir, const char *name, uint64_t due_usec)
{
	size_t length = strlen(name);
	struct due_file *file;

	HASH_FIND(hh, dir->due, name, length, file);
	if (!file) {
		file = calloc(1, sizeof(*file) + length + 1);
		if (!file) {
			dir->must_list = true;
			return;
		}
		memcpy(file->name, name, length);
		HASH_ADD(hh, dir->due, name, length, file);
		if (!file->hh.tbl) {
			free(file);
			dir->must_list = true;
			return;
		}
	}
	file->due_usec = due_usec;
}

static void free_due(struct manifest_dir *dir, struct due_file *file)
{
	HASH_DEL(dir->due, file);
	free(file);
}

static void forget_due(struct manifest_dir *dir)
{
	struct due_file *file, *next;

	HASH_ITER (hh, dir->due, file, next)
		free_due(dir, file);
}

/* Return: how many names are due, at most READ_MAX; they are the job's now. */
static size_t take_due(struct manifest_dir *dir, struct job *job, uint64_t *ret_next_usec)
{
	uint64_t now_usec = monotonic_usec();
	struct due_file *file, *next;

	*ret_next_usec = UINT64_MAX;
	HASH_ITER (hh, dir->due, file, next) {
		if (file->due_usec > now_usec) {
			if (file->due_usec < *ret_next_usec)
				*ret_next_usec = file->due_usec;
			continue;
		}
		if (job->count == READ_MAX)
			break;
		job->names[job->count] = strdup(file->name);
		if (!job->names[job->count]) {
			dir->must_list = true;
			break;
		}
		if (dir->callbacks.known_text)
			job->known_texts[job->count] =
				dir->callbacks.known_text(file->name, dir->callbacks.userdata);
		job->count++;
		free_due(dir, file);
	}
	return job->count;
}

/* ---- who is being written to ---- */

static struct unclosed *find_unclosed(const struct manifest_dir *dir, const char *name)
{
	struct unclosed *unclosed;

	HASH_FIND(hh, dir->unclosed, name, strlen(name), unclosed);
	return unclosed;
}

static void close_name(struct manifest_dir *dir, struct unclosed *unclosed)
{
	if (!unclosed)
		return;
	HASH_DEL(dir->unclosed, unclosed);
	free(unclosed);
}

/* Changes of the mode say nothing: cp and scp make them before they close. */
static void note_writer(struct manifest_dir *dir, const struct inotify_event *event)
{
	struct unclosed *unclosed = find_unclosed(dir, event->name);
	size_t length = strlen(event->name);

	if (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)) {
		close_name(dir, unclosed);
		return;
	}
	if (!(event->mask & IN_MODIFY) || unclosed)
		return;
	unclosed = calloc(1, sizeof(*unclosed) + length + 1);
	if (!unclosed)
		return;
	memcpy(unclosed->name, event->name, length);
	HASH_ADD(hh, dir->unclosed, name, length, unclosed);
	if (!unclosed->hh.tbl)
		free(unclosed);
}

static void forget_writers(struct manifest_dir *dir)
{
	struct unclosed *unclosed, *next;

	HASH_ITER (hh, dir->unclosed, unclosed, next)
		close_name(dir, unclosed);
}

/* ---- what has to be tried again ---- */

/* Not what is_idle asks about: a disk that stays broken must not keep the daemon from being ready.
 */
static void put_off_listing(struct manifest_dir *dir)
{
	if (dir->is_put_off)
		return;
	dir->is_put_off = true;
	dir->retry_sec = dir->retry_sec == 0 ? RETRY_FIRST_SEC : dir->retry_sec * 2;
	if (dir->retry_sec > RETRY_LAST_SEC)
		dir->retry_sec = RETRY_LAST_SEC;
	(void) sd_event_source_set_time(dir->retry_timer,
					monotonic_usec() + dir->retry_sec * USEC_PER_SEC);
	(void) sd_event_source_set_enabled(dir->retry_timer, SD_EVENT_ONESHOT);
}

void manifest_dir_list_later(struct manifest_dir *dir)
{
	put_off_listing(dir);
}

static void end_put_off(struct manifest_dir *dir)
{
	dir->is_put_off = false;
	(void) sd_event_source_set_enabled(dir->retry_timer, SD_EVENT_OFF);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manifest_dir *dir = userdata;

	dir->must_list = true;
	start_job(dir);
	return 0;
}

/* A directory that is not there shows at the watch of its parent. */
static bool brings_an_event(const struct manifest_scan *scan)
{
	return (scan->failure.error == -ENOENT || scan->failure.error == -ENOTDIR) &&
	       scan->place.parent_watch >= 0;
}

/* ---- jobs ---- */

static void free_job(struct job *job)
{
	struct manifest_file *next;

	for (size_t i = 0; i < job->count; i++)
		free(job->names[i]);
	for (struct manifest_file *file = job->files; file; file = next) {
		next = file->next;
		(void) manifest_file_free(file);
	}
	manifest_scan_done(&job->scan);
	free(job);
}

/* Parts come to the loop at once, whole files when the job is over: those of a second file would
 * overtake the first one, whose documents count. */
static const struct manifest_part_sender *sender_of(const struct job *job, size_t index)
{
	return index == 0 && job->sender.take ? &job->sender : NULL;
}

static void read_files(struct job *job)
{
	cleanup_close int fd = manifest_place_open(&job->place);

	if (fd < 0)
		return;
	for (size_t i = 0; i < job->count; i++) {
		struct manifest_file *file = manifest_file_read(
			fd, job->names[i], job->node_name, job->known_texts[i], sender_of(job, i));

		if (!file)
			return;
		*job->files_end = file;
		job->files_end = &file->next;
	}
}

static void run_job(struct worker_job *worker_job)
{
	struct job *job = (struct job *) worker_job;

	if (job->is_listing)
		manifest_scan_directory(&job->place, job->inotify_fd, &job->scan);
	else
		read_files(job);
}

static void remove_watch(const struct manifest_dir *dir, int watch)
{
	if (watch >= 0 && watch != dir->place.directory_watch && watch != dir->place.parent_watch)
		(void) inotify_rm_watch(dir->inotify_fd, watch);
}

static void use_place(struct manifest_dir *dir, const struct manifest_place *place)
{
	const struct manifest_place old = dir->place;

	dir->place = *place;
	if (place->others_write && !old.others_write)
		log_message(LOG_WARNING,
			    "every local user can write to the manifest directory '%s', and so "
			    "choose what root mounts: chmod o-w it",
			    dir->path);
	remove_watch(dir, old.directory_watch);
	remove_watch(dir, old.parent_watch);
}

static void hand_on_listing(struct manifest_dir *dir, const struct job *job)
{
	const struct manifest_listing listing = {
		.error = job->scan.failure.error,
		.is_same = job->scan.is_same,
		.count = job->scan.count,
		.left_out = job->scan.left_out,
		.files = job->scan.files,
		.failure = &job->scan.failure,
	};

	dir->callbacks.listed(&listing, dir->callbacks.userdata);
}

/* A name without a file was not read, for want of memory or because the directory is another one:
 * a listing sorts both out. */
static void hand_on_files(struct manifest_dir *dir, const struct job *job)
{
	size_t count = 0;

	for (struct manifest_file *file = job->files; file; file = file->next) {
		count++;
		file->is_unclosed = find_unclosed(dir, file->name) != NULL;
		if (file->was_changing)
			add_due(dir, file->name, monotonic_usec() + dir->settle_usec);
		else
			dir->callbacks.read(file, dir->callbacks.userdata);
		if (manifest_error_passes(file->failure.error))
			put_off_listing(dir);
	}
	if (count < job->count)
		dir->must_list = true;
}

static void take_part(const struct manifest_part *part, void *userdata)
{
	const struct manifest_dir *dir = userdata;

	if (!dir->is_closing)
		dir->callbacks.part(part, dir->callbacks.userdata);
}

static void job_done(struct worker_job *worker_job)
{
	struct job *job = (struct job *) worker_job;
	struct manifest_dir *dir = job->dir;

	dir->running = JOB_NONE;
	if (dir->is_closing) {
		free_job(job);
		return;
	}
	if (job->is_listing) {
		use_place(dir, &job->scan.place);
		if (job->scan.failure.error < 0 && !brings_an_event(&job->scan))
			put_off_listing(dir);
		hand_on_listing(dir, job);
	} else {
		/* The thread reads on while the loop stores. */
		start_job(dir);
		hand_on_files(dir, job);
	}
	free_job(job);
	go_on(dir);
}

static struct job *new_job(struct manifest_dir *dir)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->job.run = run_job;
	job->job.done = job_done;
	job->dir = dir;
	job->node_name = dir->node_name;
	job->place = dir->place;
	job->inotify_fd = dir->inotify_fd;
	job->scan.place = dir->place;
	job->files_end = &job->files;
	if (dir->callbacks.part)
		job->sender = (struct manifest_part_sender){ dir->pool, take_part, dir };
	return job;
}

static void set_timer(struct manifest_dir *dir, uint64_t usec)
{
	(void) sd_event_source_set_time(dir->timer, usec);
	(void) sd_event_source_set_enabled(dir->timer,
					   usec == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* What is most urgent, if nothing is under way: a listing, then names that are due. */
static void start_job(struct manifest_dir *dir)
{
	uint64_t next_usec = UINT64_MAX;
	struct job *job;

	if (dir->running != JOB_NONE || dir->is_closing)
		return;
	job = new_job(dir);
	if (!job) {
		set_timer(dir, monotonic_usec() + USEC_PER_SEC);
		return;
	}
	if (!dir->must_list && take_due(dir, job, &next_usec) == 0 && !dir->must_list) {
		free_job(job);
		set_timer(dir, next_usec);
		return;
	}
	if (dir->must_list) {
		/* It sees what the names would have shown. */
		dir->must_list = false;
		end_put_off(dir);
		forget_due(dir);
		job->is_listing = true;
	}
	dir->running = job->is_listing ? JOB_LISTS : JOB_READS;
	worker_submit(dir->pool, &job->job);
}

static void go_on(struct manifest_dir *dir)
{
	start_job(dir);
	if (!manifest_dir_is_idle(dir))
		return;
	if (!dir->is_put_off)
		dir->retry_sec = 0;
	dir->callbacks.idle(dir->callbacks.userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	go_on(userdata);
	return 0;
}

/* ---- events ---- */

static void take_name_event(struct manifest_dir *dir, const struct inotify_event *event)
{
	/* A write without a close, or a file just made: its writer is not done. */
	bool is_settling = event->mask & (IN_MODIFY | IN_CREATE);

	/* The link that ConfigMap volumes swap: every file changed at once. */
	if (strncmp(event->name, "..", 2) == 0) {
		dir->must_list = true;
		return;
	}
	if (!manifest_name_is_taken(event->name))
		return;
	note_writer(dir, event);
	add_due(dir, event->name, is_settling ? monotonic_usec() + dir->settle_usec : 0);
}

static void take_event(struct manifest_dir *dir, const struct inotify_event *event)
{
	const struct manifest_place *place = &dir->place;

	bool is_ours = event->wd == place->directory_watch;
	/* While a listing runs an event may be of a watch that it is just setting. */
	bool is_unknown = (event->mask & IN_Q_OVERFLOW) || (dir->running == JOB_LISTS && !is_ours);

	if (!is_unknown && is_ours && event->len > 0) {
		take_name_event(dir, event);
	} else if (is_unknown || is_ours || /* removed, moved, unmounted */
		   (event->wd == place->parent_watch &&
		    manifest_place_is_concerned(place, event))) {
		dir->must_list = true;
		forget_writers(dir);
	}
}

static int on_inotify(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	_Alignas(struct inotify_event) static char buffer[EVENT_BYTES];
	struct manifest_dir *dir = userdata;
	ssize_t length = read(fd, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < length;) {
		const struct inotify_event *event = (const struct inotify_event *) (buffer + at);

		take_event(dir, event);
		at += (ssize_t) (sizeof(*event) + event->len);
	}
	start_job(dir);
	return 0;
}

/* ---- life ---- */

static int set_up(struct manifest_dir *dir, sd_event *event)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = 2,
					      .set_aside_usec = SET_ASIDE_USEC };
	int r;

	r = worker_return_new(event, SD_EVENT_PRIORITY_NORMAL, &dir->to_loop);
	if (r == 0)
		r = worker_pool_new("manifests", dir->to_loop, &limits, &dir->pool);
	if (r < 0)
		return r;
	dir->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (dir->inotify_fd < 0)
		return -errno;
	r = sd_event_add_io(event, &dir->inotify_source, dir->inotify_fd, EPOLLIN, on_inotify, dir);
	if (r < 0)
		return r;
	r = sd_event_add_time(event, &dir->timer, CLOCK_MONOTONIC, 0, 1, on_timer, dir);
	if (r >= 0)
		r = sd_event_add_time(event, &dir->retry_timer, CLOCK_MONOTONIC, UINT64_MAX, 1,
				      on_retry, dir);
	if (r >= 0)
		r = sd_event_source_set_enabled(dir->retry_timer, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}

static void free_pointer(struct manifest_dir **dir)
{
	(void) manifest_dir_free(*dir);
}

int manifest_dir_new(sd_event *event, const char *path, const char *node_name, uint64_t settle_usec,
		     const struct manifest_dir_callbacks *callbacks, struct manifest_dir **ret)
{
	cleanup(free_pointer) struct manifest_dir *dir = calloc(1, sizeof(*dir));
	int r;

	assert(event && path && callbacks && ret);
	if (!dir)
		return -ENOMEM;
	dir->inotify_fd = -EBADF;
	dir->place = (struct manifest_place){ .directory_watch = -1, .parent_watch = -1 };
	dir->callbacks = *callbacks;
	dir->settle_usec = settle_usec;
	dir->node_name = node_name;
	dir->must_list = true;
	dir->path = strdup(path);
	if (!dir->path)
		return -ENOMEM;
	dir->place.path = dir->path;
	r = set_up(dir, event);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(dir);
	return 0;
}

struct manifest_dir *manifest_dir_free(struct manifest_dir *dir)
{
	if (!dir)
		return NULL;
	dir->is_closing = true;
	(void) worker_pool_free(dir->pool);
	(void) worker_return_free(dir->to_loop);
	(void) sd_event_source_disable_unref(dir->inotify_source);
	(void) sd_event_source_disable_unref(dir->timer);
	(void) sd_event_source_disable_unref(dir->retry_timer);
	forget_due(dir);
	forget_writers(dir);
	/* A thread that hangs in the directory still uses these; it ends with the process. */
	if (dir->running == JOB_NONE) {
		(void) close_keep_errno(dir->inotify_fd);
		free(dir->path);
	}
	free(dir);
	return NULL;
}

void manifest_dir_check(struct manifest_dir *dir, const char *name)
{
	add_due(dir, name, 0);
	if (dir->running == JOB_NONE)
		set_timer(dir, 0);
}

bool manifest_dir_is_idle(const struct manifest_dir *dir)
{
	return dir->running == JOB_NONE && !dir->must_list && !dir->due;
}
