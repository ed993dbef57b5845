/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration - see csi_registration.h; the rules are in csi_registration_rule.h
 *
 * registration_move() is the one gate: it takes the next stage from the rule and begins it. A stage
 * ends in a callback on the loop, which moves on. A socket that was removed while its objects are
 * written is kept until the write ends; then it is registered again, or freed.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "csi/csi_registration_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timer.h"
#include "csi/csi_driver_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { DRIVER_NAME_MAX = 63 };

/* ---- what is shown of it ---- */

static enum csi_driver_state state_of(const struct registration *one)
{
	if (registration_is_ready(one->stage))
		return CSI_DRIVER_READY;
	if (one->stage == REGISTRATION_REFUSES)
		return CSI_DRIVER_FAILED;
	return one->stage == REGISTRATION_WAITS && one->last_error.error < 0 && !one->is_dialling
		       ? CSI_DRIVER_FAILED
		       : CSI_DRIVER_REGISTERING;
}

static uint64_t retry_of(const struct registration *one)
{
	uint64_t usec = 0;

	if (one->stage == REGISTRATION_WAITS && timer_is_set(one->timer))
		(void) sd_event_source_get_time(one->timer, &usec);
	return usec;
}

/* Node id, limit and topology are those that the driver reports now, or the former ones. */
static void show(struct registration *one, const struct csi_driver *answer)
{
	struct csi_drivers *drivers = one->all->options.drivers;
	const struct csi_driver *known = csi_drivers_at(drivers, one->socket);
	struct csi_driver driver = { .node_id = "" };
	char version[CSI_VERSION_BYTES];

	if (answer || known)
		driver = answer ? *answer : *known;
	csi_version_print(&one->version, version);
	driver.name = one->name ?: "";
	driver.state = state_of(one);
	driver.registration_socket = one->socket;
	driver.endpoint = one->endpoint ?: "";
	driver.version = version;
	driver.retry_usec = retry_of(one);
	driver.last_error = one->last_error.error < 0 ? &one->last_error : NULL;
	if (csi_drivers_put(drivers, &driver) < 0)
		log_message(LOG_WARNING, "out of memory: what is shown of the socket '%s' is old",
			    one->socket);
}

/* ---- memory ---- */

static void forget_answer(struct registration *one)
{
	free(one->name);
	free(one->endpoint);
	one->name = one->endpoint = NULL;
	one->version = (struct csi_version){ .count = 0 };
	one->is_claimed = one->is_replaced = false;
}

static void end_calls(struct registration *one)
{
	one->call = csi_call_cancel(one->call);
	registration_end_capabilities(one);
}

static struct registration *registration_free(struct registration *one)
{
	if (!one)
		return NULL;
	end_calls(one);
	sd_event_source_disable_unref(one->timer);
	forget_answer(one);
	free(one->path);
	free(one->socket);
	free(one);
	return NULL;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	registration_move(userdata, REGISTRATION_SUCCEEDED);
	return 0;
}

/* Due at once. NULL: no memory. */
static struct registration *registration_new(struct csi_registration *all, const char *path)
{
	struct registration *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->all = all;
	one->path = strdup(path);
	one->socket = new_text("%s/%s", all->options.directory, path);
	if (!one->path || !one->socket ||
	    timer_new(all->options.event, USEC_PER_MSEC, on_timer, one, &one->timer) < 0)
		return registration_free(one);
	timer_set_in(one->timer, 0);
	HASH_ADD_KEYPTR(hh, all->sockets, one->path, strlen(one->path), one);
	if (!one->hh.tbl)
		return registration_free(one);
	show(one, NULL);
	return one;
}

/* ---- the owner of a name ---- */

static struct registration *owner_of(const struct registration *one, const char *name)
{
	struct registration *other;

	for (other = one->all->sockets; other; other = other->hh.next)
		if (other != one && other->is_claimed && strcmp(other->name, name) == 0)
			return other;
	return NULL;
}

/* This one has to wait until the newer one is removed. */
static void give_way(struct registration *one, const struct registration *newer)
{
	end_calls(one);
	one->is_claimed = false;
	one->is_replaced = true;
	(void) failed_plain(&one->last_error, -EEXIST,
			    "the newer version at the socket '%s' took its place", newer->socket);
	registration_move(one, REGISTRATION_REPLACED);
}

