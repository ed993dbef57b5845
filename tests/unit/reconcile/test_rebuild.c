/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rebuild - what ledger and directories say together, as a table of cases; and without a
 * takeover the ledger alone decides what is managed
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "reconcile/reconcile.h"

#include <string.h>

#define PLUGIN "example.com/fake"   /* device-mountable, as local volumes are */
#define PLAIN  "example.com/plain"  /* a volume of one pod, as emptyDirs are */
#define NEVER  "example.com/never"  /* leaves no directory, as hostPath */
#define DRIVEN "example.com/driven" /* a driver mounts, or does not, and stages by other names */
#define GONE   "example.com/gone"   /* of a release before */

static int construct(const struct plugin_host *host, const char *pod_uid, const char *volume_name,
		     bool block, struct volume_spec *ret, struct failure *reterr)
{
	if (strncmp(volume_name, "bad", 3) == 0)
		return failed_plain(reterr, -EINVAL, "nobody made it");
	*ret = (struct volume_spec){ .name = volume_name, .block = block };
	return 0;
}

static int get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	*ret = strdup(spec->name);
	return 0;
}

static bool is_device_mountable(const struct volume_spec *spec)
{
	return true;
}

static char *get_path(const struct volume_request *request)
{
	char *path;

	return asprintf(&path, "%s/%s/%s", request->host->root_dir, request->pod_uid,
			request->volume_name) < 0
		       ? NULL
		       : path;
}

static char *get_device_mount_path(const struct volume_request *request)
{
	char *path;

	return asprintf(&path, "%s/mounts/%s", request->host->root_dir, request->volume_name) < 0
		       ? NULL
		       : path;
}

static int no_stages(const struct volume_request *request, struct stage_list *ret,
		     struct failure *reterr)
{
	return -ENOSYS;
}

static char *get_found_name(const char *unique_name)
{
	char *name;

	return asprintf(&name, "d/%s", strrchr(unique_name, '/') + 1) < 0 ? NULL : name;
}

static const struct volume_plugin plugins[] = {
	{ .name = PLUGIN,
	  .get_volume_name = get_volume_name,
	  .can_device_mount = is_device_mountable,
	  .new_unmounter = no_stages,
	  .new_block_unmapper = no_stages,
	  .get_path = get_path,
	  .get_device_mount_path = get_device_mount_path,
	  .construct_volume_spec = construct },
	{ .name = PLAIN,
	  .get_volume_name = get_volume_name,
	  .new_unmounter = no_stages,
	  .get_path = get_path,
	  .construct_volume_spec = construct },
	{ .name = DRIVEN,
	  .get_volume_name = get_volume_name,
	  .can_device_mount = is_device_mountable,
	  .new_unmounter = no_stages,
	  .get_path = get_path,
	  .get_device_mount_path = get_device_mount_path,
	  .traits = VOLUME_MAY_LACK_MOUNT,
	  .get_found_name = get_found_name,
	  .construct_volume_spec = construct },
	{ .name = NEVER, .get_volume_name = get_volume_name, .new_unmounter = no_stages },
};

const struct volume_plugin *__wrap_plugin_by_name(const char *name);

const struct volume_plugin *__wrap_plugin_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		if (strcmp(name, plugins[i].name) == 0)
			return &plugins[i];
	return NULL;
}

static const struct plugin_host host = { .root_dir = "/r", .root_fd = -EBADF };

/* ---- cases ---- */

enum { ROWS_MAX = 4, FOUND_MAX = 5 };

/* A row, short: the unique name follows from the plugin. */
struct short_row {
	const char *plugin, *pod_uid; /* NULL: the device */
	const char *name;
	enum mount_state state;
	enum unfinished unfinished;
	bool block;
};

struct rebuild_case {
	const char *name;
	bool takeover, adopts_only;
	struct short_row rows[ROWS_MAX];
	struct found_volume found[FOUND_MAX];
	const char *reports; /* "verdict uid/plugin/volume;" */
	const char *entries; /* "unique name device-state(pod state ...) " */
};

#define ROW(plugin_, uid, volume, state_, ...)                                                     \
	{                                                                                          \
		.plugin = plugin_, .pod_uid = uid, .name = volume, .state = state_, __VA_ARGS__    \
	}

