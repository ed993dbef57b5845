/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_faults - see volume_faults.h
 *
 * What looks may hang, so it is a job of the statistics' threads, one at a time for a volume. Its
 * path is that of a pod's mount, which the job opens itself.
 *
 * Where the kernel reports nothing (xfs that shut down, btrfs; ext4 where fanotify is refused)
 * there is no event, no descriptor to poll and no count in sysfs that can be waited for: such file
 * systems are looked at every fault-check-seconds, a bounded number at a time, each once however
 * many volumes it has. Without such a volume no timer runs.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/volume_faults.h"

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/timer.h"
#include "mount/fault_watch.h"
#include "mount/file_system_fault.h"
#include "status/status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define CONDITION "VolumeFaulty"

/* ext4 reports an error first and counts it on a kernel thread of its own, by and by. */
enum {
	CHECKS_AFTER_REPORT = 5,
	FIRST_CHECK_USEC = 100 * 1000, /* each later one after four times as long */
	CHECKS_MAX = 32,               /* file systems looked at by one check */
};

struct fault_check;

struct known {
	uint64_t id;                     /* of the file system; 0: not yet looked at */
	uint64_t device;                 /* of its mount, as the set-up found it; 0 unknown */
	struct file_system_fault *fault; /* NULL: nothing is wrong with it */
	bool has_device, is_reported;    /* as in that, whatever is wrong */
	bool has_writer;                 /* a mount that is to be writable was looked at */
	bool was_read_only;              /* and was not, at that first look */
	bool again;                      /* something happened while it was looked at */
	bool was_reported;               /* by the kernel, and no look has found what */
	bool is_watched;                 /* the kernel takes marks on its file system */
	bool is_lost;                    /* with its last mount; what was wrong stays */
	uint64_t round;                  /* of checks, that it had its turn in */
	struct fault_check *check;       /* under way, or NULL */
	UT_hash_handle hh;               /* by unique_name */
	char unique_name[];
};

struct fault_check {
	struct worker_job job; /* first: the pool hands it back */
	struct volume_faults *faults;
	struct known *known; /* NULL: forgotten meanwhile */
	char *path;
	struct fault_marks *marks; /* NULL: its file system is watched, or cannot be */
	bool by_writer, was_read_only, is_watched;
	bool is_periodic; /* it stands for all volumes of its file system */
	int result;
	struct file_system_fault *fault;
};

struct volume_faults {
	struct volume_faults_options with;
	struct fault_watch *watch; /* NULL: this kernel reports no errors */
	sd_event_source *timer;    /* the next look after a report */
	sd_event_source *periodic; /* checks what the kernel does not report; off: there is none */
	uint64_t round;            /* of checks: each has its turn once in it */
	unsigned int checks;       /* since the last report */
	struct known *known;
	const struct known *healthy; /* by the latest look; NULL: none */
	uint64_t reports;            /* by the kernel */
};

/* ---- checking, on a thread ---- */

static void check_run(struct worker_job *job)
{
	struct fault_check *check = (struct fault_check *) job;
	cleanup_close int fd = open(check->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		check->result = -errno;
		return;
	}
	/* Before the look: what happens between the two is reported. */
	if (check->marks)
		check->is_watched = fault_marks_add(check->marks, fd) == 0;
	check->result = file_system_fault_check(fd, check->was_read_only, check->fault);
}

static void check_free(struct fault_check *check)
{
	(void) fault_marks_unref(check->marks);
	free(check->fault);
	free(check->path);
	free(check);
}

/* ---- reports ---- */

/* "": nothing is wrong. */
static const char *fault_text(const struct known *known)
{
	return known->fault ? known->fault->text : "";
}

/* Most claims never had it, and need no write. */
static bool has_condition(const struct object *claim)
{
	return strstr(claim->json, "\"" CONDITION "\"") != NULL;
}

static const struct object *claim_of(const struct desired_volume *want)
{
	const struct desired_pod *pod;

	for (pod = want ? want->pods : NULL; pod; pod = pod->hh.next)
		if (pod->claim)
			return pod->claim;
	return NULL;
}

