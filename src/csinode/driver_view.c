/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_view - what people and Prometheus see of drivers; see drivers.h
 *
 * Volumes are counted in one walk for all drivers. A driver that is gone is shown while something
 * of it is mounted. Nothing here asks a driver anything.
 */
#include "csinode/drivers.h"

#include "base/cleanup.h"
#include "csi/csi_log.h"
#include "object/json/json.h"
#include "status/view_time.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const state_names[] = {
	[CSI_DRIVER_REGISTERING] = "registering",
	[CSI_DRIVER_READY] = "ready",
	[CSI_DRIVER_FAILED] = "failed",
	[CSI_DRIVER_GONE] = "gone",
};
static_assert(ARRAY_SIZE(state_names) == CSI_DRIVER_STATE_COUNT, "name every state");

/* By number, as NodeServiceCapability.RPC.Type has them. */
static const char *const node_capability_names[] = {
	"UNKNOWN",          "STAGE_UNSTAGE_VOLUME",     "GET_VOLUME_STATS",   "EXPAND_VOLUME",
	"VOLUME_CONDITION", "SINGLE_NODE_MULTI_WRITER", "VOLUME_MOUNT_GROUP",
};

/* And as ControllerServiceCapability.RPC.Type has them. */
static const char *const controller_capability_names[] = {
	"UNKNOWN",
	"CREATE_DELETE_VOLUME",
	"PUBLISH_UNPUBLISH_VOLUME",
	"LIST_VOLUMES",
	"GET_CAPACITY",
	"CREATE_DELETE_SNAPSHOT",
	"LIST_SNAPSHOTS",
	"CLONE_VOLUME",
	"PUBLISH_READONLY",
	"EXPAND_VOLUME",
	"LIST_VOLUMES_PUBLISHED_NODES",
	"VOLUME_CONDITION",
	"GET_VOLUME",
	"SINGLE_NODE_MULTI_WRITER",
	"MODIFY_VOLUME",
	"GET_SNAPSHOT",
};

/* ---- volumes of each driver ---- */

static size_t count_volumes(const struct drivers *drivers, const char *name)
{
	const struct actual_volume *volume = actual_first(drivers_actual(drivers));
	char of[DRIVER_NAME_BYTES];
	size_t count = 0;

	for (; volume; volume = volume->hh.next) {
		drivers_name_of(drivers, volume->unique_name, of);
		count += *of && strcmp(of, name) == 0;
	}
	return count;
}

/* ---- the calls for a volume ---- */

enum { CALLS_SHOWN_MAX = 8 };

static int add_call(const struct csi_log_entry *entry, void *userdata)
{
	struct cJSON *calls = userdata, *call = json_add_object(calls, NULL);

	(void) json_set_string(call, "method", csi_method_row(entry->method)->name);
	view_set_time(call, "began", entry->began_usec);
	(void) json_set_int(call, "beganMonotonic", (int64_t) entry->began_usec);
	(void) json_set_bool(call, "running", entry->running);
	if (!entry->running) {
		(void) json_set_int(call, "tookMicroseconds", (int64_t) entry->took_usec);
		(void) json_set_string(call, "code", grpc_code_name(entry->code));
		if (*entry->text)
			(void) json_set_string(call, "text", entry->text);
	}
	return json_count(calls) == CALLS_SHOWN_MAX;
}

/* Nothing where no driver was ever called. */
void drivers_describe(const void *box, struct cJSON *item, const char *unique_name,
		      const char *pod_uid)
{
	const struct drivers *drivers = box;
	struct cJSON *calls;

	if (!drivers)
		return;
	calls = json_add_array(item, "calls");
	(void) csi_log_walk(drivers_log(drivers), NULL, unique_name, add_call, calls);
	if (json_count(calls) == 0)
		json_remove(item, "calls");
}

/* ---- the view ---- */

struct collection {
	const struct drivers *drivers;
	const char *name; /* NULL: all */
	struct cJSON *items;
};

static void add_names(struct cJSON *list, uint32_t bits, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bits & UINT32_C(1) << i)
			(void) json_set_string(list, NULL, names[i]);
}

/* Those of controllers only where the driver has one. */
static void add_capabilities(struct cJSON *item, const struct csi_driver *driver)
{
	struct cJSON *controller;

	add_names(json_add_array(item, "capabilities"), driver->node_capabilities,
		  node_capability_names, ARRAY_SIZE(node_capability_names));
	if (!driver->has_controller && !driver->takes_group_snapshots)
		return;
	controller = json_add_array(item, "controllerCapabilities");
	add_names(controller, driver->controller_capabilities, controller_capability_names,
		  ARRAY_SIZE(controller_capability_names));
	if (driver->takes_group_snapshots)
		(void) json_set_string(controller, NULL, "CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT");
}

static int add_driver(const struct csi_driver *driver, void *userdata)
{
	struct collection *collection = userdata;
	struct cJSON *item, *topology;
	size_t volumes;

	if (collection->name && strcmp(driver->name, collection->name) != 0)
		return 0;
	volumes = *driver->name ? count_volumes(collection->drivers, driver->name) : 0;
	if (driver->state == CSI_DRIVER_GONE && volumes == 0)
		return 0;
	item = json_add_object(collection->items, NULL);
	(void) json_set_string(item, "name", driver->name);
	(void) json_set_bool(item, "inTree", false);
	(void) json_set_string(item, "state", state_names[driver->state]);
	(void) json_set_string(item, "socket", driver->registration_socket);
	(void) json_set_string(item, "endpoint", driver->endpoint);
	(void) json_set_string(item, "version", driver->version);
	(void) json_set_string(item, "nodeID", driver->node_id);
	add_capabilities(item, driver);
	if (driver->max_volumes > 0)
		(void) json_set_int(item, "maxVolumes", driver->max_volumes);
	topology = json_add_object(item, "topology");
	for (size_t i = 0; i < driver->segment_count; i++)
		(void) json_set_string(topology, driver->segments[i].key,
				       driver->segments[i].value);
	(void) json_set_int(item, "volumes", (int64_t) volumes);
	(void) json_set_string(item, "error", driver->last_error ? driver->last_error->text : "");
	view_set_time(item, "since", driver->since_usec);
	view_set_time(item, "nextRetry", driver->retry_usec);
	return 0;
}

