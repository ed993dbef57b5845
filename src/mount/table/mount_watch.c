/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_watch - fanotify events about mounts, and POLLPRI of mountinfo; see mount_watch.h
 *
 * Debian 12's headers know nothing of fanotify's mount events, so their constants are here, with
 * the kernel's names. The queue keeps the kernel's own bound: more events than that are one
 * "look at everything", which costs less than they would.
 */
#include "mount/table/mount_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "mount/table/mount_list.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <unistd.h>

#ifndef FAN_REPORT_MNT
#define FAN_REPORT_MNT          0x00004000U
#define FAN_MARK_MNTNS          0x00000110U
#define FAN_MNT_ATTACH          0x01000000U
#define FAN_MNT_DETACH          0x02000000U
#define FAN_EVENT_INFO_TYPE_MNT 7
#endif

/* struct fanotify_event_info_mnt of linux/fanotify.h. */
struct mount_info_record {
	struct fanotify_event_info_header header;
	uint64_t mount_id __attribute__((aligned(8)));
};
static_assert(sizeof(struct mount_info_record) == 16, "as the kernel has it");

enum {
	READ_BYTES = 65536,
	CHANGES_MAX = READ_BYTES / (FAN_EVENT_METADATA_LEN + sizeof(struct mount_info_record)),
	READS_AT_ONCE = 4, /* then other sources have their turn */
	EVENTS_INTERVAL_USEC = 10000,
	TIMER_ACCURACY_USEC = 1000,
	TABLE_INTERVAL_USEC = 50000,
	TABLE_BURST = 2, /* wake-ups in one interval */
};

struct mount_watch {
	struct mount_watch_options options;
	struct mount_watch_counts counts;
	int fanotify_fd, mountinfo_fd;
	sd_event_source *events, *events_timer, *table;
	pid_t own_pid;
	uint64_t read_usec; /* when events last woke the loop; monotonic */
	uint64_t explained; /* events that had been read when the table last changed */
	char buffer[READ_BYTES] __attribute__((aligned(8)));
	struct mount_change changes[CHANGES_MAX];
};

/* ---- fanotify ---- */

static void close_fanotify(struct mount_watch *watch)
{
	watch->events = sd_event_source_disable_unref(watch->events);
	watch->events_timer = sd_event_source_disable_unref(watch->events_timer);
	watch->fanotify_fd = close_keep_errno(watch->fanotify_fd);
}

/* The record of a mount, or NULL: an event of a kind that we did not ask for. */
static const struct mount_info_record *record_of(const struct fanotify_event_metadata *event)
{
	const char *at = (const char *) event + event->metadata_len;
	const struct mount_info_record *record =
		(const struct mount_info_record *) (const void *) at;

	if (event->event_len < event->metadata_len + sizeof(*record) ||
	    record->header.info_type != FAN_EVENT_INFO_TYPE_MNT)
		return NULL;
	return record;
}

/* Return: 1 @ret is what another process did; 0 nothing to tell; -EOVERFLOW. */
static int parse_event(struct mount_watch *watch, const struct fanotify_event_metadata *event,
		       struct mount_change *ret)
{
	const struct mount_info_record *record;

	if (event->mask & FAN_Q_OVERFLOW) {
		watch->counts.overflows++;
		return -EOVERFLOW;
	}
	record = record_of(event);
	if (!record)
		return 0;
	watch->counts.events++;
	if (event->pid == watch->own_pid) {
		watch->counts.own++;
		return 0;
	}
	*ret = (struct mount_change){
		.mount_id = record->mount_id,
		.attached = event->mask & FAN_MNT_ATTACH,
		.detached = event->mask & FAN_MNT_DETACH,
		.pid = event->pid,
	};
	return 1;
}

/* Return: 1 there may be more; 0 drained; -EOVERFLOW; else as read(2). */
static int read_some(struct mount_watch *watch)
{
	const struct fanotify_event_metadata *event = (const void *) watch->buffer;
	ssize_t length = read(watch->fanotify_fd, watch->buffer, sizeof(watch->buffer));
	bool overflow = false;
	size_t count = 0;

	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (; FAN_EVENT_OK(event, length); event = FAN_EVENT_NEXT(event, length)) {
		int r = parse_event(watch, event, &watch->changes[count]);

		overflow = overflow || r < 0;
		count += r > 0;
	}
	if (count > 0)
		watch->options.changed(watch->options.userdata, watch->changes, count);
	if (overflow)
		return -EOVERFLOW;
	return length > READ_BYTES / 2; /* else there was room for all */
}

/* An error that reading does not heal leaves mountinfo, which is looked at from then on. */
static void drain(struct mount_watch *watch)
{
	int r = 1;

	for (int i = 0; r > 0 && i < READS_AT_ONCE; i++)
		r = read_some(watch);
	if (r < 0 && r != -EOVERFLOW) {
		log_message(LOG_WARNING, "mount event monitoring stopped: %s", strerror(-r));
		close_fanotify(watch);
	}
	if (r < 0)
		watch->options.lost(watch->options.userdata);
}

/* In a storm the timer alone has them read: neither does each of them wake the loop, nor is the
 * descriptor taken out of epoll and put back. */
