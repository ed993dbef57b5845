/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_report - what others did to our mounts, in words: journal, events about pods, views,
 * counters
 *
 * Once for each incident. Decides nothing.
 */
#include "drift/drift_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "events/events.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>

static const struct {
	const char *label;  /* of the counter */
	const char *reason; /* of the event */
} kinds[] = {
	[DRIFT_NONE] = { "none", "" },
	[DRIFT_UNMOUNTED] = { "unmounted", "VolumeUnmounted" },
	[DRIFT_MOVED] = { "moved", "VolumeMountMoved" },
	[DRIFT_COVERED] = { "mounted-over", "VolumeMountedOver" },
	[DRIFT_REMOUNTED] = { "remounted", "VolumeRemounted" },
	[DRIFT_STACKED] = { "stacked", "VolumeMountedTwice" },
};
static_assert(ARRAY_SIZE(kinds) == DRIFT_KINDS, "words for every kind");

/* A process that unmounts often ends at once: then there is the number alone. */
struct drift_culprit drift_who(pid_t pid)
{
	struct drift_culprit culprit = { .pid = pid };
	cleanup_close int proc_fd = -EBADF, process_fd = -EBADF;
	char name[16];

	if (pid <= 0)
		return culprit;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void) snprintf(name, sizeof(name), "%d", (int) pid);
	process_fd = proc_fd < 0 ? -EBADF : process_open_directory(proc_fd, name);
	if (process_fd >= 0)
		process_command(process_fd, culprit.command);
	return culprit;
}

static void print_culprit(const struct drift_culprit *culprit, char *text, size_t bytes)
{
	if (culprit->pid <= 0)
		(void) snprintf(text, bytes, "an unknown process");
	else if (*culprit->command)
		(void) snprintf(text, bytes, "process %d '%s'", (int) culprit->pid,
				culprit->command);
	else
		(void) snprintf(text, bytes, "process %d (has ended)", (int) culprit->pid);
}

static void print_attributes(uint64_t attributes, char *text, size_t bytes)
{
	(void) snprintf(text, bytes, "%s%s%s%s", attributes & MOUNT_ATTR_RDONLY ? "ro" : "rw",
			attributes & MOUNT_ATTR_NOSUID ? ",nosuid" : "",
			attributes & MOUNT_ATTR_NODEV ? ",nodev" : "",
			attributes & MOUNT_ATTR_NOEXEC ? ",noexec" : "");
}

/* "was unmounted by process 4711 'umount'". */
static void print_what(const struct drift_mount *mount, char *text, size_t bytes)
{
	char who[COMMAND_BYTES + 48], before[32], now[32];

	print_culprit(&mount->culprit, who, sizeof(who));
	switch (mount->kind) {
	case DRIFT_UNMOUNTED:
		(void) snprintf(text, bytes, "was unmounted by %s", who);
		return;
	case DRIFT_MOVED:
		(void) snprintf(text, bytes, "was moved to another place by %s", who);
		return;
	case DRIFT_COVERED:
		(void) snprintf(text, bytes, "is hidden since %s mounted %s", who,
				mount->what ?: "something");
		return;
	case DRIFT_REMOUNTED:
		print_attributes(mount->attributes, before, sizeof(before));
		print_attributes(mount->attributes_now, now, sizeof(now));
		(void) snprintf(text, bytes, "was %s and was remounted %s by another process",
				before, now);
		return;
	case DRIFT_STACKED:
		(void) snprintf(text, bytes, "was mounted %s times, one on the other",
				mount->what ?: "several");
		return;
	case DRIFT_NONE:
	case DRIFT_KINDS:
		break;
	}
	*text = '\0';
}

/* What happens next, or why nothing does. */
static void print_next(const struct drift *drift, const struct drift_mount *mount, char *text,
		       size_t bytes)
{
	if (mount->kind == DRIFT_STACKED)
		(void) snprintf(text, bytes, "all but the first are unmounted");
	else if (mount->kind == DRIFT_COVERED && mount->cover_id != 0)
		(void) snprintf(
			text, bytes,
			"podvold does not unmount what it did not mount; to do: unmount it");
	else if (mount->data_lost && drift_is_held(drift, mount))
		(void) snprintf(text, bytes,
				"its data are gone from here; a container is running, so no empty "
				"one replaces it");
	else if (!*drift->options.heals)
		(void) snprintf(text, bytes, "it stays so (drift: report)");
	else if (mount->data_lost)
		(void) snprintf(text, bytes, "its data are gone from here; creating an empty one");
	else
		(void) snprintf(text, bytes, "remounting");
}