void drivers_view(const struct drivers *drivers, const char *name, struct cJSON *items)
{
	struct collection collection = { .drivers = drivers, .name = name, .items = items };

	if (drivers)
		(void) csi_drivers_walk(drivers_table(drivers), add_driver, &collection);
}

/* ---- metrics ---- */

struct tally {
	size_t counts[CSI_DRIVER_STATE_COUNT];
};

static int count_state(const struct csi_driver *driver, void *userdata)
{
	struct tally *tally = userdata;

	tally->counts[driver->state]++;
	return 0;
}

/* What others named, without what would end it. */
static void print_text(FILE *file, const char *text)
{
	for (const char *at = text; *at; at++)
		(void) fputc(*at == '"' || *at == '\\' || (unsigned char) *at < ' ' ? '_' : *at,
			     file);
}

/* By kubelet's name: the sockets of registrars, and those of them that are registered. */
static int print_plugin(const struct csi_driver *driver, void *userdata)
{
	static const char *const states[] = { "desired_state_of_world", "actual_state_of_world" };
	size_t count = driver->state == CSI_DRIVER_GONE    ? 0
		       : driver->state == CSI_DRIVER_READY ? 2
							   : 1;

	for (size_t i = 0; i < count; i++) {
		(void) fputs("plugin_manager_total_plugins{socket_path=\"", userdata);
		print_text(userdata, driver->registration_socket);
		(void) fprintf(userdata, "\",state=\"%s\"} 1\n", states[i]);
	}
	return 0;
}

/* Names are checked before a driver is registered; those of calls by hand are not. */
static void print_labels(FILE *file, const char *suffix, const struct csi_log_sum *sum)
{
	(void) fprintf(file, "csi_operations_seconds%s{driver_name=\"", suffix);
	print_text(file, sum->driver);
	(void) fprintf(file, "\",grpc_status_code=\"%s\",method_name=\"%s\",migrated=\"false\"",
		       grpc_code_name(sum->code), csi_method_row(sum->method)->path);
}

static int print_sum(const struct csi_log_sum *sum, void *userdata)
{
	static const double bounds[] = { .1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600 };
	FILE *file = userdata;

	static_assert(ARRAY_SIZE(bounds) == ARRAY_SIZE(sum->buckets), "a bound for each bucket");
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		print_labels(file, "_bucket", sum);
		(void) fprintf(file, ",le=\"%g\"} %" PRIu64 "\n", bounds[i], sum->buckets[i]);
	}
	print_labels(file, "_bucket", sum);
	(void) fprintf(file, ",le=\"+Inf\"} %" PRIu64 "\n", sum->count);
	print_labels(file, "_sum", sum);
	(void) fprintf(file, "} %g\n", (double) sum->total_usec / 1e6);
	print_labels(file, "_count", sum);
	(void) fprintf(file, "} %" PRIu64 "\n", sum->count);
	return 0;
}

void drivers_print_metrics(const struct drivers *drivers, FILE *file)
{
	struct tally tally = { { 0 } };

	assert(file);
	if (!drivers)
		return;
	(void) fputs("# HELP csi_operations_seconds How long calls to CSI drivers take.\n"
		     "# TYPE csi_operations_seconds histogram\n",
		     file);
	(void) csi_log_walk_sums(drivers_log(drivers), print_sum, file);
	(void) fputs("# HELP plugin_manager_total_plugins Sockets of registrars, as seen and as "
		     "registered.\n# TYPE plugin_manager_total_plugins gauge\n",
		     file);
	(void) csi_drivers_walk(drivers_table(drivers), print_plugin, file);
	(void) fputs("# HELP podvol_csi_drivers CSI drivers of this node.\n"
		     "# TYPE podvol_csi_drivers gauge\n",
		     file);
	(void) csi_drivers_walk(drivers_table(drivers), count_state, &tally);
	for (size_t i = 0; i < CSI_DRIVER_STATE_COUNT; i++)
		(void) fprintf(file, "podvol_csi_drivers{state=\"%s\"} %zu\n", state_names[i],
			       tally.counts[i]);
}

void plugins_view(const char *name, struct cJSON *items)
{
	for (const struct volume_plugin *const *at = plugin_list(); *at; at++) {
		const struct volume_plugin *plugin = *at;
		struct cJSON *item;

		if (name && strcmp(plugin->name, name) != 0)
			continue;
		item = json_add_object(items, NULL);
		(void) json_set_string(item, "name", plugin->name);
		(void) json_set_bool(item, "inTree", true);
		(void) json_set_string(item, "state", "built in");
		(void) json_set_bool(item, "deviceMountable", plugin->new_device_mounter);
		(void) json_set_bool(item, "block", plugin->new_block_mapper);
		(void) json_set_bool(item, "mountOptions", plugin->supports_mount_options);
		(void) json_set_bool(item, "remounts", plugin->requires_remount);
		(void) json_set_bool(item, "reconstructed", plugin->construct_volume_spec);
	}
}
