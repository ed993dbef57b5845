/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_drivers - see csi_drivers.h; filled through csi_driver_table.h
 *
 * A sorted list: there are few drivers on a node, and each entry is what the driver said last,
 * copied as a whole. Nothing here calls back: registration notifies who waits for a driver.
 */
#include "csi/csi_driver_table.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct entry {
	struct csi_driver driver; /* its strings are in @strings and @segments */
	struct failure last_error;
	struct csi_topology_segment *segments;
	char *strings;
	struct entry *prev, *next;
};

struct csi_drivers {
	sd_event *event;
	struct csi_log *log;
	struct entry *entries;
};

/* ---- entries ---- */

static struct entry *entry_free(struct entry *entry)
{
	if (!entry)
		return NULL;
	free(entry->strings);
	free(entry->segments);
	free(entry);
	return NULL;
}

static size_t measure(const struct csi_driver *driver)
{
	size_t size = strlen(driver->name) + strlen(driver->registration_socket) +
		      strlen(driver->endpoint) + strlen(driver->version) + strlen(driver->node_id) +
		      5;

	for (size_t i = 0; i < driver->segment_count; i++)
		size += strlen(driver->segments[i].key) + strlen(driver->segments[i].value) + 2;
	return size;
}

static const char *take(char **at, const char *text)
{
	char *copy = *at;
	size_t size = strlen(text) + 1;

	memcpy(copy, text, size);
	*at += size;
	return copy;
}

static struct entry *entry_new(const struct csi_driver *driver)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	char *at;

	if (!entry)
		return NULL;
	entry->strings = at = malloc(measure(driver));
	entry->segments = calloc(driver->segment_count + 1, sizeof(*entry->segments));
	if (!entry->strings || !entry->segments)
		return entry_free(entry);
	entry->driver = *driver;
	entry->driver.name = take(&at, driver->name);
	entry->driver.registration_socket = take(&at, driver->registration_socket);
	entry->driver.endpoint = take(&at, driver->endpoint);
	entry->driver.version = take(&at, driver->version);
	entry->driver.node_id = take(&at, driver->node_id);
	for (size_t i = 0; i < driver->segment_count; i++) {
		entry->segments[i].key = take(&at, driver->segments[i].key);
		entry->segments[i].value = take(&at, driver->segments[i].value);
	}
	entry->driver.segments = entry->segments;
	if (driver->last_error) {
		entry->last_error = *driver->last_error;
		entry->driver.last_error = &entry->last_error;
	}
	return entry;
}

static int compare(const struct entry *a, const struct entry *b)
{
	int order = strcmp(a->driver.name, b->driver.name);

	return order ? order : strcmp(a->driver.registration_socket, b->driver.registration_socket);
}

static struct entry *find_socket(const struct csi_drivers *drivers, const char *socket)
{
	struct entry *entry;

	DL_FOREACH (drivers->entries, entry)
		if (entry->driver.state != CSI_DRIVER_GONE &&
		    strcmp(entry->driver.registration_socket, socket) == 0)
			return entry;
	return NULL;
}

static void drop(struct csi_drivers *drivers, struct entry *entry)
{
	DL_DELETE(drivers->entries, entry);
	(void) entry_free(entry);
}

static void drop_gone(struct csi_drivers *drivers, const char *name, const struct entry *but)
{
	struct entry *entry, *next;

	DL_FOREACH_SAFE (drivers->entries, entry, next)
		if (entry != but && entry->driver.state == CSI_DRIVER_GONE &&
		    strcmp(entry->driver.name, name) == 0)
			drop(drivers, entry);
}

static void drop_oldest_gone(struct csi_drivers *drivers)
{
	struct entry *entry, *oldest = NULL;
	size_t count = 0;

	DL_FOREACH (drivers->entries, entry) {
		if (entry->driver.state != CSI_DRIVER_GONE)
			continue;
		count++;
		if (!oldest || entry->driver.since_usec < oldest->driver.since_usec)
			oldest = entry;
	}
	if (count > CSI_DRIVERS_GONE_MAX)
		drop(drivers, oldest);
}

/* ---- registration's half ---- */

int csi_drivers_put(struct csi_drivers *drivers, const struct csi_driver *driver)
{
	struct entry *old, *entry;

	assert(drivers && driver && driver->state != CSI_DRIVER_GONE);
	assert(driver->state != CSI_DRIVER_READY || *driver->name);
	entry = entry_new(driver);
	if (!entry)
		return -ENOMEM;
	old = find_socket(drivers, driver->registration_socket);
	entry->driver.since_usec = old && old->driver.state == driver->state
					   ? old->driver.since_usec
					   : monotonic_usec();
	if (old)
		drop(drivers, old);
	if (driver->state == CSI_DRIVER_READY)
		drop_gone(drivers, driver->name, entry);
	DL_INSERT_INORDER(drivers->entries, entry, compare);
	return 0;
}