static void report(struct volume_faults *faults, const struct known *known)
{
	const struct reporter *reporter = faults->with.reporter;
	const struct desired_volume *want =
		desired_find(reporter->tables->desired, known->unique_name);
	const char *reason = "VolumeConditionAbnormal", *type = "Warning";
	char text[FILE_SYSTEM_FAULT_BYTES + 160];
	const struct desired_pod *pod;
	int priority = known->fault ? LOG_ERR : LOG_NOTICE;

	if (!known->fault) {
		reason = "VolumeConditionNormal";
		type = "Normal";
	}
	(void) snprintf(text, sizeof(text), "volume '%.40s': %s%s",
			want && want->pods ? want->pods->spec.name : "",
			known->fault ? known->fault->text : "its file system is healthy again",
			known->fault ? advice_clause(-EUCLEAN) : "");
	for (pod = want ? want->pods : NULL; pod; pod = pod->hh.next) {
		char key[POD_KEY_BYTES];

		log_about(priority,
			  &(struct log_subject){ .pod = pod_key(pod->pod->pod, key),
						 .pod_uid = pod->pod_uid,
						 .volume = known->unique_name },
			  "%s", text);
		reporter->record(reporter->userdata, pod->pod, type, reason, text);
	}
}

/* What is wrong is kept, and nothing of a volume with which nothing is. */
static void take_fault(struct known *known, struct fault_check *check)
{
	known->id = check->fault->id;
	known->has_device = check->fault->has_device;
	known->is_reported = check->fault->is_reported;
	if (check->by_writer && !known->has_writer) {
		known->has_writer = true;
		known->was_read_only = check->fault->is_read_only;
	}
	free(known->fault);
	known->fault = *check->fault->text ? TAKE_PTR(check->fault) : NULL;
}

static void apply_check(struct volume_faults *faults, struct known *known,
			struct fault_check *check)
{
	struct store *store = *faults->with.reporter->store;
	const struct object *claim;
	char before[FILE_SYSTEM_FAULT_BYTES];

	if (faults->healthy == known)
		faults->healthy = NULL;
	if (check->result < 0)
		return; /* the mount says why it cannot be looked at */
	(void) snprintf(before, sizeof(before), "%s", fault_text(known));
	take_fault(known, check);
	if (strcmp(before, fault_text(known)) != 0) {
		known->was_reported = false;
		report(faults, known);
	}
	if (!known->fault && !known->was_reported)
		faults->healthy = known;
	claim = claim_of(desired_find(faults->with.reporter->tables->desired, known->unique_name));
	if (claim && store && (strcmp(before, fault_text(known)) != 0 || has_condition(claim)))
		condition_write(store, claim, CONDITION, fault_text(known));
}

/* ---- the volumes that are known ---- */

static void known_free(struct volume_faults *faults, struct known *known)
{
	if (known->check)
		known->check->known = NULL;
	if (faults->healthy == known)
		faults->healthy = NULL;
	HASH_DEL(faults->known, known);
	free(known->fault);
	free(known);
}

static struct known *find(const struct volume_faults *faults, const char *unique_name)
{
	struct known *known;

	HASH_FIND_STR(faults->known, unique_name, known);
	return known;
}

static struct known *add(struct volume_faults *faults, const char *unique_name)
{
	size_t length = strlen(unique_name);
	struct known *known = calloc(1, sizeof(*known) + length + 1);

	if (!known)
		return NULL;
	memcpy(known->unique_name, unique_name, length);
	HASH_ADD(hh, faults->known, unique_name, length, known);
	if (known->hh.tbl)
		return known;
	free(known);
	return NULL;
}

/* A pod's mount of the volume, one that can be written where there is one; NULL: there is none. */
static const struct actual_pod *mount_of(const struct volume_faults *faults,
					 const char *unique_name)
{
	const struct actual_volume *volume =
		actual_find(faults->with.reporter->tables->actual, unique_name);
	const struct actual_pod *pod, *found = NULL;

	if (!volume || volume->block)
		return NULL;
	for (pod = volume->pods; pod && (!found || found->read_only); pod = pod->hh.next)
		if (pod->state == MOUNT_DONE && (!found || !pod->read_only))
			found = pod;
	return found;
}

static void on_check_done(struct worker_job *job);

static void begin_check(struct volume_faults *faults, struct known *known, bool is_periodic)
{
	const struct actual_pod *pod = mount_of(faults, known->unique_name);
	struct fault_check *check;

	known->again = known->check != NULL;
	if (known->check || !pod || !*faults->with.pool)
		return;
	check = calloc(1, sizeof(*check));
	if (!check)
		return;
	*check = (struct fault_check){
		.job = { .run = check_run, .done = on_check_done },
		.faults = faults,
		.known = known,
		.path = strdup(pod->path),
		.fault = calloc(1, sizeof(*check->fault)),
		.by_writer = !pod->read_only,
		.is_periodic = is_periodic,
		.is_watched = known->is_watched,
		.was_read_only = pod->read_only || !known->has_writer || known->was_read_only,
		.result = -ECANCELED,
	};
	if (!check->path || !check->fault) {
		check_free(check);
		return;
	}
	if (known->id == 0 && faults->watch)
		check->marks = fault_watch_marks(faults->watch);
	known->check = check;
	worker_submit(*faults->with.pool, &check->job);
}

