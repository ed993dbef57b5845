/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clock_jumps - the real clock is set while podvold works: years ahead, years back, before its
 * own beginning, again and again, or it stands still
 *
 * Everything that is wanted comes about as if it had not been touched: every scenario, back-offs,
 * files that follow their objects, events, watches, reported times. Waits go by the
 * monotonic clock, which the kernel does not let be set; tests/system/restart/test_clock
 * starts podvold where that one is another.
 */
#include "faults.h"
#include "scenarios.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "client/podvol.h"
#include "fast_clock.h"
#include "object/json/json.h"

#include <dirent.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPEED = 8, PATIENCE_MSEC = 60000, JUMPS = 6, EVENT_LOOKS_MAX = 3000 };

#define SETTINGS_AT "pods/uid-web/volumes/kubernetes.io~configmap/conf"

/* A day in 2026 is where all of them leave from. */
static void jump(unsigned int kind)
{
	static const int64_t seconds[JUMPS - 1] = {
		1800000000LL + 10 * 365 * 86400, /* years ahead */
		1800000000LL - 10 * 365 * 86400, /* and years back */
		0,                               /* a machine without a clock of its own */
		-5,                              /* which no kernel shows */
		7258118400LL,                    /* 2200: more than 32 bits */
	};

	if (kind % JUMPS == JUMPS - 1)
		real_clock_swing();
	else
		real_clock_set(seconds[kind % JUMPS]);
}

/* ---- a world, one after the other ---- */

static struct fault_world world;

static void begin(unsigned int kind)
{
	faults_exempt_thread(true);
	world_make(&world, kind);
	fast_clock_set(SPEED);
}

static void expect_start(void)
{
	if (!world_start(&world))
		fail_msg("it does not start: %s", world.missing);
}

static void expect_until(const char *const *wants)
{
	if (!world_until(&world, wants))
		fail_msg("not '%s'", world.missing);
}

/* All that is there goes, and leaves nothing. */
static void expect_end(void)
{
	struct fault_damage damage;

	world_stop(&world);
	if (!world_drain(&world))
		fail_msg("the drain left something");
	damage = world_damage(&world);
	assert_int_equal(damage.mounts + damage.descriptors + damage.devices + damage.memory, 0);
	assert_int_equal(damage.ledger_rows + damage.directories + damage.bytes_changed, 0);
	real_clock_reset();
	fast_clock_set(1);
	if (world.device.fd >= 0)
		loop_image_done(&world.device);
	(void) sandbox_teardown(NULL); /* of what is there now, the mounts are others' */
}

/* ---- every scenario ---- */

/* Each step comes at another time than the one before it. */
static void live(const struct scenario *scenario, unsigned int first_jump)
{
	begin(scenario->world);
	for (unsigned int i = 0; i < SCENARIO_STEPS_MAX && scenario->steps[i].act; i++) {
		const struct scenario_step *step = &scenario->steps[i];

		jump(first_jump + i);
		step->act(&world);
		if (!world_until(&world, step->wants))
			fail_msg("'%s', step %u, jump %u: not '%s'", scenario->name, i,
				 (first_jump + i) % JUMPS, world.missing);
		if (step->stays_msec > 0) {
			world_turn(&world, step->stays_msec);
			expect_until(step->wants);
		}
	}
	world.ledger_rows = 0;
	if (world.container > 0)
		(void) kill(world.container, SIGKILL);
	expect_end();
}

/* All jumps at each step of each are in the long form: CLOCK_JUMPS=all. */
static void test_scenarios(void **state)
{
	const char *form = getenv("CLOCK_JUMPS");
	unsigned int rounds = form && strcmp(form, "all") == 0 ? JUMPS : 1;

	for (size_t i = 0; i < scenario_count; i++)
		for (unsigned int round = 0; round < rounds; round++)
			live(&scenarios[i], (unsigned int) i + round);
}

/* ---- back-offs and events ---- */

static void write_failing_pod(void)
{
	world_write_manifest(
		"web.yaml",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: uid-web}\nspec:\n"
		"  containers:\n  - name: main\n    image: none\n    volumeMounts:\n"
		"    - {name: one, mountPath: /one}\n    - {name: two, mountPath: /two}\n"
		"  volumes:\n  - {name: one, hostPath: {path: @/one, type: Directory}}\n"
		"  - {name: two, hostPath: {path: @/two, type: Directory}}\n");
}