static const struct object *pod_of(const struct drift *drift, const struct drift_mount *mount)
{
	const struct desired_volume *want =
		desired_find(drift->options.desired, mount->unique_name);
	const struct desired_pod *pod = NULL;

	if (want)
		pod = *mount->pod_uid ? desired_find_pod(want, mount->pod_uid) : want->pods;
	return pod ? pod->pod : NULL;
}

static void report(const struct drift *drift, const struct drift_mount *mount, int priority,
		   const char *reason, const char *text)
{
	const struct object *pod = pod_of(drift, mount);
	char key[POD_KEY_BYTES];
	struct log_subject subject = {
		.pod = pod ? pod_key(pod->pod, key) : NULL,
		.pod_uid = *mount->pod_uid ? mount->pod_uid : NULL,
		.volume = mount->unique_name,
	};

	log_about(priority, &subject, "%s", text);
	if (pod)
		drift->options.record(drift->options.userdata, pod,
				      priority == LOG_WARNING ? "Warning" : "Normal", reason, text);
}

void drift_report_begin(const struct drift *drift, const struct drift_mount *mount)
{
	char what[320], next[160], text[EVENT_TEXT_BYTES];

	assert(mount->kind > DRIFT_NONE && mount->kind < DRIFT_KINDS);
	print_what(mount, what, sizeof(what));
	print_next(drift, mount, next, sizeof(next));
	(void) snprintf(text, sizeof(text), "'%.500s' %s: %s", mount->path, what, next);
	report(drift, mount, LOG_WARNING, kinds[mount->kind].reason, text);
}

void drift_report_over(const struct drift *drift, const struct drift_mount *mount, bool healed)
{
	char text[EVENT_TEXT_BYTES];

	(void) snprintf(text, sizeof(text), "'%.900s' is restored%s after %.3f s", mount->path,
			healed ? "" : ", not by podvold",
			(double) (monotonic_usec() - mount->since_usec) / 1e6);
	report(drift, mount, LOG_NOTICE, "VolumeRestored", text);
}

bool drift_view_of(const struct drift *drift, const char *unique_name, const char *pod_uid,
		   struct drift_view *ret)
{
	const struct drift_mount *mount;
	char what[320], next[160];

	assert(unique_name && ret);
	mount = drift ? drift_index_find(drift, unique_name, pod_uid) : NULL;
	if (drift && (!mount || mount->kind == DRIFT_NONE))
		mount = drift_index_find(drift, unique_name, NULL);
	if (!mount || mount->kind == DRIFT_NONE)
		return false;
	print_what(mount, what, sizeof(what));
	print_next(drift, mount, next, sizeof(next));
	(void) snprintf(ret->text, sizeof(ret->text), "%s; %s", what, next);
	ret->since_usec = mount->since_usec;
	ret->holds_back = !*drift->options.heals || mount->cover_id != 0 ||
			  (mount->data_lost && drift_is_held(drift, mount));
	return true;
}

bool drift_explain(void *drift, const char *unique_name, const char *pod_uid, const char *name,
		   struct failure *ret)
{
	struct drift_view view;

	if (!drift_view_of(drift, unique_name, pod_uid, &view) || !view.holds_back)
		return false;
	(void) failed_plain(ret, -EBUSY, "volume '%s': %.400s", name, view.text);
	return true;
}

/* ---- counters ---- */

static void print_counter(FILE *file, const char *name, const char *help,
			  const uint64_t values[DRIFT_KINDS])
{
	(void) fprintf(file, "# HELP %s %s\n# TYPE %s counter\n", name, help, name);
	for (int kind = DRIFT_NONE + 1; kind < DRIFT_KINDS; kind++)
		(void) fprintf(file, "%s{kind=\"%s\"} %" PRIu64 "\n", name, kinds[kind].label,
			       values[kind]);
}

static void print_number(FILE *file, const char *name, const char *help, uint64_t value)
{
	(void) fprintf(file, "# HELP %s %s\n# TYPE %s counter\n%s %" PRIu64 "\n", name, help, name,
		       name, value);
}

void drift_print_metrics(const struct drift *drift, FILE *file)
{
	struct mount_watch_counts counts = { 0 };

	if (!drift)
		return;
	if (drift->watch)
		mount_watch_count(drift->watch, &counts);
	print_counter(file, "podvol_drift_total", "Mounts that others changed.", drift->seen);
	print_counter(file, "podvol_drift_mended_total", "Mounts of these that are right again.",
		      drift->healed);
	print_number(file, "podvol_mount_events_total", "Events of the kernel about mounts.",
		     counts.events);
	print_number(file, "podvol_mount_events_own_total", "Events of these by podvold itself.",
		     counts.own);
	print_number(file, "podvol_mount_events_lost_total",
		     "Times that the kernel's queue of events overflowed.", counts.overflows);
	print_number(file, "podvol_mount_looks_total",
		     "Times that mounts were looked at because something changed.", drift->checks);
}
