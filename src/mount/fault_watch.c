/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_watch - see fault_watch.h
 *
 * The kernel merges errors of one file system until they are read, and the source is rate-limited:
 * a disk that fails all the time costs a bounded number of wake-ups.
 */
#include "mount/fault_watch.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/file_system_fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <unistd.h>

enum { BUFFER_BYTES = 4096, BURST = 2, INTERVAL_USEC = 2 * 1000 * 1000 };

/* Of the watch and of each look that is under way. */
struct fault_marks {
	int fd;
	unsigned int users; /* counted on the loop */
};

struct fault_watch {
	struct fault_watch_options options;
	sd_event_source *source;
	struct fault_marks *marks;
	_Alignas(struct fanotify_event_metadata) char buffer[BUFFER_BYTES];
};

/* Return: 0 the event does not say which file system. */
static uint64_t file_system_of(const struct fanotify_event_metadata *event)
{
	const char *at = (const char *) event + event->metadata_len;
	const char *end = (const char *) event + event->event_len;
	struct fanotify_event_info_header header;
	struct fanotify_event_info_fid record;

	while ((size_t) (end - at) >= sizeof(header)) {
		memcpy(&header, at, sizeof(header));
		if (header.len < sizeof(header) || header.len > (size_t) (end - at))
			return 0;
		if (header.info_type == FAN_EVENT_INFO_TYPE_FID && header.len >= sizeof(record)) {
			memcpy(&record, at, sizeof(record));
			return file_system_id(record.fsid.val);
		}
		at += header.len;
	}
	return 0;
}

static int on_events(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct fault_watch *watch = userdata;
	const struct fanotify_event_metadata *event = (const void *) watch->buffer;
	ssize_t length = read(fd, watch->buffer, sizeof(watch->buffer));

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (length < 0) {
		log_message(LOG_WARNING, "file system error monitoring stopped: %s",
			    strerror(errno));
		watch->source = sd_event_source_disable_unref(watch->source);
		return 0;
	}
	for (; FAN_EVENT_OK(event, length); event = FAN_EVENT_NEXT(event, length))
		watch->options.faulted(watch->options.userdata,
				       event->mask & FAN_Q_OVERFLOW ? 0 : file_system_of(event));
	return 0;
}

static int begin(struct fault_watch *watch)
{
	int r;

	watch->marks = calloc(1, sizeof(*watch->marks));
	if (!watch->marks)
		return -ENOMEM;
	watch->marks->users = 1;
	watch->marks->fd = fanotify_init(
		FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC | FAN_NONBLOCK, O_CLOEXEC);
	if (watch->marks->fd < 0)
		return -errno;
	r = sd_event_add_io(watch->options.event, &watch->source, watch->marks->fd, EPOLLIN,
			    on_events, watch);
	if (r >= 0)
		r = sd_event_source_set_priority(watch->source, watch->options.priority);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(watch->source, INTERVAL_USEC, BURST);
	return r;
}

int fault_watch_new(const struct fault_watch_options *options, struct fault_watch **ret,
		    struct failure *reterr)
{
	struct fault_watch *watch = calloc(1, sizeof(*watch));
	int r;

	assert(options && options->event && options->faulted && ret);
	if (!watch)
		return failed(reterr, -ENOMEM, "cannot watch for file system errors");
	watch->options = *options;
	r = begin(watch);
	if (r < 0) {
		(void) fault_watch_free(watch);
		return failed(reterr, r, "cannot watch for file system errors");
	}
	*ret = watch;
	return 0;
}

struct fault_watch *fault_watch_free(struct fault_watch *watch)
{
	if (!watch)
		return NULL;
	(void) sd_event_source_disable_unref(watch->source);
	(void) fault_marks_unref(watch->marks);
	free(watch);
	return NULL;
}

struct fault_marks *fault_watch_marks(const struct fault_watch *watch)
{
	watch->marks->users++;
	return watch->marks;
}

struct fault_marks *fault_marks_unref(struct fault_marks *marks)
{
	if (!marks || --marks->users > 0)
		return NULL;
	(void) close_keep_errno(marks->fd);
	free(marks);
	return NULL;
}

/* By a name, because an O_PATH descriptor alone is not taken. */
int fault_marks_add(const struct fault_marks *marks, int directory_fd)
{
	assert(marks && directory_fd >= 0);
	if (fanotify_mark(marks->fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_FS_ERROR, directory_fd,
			  ".") < 0)
		return -errno;
	return 0;
}