/* Sockets that wait for the name continue. */
static void give_up_name(struct registration *one)
{
	struct registration *other;

	if (!one->is_claimed)
		return;
	one->is_claimed = false;
	for (other = one->all->sockets; other; other = other->hh.next)
		if (other != one && other->stage == REGISTRATION_WAITS && other->name &&
		    strcmp(other->name, one->name) == 0)
			timer_set_in(other->timer, 0);
}

int registration_claim(struct registration *one, const struct registration_info *info)
{
	struct registration *other = owner_of(one, info->name);
	struct registration_owner owner = {
		.version = other ? &other->version : NULL,
		.is_ready = other && registration_is_ready(other->stage),
	};
	struct csi_version version;
	const char *endpoint;
	int r = registration_check(info, one->socket, &owner, &version, &endpoint,
				   &one->last_error);

	forget_answer(one);
	if (strlen(info->name) <= DRIVER_NAME_MAX)
		one->name = strdup(info->name);
	if (r < 0)
		return r;
	one->endpoint = strdup(endpoint);
	if (!one->name || !one->endpoint)
		return failed(&one->last_error, -ENOMEM, "cannot register the driver");
	one->version = version;
	one->is_claimed = true;
	if (other)
		give_way(other, one);
	return 0;
}

/* ---- the stages that are not calls ---- */

static int wait_for_time(struct registration *one)
{
	uint64_t delay_usec = 0;

	if (one->is_replaced)
		return 0;
	if (one->is_dialling && one->attempts == 0)
		delay_usec = registration_dial_usec(++one->dials);
	if (delay_usec == 0) {
		one->is_dialling = false;
		delay_usec = registration_delay_usec(++one->attempts);
		log_message(LOG_WARNING,
			    "registering the socket '%s' failed, attempt %u, next in %.1f s: %s",
			    one->socket, one->attempts, (double) delay_usec / 1e6,
			    one->last_error.text);
	}
	timer_set_in(one->timer, delay_usec);
	return 0;
}

static int write_objects(struct registration *one)
{
	const struct csi_registration_options *options = &one->all->options;
	const struct csi_driver *answer = TAKE_PTR(one->answer);
	struct failure why;
	int r;

	assert(answer);
	show(one, answer);
	r = options->install ? options->install(options->userdata, answer, one) : 0;
	if (r < 0)
		(void) failed(&why, r, "cannot write Node and CSINode");
	if (r < 0 || !options->install)
		csi_registration_written(one, r, &why);
	return 0;
}

static int report_success(struct registration *one)
{
	const struct csi_registration_options *options = &one->all->options;
	int r;

	one->last_error = (struct failure){ .error = 0 };
	one->attempts = one->dials = 0;
	show(one, NULL);
	log_message(LOG_INFO, "driver '%s' is registered; it listens at '%s'", one->name,
		    one->endpoint);
	r = registration_report(one, true);
	registration_call_capabilities(one);
	options->ready(options->userdata, one->name);
	return r;
}

static int report_failure(struct registration *one)
{
	give_up_name(one);
	return registration_report(one, false);
}

static int take_back(struct registration *one)
{
	const struct csi_registration_options *options = &one->all->options;
	const struct csi_driver *known = csi_drivers_at(options->drivers, one->socket);
	struct failure why;
	int r;

	end_calls(one);
	if (one->left && known && known->state == CSI_DRIVER_READY)
		log_message(LOG_NOTICE,
			    "driver '%s' is not registered any more: its socket '%s' went",
			    one->name, one->socket);
	if (one->left)
		csi_drivers_drop(options->drivers, one->socket);
	r = options->uninstall ? options->uninstall(options->userdata, one->name, one) : 0;
	if (r < 0)
		(void) failed(&why, r, "cannot write Node and CSINode");
	if (r < 0 || !options->uninstall)
		csi_registration_written(one, r, &why);
	return 0;
}

void csi_registration_written(void *token, int error, const struct failure *why)
{
	struct registration *one = token;

	assert(one && (one->stage == REGISTRATION_WRITES || one->stage == REGISTRATION_TAKES_BACK));
	if (error < 0 && one->stage == REGISTRATION_WRITES)
		one->last_error = *why;
	else if (error < 0)
		log_message(LOG_WARNING,
			    "entries of driver '%s' in Node and CSINode could not be removed: %s",
			    one->name, why->text);
	registration_move(one, error < 0 ? REGISTRATION_FAILED : REGISTRATION_SUCCEEDED);
}