/* What there is on disk: mounted, or a directory that is none. */
#define AT(uid, plugin, volume)                                                                    \
	{                                                                                          \
		.pod_uid = uid, .plugin_name = plugin, .volume_name = volume                       \
	}
#define MOUNTED(uid, plugin, volume)                                                               \
	{                                                                                          \
		.pod_uid = uid, .plugin_name = plugin, .volume_name = volume,                      \
		.is_mount_point = true                                                             \
	}
#define BLOCK(uid, plugin, volume)                                                                 \
	{                                                                                          \
		.pod_uid = uid, .plugin_name = plugin, .volume_name = volume, .block = true        \
	}
#define SUB_PATHS(uid, volume)                                                                     \
	{                                                                                          \
		.pod_uid = uid, .plugin_name = "", .volume_name = volume, .sub_paths = true        \
	}

static const struct rebuild_case cases[] = {
	{ .name = "nothing known, nothing found", .reports = "", .entries = "" },
	{ .name = "nothing known, nothing found, a takeover",
	  .takeover = true,
	  .reports = "",
	  .entries = "" },

	/* -- the ledger alone: case 348, case 349 -- */
	{ .name = "a known volume is uncertain",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE), ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { MOUNTED("a", PLUGIN, "pv") },
	  .reports = "",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "the same with its staged device",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE), ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { MOUNTED("a", PLUGIN, "pv"), MOUNTED("", PLUGIN, "pv") },
	  .reports = "",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "an intent without its result is adopted",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_ABSENT), ROW(PLUGIN, "a", "pv", MOUNT_ABSENT) },
	  .reports = "gone a/" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "a volume without a device stays without",
	  .rows = { ROW(PLAIN, "a", "room", MOUNT_DONE), ROW(PLAIN, "b", "room", MOUNT_DONE) },
	  .found = { AT("b", PLAIN, "room"), AT("a", PLAIN, "room") },
	  .reports = "",
	  .entries = PLAIN "/a-room absent(a uncertain) " PLAIN "/b-room absent(b uncertain) " },
	{ .name = "file systems and block volumes are apart",
	  .rows = { ROW(PLUGIN, "a", "pv", MOUNT_DONE, .block = true) },
	  .found = { MOUNTED("a", PLUGIN, "pv") },
	  .reports = "gone a/" PLUGIN "/pv block;foreign a/" PLUGIN "/pv mounted;",
	  .entries = PLUGIN "/pv absent(a uncertain) " },

	/* -- the ledger and the kernel contradict each other -- */
	{ .name = "mounted, says the row, and there is nothing",
	  .rows = { ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .reports = "gone a/" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv absent(a uncertain) " },
	{ .name = "mounted, says the row, and there is but a directory",
	  .rows = { ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { AT("a", PLUGIN, "pv") },
	  .reports = "not-mounted a/" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv absent(a uncertain) " },
	{ .name = "uncertain, says the row: then a directory is not a contradiction",
	  .rows = { ROW(PLUGIN, "a", "pv", MOUNT_UNCERTAIN) },
	  .found = { AT("a", PLUGIN, "pv") },
	  .reports = "",
	  .entries = PLUGIN "/pv absent(a uncertain) " },
	{ .name = "a volume that need not be a mount",
	  .rows = { ROW(PLAIN, "a", "room", MOUNT_DONE) },
	  .found = { AT("a", PLAIN, "room") },
	  .reports = "",
	  .entries = PLAIN "/a-room absent(a uncertain) " },

	{ .name = "what a driver has need not be a mount, and is staged under its own name",
	  .rows = { ROW(DRIVEN, NULL, "pv", MOUNT_DONE), ROW(DRIVEN, "a", "pv", MOUNT_DONE) },
	  .found = { AT("a", DRIVEN, "pv"), AT("", DRIVEN, "d/pv"), AT("", DRIVEN, "e/pv") },
	  .reports = "foreign /" DRIVEN "/e/pv;",
	  .entries = DRIVEN "/pv uncertain(a uncertain) " },

	/* -- half steps -- */
	{ .name = "a stage without its publish",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE) },
	  .found = { MOUNTED("", PLUGIN, "pv") },
	  .reports = "unused-device /" PLUGIN "/pv mounted;",
	  .entries = PLUGIN "/pv uncertain() " },
	{ .name = "a format without its mount",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_UNCERTAIN, .unfinished = UNFINISHED_FORMAT) },
	  .reports = "unfinished:format /" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv uncertain:format() " },
	{ .name = "a publish that had begun",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE),
		    ROW(PLUGIN, "a", "pv", MOUNT_UNCERTAIN, .unfinished = UNFINISHED_SET_UP) },
	  .found = { MOUNTED("a", PLUGIN, "pv") },
	  .reports = "unfinished:set-up a/" PLUGIN "/pv mounted;",
	  .entries = PLUGIN "/pv uncertain(a uncertain:set-up) " },
	{ .name = "half an ownership walk",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE),
		    ROW(PLUGIN, "a", "pv", MOUNT_UNCERTAIN, .unfinished = UNFINISHED_OWNERSHIP) },
	  .found = { MOUNTED("a", PLUGIN, "pv") },
	  .reports = "unfinished:ownership a/" PLUGIN "/pv mounted;",
	  .entries = PLUGIN "/pv uncertain(a uncertain:ownership) " },
	{ .name = "a publish without its unpublish",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE),
		    ROW(PLUGIN, "a", "pv", MOUNT_DONE, .unfinished = UNFINISHED_TEARDOWN) },
	  .found = { AT("a", PLUGIN, "pv") },
	  .reports = "unfinished:teardown a/" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv uncertain(a uncertain:teardown) " },
	{ .name = "an unstage that had begun",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE, .unfinished = UNFINISHED_TEARDOWN) },
	  .reports = "unfinished:teardown /" PLUGIN "/pv;",
	  .entries = PLUGIN "/pv uncertain:teardown() " },

	/* -- what no row speaks of -- */
	{ .name = "a directory alone is foreign",
	  .rows = { ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { MOUNTED("z", PLUGIN, "pv"), MOUNTED("a", PLUGIN, "pv"),
		     AT("a", PLAIN, "other"), MOUNTED("", PLUGIN, "else") },
	  .reports = "foreign /" PLUGIN "/else mounted;foreign a/" PLAIN "/other;"
		     "foreign z/" PLUGIN "/pv mounted;",
	  .entries = PLUGIN "/pv absent(a uncertain) " },
	{ .name = "sub-paths belong to their volume",
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE), ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { SUB_PATHS("z", "pv"), SUB_PATHS("a", "pv"), MOUNTED("a", PLUGIN, "pv"),
		     SUB_PATHS("a", "other") },
	  .reports = "foreign a//other;foreign z//pv;",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "a lost ledger: all is foreign until somebody wants it",
	  .found = { MOUNTED("a", PLUGIN, "pv"), MOUNTED("", PLUGIN, "pv") },
	  .reports = "foreign /" PLUGIN "/pv mounted;foreign a/" PLUGIN "/pv mounted;",
	  .entries = "" },
	{ .name = "case 353: an unknown plugin's row is seen and left alone",
	  .rows = { ROW(GONE, "a", "pv", MOUNT_DONE) },
	  .found = { MOUNTED("a", GONE, "pv") },
	  .reports = "unknown a/" GONE "/pv mounted;",
	  .entries = GONE "/a-pv(no plugin) absent(a uncertain) " },

	/* -- a takeover -- */
	{ .name = "a mount and the device behind it",
	  .takeover = true,
	  .found = { MOUNTED("a", PLUGIN, "pv") },
	  .reports = "taken-over a/" PLUGIN "/pv mounted [device];taken-over a/" PLUGIN
		     "/pv mounted [/r/a/pv];",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "two pods of one device, staged",
	  .takeover = true,
	  .found = { MOUNTED("b", PLUGIN, "pv"), MOUNTED("", PLUGIN, "pv"),
		     MOUNTED("a", PLUGIN, "pv") },
	  .reports = "taken-over a/" PLUGIN "/pv mounted [device];taken-over a/" PLUGIN
		     "/pv mounted [/r/a/pv];taken-over b/" PLUGIN "/pv mounted [/r/b/pv];",
	  .entries = PLUGIN "/pv uncertain(a uncertain b uncertain) " },
	{ .name = "a device that no pod has",
	  .takeover = true,
	  .found = { MOUNTED("", PLUGIN, "pv") },
	  .reports = "taken-over /" PLUGIN "/pv mounted [device];",
	  .entries = PLUGIN "/pv uncertain() " },
	{ .name = "a device that no pod has stays foreign unless unused ones are taken",
	  .takeover = true,
	  .adopts_only = true,
	  .found = { MOUNTED("", PLUGIN, "pv") },
	  .reports = "foreign /" PLUGIN "/pv mounted;",
	  .entries = "" },
	{ .name = "beside what is managed already",
	  .takeover = true,
	  .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE), ROW(PLUGIN, "a", "pv", MOUNT_DONE) },
	  .found = { MOUNTED("a", PLUGIN, "pv"), MOUNTED("b", PLUGIN, "pv") },
	  .reports = "taken-over b/" PLUGIN "/pv mounted [/r/b/pv];",
	  .entries = PLUGIN "/pv uncertain(a uncertain b uncertain) " },
	{ .name = "sub-paths come along",
	  .takeover = true,
	  .found = { SUB_PATHS("a", "room"), AT("a", PLAIN, "room"), SUB_PATHS("a", "other") },
	  .reports = "taken-over a/" PLAIN "/room [/r/a/room];foreign a//other;",
	  .entries = PLAIN "/a-room absent(a uncertain) " },
	{ .name = "a block volume",
	  .takeover = true,
	  .found = { BLOCK("a", PLUGIN, "pv"), BLOCK("", PLUGIN, "pv") },
	  .reports = "taken-over a/" PLUGIN "/pv block [device];taken-over a/" PLUGIN
		     "/pv block [/r/a/pv];",
	  .entries = PLUGIN "/pv uncertain(a uncertain) " },
	{ .name = "the empty directory of a mount is for the cleaning of directories",
	  .takeover = true,
	  .found = { AT("a", PLUGIN, "pv") },
	  .reports = "foreign a/" PLUGIN "/pv;",
	  .entries = "" },
	{ .name = "what a driver published is taken over without a mount, and what it staged",
	  .takeover = true,
	  .adopts_only = true,
	  .found = { AT("a", DRIVEN, "pv"), AT("", DRIVEN, "d/pv") },
	  .reports = "taken-over a/" DRIVEN "/pv [device];taken-over a/" DRIVEN "/pv [/r/a/pv];",
	  .entries = DRIVEN "/pv uncertain(a uncertain) " },
	{ .name = "what a plugin does not recognise stays what it is",
	  .takeover = true,
	  .found = { AT("a", PLAIN, "bad"), MOUNTED("b", PLUGIN, "bad") },
	  .reports = "not-understood a/" PLAIN "/bad (nobody made it);not-understood b/" PLUGIN
		     "/bad mounted (nobody made it);",
	  .entries = "" },
	{ .name = "block volumes of who has none",
	  .takeover = true,
	  .found = { BLOCK("a", PLAIN, "room") },
	  .reports = "not-understood a/" PLAIN "/room block (no plugin can unmount such a volume);",
	  .entries = "" },
	{ .name = "a device of who has none",
	  .takeover = true,
	  .found = { MOUNTED("", PLAIN, "room") },
	  .reports = "not-understood /" PLAIN "/room mounted (such a volume has no device);",
	  .entries = "" },
	{ .name = "plugins that we do not have, or that leave no directory",
	  .takeover = true,
	  .found = { MOUNTED("a", GONE, "pv"), AT("a", NEVER, "host") },
	  .reports = "foreign a/" GONE "/pv mounted;foreign a/" NEVER "/host;",
	  .entries = "" },
};

