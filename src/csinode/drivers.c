/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drivers - see drivers.h
 *
 * One entry for each volume of which steps failed at a driver, in a list of its driver; a step is
 * known by its pod, so that what ends well for one pod says nothing of another's. Operations
 * themselves know what may be tried again; here is only which of them to look at when.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "csinode/drivers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/text.h"
#include "controller/csi/csi_node.h"
#include "csi/csi_log.h"
#include "csi/csi_registration.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <utlist.h>

/* A step that failed. */
struct waiting_step {
	struct waiting_step *prev, *next; /* of the same volume */
	enum step_kind kind;
	char pod_uid[]; /* "" the whole volume */
};

/* A volume of which steps failed. */
struct waiter {
	UT_hash_handle hh; /* by unique_name */
	struct waiting_driver *driver;
	struct waiter *prev, *next; /* of the same driver */
	struct waiting_step *steps; /* never none, once it is known */
	char unique_name[];
};

struct waiting_driver {
	UT_hash_handle hh; /* by name */
	struct waiter *waiters;
	char name[DRIVER_NAME_BYTES];
};

struct drivers {
	struct drivers_options options;
	struct csi_log *log;
	struct csi_drivers *table;
	struct csi_node *csi_node; /* NULL without a store */
	struct csi_registration *registration;
	char *directory;
	struct waiter *waiters;
	struct waiting_driver *waiting;
	sd_event_source *drain_timer; /* NULL unless it drains */
	bool may_come;
};

/* ---- names ---- */

/* As plugins/csi makes unique names of what drivers can stage: "kubernetes.io/csi/NAME^HANDLE". */
static bool name_in(const char *unique_name, char ret[DRIVER_NAME_BYTES])
{
	static const char prefix[] = "kubernetes.io/csi/";
	const char *name = unique_name + strlen(prefix), *end;

	if (strncmp(unique_name, prefix, strlen(prefix)) != 0)
		return false;
	end = strchr(name, '^');
	if (!end || end == name || end - name >= DRIVER_NAME_BYTES)
		return false;
	(void) snprintf(ret, DRIVER_NAME_BYTES, "%.*s", (int) (end - name), name);
	return true;
}

void drivers_name_of(const struct drivers *drivers, const char *unique_name,
		     char ret[DRIVER_NAME_BYTES])
{
	struct desired_volume *want;
	const struct desired_pod *pod;

	assert(drivers && unique_name);
	if (name_in(unique_name, ret))
		return;
	ret[0] = '\0';
	want = desired_find(drivers->options.desired, unique_name);
	pod = want ? want->pods : NULL;
	if (pod && pod->spec.source && pod->spec.source->csi)
		(void) snprintf(ret, DRIVER_NAME_BYTES, "%s", pod->spec.source->csi->driver);
}

/* ---- who waits ---- */

static struct waiter *find_waiter(const struct drivers *drivers, const char *unique_name)
{
	struct waiter *waiter;

	HASH_FIND(hh, drivers->waiters, unique_name, strlen(unique_name), waiter);
	return waiter;
}

static void drop_waiter(struct drivers *drivers, struct waiter *waiter)
{
	struct waiting_driver *driver = waiter->driver;
	struct waiting_step *step, *next;

	DL_FOREACH_SAFE (waiter->steps, step, next)
		free(step);
	HASH_DEL(drivers->waiters, waiter);
	DL_DELETE(driver->waiters, waiter);
	free(waiter);
	if (driver->waiters)
		return;
	HASH_DEL(drivers->waiting, driver);
	free(driver);
}

static struct waiting_driver *waiting_driver(struct drivers *drivers, const char *name)
{
	struct waiting_driver *driver;

	HASH_FIND_STR(drivers->waiting, name, driver);
	if (driver)
		return driver;
	driver = calloc(1, sizeof(*driver));
	if (!driver)
		return NULL;
	(void) snprintf(driver->name, sizeof(driver->name), "%s", name);
	HASH_ADD_STR(drivers->waiting, name, driver);
	if (driver->hh.tbl)
		return driver;
	free(driver);
	return NULL;
}

static struct waiter *waiter_new(struct drivers *drivers, const char *name, const char *unique_name)
{
	size_t length = strlen(unique_name);
	struct waiter *waiter = calloc(1, sizeof(*waiter) + length + 1);
	struct waiting_driver *driver = waiter ? waiting_driver(drivers, name) : NULL;

	if (driver) {
		memcpy(waiter->unique_name, unique_name, length);
		HASH_ADD(hh, drivers->waiters, unique_name, length, waiter);
	}
	if (!driver || !waiter->hh.tbl) {
		if (driver && !driver->waiters) {
			HASH_DEL(drivers->waiting, driver);
			free(driver);
		}
		free(waiter);
		return NULL;
	}
	waiter->driver = driver;
	DL_APPEND(driver->waiters, waiter);
	return waiter;
}