static long long attempts(void)
{
	cleanup_json struct cJSON *view = agent_view_operations(world.agent);
	const struct cJSON *item = json_first(json_get(view, "items"));
	int64_t most = 0;

	for (; item; item = json_next(item)) {
		int64_t number = 0;

		(void) json_int64(json_get(item, "attempts"), &number);
		most = number > most ? number : most;
	}
	return most;
}

static bool turn_until_attempts(long long wanted)
{
	unsigned int turns = 0;

	for (; attempts() < wanted && turns < PATIENCE_MSEC; turns++) {
		jump(turns);
		world_turn(&world, 1);
	}
	return turns < PATIENCE_MSEC;
}

/* The k-th try comes after 0.5 + 1 + 2 ... seconds: not before, and it does come. */
static void test_back_off(void **state)
{
	static const char *const wants[] = { "rows 2", NULL };
	uint64_t begun;

	begin(WORLD_PLAIN);
	expect_start();
	begun = monotonic_usec();
	write_failing_pod();
	assert_true(turn_until_attempts(4));
	assert_true(monotonic_usec() - begun >= 3500 * USEC_PER_MSEC);
	assert_in_range(attempts(), 4, 5);
	sandbox_mkdir("one", 0755);
	sandbox_mkdir("two", 0755);
	expect_until(wants);
	world_remove_manifest("web.yaml");
	expect_until((const char *const[]){ "rows 0", NULL });
	expect_end();
}

struct found_events {
	unsigned int count;
	long long told;
};

static int on_event(const struct object *object, void *userdata)
{
	static const struct json_limits limits = { .bytes = 65536, .depth = 16 };
	struct found_events *found = userdata;
	cleanup_json struct cJSON *tree = NULL;
	int64_t count = 0;

	assert_int_equal(json_parse(object->json, object->json_length, &limits, &tree, NULL), 0);
	if (strcmp(json_string(json_get(tree, "reason"), ""), "FailedMount") != 0)
		return 0;
	(void) json_int64(json_get(tree, "count"), &count);
	assert_true(json_string(json_get(tree, "firstTimestamp"), "")[0] != '\0');
	assert_true(json_string(json_get(tree, "lastTimestamp"), "")[0] != '\0');
	found->count++;
	found->told += count;
	return 0;
}

/* While the clock stands two events have one time, and still a name each; equal ones are counted
 * in the one that is there, although it is from a later year. */
static void test_events(void **state)
{
	struct found_events found = { 0 };

	begin(WORLD_PLAIN);
	real_clock_set(1800000000);
	expect_start();
	write_failing_pod();
	while (attempts() < 1)
		world_turn(&world, 1);
	assert_true(turn_until_attempts(3));
	real_clock_set(1800000000); /* beneath a clock that swings by years all events are old */
	/* Two volumes failed three times each; the store answers a moment later. */
	for (unsigned int look = 0; look < EVENT_LOOKS_MAX && found.told < 6; look++) {
		found = (struct found_events){ 0 };
		world_turn(&world, 20);
		(void) store_list(agent_store(world.agent), KIND_EVENT, NULL, on_event, &found);
	}
	assert_int_equal(found.count, 2);
	assert_true(found.told >= 6);
	world_remove_manifest("web.yaml");
	expect_until((const char *const[]){ "rows 0", NULL });
	expect_end();
}

/* What began before the clock's beginning is reported as from then. */
static void test_what_is_told_of_times(void **state)
{
	cleanup_json struct cJSON *view = NULL;
	const struct cJSON *item;

	begin(WORLD_PLAIN);
	expect_start();
	write_failing_pod();
	assert_true(turn_until_attempts(4));
	world_turn(&world, 300); /* more than two seconds of the four that it waits now */
	real_clock_set(0);
	view = agent_view_operations(world.agent);
	assert_true(json_count(json_get(view, "items")) > 0);
	for (item = json_first(json_get(view, "items")); item; item = json_next(item)) {
		assert_int_equal(
			strncmp(json_string(json_get(item, "since"), ""), "1970-01-01T00:", 14), 0);
		assert_int_equal(
			strncmp(json_string(json_get(item, "nextRetry"), ""), "1970-01-01T00:", 14),
			0);
	}
	world_remove_manifest("web.yaml");
	expect_until((const char *const[]){ "rows 0", NULL });
	expect_end();
}

/* ---- files that follow their object ---- */

static void write_settings(unsigned int number)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
			"data: {color: color-%u}\n",
			number);
	world_write_manifest("settings.yaml", text);
}

