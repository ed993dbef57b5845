/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_world - see sequence_world.h
 *
 * The struct agent has what sync_loop.c, intent.c and step_results.c touch of it; what else they
 * call is passed over in sequence_wraps.c.
 */
#include "sequence_world.h"

#include "sequence_ledger.h"
#include "sequence_wraps.h"
#include "tests/root/sandbox.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS_MAX = 32, ROUNDS_MAX = 6 };

struct sequence_world world;

static struct agent agent;
static const struct object *pods[WORLD_PODS], *volumes[WORLD_VOLUMES], *drivers[2];
static const char *const pod_uids[WORLD_PODS] = { "uid-a", "uid-b", "uid-c" };
static char root[MODEL_PATH_BYTES], storage[MODEL_PATH_BYTES];
static const struct labels no_labels;
static int last_kept_fd; /* descriptors above it are the daemon's */

/* ---- objects ---- */

static const struct object *parse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const struct object *parse(const char *format, ...)
{
	struct failure failure = { .error = 0 };
	const struct object *object = NULL;
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (object_parse_json(text, strlen(text), &object, &failure) < 0)
		fail_msg("%s: %s", text, failure.text);
	return object;
}

static const struct object *make_volume(const char *name, const char *mode, const char *driver,
					const char *volume_mode)
{
	return parse("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{"
		     "\"name\":\"%s\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},"
		     "\"accessModes\":[\"%s\"],\"volumeMode\":\"%s\",\"csi\":{\"driver\":\"%s\","
		     "\"volumeHandle\":\"h-%s\","
		     "\"volumeAttributes\":{\"a\":\"b\"}}}}",
		     name, mode, volume_mode, driver, name);
}

static void make_objects(void)
{
	for (unsigned int i = 0; i < WORLD_PODS; i++)
		pods[i] =
			parse("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
			      "\"p%u\",\"namespace\":\"default\",\"uid\":\"%s\"},\"spec\":{"
			      "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"volumeMounts\":[{"
			      "\"name\":\"inline\",\"mountPath\":\"/i\"}]}],\"volumes\":[{\"name\":"
			      "\"inline\",\"csi\":{\"driver\":\"d\"}}]}}",
			      i, pod_uids[i]);
	volumes[VOLUME_SHARED] = make_volume("shared", "ReadWriteMany", "d", "Filesystem");
	volumes[VOLUME_SINGLE] = make_volume("single", "ReadWriteOncePod", "d", "Filesystem");
	volumes[VOLUME_REPUBLISHED] =
		make_volume("republished", "ReadWriteOnce", "r", "Filesystem");
	volumes[VOLUME_RAW] = make_volume("raw", "ReadWriteMany", "d", "Block");
	for (unsigned int i = 0; i < ARRAY_SIZE(drivers); i++)
		drivers[i] =
			parse("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSIDriver\","
			      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"attachRequired\":false,"
			      "\"requiresRepublish\":%s,\"podInfoOnMount\":true,"
			      "\"fsGroupPolicy\":\"None\",\"volumeLifecycleModes\":["
			      "\"Persistent\",\"Ephemeral\"]}}",
			      i == 0 ? "d" : "r", i == 0 ? "false" : "true");
}

static const struct object *find_object(void *userdata, const struct object_reference *reference)
{
	if (reference->kind != KIND_CSI_DRIVER)
		return NULL;
	return drivers[strcmp(reference->name, "r") == 0];
}

static const struct object_finder finder = { .find = find_object };

/* ---- the node ---- */

void world_open(void)
{
	(void) snprintf(root, sizeof(root), "%s/root", sandbox_dir());
	(void) snprintf(storage, sizeof(storage), "%s/storage", sandbox_dir());
	sandbox_mkdir("root", 0755);
	sandbox_mkdir("storage", 0755);
	make_objects();
	model.storage = storage;
	world.volumes = (1U << WORLD_VOLUMES) - 1;
	if (!model_can_make_devices())
		world.volumes &= ~(1U << VOLUME_RAW);
	agent.host.root_dir = root;
	agent.host.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(agent.host.root_fd, errno);
	last_kept_fd = agent.host.root_fd;
	agent.host.node_name = "node";
	agent.root.fd = agent.host.root_fd;
	agent.sources_complete = true;
}

static void begin_operations(void)
{
	const struct operations_options options = {
		.event = agent.event,
		.host = &agent.host,
		.node_labels = &no_labels,
		.actual = agent.actual,
		.objects = finder,
		.workers = sequence_pool,
		.walkers = sequence_pool,
		.back_off_first_usec = 1,
		.back_off_max_usec = 8,
		.ended = agent_on_ended,
		.note = agent_note_unfinished,
		.retry = agent_on_retry,
		.userdata = &agent,
	};

	assert_int_equal(operations_new(&options, &agent.operations), 0);
}

static void report_rebuilt(const struct rebuild_report *report, void *userdata)
{
}