/* ---- what the kernel does not report ---- */

/* No kernel reports that a file system was made read-only by hand. */
static bool needs_periodic(const struct known *known)
{
	bool can_turn = known->has_writer && !known->was_read_only;

	return known->has_device && (can_turn || !(known->is_reported && known->is_watched));
}

static void set_periodic(struct volume_faults *faults)
{
	if (faults->with.check_usec > 0 && !timer_is_set(faults->periodic))
		timer_set_in(faults->periodic, faults->with.check_usec);
}

/* The next that have not had their turn in this round. Return: how many. */
static size_t pick(struct volume_faults *faults, struct known *picked[CHECKS_MAX])
{
	struct known *known;
	size_t count = 0, i;

	for (known = faults->known; known && count < CHECKS_MAX; known = known->hh.next) {
		if (known->round == faults->round || known->check || !needs_periodic(known))
			continue;
		known->round = faults->round;
		for (i = 0; i < count && picked[i]->id != known->id; i++)
			;
		if (i == count)
			picked[count++] = known;
	}
	return count;
}

static int on_periodic(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct volume_faults *faults = userdata;
	struct known *picked[CHECKS_MAX], *known;
	size_t count = pick(faults, picked);

	if (count < CHECKS_MAX)
		faults->round++;
	for (size_t i = 0; i < count; i++)
		begin_check(faults, picked[i], true);
	for (known = faults->known; known; known = known->hh.next)
		if (needs_periodic(known)) {
			set_periodic(faults);
			break;
		}
	return 0;
}

/* A check found something: the other volumes of the file system have it, too. */
static void check_others(struct volume_faults *faults, const struct known *found)
{
	struct known *known;

	for (known = faults->known; known; known = known->hh.next)
		if (known != found && known->id == found->id)
			begin_check(faults, known, false);
}

static void on_check_done(struct worker_job *job)
{
	struct fault_check *check = (struct fault_check *) job;
	struct known *known = check->known;

	if (known) {
		bool was_faulty = known->fault != NULL;

		known->check = NULL;
		known->is_watched = check->is_watched;
		apply_check(check->faults, known, check);
		if (check->is_periodic && was_faulty != (known->fault != NULL))
			check_others(check->faults, known);
		if (needs_periodic(known))
			set_periodic(check->faults);
		if (known->again)
			begin_check(check->faults, known, false);
	}
	check_free(check);
}

/* ---- what starts a check ---- */

static void set_timer(struct volume_faults *faults)
{
	timer_set_in(faults->timer, (uint64_t) FIRST_CHECK_USEC << 2 * faults->checks);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct volume_faults *faults = userdata;
	struct known *known;
	bool is_waiting = false;

	faults->checks++;
	for (known = faults->known; known; known = known->hh.next) {
		if (!known->was_reported)
			continue;
		known->was_reported = faults->checks < CHECKS_AFTER_REPORT;
		is_waiting = is_waiting || known->was_reported;
		begin_check(faults, known, false);
	}
	if (is_waiting)
		set_timer(faults);
	return 0;
}

static void on_fault(void *userdata, uint64_t id)
{
	struct volume_faults *faults = userdata;
	struct known *known, *next;

	faults->reports++;
	HASH_ITER (hh, faults->known, known, next)
		if (id == 0 || known->id == id || known->check) {
			known->was_reported = true;
			begin_check(faults, known, false);
		}
	faults->healthy = NULL;
	faults->checks = 0;
	set_timer(faults);
}

/* A volume of a file system with which nothing is wrong, and of which the kernel would report what
 * is wrong later: another look would find the same. What differs between mounts the set-up found.
 */
static bool take_healthy(const struct volume_faults *faults, struct known *known,
			 const struct file_system_identity *of, bool by_writer)
{
	const struct known *like = faults->healthy;

	if (!like || of->id == 0 || like->id != of->id || like->device != of->device ||
	    (like->has_device && !(like->is_reported && like->is_watched)) ||
	    !mount_of(faults, like->unique_name))
		return false;
	known->id = like->id;
	known->has_device = like->has_device;
	known->is_reported = like->is_reported;
	known->is_watched = like->is_watched;
	known->has_writer = by_writer;
	known->was_read_only = by_writer && of->is_read_only;
	return true;
}