static void write_settings_and_pod(void)
{
	write_settings(0);
	world_write_manifest(
		"web.yaml",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: uid-web}\nspec:\n"
		"  containers:\n  - name: main\n    image: none\n    volumeMounts:\n"
		"    - {name: conf, mountPath: /conf}\n"
		"  volumes:\n  - {name: conf, configMap: {name: settings}}\n");
}

static unsigned int stamped_directories(void)
{
	cleanup_closedir DIR *directory = opendir(sandbox_path("root/" SETTINGS_AT));
	const struct dirent *entry;
	unsigned int count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		count += strncmp(entry->d_name, "..", 2) == 0 && entry->d_type == DT_DIR &&
			 entry->d_name[2] != '\0';
	return count;
}

/* The files of @number are seen, and none of those before are left. */
static void expect_settings(unsigned int number)
{
	char want[128];

	(void) snprintf(want, sizeof(want), "text " SETTINGS_AT "/color color-%u", number);
	expect_until((const char *const[]){ want, NULL });
	assert_int_equal(stamped_directories(), 1);
}

static void test_files(void **state)
{
	unsigned int number = 0;

	begin(WORLD_PLAIN);
	expect_start();
	real_clock_set(1800000000);
	write_settings_and_pod();
	expect_settings(0);
	/* Each directory has the stamp of the one before it. */
	for (number = 1; number < 6; number++) {
		write_settings(number);
		expect_settings(number);
	}
	for (unsigned int i = 0; i < JUMPS; i++, number++) {
		jump(i);
		write_settings(number);
		expect_settings(number);
	}
	world_remove_manifest("web.yaml");
	expect_until((const char *const[]){ "none pods/uid-web", NULL });
	expect_end();
}

/* ---- a watch ---- */

enum { COLORS = 8 };

struct seen {
	unsigned int next; /* the color that is to come */
	bool interrupted;
};

/* A color may be passed over: a watch gets the newest that there is. None comes again. */
static void on_watched(void *userdata, const struct podvol_event *event)
{
	const char *at = strstr(event->object, "color-");
	struct seen *seen = userdata;
	unsigned int color;

	if (event->type == PODVOL_INTERRUPTED || event->type == PODVOL_DELETED)
		seen->interrupted = true;
	if (!at || sscanf(at, "color-%u", &color) != 1)
		return;
	if (color + 1 < seen->next)
		seen->interrupted = true;
	seen->next = color + 1;
}

/* Return: the process's exit status. */
static int watch(const char *socket_path)
{
	struct seen seen = { 0 };
	struct podvol *podvol = NULL;
	struct podvol_watch *watch = NULL;
	const struct podvol_watch_request request = {
		.path = "/api/v1/namespaces/default/configmaps",
		.changed = on_watched,
		.userdata = &seen,
	};
	int r = podvol_connect(socket_path, &podvol);

	r = r < 0 ? r : podvol_watch_open(podvol, &request, &watch);
	while (r >= 0 && seen.next < COLORS && !seen.interrupted) {
		struct pollfd ready = { .fd = podvol_watch_fd(watch), .events = POLLIN };

		r = poll(&ready, 1, PATIENCE_MSEC) == 1 ? podvol_watch_process(watch) : -1;
	}
	podvol_watch_free(watch);
	podvol_free(podvol);
	return r < 0 || seen.interrupted;
}

static void test_watch(void **state)
{
	begin(WORLD_API);
	expect_start();
	write_settings_and_pod();
	expect_settings(0);
	world.client = fork();
	assert_return_code(world.client, errno);
	if (world.client == 0) {
		const char *path = sandbox_path("run/podvol.sock");

		(void) close_range(3, ~0U, 0);
		_exit(watch(path));
	}
	for (unsigned int number = 1; number < COLORS; number++) {
		char want[128];

		jump(number);
		write_settings(number);
		(void) snprintf(want, sizeof(want), "text " SETTINGS_AT "/color color-%u", number);
		while (!sandbox_has("root/" SETTINGS_AT "/color", strchr(want + 5, ' ') + 1))
			world_turn(&world, 1);
	}
	expect_settings(COLORS - 1); /* and the client has ended, well */
	world_remove_manifest("web.yaml");
	expect_until((const char *const[]){ "none pods/uid-web", NULL });
	expect_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenarios), cmocka_unit_test(test_back_off),
		cmocka_unit_test(test_events),    cmocka_unit_test(test_what_is_told_of_times),
		cmocka_unit_test(test_files),     cmocka_unit_test(test_watch),
	};

	(void) signal(SIGPIPE, SIG_IGN); /* as podvold */
	return sandbox_run("clock_jumps", tests, ARRAY_SIZE(tests));
}