static void rebuild_actual(void)
{
	struct ledger_row rows[ROWS_MAX];
	struct found_list found = { .count = 0 };
	struct rebuild_input input = { .rows = rows, .found = &found, .host = &agent.host };
	struct failure failure = { .error = 0 };

	input.row_count = sequence_ledger_rows(rows, ARRAY_SIZE(rows));
	if (found_read(agent.root.fd, &found, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_true(rebuild(agent.actual, &input, report_rebuilt, NULL) >= 0);
	found_list_done(&found);
}

void world_start(void)
{
	assert_true(sd_event_new(&agent.event) >= 0);
	assert_true(sd_event_add_defer(agent.event, &agent.turn, agent_on_turn, &agent) >= 0);
	(void) sd_event_source_set_priority(agent.turn, PRIORITY_TURN);
	(void) sd_event_source_set_enabled(agent.turn, SD_EVENT_OFF);
	assert_int_equal(dirty_set_new(NULL, NULL, &agent.dirty), 0);
	assert_int_equal(desired_new(agent.dirty, &agent.desired), 0);
	desired_set_objects(agent.desired, &finder);
	assert_int_equal(actual_new(agent.dirty, &agent.actual), 0);
	agent_fill_options(&agent);
	assert_int_equal(agent_open_drivers(&agent), 0);
	assert_int_equal(drivers_start(agent.drivers, NULL, NULL), 0);
	rebuild_actual();
	begin_operations();
	for (unsigned int pod = 0; pod < WORLD_PODS; pod++)
		for (unsigned int i = 0; i < WORLD_VOLUMES; i++)
			if (world.wants[pod][i])
				world_want(pod, i, true);
	agent_mark_all_dirty(&agent);
	agent_request_turn(&agent);
}

/* Nothing is tidied up: memory is left to the end of the process, descriptors are closed, for there
 * are fewer of them. */
void world_kill(void)
{
	sequence_wraps_kill();
	sequence_ledger_kill();
	model_caller_died();
	assert_int_equal(close_range((unsigned int) last_kept_fd + 1, ~0U, 0), 0);
	agent.plan = (struct plan){ 0 };
	agent.event = NULL;
	agent.turn = NULL;
}

/* A daemon that was not killed in the middle of something leaves no memory behind. */
static void stop(void)
{
	sequence_wraps_run();
	agent.operations = operations_free(agent.operations);
	agent.drivers = drivers_free(agent.drivers);
	agent.desired = desired_free(agent.desired);
	agent.actual = actual_free(agent.actual);
	agent.dirty = dirty_set_free(agent.dirty);
	agent.turn = sd_event_source_unref(agent.turn);
	agent.event = sd_event_unref(agent.event);
	plan_done(&agent.plan);
	agent.plan = (struct plan){ 0 };
}

void world_begin(void)
{
	if (agent.event)
		stop();
	memset(world.wants, 0, sizeof(world.wants));
	sequence_ledger_clear();
	sequence_ledger_fails = false;
	model_begin();
	world_start();
}

/* ---- what is wanted ---- */

static void describe(unsigned int pod, enum world_volume volume, struct volume_spec *ret)
{
	*ret = (struct volume_spec){ .pod = NULL };
	if (volume == VOLUME_INLINE) {
		ret->pod = pods[pod];
		ret->source = &pods[pod]->pod->volumes[0];
		ret->name = ret->source->name;
	} else {
		ret->pv = volumes[volume];
		ret->name = volumes[volume]->meta.name;
		ret->block = volume == VOLUME_RAW;
	}
}

static char *name_of(unsigned int pod, enum world_volume volume)
{
	const struct volume_plugin *plugin = plugin_by_name("kubernetes.io/csi");
	struct volume_spec spec;
	char *unique_name = NULL;

	assert_non_null(plugin);
	describe(pod, volume, &spec);
	assert_int_equal(plugin_unique_name(plugin, &spec, pod_uids[pod], &unique_name, NULL), 0);
	return unique_name;
}

void world_want(unsigned int pod, enum world_volume volume, bool wanted)
{
	cleanup_free char *unique_name = name_of(pod, volume);
	const struct volume_plugin *plugin = plugin_by_name("kubernetes.io/csi");
	const char *const outer = "data";
	struct volume_spec spec;

	world.wants[pod][volume] = wanted;
	if (!wanted) {
		desired_remove(agent.desired, unique_name, pod_uids[pod]);
		return;
	}
	describe(pod, volume, &spec);
	assert_true(desired_add(agent.desired,
				&(struct desired_want){ .unique_name = unique_name,
							.plugin = plugin,
							.device_mountable =
								plugin->can_device_mount(&spec),
							.spec = &spec,
							.pod = pods[pod],
							.outer_names = &outer,
							.outer_name_count = 1,
							.now_usec = monotonic_usec() }) >= 0);
	agent_request_turn(&agent);
}

void world_remount(unsigned int pod, enum world_volume volume)
{
	cleanup_free char *unique_name = name_of(pod, volume);

	desired_request_remount(agent.desired, unique_name, pod_uids[pod]);
	agent_request_turn(&agent);
}

/* Both of the volumes' drivers are this one. */
void world_driver_returns(void)
{
	model.is_there = true;
	sequence_registration.ready(sequence_registration.userdata, "d");
	sequence_registration.ready(sequence_registration.userdata, "r");
	agent_request_turn(&agent);
}

/* ---- its loop ---- */

void world_turn(void)
{
	sequence_ledger_fails = world.fail_commits;
	if (dirty_count(agent.dirty) > 0)
		agent_request_turn(&agent);
	sequence_wraps_run();
	/* Not until nothing is due: what fails is due again at once. */
	for (unsigned int i = 0; i < ROUNDS_MAX && sd_event_run(agent.event, 0) > 0; i++)
		sequence_wraps_run();
}

/* ---- questions ---- */

static const struct actual_pod *entry_of(unsigned int pod, enum world_volume volume)
{
	cleanup_free char *unique_name = name_of(pod, volume);
	const struct actual_volume *have = actual_find(agent.actual, unique_name);

	return have ? actual_find_pod(have, pod_uids[pod]) : NULL;
}

bool world_is_settled(void)
{
	size_t wanted = 0, known = 0;

	for (unsigned int pod = 0; pod < WORLD_PODS; pod++)
		for (unsigned int i = 0; i < WORLD_VOLUMES; i++) {
			const struct actual_pod *entry = entry_of(pod, i);

			wanted += world.wants[pod][i];
			if (world.wants[pod][i] && !(entry && entry->state == MOUNT_DONE))
				return false;
		}
	for (struct actual_volume *have = actual_first(agent.actual); have; have = have->hh.next) {
		known += HASH_COUNT(have->pods);
		if (!have->pods)
			return false;
	}
	return wanted == known && model_count_calls() == 0;
}

/* Where the pod looks: a mount, or a link to a device. */
static bool is_shown(const struct actual_pod *entry, enum world_volume volume)
{
	struct statx facts;

	if (!entry || statx(AT_FDCWD, entry->path, 0, 0, &facts) < 0)
		return false;
	return volume == VOLUME_RAW ? S_ISBLK(facts.stx_mode)
				    : (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

bool world_shows_all(void)
{
	for (unsigned int pod = 0; pod < WORLD_PODS; pod++)
		for (unsigned int i = 0; i < WORLD_VOLUMES; i++)
			if (world.wants[pod][i] && !is_shown(entry_of(pod, i), i))
				return false;
	return true;
}

/* By the path that the driver was given: the pod's mount, or a device's file that ends in its uid.
 */
static bool is_of_mount(const struct actual_entry *entry, const struct model_mount *mount)
{
	const char *name = strrchr(mount->path, '/') + 1;

	return mount->block ? entry->block && strcmp(entry->pod_uid, name) == 0
			    : strcmp(entry->path, mount->path) == 0;
}

static bool has_row(const struct ledger_row *rows, size_t count, const struct model_mount *mount,
		    bool is_device)
{
	for (size_t i = 0; i < count; i++) {
		const struct actual_entry *entry = &rows[i].entry;

		if (is_device != !entry->pod_uid || rows[i].state == MOUNT_ABSENT)
			continue;
		if (is_device ? strstr(entry->unique_name, mount->volume) != NULL
			      : is_of_mount(entry, mount))
			return true;
	}
	return false;
}

void world_check_ledger(void)
{
	struct ledger_row rows[ROWS_MAX];
	size_t count = sequence_ledger_rows(rows, ARRAY_SIZE(rows));

	for (size_t i = 0; i < ARRAY_SIZE(model.staged); i++)
		if (model.staged[i].is_used && !has_row(rows, count, &model.staged[i], true))
			model.violated("'%s' may be staged, and is forgotten",
				       model.staged[i].volume);
	for (size_t i = 0; i < ARRAY_SIZE(model.published); i++)
		if (model.published[i].is_used && !has_row(rows, count, &model.published[i], false))
			model.violated("'%s' may be published at '%s', and is forgotten",
				       model.published[i].volume, model.published[i].path);
}

void world_check_end(void)
{
	unsigned int left = sandbox_mounts_below(root);

	if (left > 0)
		model.violated("%u mounts are left", left);
	if (actual_count(agent.actual) > 0 || !model_is_empty())
		model.violated("something is left in the tables");
}

void world_print(void)
{
	struct ledger_row rows[ROWS_MAX];
	size_t count = sequence_ledger_rows(rows, ARRAY_SIZE(rows));

	for (size_t i = 0; i < count; i++)
		print_message("# ledger: %s %s %s\n", rows[i].entry.unique_name,
			      rows[i].entry.pod_uid ?: "device", mount_state_name(rows[i].state));
	for (struct actual_volume *have = actual_first(agent.actual); have; have = have->hh.next) {
		print_message("# actual: %s device %s\n", have->unique_name,
			      mount_state_name(have->device_state));
		for (struct actual_pod *pod = have->pods; pod; pod = pod->hh.next)
			print_message("# actual: %s %s %s\n", have->unique_name, pod->pod_uid,
				      mount_state_name(pod->state));
	}
}