/* ---- running one ---- */

struct world {
	struct dirty_set *dirty;
	struct actual *actual;
	char reports[1024], entries[1024];
};

static const char *const unfinished_words[] = { [UNFINISHED_NOTHING] = "",
						[UNFINISHED_SET_UP] = ":set-up",
						[UNFINISHED_FORMAT] = ":format",
						[UNFINISHED_OWNERSHIP] = ":ownership",
						[UNFINISHED_TEARDOWN] = ":teardown" };

static void append(char text[1024], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char text[1024], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text + length, 1024 - length, format, arguments);
	va_end(arguments);
	assert_true(strlen(text) < 1023);
}

static void note(const struct rebuild_report *report, void *userdata)
{
	static const char *const names[REBUILD_VERDICT_COUNT] = {
		[REBUILD_GONE] = "gone",
		[REBUILD_NOT_MOUNTED] = "not-mounted",
		[REBUILD_UNFINISHED] = "unfinished",
		[REBUILD_UNUSED_DEVICE] = "unused-device",
		[REBUILD_UNKNOWN_PLUGIN] = "unknown",
		[REBUILD_TAKEN_OVER] = "taken-over",
		[REBUILD_NOT_UNDERSTOOD] = "not-understood",
		[REBUILD_FOREIGN] = "foreign",
	};
	const struct found_volume *volume = report->volume;
	struct world *world = userdata;

	append(world->reports, "%s", names[report->verdict]);
	if (report->verdict == REBUILD_UNFINISHED)
		append(world->reports, "%s", unfinished_words[report->row->unfinished]);
	append(world->reports, " %s/%s/%s%s%s", volume->pod_uid, volume->plugin_name,
	       volume->volume_name, volume->block ? " block" : "",
	       volume->is_mount_point ? " mounted" : "");
	if (report->verdict == REBUILD_TAKEN_OVER) {
		assert_int_equal(report->row->state, MOUNT_UNCERTAIN);
		assert_int_equal(report->row->unfinished, UNFINISHED_NOTHING);
		append(world->reports, " [%s]",
		       report->row->entry.pod_uid ? report->row->entry.path : "device");
	}
	if (report->why)
		append(world->reports, " (%s)", report->why);
	append(world->reports, ";");
}

