/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_life - tries an executable plugin; see exec.h
 *
 * It asks by exec_step_invoke(), so what is refused here podvold refuses, too. The first mount of a
 * call is dropped and the call made again: what a plugin is asked after podvold was killed between
 * the call and its own mount.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "object/json/json.h"
#include "object/kinds/volume_source.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { LIFE_TEXT_BYTES = 512 };

struct life {
	struct exec_step step;
	exec_life_fn *say;
	void *userdata;
	int wrong;
};

static void say(struct life *life, bool is_wrong, const char *call, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct life *life, bool is_wrong, const char *call, const char *format, ...)
{
	char text[LIFE_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	life->wrong += is_wrong;
	life->say(life->userdata, is_wrong, call, text);
}

/* @ret_mount_fd NULL: of a call that mounts nothing. */
static int call_slot(struct life *life, const char *name, const struct place *target,
		     int *ret_mount_fd)
{
	struct stage_report report = { .failure = { .error = 0 } };
	const struct exec_call call = { .name = name,
					.target = target,
					.ret_mount_fd = ret_mount_fd };
	uint64_t since_usec = monotonic_usec();
	int r = exec_step_invoke(&life->step, &call, &report);
	double milliseconds = (double) (monotonic_usec() - since_usec) / USEC_PER_MSEC;

	if (r < 0)
		say(life, true, name, "%s", report.failure.text);
	else
		say(life, false, name, "%s after %.1f ms%s",
		    r == EXEC_UNSUPPORTED ? "unsupported" : "ok", milliseconds,
		    ret_mount_fd && *ret_mount_fd >= 0 ? ", mounted" : "");
	return r;
}

/* ---- what sets up ---- */

static bool is_same(struct life *life, const char *name, int first, int second)
{
	if (first == second)
		return true;
	if (second >= 0) /* else it was said */
		say(life, true, name, "the same request again gets another status");
	else
		say(life, true, name,
		    "the same request again fails: podvold repeats it after a "
		    "kill, and a call that finds its work done says ok");
	return false;
}

/* Return: as exec_step_invoke(), of the second call. */
static int call_slot_twice(struct life *life, const char *name, const struct place *target,
			   int *ret_mount_fd)
{
	int dropped = -EBADF, first, second;

	first = call_slot(life, name, target, &dropped);
	if (first < 0)
		return first;
	second = call_slot(life, name, target, ret_mount_fd);
	if (is_same(life, name, first, second) && (dropped >= 0) != (*ret_mount_fd >= 0))
		say(life, true, name, "%s mounted something, the same request again did not",
		    dropped >= 0 ? "it" : "only the second call");
	(void) close_keep_errno(dropped);
	return second;
}

/* @ret_mounted: something is mounted at the place now. */
static int set_up(struct life *life, const char *name, const char *path, bool *ret_mounted)
{
	static const struct mount_attributes as_it_is = { 0 };
	struct stage_report report = { .failure = { .error = 0 } };
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int directory_fd = -EBADF, mount_fd = -EBADF;
	int r = exec_step_make_place(&life->step, path, &place, &directory_fd, &report);

	if (r < 0 || directory_fd < 0) {
		say(life, true, name, "%s",
		    r < 0 ? report.failure.text : "its directory is mounted already");
		return r < 0 ? r : -EBUSY;
	}
	r = call_slot_twice(life, name, &place, &mount_fd);
	if (r < 0 || mount_fd < 0)
		return r;
	if (plugin_mount_attach(mount_fd, directory_fd, &as_it_is, &report.failure) < 0) {
		say(life, true, name, "%s", report.failure.text);
		return -EIO;
	}
	*ret_mounted = true;
	return r;
}

static void check_publish(struct life *life, bool is_staged)
{
	bool is_mounted = false;
	int r = set_up(life, "publish", life->step.target_path, &is_mounted);

	if (r == EXEC_DONE && !is_mounted)
		say(life, true, "publish", "it says ok and mounted nothing at target");
	if (r == EXEC_UNSUPPORTED && !is_staged)
		say(life, true, "publish",
		    "it is unsupported, and stage mounted nothing at "
		    "staging: a pod would get no volume");
}

/* ---- what takes down ---- */

static void take_down(struct life *life, const char *name, const char *path)
{
	struct stage_report report = { .failure = { .error = 0 } };
	int first;

	if (exec_step_unmount(&life->step, path, &report) < 0)
		say(life, true, name, "%s", report.failure.text);
	first = call_slot(life, name, NULL, NULL);
	if (first >= 0)
		(void) is_same(life, name, first, call_slot(life, name, NULL, NULL));
}

static void check_stats(struct life *life, const struct volume_request *request)
{
	struct volume_metrics metrics = { 0 };
	struct failure failure = { .error = 0 };
	int r = exec_request_metrics(request, &metrics, &failure);

	if (r == 0)
		say(life, false, "stats", "%llu of %llu bytes used",
		    (unsigned long long) metrics.used, (unsigned long long) metrics.capacity);
	else
		say(life, r != -EOPNOTSUPP, "stats", "%s", failure.text);
}

/* ---- slots for StorageClasses ---- */

struct class_life {
	struct life *life;
	unsigned int slots; /* that its settings grant */
	struct exec_class_call volume, clone;
};

/* Of those that are granted. */
static void call_class_twice(const struct class_life *life, const struct exec_class_call *call,
			     enum exec_slot slot)
{
	for (int i = 0; i < 2 && life->slots & 1U << slot; i++) {
		struct failure failure = { .error = 0 };
		int r = exec_class_run(call, slot, NULL, &failure);

		say(life->life, r < 0, exec_slot_name(slot), "%s%s", r < 0 ? failure.text : "ok",
		    r < 0 && i > 0 ? ": the same request again fails" : "");
		if (r < 0)
			return;
	}
}

static void check_deleted(const struct class_life *life)
{
	struct failure failure;

	call_class_twice(life, &life->volume, EXEC_DELETE);
	if (!(life->slots & 1U << EXEC_DELETE) || !(life->slots & 1U << EXEC_SNAPSHOT) ||
	    exec_class_run(&life->volume, EXEC_SNAPSHOT, NULL, &failure) < 0)
		return;
	say(life->life, true, "delete", "it says ok, and a snapshot of the volume is still taken");
	call_class_twice(life, &life->volume, EXEC_DELETE_SNAPSHOT);
}

static void end_class(const struct class_life *life)
{
	call_class_twice(life, &life->volume, EXEC_EXPAND);
	call_class_twice(life, &life->volume, EXEC_SNAPSHOT);
	call_class_twice(life, &life->clone, EXEC_CLONE);
	if (life->slots & 1U << EXEC_CLONE)
		call_class_twice(life, &life->clone, EXEC_DELETE);
	call_class_twice(life, &life->volume, EXEC_DELETE_SNAPSHOT);
	check_deleted(life);
}

/* What was made for the test alone. */
static void clear(const struct exec_step *step)
{
	cleanup(place_done) struct place lock = PLACE_EMPTY;
	int root_fd = step->host->root_fd;

	if (place_open(root_fd, step->host->root_dir, EXEC_BASE "/lock", &lock, NULL) == 0)
		(void) remove_file(&lock, NULL);
	(void) remove_empty_parents(root_fd, step->target_path, 0, NULL);
	(void) remove_empty_parents(root_fd, step->staging_path, 0, NULL);
}

static void live_on_node(struct life *life, const struct volume_request *request)
{
	bool is_staged = false;

	if (set_up(life, "stage", life->step.staging_path, &is_staged) >= 0)
		check_publish(life, is_staged);
	check_stats(life, request);
	(void) call_slot(life, "expand", NULL, NULL);
	take_down(life, "unpublish", life->step.target_path);
	take_down(life, "unstage", life->step.staging_path);
}

static int run_life(struct life *life, const struct volume_request *request, const char *clone,
		    struct failure *reterr)
{
	const struct persistent_volume *pv = spec_pv(request->spec);
	cleanup_json struct cJSON *options = flex_source_options(pv->program.flex);
	cleanup(exec_program_done) struct exec_program program = { .path = NULL };
	const struct exec_class_call call = { .host = request->host,
					      .driver = pv->program.flex->driver,
					      .storage_class = pv->storage_class,
					      .volume = life->step.handle,
					      .snapshot = "snapshot-plugin-test",
					      .fs_type = pv->program.flex->fs_type,
					      .options = options,
					      .bytes = quantity_value(&pv->capacity) };
	struct class_life class = { .life = life, .volume = call, .clone = call };
	int r = exec_program_find(life->step.name, &program, reterr);

	if (r < 0)
		return r;
	class.slots = program.slots;
	class.clone.volume = clone;
	class.clone.snapshot = NULL;
	if (class.slots & 1U << EXEC_SNAPSHOT)
		class.clone.source_snapshot = call.snapshot;
	else
		class.clone.source_volume = call.volume;
	if (call_slot(life, "probe", NULL, NULL) < 0)
		return 0;
	call_class_twice(&class, &call, EXEC_CREATE);
	live_on_node(life, request);
	end_class(&class);
	return 0;
}

int exec_life_run(const struct volume_request *request, exec_life_fn *fn, void *userdata,
		  struct failure *reterr)
{
	struct life life = { .say = fn, .userdata = userdata };
	cleanup_free char *clone = NULL;
	int r;

	assert(request && request->pod_uid && fn);
	r = exec_step_init(&life.step, request, true, reterr);
	if (r == 0 && !(clone = new_text("%s-clone", life.step.handle)))
		r = failed(reterr, -ENOMEM, "cannot try plugin '%s'", life.step.name);
	if (r == 0)
		r = run_life(&life, request, clone, reterr);
	if (r == 0) {
		clear(&life.step);
		r = life.wrong;
	}
	exec_step_done(&life.step);
	return r;
}