/* @of: id 0 it is not known of which file system it is */
static void check_once(struct volume_faults *faults, const char *unique_name,
		       const struct file_system_identity *of)
{
	const struct actual_pod *pod = mount_of(faults, unique_name);
	const struct object *claim =
		claim_of(desired_find(faults->with.reporter->tables->desired, unique_name));
	struct known *known = find(faults, unique_name);

	if (known && faults->healthy == known)
		faults->healthy = NULL;
	if ((known && !known->is_lost) || !pod || !claim)
		return;
	known = known ?: add(faults, unique_name);
	if (!known)
		return;
	known->is_lost = false;
	known->device = of->device;
	if (known->fault || has_condition(claim) ||
	    !take_healthy(faults, known, of, !pod->read_only))
		begin_check(faults, known, false);
	else if (needs_periodic(known))
		set_periodic(faults);
}

void volume_faults_step_ended(void *userdata, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	struct volume_faults *faults = userdata;
	struct known *known;

	if (!faults || result->error < 0)
		return;
	if (result->kind == STEP_PUBLISH) {
		check_once(faults, result->unique_name, &ended->report->file_system);
		return;
	}
	known = find(faults, result->unique_name);
	if (known && !mount_of(faults, result->unique_name))
		known_free(faults, known);
}

void volume_faults_lost(struct volume_faults *faults, const char *unique_name)
{
	struct known *known = faults ? find(faults, unique_name) : NULL;

	if (!known || mount_of(faults, unique_name))
		return;
	if (faults->healthy == known)
		faults->healthy = NULL;
	if (known->check)
		known->check->known = NULL;
	known->check = NULL;
	known->id = 0;
	known->is_watched = known->has_writer = false;
	known->is_lost = true;
}

void volume_faults_check_all(struct volume_faults *faults)
{
	static const struct file_system_identity unknown;
	const struct actual_volume *volume;

	if (!faults)
		return;
	for (volume = actual_first(faults->with.reporter->tables->actual); volume;
	     volume = volume->hh.next)
		check_once(faults, volume->unique_name, &unknown);
}

void volume_faults_check(struct volume_faults *faults, const char *unique_name)
{
	struct known *known = faults ? find(faults, unique_name) : NULL;

	if (known)
		begin_check(faults, known, false);
}

/* ---- what is known ---- */

const char *volume_faults_find(const struct volume_faults *faults, const char *unique_name)
{
	const struct known *known = faults ? find(faults, unique_name) : NULL;

	return known && known->fault ? known->fault->text : NULL;
}

void volume_faults_print_metrics(const struct volume_faults *faults, FILE *file)
{
	const struct known *known;
	size_t count = 0;

	if (!faults)
		return;
	for (known = faults->known; known; known = known->hh.next)
		count += known->fault != NULL;
	(void) fprintf(file,
		       "# HELP podvol_faulty_volumes Mounted volumes of claims whose file system "
		       "recorded errors, shut down or turned read-only.\n"
		       "# TYPE podvol_faulty_volumes gauge\npodvol_faulty_volumes %zu\n"
		       "# HELP podvol_file_system_errors_total Reports of file system errors by "
		       "the kernel.\n# TYPE podvol_file_system_errors_total counter\n"
		       "podvol_file_system_errors_total %" PRIu64 "\n",
		       count, faults->reports);
}

/* ---- start and stop ---- */

int volume_faults_new(const struct volume_faults_options *options, struct volume_faults **ret)
{
	struct volume_faults *faults = calloc(1, sizeof(*faults));
	const struct fault_watch_options watch = {
		.event = options->reporter->event,
		.priority = options->priority,
		.faulted = on_fault,
		.userdata = faults,
	};
	struct failure why;

	assert(options->pool && ret);
	if (!faults)
		return -ENOMEM;
	faults->with = *options;
	if (timer_new(options->reporter->event, 0, on_timer, faults, &faults->timer) < 0 ||
	    timer_new(options->reporter->event, 0, on_periodic, faults, &faults->periodic) < 0) {
		(void) volume_faults_free(faults);
		return -ENOMEM;
	}
	if (fault_watch_new(&watch, &faults->watch, &why) < 0)
		log_message(LOG_NOTICE,
			    "file system errors are seen only when volumes are looked at: %s",
			    why.text);
	*ret = faults;
	return 0;
}

struct volume_faults *volume_faults_free(struct volume_faults *faults)
{
	struct known *known, *next;

	if (!faults)
		return NULL;
	faults->watch = fault_watch_free(faults->watch);
	(void) sd_event_source_disable_unref(faults->timer);
	(void) sd_event_source_disable_unref(faults->periodic);
	HASH_ITER (hh, faults->known, known, next)
		known_free(faults, known);
	free(faults);
	return NULL;
}