static void describe_entries(struct world *world)
{
	const struct actual_volume *volume = actual_first(world->actual);
	const struct actual_pod *pod;

	for (; volume; volume = volume->hh.next) {
		append(world->entries, "%s%s %s%s(", volume->unique_name,
		       volume->plugin ? "" : "(no plugin)", mount_state_name(volume->device_state),
		       unfinished_words[volume->device_left]);
		assert_int_equal(volume->device_from_rebuild, volume->device_state != MOUNT_ABSENT);
		for (pod = volume->pods; pod; pod = pod->hh.next) {
			append(world->entries, "%s%s %s%s", pod == volume->pods ? "" : " ",
			       pod->pod_uid, mount_state_name(pod->state),
			       unfinished_words[pod->left]);
			assert_true(pod->from_rebuild);
		}
		append(world->entries, ") ");
	}
}

static struct ledger_row long_row(const struct short_row *row, char unique_name[128])
{
	bool device_mountable =
		strcmp(row->plugin, PLUGIN) == 0 || strcmp(row->plugin, DRIVEN) == 0;

	if (device_mountable)
		(void) snprintf(unique_name, 128, "%s/%s", row->plugin, row->name);
	else
		(void) snprintf(unique_name, 128, "%s/%s-%s", row->plugin, row->pod_uid, row->name);
	return (struct ledger_row){ .entry = { .unique_name = unique_name,
					       .plugin_name = row->plugin,
					       .spec_name = row->name,
					       .device_mountable = device_mountable,
					       .block = row->block,
					       .pod_uid = row->pod_uid,
					       .pod_key = "default/a",
					       .outer_name = "data",
					       .path = "/pods/a/pv" },
				    .state = row->state,
				    .device_path = "/dev/sdb",
				    .device_mount_path = "/global",
				    .unfinished = row->unfinished };
}