static int add_step(struct drivers *drivers, const char *name, const struct step_result *result)
{
	const char *pod_uid = result->pod_uid ?: "";
	size_t length = strlen(pod_uid);
	struct waiting_step *step = calloc(1, sizeof(*step) + length + 1);
	struct waiter *waiter = find_waiter(drivers, result->unique_name);

	if (step && !waiter)
		waiter = waiter_new(drivers, name, result->unique_name);
	if (!step || !waiter) {
		free(step);
		return -ENOMEM;
	}
	step->kind = result->kind;
	memcpy(step->pod_uid, pod_uid, length);
	DL_APPEND(waiter->steps, step);
	return 0;
}

static void drop_step(struct drivers *drivers, struct waiter *waiter, struct waiting_step *step)
{
	DL_DELETE(waiter->steps, step);
	free(step);
	if (!waiter->steps)
		drop_waiter(drivers, waiter);
}

/* What failed of it before is over, whether it ended well now or failed again. */
static void forget_step(struct drivers *drivers, const struct step_result *result)
{
	struct waiter *waiter = find_waiter(drivers, result->unique_name);
	struct waiting_step *step;

	DL_FOREACH (waiter ? waiter->steps : NULL, step)
		if (strcmp(step->pod_uid, result->pod_uid ?: "") == 0)
			break;
	if (step)
		drop_step(drivers, waiter, step);
}

/* Every step of the volume that failed is due. */
static void make_due(const struct drivers *drivers, const char *unique_name)
{
	struct operations *operations = *drivers->options.operations;
	const struct actual_volume *volume = actual_find(drivers->options.actual, unique_name);
	const struct actual_pod *pod = volume ? volume->pods : NULL;
	uint64_t now = monotonic_usec();

	operation_retry_now(operations, unique_name);
	operation_tear_down_now(operations, unique_name, "", now);
	for (; pod; pod = pod->hh.next)
		operation_tear_down_now(operations, unique_name, pod->pod_uid, now);
	(void) dirty_add(drivers->options.dirty, unique_name);
}

static void on_ready(void *userdata, const char *name)
{
	struct drivers *drivers = userdata;
	struct waiting_driver *driver;
	size_t count = 0;

	HASH_FIND_STR(drivers->waiting, name, driver);
	while (driver) {
		struct waiter *waiter = driver->waiters;
		bool is_last = !waiter->next;

		make_due(drivers, waiter->unique_name);
		drop_waiter(drivers, waiter);
		count++;
		if (is_last)
			break;
	}
	if (count > 0)
		log_message(LOG_INFO, "%zu volumes waited for the driver '%s'", count, name);
}

static void on_capable(void *userdata, const char *name)
{
	const struct drivers *drivers = userdata;

	drivers->options.capable(drivers->options.userdata, name);
}

/* Without memory for the note it is tried again after a while, as if no driver were missing. */
void drivers_note(void *userdata, const struct operation_ended *ended)
{
	struct drivers *drivers = userdata;
	const char *unique_name = ended->result.unique_name;
	char name[DRIVER_NAME_BYTES] = "";

	if (!drivers) /* in tests */
		return;
	forget_step(drivers, &ended->result);
	if (ended->result.error == 0 || ended->result.error == -ECANCELED)
		return;
	if (*ended->report->driver)
		(void) snprintf(name, sizeof(name), "%s", ended->report->driver);
	else if (!name_in(unique_name, name))
		return;
	if (ended->waits && csi_drivers_find(drivers->table, name))
		make_due(drivers, unique_name); /* it came meanwhile */
	else if (add_step(drivers, name, &ended->result) < 0 && ended->waits)
		operation_retry_later(*drivers->options.operations, unique_name, monotonic_usec());
}

static bool is_wanted(const struct drivers *drivers, const char *unique_name, const char *pod_uid)
{
	const struct desired_volume *want = desired_find(drivers->options.desired, unique_name);

	return want && (*pod_uid == '\0' || desired_find_pod(want, pod_uid));
}

/* What is taken down waits for as long as it takes; a set-up only while it is wanted. */
void drivers_planned(void *userdata, const char *unique_name)
{
	struct drivers *drivers = userdata;
	struct waiter *waiter = drivers ? find_waiter(drivers, unique_name) : NULL;
	struct waiting_step *step, *next;

	DL_FOREACH_SAFE (waiter ? waiter->steps : NULL, step, next) {
		if ((step->kind != STEP_STAGE && step->kind != STEP_PUBLISH) ||
		    is_wanted(drivers, unique_name, step->pod_uid))
			continue;
		operation_cancel(*drivers->options.operations, unique_name, step->pod_uid);
		drop_step(drivers, waiter, step);
	}
}

/* ---- what registration asks of us ---- */