static void read_events(struct mount_watch *watch, bool is_storm)
{
	uint64_t before = watch->counts.events + watch->counts.overflows;

	drain(watch);
	if (watch->fanotify_fd < 0)
		return;
	if (is_storm && watch->counts.events + watch->counts.overflows != before)
		timer_set_in(watch->events_timer, EVENTS_INTERVAL_USEC);
	(void) sd_event_source_set_enabled(
		watch->events, timer_is_set(watch->events_timer) ? SD_EVENT_OFF : SD_EVENT_ON);
}

static int on_events(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct mount_watch *watch = userdata;
	uint64_t now = monotonic_usec();
	bool is_storm = now - watch->read_usec < EVENTS_INTERVAL_USEC;

	watch->read_usec = now;
	read_events(watch, is_storm);
	return 0;
}

static int on_events_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	read_events(userdata, true);
	return 0;
}

/* ---- mountinfo ---- */

/* Every mount that comes or goes is a change of the table, too; only what no event explains must
 * have been a remount. */
static int on_table(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct mount_watch *watch = userdata;

	if (watch->fanotify_fd >= 0)
		drain(watch);
	if (watch->fanotify_fd < 0)
		watch->options.lost(watch->options.userdata);
	else
		watch->options.altered(watch->options.userdata,
				       watch->counts.events == watch->explained);
	watch->explained = watch->counts.events;
	return 0;
}

/* ---- the watch ---- */

/* Return: a descriptor; negative errno: this kernel does not report mounts, or not to us. */
static int open_fanotify(void)
{
	cleanup_close int fd = -EBADF, namespace_fd = -EBADF;

	if (!mount_ids_are_unique()) /* its ids would mean nothing to us */
		return -EOPNOTSUPP;
	fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_MNT | FAN_CLOEXEC | FAN_NONBLOCK,
			   O_CLOEXEC);
	if (fd < 0)
		return -errno;
	namespace_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (namespace_fd < 0)
		return -errno;
	if (fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MNTNS, FAN_MNT_ATTACH | FAN_MNT_DETACH,
			  namespace_fd, NULL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int add_io(struct mount_watch *watch, int fd, uint32_t events, sd_event_io_handler_t on,
		  int64_t priority, sd_event_source **ret)
{
	int r = sd_event_add_io(watch->options.event, ret, fd, events, on, watch);

	return r < 0 ? r : sd_event_source_set_priority(*ret, priority);
}

static int add_events(struct mount_watch *watch)
{
	int64_t priority = watch->options.priority;
	int r = add_io(watch, watch->fanotify_fd, EPOLLIN, on_events, priority, &watch->events);

	if (r >= 0)
		r = timer_new(watch->options.event, TIMER_ACCURACY_USEC, on_events_time, watch,
			      &watch->events_timer);
	return r < 0 ? r : sd_event_source_set_priority(watch->events_timer, priority);
}

/* Events explain changes of the table: they are read before. Dispatched once, until it is enabled
 * again. */
static int add_table(struct mount_watch *watch)
{
	int r = add_io(watch, watch->mountinfo_fd, EPOLLPRI, on_table, watch->options.priority + 1,
		       &watch->table);

	if (r >= 0)
		r = sd_event_source_set_enabled(watch->table, SD_EVENT_ONESHOT);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(watch->table, TABLE_INTERVAL_USEC, TABLE_BURST);
	return r;
}

static int begin(struct mount_watch *watch)
{
	int r = 0;

	watch->fanotify_fd = open_fanotify();
	watch->mountinfo_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (watch->mountinfo_fd < 0)
		return -errno;
	if (watch->fanotify_fd >= 0)
		r = add_events(watch);
	if (r >= 0)
		r = add_table(watch);
	return r;
}

int mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
		    struct failure *reterr)
{
	struct mount_watch *watch;
	int r;

	assert(options && options->event && ret);
	assert(options->changed && options->lost && options->altered);

	/* The rest is written before it is read: without events no page of it becomes resident. */
	watch = malloc(sizeof(*watch));
	if (!watch)
		return failed(reterr, -ENOMEM, "cannot watch mounts");
	memset(watch, 0, offsetof(struct mount_watch, buffer));
	watch->options = *options;
	watch->own_pid = getpid();
	watch->fanotify_fd = watch->mountinfo_fd = -EBADF;
	r = begin(watch);
	if (r < 0) {
		mount_watch_free(watch);
		return failed(reterr, r, "cannot watch mounts");
	}
	*ret = watch;
	return 0;
}

struct mount_watch *mount_watch_free(struct mount_watch *watch)
{
	if (!watch)
		return NULL;
	close_fanotify(watch);
	sd_event_source_disable_unref(watch->table);
	(void) close_keep_errno(watch->mountinfo_fd);
	free(watch);
	return NULL;
}

/* epoll asks the file when it is put in, and for this file that is the end of what has changed. */
void mount_watch_rearm_table(struct mount_watch *watch)
{
	assert(watch);
	(void) sd_event_source_set_enabled(watch->table, SD_EVENT_ONESHOT);
	watch->explained = watch->counts.events;
}

bool mount_watch_reports_ids(const struct mount_watch *watch)
{
	assert(watch);
	return watch->fanotify_fd >= 0;
}

void mount_watch_count(const struct mount_watch *watch, struct mount_watch_counts *ret)
{
	assert(watch && ret);
	*ret = watch->counts;
}
