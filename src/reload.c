/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload - SIGHUP: read the configuration again while the daemon runs; see reload.h
 */
#include "reload.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/worker.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

struct reload {
	struct config *config;
	int argc;
	char **argv;
	sd_event_source *signal;
	struct worker_return *to_loop;
	struct worker_pool *thread;

	struct worker_job job;
	bool is_reading, is_due; /* due: SIGHUP came while the file was being read */
	struct config fresh;
	struct failure failure;
	int result;
};

void reload_hold_back(void)
{
	sigset_t hangup;

	(void) sigemptyset(&hangup);
	(void) sigaddset(&hangup, SIGHUP);
	(void) sigprocmask(SIG_BLOCK, &hangup, NULL);
}

/* ---- what differs ---- */

static void *field(struct config *config, const struct config_row *row)
{
	return (char *) config + row->offset;
}

static bool differs(struct config *config, struct config *fresh, const struct config_row *row)
{
	const void *old = field(config, row), *new = field(fresh, row);

	switch (row->kind) {
	case CONFIG_STRING:
		return strcmp(*(char *const *) old, *(char *const *) new) != 0;
	case CONFIG_INTEGER:
		return *(const int64_t *) old != *(const int64_t *) new;
	case CONFIG_FLAG:
		return *(const bool *) old != *(const bool *) new;
	}
	return false;
}

static void take(struct config *config, struct config *fresh, const struct config_row *row)
{
	char **old = field(config, row), *kept = NULL;

	switch (row->kind) {
	case CONFIG_STRING:
		kept = *old;
		*old = *(char **) field(fresh, row);
		*(char **) field(fresh, row) = kept;
		log_message(LOG_NOTICE, "reload: %s is now '%s'", row->name, *old);
		return;
	case CONFIG_INTEGER:
		*(int64_t *) field(config, row) = *(int64_t *) field(fresh, row);
		log_message(LOG_NOTICE, "reload: %s is now %" PRId64, row->name,
			    *(int64_t *) field(config, row));
		return;
	case CONFIG_FLAG:
		*(bool *) field(config, row) = *(bool *) field(fresh, row);
		log_message(LOG_NOTICE, "reload: %s is now %s", row->name,
			    *(bool *) field(config, row) ? "true" : "false");
		return;
	}
}

/* Strings of @config may be @fresh's afterwards. */
static void apply(struct config *config, struct config *fresh)
{
	assert(config && fresh);

	for (size_t i = 0; i < config_row_count; i++) {
		const struct config_row *row = &config_rows[i];

		if (!differs(config, fresh, row))
			continue;
		if (row->reloads)
			take(config, fresh, row);
		else
			log_message(LOG_WARNING,
				    "reload: %s was changed; restart podvold for it to take effect",
				    row->name);
	}
	/* What config_load() worked out of them. */
	config->log_priority = fresh->log_priority;
	config->drift.heals = fresh->drift.heals;
	config->stuck_unmount.manner = fresh->stuck_unmount.manner;
	log_set_level(config->log_priority);
}

/* ---- the thread and the loop ---- */

static void read_again(struct worker_job *job)
{
	struct reload *reload = (struct reload *) ((char *) job - offsetof(struct reload, job));

	reload->result = config_load(reload->argc, reload->argv, &reload->fresh, &reload->failure);
}

static void begin(struct reload *reload);

static void on_read(struct worker_job *job)
{
	struct reload *reload = (struct reload *) ((char *) job - offsetof(struct reload, job));

	reload->is_reading = false;
	if (!reload->signal) { /* the daemon ends */
		config_done(&reload->fresh);
		return;
	}
	if (reload->result == CONFIG_RUN) {
		apply(reload->config, &reload->fresh);
		log_message(LOG_INFO, "reload: done");
	} else if (reload->result < 0) {
		log_message(LOG_ERR, "reload: nothing was changed: %s", reload->failure.text);
	}
	config_done(&reload->fresh);
	(void) sd_notify(false, "READY=1");
	if (reload->is_due)
		begin(reload);
}

static void begin(struct reload *reload)
{
	reload->is_due = reload->is_reading;
	if (reload->is_reading)
		return;
	reload->is_reading = true;
	reload->failure = (struct failure){ .error = 0 };
	(void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_usec());
	worker_submit(reload->thread, &reload->job);
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	begin(userdata);
	return 0;
}

struct reload *reload_free(struct reload *reload)
{
	if (!reload)
		return NULL;
	reload->signal = sd_event_source_disable_unref(reload->signal);
	(void) worker_pool_free(reload->thread);
	(void) worker_return_free(reload->to_loop);
	if (!reload->is_reading) /* else a thread that hangs still has it */
		free(reload);
	return NULL;
}

int reload_new(sd_event *event, int argc, char **argv, struct config *config, struct reload **ret)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = 1,
					      .set_aside_usec = USEC_PER_SEC };
	struct reload *reload = calloc(1, sizeof(*reload));
	int r;

	assert(event && argv && config && ret);

	if (!reload)
		return -ENOMEM;
	*reload = (struct reload){ .config = config, .argc = argc, .argv = argv };
	reload->job.run = read_again;
	reload->job.done = on_read;
	r = worker_return_new(event, SD_EVENT_PRIORITY_NORMAL, &reload->to_loop);
	if (r >= 0)
		r = worker_pool_new("reload", reload->to_loop, &limits, &reload->thread);
	if (r >= 0)
		r = sd_event_add_signal(event, &reload->signal, SIGHUP, on_hangup, reload);
	if (r < 0) {
		(void) reload_free(reload);
		return r;
	}
	*ret = reload;
	return 0;
}