static int open_directory(void *userdata, const char *path, struct failure *reterr)
{
	const struct drivers *drivers = userdata;
	const int root_fd = drivers->options.root->fd;
	cleanup_close int made_fd = -EBADF;
	cleanup_free char *below = NULL;

	below = new_text("%s%s%s", DRIVERS_REGISTRY, *path ? "/" : "", path);
	if (!below)
		return failed(reterr, -ENOMEM, "cannot watch for CSI drivers");
	if (*path == '\0') {
		made_fd = make_directories(root_fd, below, 0750, reterr);
		if (made_fd < 0)
			return made_fd;
	}
	return open_beneath(root_fd, below, O_RDONLY | O_DIRECTORY | O_NONBLOCK, PATH_NO_SYMLINKS,
			    reterr);
}

static int install(void *userdata, const struct csi_driver *driver, void *token)
{
	const struct drivers *drivers = userdata;
	cleanup_free struct label *labels = calloc(driver->segment_count + 1, sizeof(*labels));
	const struct csi_node_entry entry = {
		.driver = driver->name,
		.node_id = driver->node_id,
		.topology = { labels, driver->segment_count },
		.max_volumes = driver->max_volumes,
	};

	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < driver->segment_count; i++)
		labels[i] = (struct label){ driver->segments[i].key, driver->segments[i].value };
	return csi_node_install(drivers->csi_node, &entry, csi_registration_written, token);
}

static int uninstall(void *userdata, const char *name, void *token)
{
	const struct drivers *drivers = userdata;

	return csi_node_uninstall(drivers->csi_node, name, csi_registration_written, token);
}

/* ---- draining ---- */

static int on_drain_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct drivers *drivers = userdata;

	drivers->may_come = false;
	drivers->options.drained(drivers->options.userdata);
	return 0;
}

bool drivers_may_come(const struct drivers *drivers)
{
	return drivers && drivers->may_come;
}

static int begin_drain(struct drivers *drivers)
{
	drivers->may_come = true;
	return sd_event_add_time_relative(drivers->options.event, &drivers->drain_timer,
					  CLOCK_MONOTONIC, DRIVERS_DRAIN_USEC, 0, on_drain_timer,
					  drivers);
}

/* ---- birth and death ---- */

int drivers_new(const struct drivers_options *options, struct drivers **ret)
{
	struct drivers *drivers = calloc(1, sizeof(*drivers));
	int r;

	assert(options && ret);
	if (!drivers)
		return -ENOMEM;
	drivers->options = *options;
	r = csi_log_new(&drivers->log);
	if (r >= 0)
		r = csi_drivers_new(options->event, drivers->log, &drivers->table);
	if (r < 0) {
		(void) drivers_free(drivers);
		return r;
	}
	*ret = drivers;
	return 0;
}

int drivers_start(struct drivers *drivers, struct store *store, struct failure *reterr)
{
	sd_event *event = drivers->options.event;
	struct csi_registration_options options = {
		.event = event,
		.drivers = drivers->table,
		.log = drivers->log,
		.open_directory = open_directory,
		.ready = on_ready,
		.capable = on_capable,
		.userdata = drivers,
	};
	int r = 0;

	drivers->directory = new_text("%s/%s", drivers->options.root->path, DRIVERS_REGISTRY);
	if (!drivers->directory)
		return failed(reterr, -ENOMEM, "cannot watch for CSI drivers");
	options.directory = drivers->directory;
	if (store) {
		r = csi_node_new(event, store, drivers->options.node_name, &drivers->csi_node);
		options.install = install;
		options.uninstall = uninstall;
	} else {
		r = begin_drain(drivers);
	}
	if (r < 0)
		return failed(reterr, r, "cannot watch for CSI drivers");
	return csi_registration_new(&options, &drivers->registration, reterr);
}

void drivers_stop(struct drivers *drivers)
{
	if (!drivers)
		return;
	drivers->csi_node = csi_node_free(drivers->csi_node);
	drivers->registration = csi_registration_free(drivers->registration);
	drivers->drain_timer = sd_event_source_disable_unref(drivers->drain_timer);
}

struct drivers *drivers_free(struct drivers *drivers)
{
	struct waiter *waiter, *next;

	if (!drivers)
		return NULL;
	drivers_stop(drivers);
	HASH_ITER (hh, drivers->waiters, waiter, next)
		drop_waiter(drivers, waiter);
	(void) csi_drivers_free(drivers->table);
	(void) csi_log_free(drivers->log);
	free(drivers->directory);
	free(drivers);
	return NULL;
}

const struct actual *drivers_actual(const struct drivers *drivers)
{
	assert(drivers);
	return drivers->options.actual;
}

struct csi_drivers *drivers_table(const struct drivers *drivers)
{
	assert(drivers);
	return drivers->table;
}

const struct csi_log *drivers_log(const struct drivers *drivers)
{
	assert(drivers);
	return drivers->log;
}