static int run_case(struct world *world, const struct rebuild_case *one)
{
	struct found_volume volumes[FOUND_MAX];
	struct found_list list = { .volumes = volumes };
	char names[ROWS_MAX][128];
	struct ledger_row rows[ROWS_MAX];
	struct rebuild_input input = { .rows = rows,
				       .found = &list,
				       .takeover = one->takeover,
				       .takes_unused = one->takeover && !one->adopts_only,
				       .host = &host };

	for (; input.row_count < ROWS_MAX && one->rows[input.row_count].plugin; input.row_count++)
		rows[input.row_count] =
			long_row(&one->rows[input.row_count], names[input.row_count]);
	for (; list.count < FOUND_MAX && one->found[list.count].plugin_name; list.count++)
		volumes[list.count] = one->found[list.count];
	return rebuild(world->actual, &input, note, world);
}

static struct world *world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(actual_new(world->dirty, &world->actual), 0);
	return world;
}

static void world_free(struct world *world)
{
	actual_free(world->actual);
	dirty_set_free(world->dirty);
	free(world);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *world = world_new();
		int adopted = run_case(world, &cases[i]);

		print_message("# %s: %d\n", cases[i].name, adopted);
		describe_entries(world);
		assert_string_equal(world->reports, cases[i].reports);
		assert_string_equal(world->entries, cases[i].entries);
		assert_int_equal(dirty_count(world->dirty), actual_count(world->actual));
		world_free(world);
	}
}