static int end(struct registration *one)
{
	struct csi_registration *all = one->all;
	cleanup_free char *path = NULL;
	bool again = one->again;

	give_up_name(one);
	csi_drivers_drop(all->options.drivers, one->socket);
	HASH_DEL(all->sockets, one);
	path = TAKE_PTR(one->path);
	(void) registration_free(one);
	if (again && !registration_new(all, path))
		log_message(LOG_ERR, "out of memory: the socket '%s' is not looked at", path);
	return 0;
}

static int stay(struct registration *one)
{
	return 0;
}

/* What cannot even begin has failed. */
void registration_move(struct registration *one, enum registration_event event)
{
	static int (*const begin[])(struct registration * one) = {
		[REGISTRATION_WAITS] = wait_for_time,
		[REGISTRATION_ASKS] = registration_call,
		[REGISTRATION_ASKS_NODE] = registration_call_node,
		[REGISTRATION_WRITES] = write_objects,
		[REGISTRATION_TELLS] = report_success,
		[REGISTRATION_DONE] = stay,
		[REGISTRATION_TAKES_BACK] = take_back,
		[REGISTRATION_REFUSES] = report_failure,
		[REGISTRATION_OVER] = end,
	};
	static_assert(ARRAY_SIZE(begin) == REGISTRATION_STAGE_COUNT, "begin every stage");
	enum registration_stage next = registration_next(one->stage, event, one->left);

	if (next == one->stage)
		return;
	one->stage = next;
	(void) sd_event_source_set_enabled(one->timer, SD_EVENT_OFF);
	if (next != REGISTRATION_OVER && !one->left)
		show(one, NULL);
	if (begin[next](one) < 0)
		registration_move(one, REGISTRATION_FAILED);
	else if (next == REGISTRATION_WAITS)
		show(one, NULL);
}

/* ---- sockets ---- */

static void on_appeared(void *userdata, const char *path)
{
	struct csi_registration *all = userdata;
	struct registration *one;

	HASH_FIND(hh, all->sockets, path, strlen(path), one);
	if (one)
		one->again = true; /* as soon as the former one is unregistered */
	else if (!registration_new(all, path))
		log_message(LOG_ERR, "out of memory: the socket '%s' is not looked at", path);
}

static void on_vanished(void *userdata, const char *path)
{
	struct csi_registration *all = userdata;
	struct registration *one;

	HASH_FIND(hh, all->sockets, path, strlen(path), one);
	if (!one)
		return;
	one->again = false;
	if (one->left)
		return;
	one->left = true;
	registration_move(one, REGISTRATION_LEFT);
}

static int on_open(void *userdata, const char *path, struct failure *reterr)
{
	struct csi_registration *all = userdata;

	return all->options.open_directory(all->options.userdata, path, reterr);
}

int csi_registration_new(const struct csi_registration_options *options,
			 struct csi_registration **ret, struct failure *reterr)
{
	struct csi_registration *all = calloc(1, sizeof(*all));
	struct csi_registration_watch_options watch = {
		.open_directory = on_open,
		.appeared = on_appeared,
		.vanished = on_vanished,
		.userdata = all,
	};
	int r;

	assert(options && options->event && options->drivers && options->directory);
	assert(options->open_directory && options->ready && ret);
	assert(!options->install == !options->uninstall);
	if (!all)
		return failed(reterr, -ENOMEM, "cannot watch for CSI drivers");
	all->options = *options;
	watch.event = options->event;
	r = csi_registration_watch_new(&watch, &all->watch, reterr);
	if (r < 0) {
		(void) csi_registration_free(all);
		return r;
	}
	*ret = all;
	return 0;
}

struct csi_registration *csi_registration_free(struct csi_registration *all)
{
	struct registration *one, *next;

	if (!all)
		return NULL;
	(void) csi_registration_watch_free(all->watch);
	HASH_ITER (hh, all->sockets, one, next) {
		HASH_DEL(all->sockets, one);
		(void) registration_free(one);
	}
	free(all);
	return NULL;
}