void csi_drivers_drop(struct csi_drivers *drivers, const char *registration_socket)
{
	struct entry *entry;

	assert(drivers && registration_socket);
	entry = find_socket(drivers, registration_socket);
	if (!entry)
		return;
	if (entry->driver.state != CSI_DRIVER_READY) {
		drop(drivers, entry);
		return;
	}
	entry->driver.state = CSI_DRIVER_GONE;
	entry->driver.since_usec = monotonic_usec();
	drop_gone(drivers, entry->driver.name, entry);
	drop_oldest_gone(drivers);
}

const struct csi_driver *csi_drivers_at(const struct csi_drivers *drivers,
					const char *registration_socket)
{
	const struct entry *entry;

	assert(drivers && registration_socket);
	entry = find_socket(drivers, registration_socket);
	return entry ? &entry->driver : NULL;
}

void csi_drivers_note_capabilities(struct csi_drivers *drivers, const char *registration_socket,
				   const struct csi_capabilities *capabilities)
{
	struct entry *entry;

	assert(drivers && registration_socket && capabilities);
	entry = find_socket(drivers, registration_socket);
	if (!entry)
		return;
	entry->driver.capabilities_known = capabilities->is_known;
	entry->driver.node_capabilities = capabilities->node;
	entry->driver.has_controller = capabilities->is_known && capabilities->has_controller;
	entry->driver.controller_capabilities =
		capabilities->is_known ? capabilities->controller : 0;
	entry->driver.plugin_capabilities = capabilities->is_known ? capabilities->plugin : 0;
	entry->driver.takes_group_snapshots =
		capabilities->is_known && capabilities->takes_group_snapshots;
}

/* ---- everybody's half ---- */

bool csi_driver_can(const struct csi_driver *driver, enum csi_controller_capability capability)
{
	assert(driver);
	return driver->has_controller && driver->controller_capabilities & UINT32_C(1)
										   << capability;
}

int csi_drivers_new(sd_event *event, struct csi_log *log, struct csi_drivers **ret)
{
	struct csi_drivers *drivers = calloc(1, sizeof(*drivers));

	assert(event && ret);
	if (!drivers)
		return -ENOMEM;
	drivers->event = event;
	drivers->log = log;
	*ret = drivers;
	return 0;
}

struct csi_drivers *csi_drivers_free(struct csi_drivers *drivers)
{
	if (!drivers)
		return NULL;
	while (drivers->entries)
		drop(drivers, drivers->entries);
	free(drivers);
	return NULL;
}

const struct csi_driver *csi_drivers_find(const struct csi_drivers *drivers, const char *name)
{
	const struct entry *entry;

	assert(drivers && name);
	DL_FOREACH (drivers->entries, entry)
		if (entry->driver.state == CSI_DRIVER_READY &&
		    strcmp(entry->driver.name, name) == 0)
			return &entry->driver;
	return NULL;
}

int csi_drivers_walk(const struct csi_drivers *drivers,
		     int (*visit)(const struct csi_driver *driver, void *userdata), void *userdata)
{
	const struct entry *entry;

	assert(drivers && visit);
	DL_FOREACH (drivers->entries, entry) {
		int r = visit(&entry->driver, userdata);

		if (r != 0)
			return r;
	}
	return 0;
}

/* Why calls cannot be made: what is known of the name, the most hopeful entry first. */
static int not_ready(const struct csi_drivers *drivers, const char *name, struct failure *reterr)
{
	const struct entry *entry, *best = NULL;

	DL_FOREACH (drivers->entries, entry)
		if (strcmp(entry->driver.name, name) == 0 &&
		    (!best || entry->driver.state < best->driver.state))
			best = entry;
	if (!best)
		return failed_plain(reterr, -ENOTCONN, "driver '%s' is not registered on this node",
				    name);
	if (best->driver.state == CSI_DRIVER_GONE)
		return failed_plain(reterr, -ENOTCONN,
				    "driver '%s' is not registered any more: its socket '%s' went",
				    name, best->driver.registration_socket);
	return failed_plain(reterr, -ENOTCONN, "driver '%s' is not registered yet%s%s", name,
			    best->driver.last_error ? ": " : "",
			    best->driver.last_error ? best->driver.last_error->text : "");
}

int csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
		     struct csi_call **ret, struct failure *reterr)
{
	struct csi_call_request copy;
	const struct csi_driver *driver;

	assert(drivers && request && request->driver && ret);
	driver = csi_drivers_find(drivers, request->driver);
	if (!driver)
		return not_ready(drivers, request->driver, reterr);
	copy = *request;
	if (!copy.socket_path)
		copy.socket_path = driver->endpoint;
	return csi_call_start(drivers->event, drivers->log, &copy, ret, reterr);
}