/* ---- what the table does not show ---- */

static void test_everything_of_a_row_comes_back(void **state)
{
	struct world *world = world_new();
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	assert_int_equal(
		run_case(world,
			 &(struct rebuild_case){ .rows = { ROW(PLUGIN, NULL, "pv", MOUNT_DONE),
							   ROW(PLUGIN, "a", "pv", MOUNT_DONE) } }),
		2);
	volume = actual_find(world->actual, PLUGIN "/pv");
	assert_ptr_equal(volume->plugin, &plugins[0]);
	assert_string_equal(volume->device_path, "/dev/sdb");
	assert_string_equal(volume->device_mount_path, "/global");
	pod = actual_find_pod(volume, "a");
	assert_string_equal(pod->outer_name, "data");
	assert_string_equal(pod->pod_key, "default/a");
	assert_string_equal(pod->path, "/pods/a/pv");
	assert_false(pod->taken_over);
	world_free(world);
}

static void test_what_is_taken_over_has_its_paths(void **state)
{
	struct world *world = world_new();
	const struct actual_volume *volume;

	assert_int_equal(
		run_case(world, &(struct rebuild_case){ .takeover = true,
							.found = { MOUNTED("a", PLUGIN, "pv") } }),
		2);
	volume = actual_find(world->actual, PLUGIN "/pv");
	assert_string_equal(volume->device_path, "");
	assert_string_equal(volume->device_mount_path, "/r/mounts/pv");
	assert_string_equal(volume->spec_name, "pv");
	assert_string_equal(actual_find_pod(volume, "a")->path, "/r/a/pv");
	assert_string_equal(actual_find_pod(volume, "a")->outer_name, "pv");
	assert_true(actual_find_pod(volume, "a")->taken_over);
	world_free(world);
}

/* What comes of it is what comes of any other volume: nothing before all pods are known, then a
 * teardown from the pod on; and nothing at all of a plugin that we lack. */
static void test_plans_after_a_rebuild(void **state)
{
	static const struct {
		struct rebuild_case one;
		bool may_unmount;
		size_t steps;
	} plans[] = {
		{ { .takeover = true, .found = { MOUNTED("a", PLUGIN, "pv") } }, false, 0 },
		{ { .takeover = true, .found = { MOUNTED("a", PLUGIN, "pv") } }, true, 1 },
		{ { .takeover = false, .found = { MOUNTED("a", PLUGIN, "pv") } }, true, 0 },
		{ { .rows = { ROW(GONE, "a", "pv", MOUNT_DONE) } }, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		struct reconcile_conditions conditions = { .may_unmount = plans[i].may_unmount };
		struct world *world = world_new();
		struct plan plan = { .count = 0 };
		struct desired *desired;

		assert_true(run_case(world, &plans[i].one) >= 0);
		assert_int_equal(desired_new(world->dirty, &desired), 0);
		if (actual_first(world->actual))
			assert_int_equal(reconcile_volume(desired, world->actual,
							  actual_first(world->actual)->unique_name,
							  &conditions, &plan),
					 0);
		assert_int_equal(plan.count, plans[i].steps);
		if (plan.count > 0)
			assert_int_equal(plan.steps[0].kind, STEP_UNPUBLISH);
		plan_done(&plan);
		desired_free(desired);
		world_free(world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_everything_of_a_row_comes_back),
		cmocka_unit_test(test_what_is_taken_over_has_its_paths),
		cmocka_unit_test(test_plans_after_a_rebuild),
	};

	return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
