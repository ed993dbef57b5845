/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_world - see api_world.h
 */
#include "api_world.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { TURNS_MAX = 1000, TURN_USEC = 10000 };

enum api_form world_form;
enum api_content world_content;
bool world_may_wait;
unsigned int world_rights;

const char world_pv_json[] =
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"disk\"},"
	"\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
	"\"hostPath\":{\"path\":\"/data\"}}}";
const char world_pod_json[] =
	"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
	"\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}";

/* ---- the agent ---- */

static struct cJSON *canned(const char *text)
{
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };
	struct cJSON *tree = NULL;
	struct failure why;

	if (!text)
		text = "{\"items\":[]}";
	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, &why), 0);
	return tree;
}

struct store *agent_store(struct agent *agent)
{
	return agent->store;
}

void agent_check_health(struct agent *agent,
			void (*check)(void *userdata, const struct health_check *check),
			void *userdata)
{
	struct health_check sources = { .name = "sources", .concerns = HEALTH_READY };
	struct health_check operations = { .name = "operations", .concerns = HEALTH_OK };

	if (!agent->ready)
		(void) failed_plain(&sources.why, -EAGAIN, "one is late");
	if (agent->stuck)
		(void) failed_plain(&operations.why, -EBUSY, "%s", agent->stuck);
	check(userdata, &sources);
	check(userdata, &operations);
}

struct cJSON *agent_view_volumes(struct agent *agent, const struct object *pod)
{
	return canned(agent->volumes);
}

struct cJSON *agent_view_volume(struct agent *agent, const char *word)
{
	return canned(agent->volume);
}

struct cJSON *agent_view_operations(struct agent *agent)
{
	return canned(agent->operations);
}

struct cJSON *agent_view_manifests(struct agent *agent)
{
	return canned(agent->manifests);
}

struct cJSON *agent_view_version(struct agent *agent)
{
	return canned(agent->version ? agent->version : "{}");
}

const char *agent_manifest_file_of(struct agent *agent, const struct object *object)
{
	return agent->manifest_file;
}

struct cJSON *agent_view_holds(struct agent *agent, const char *pod_uid)
{
	return canned(agent->holds ? agent->holds : "{\"items\":[]}");
}

int agent_hold_add(struct agent *agent, const struct hold_request *request,
		   char ret_id[HOLD_ID_BYTES], struct failure *reterr)
{
	(void) snprintf(agent->hold_asked, sizeof(agent->hold_asked), "%s/%s %s %s %lld '%s'",
			request->name_space, request->name, request->uid, request->container,
			(long long) request->pid, request->cgroup);
	(void) snprintf(ret_id, HOLD_ID_BYTES, "00000000aa");
	return agent->hold_result < 0 ? failed_plain(reterr, agent->hold_result, "as the test says")
				      : 0;
}

int agent_hold_remove(struct agent *agent, const char *pod_uid, const char *id,
		      struct failure *reterr)
{
	(void) snprintf(agent->hold_asked, sizeof(agent->hold_asked), "release %s %s", pod_uid, id);
	return agent->hold_result < 0 ? failed_plain(reterr, agent->hold_result, "as the test says")
				      : 0;
}

int agent_wait_pod(struct agent *agent, const struct mount_wait_request *request,
		   struct mount_wait **ret)
{
	if (agent->wait_result < 0)
		return agent->wait_result;
	agent->waits++;
	agent->wait_for = request->what;
	(void) snprintf(agent->wait_pod, sizeof(agent->wait_pod), "%s/%s", request->name_space,
			request->name);
	(void) snprintf(agent->wait_uid, sizeof(agent->wait_uid), "%s", request->uid);
	agent->wait_usec = request->timeout_usec;
	agent->wait_done = request->done;
	agent->wait_userdata = request->userdata;
	*ret = (struct mount_wait *) agent;
	return 0;
}

void mount_wait_cancel(struct mount_wait *wait)
{
	struct agent *agent = (struct agent *) wait;

	agent->cancelled++;
	agent->wait_done = NULL;
}

void world_end_wait(struct world *world, int error, const char *why)
{
	struct failure failure = { .error = error };
	struct agent *agent = &world->agent;
	void (*done)(void *userdata, int error, const struct failure *why) = agent->wait_done;

	assert_non_null(done);
	(void) snprintf(failure.text, sizeof(failure.text), "%s", why);
	agent->wait_done = NULL;
	done(agent->wait_userdata, error, &failure);
}

int agent_plan_containers(struct agent *agent, const struct container_mounts_request *request,
			  struct container_mounts_call **ret)
{
	if (agent->plan_result < 0)
		return agent->plan_result;
	agent->plans++;
	(void) snprintf(agent->plan_pod, sizeof(agent->plan_pod), "%s/%s", request->name_space,
			request->name);
	(void) snprintf(agent->plan_container, sizeof(agent->plan_container), "%s",
			request->container ?: "(all)");
	agent->plan_done = request->done;
	agent->plan_userdata = request->userdata;
	*ret = (struct container_mounts_call *) agent;
	return 0;
}

void container_mounts_cancel(struct container_mounts_call *call)
{
	struct agent *agent = (struct agent *) call;

	agent->plans_left++;
	agent->plan_done = NULL;
}

void world_end_plan(struct world *world, int error, const struct container_plan *plan,
		    const char *why)
{
	struct failure failure = { .error = error };
	struct agent *agent = &world->agent;
	container_mounts_fn *done = agent->plan_done;

	assert_non_null(done);
	(void) snprintf(failure.text, sizeof(failure.text), "%s", why);
	agent->plan_done = NULL;
	done(agent->plan_userdata, error, plan, error < 0 ? &failure : NULL);
}

/* ---- requests ---- */

static void count_answer(struct exchange *exchange)
{
	struct world *world =
		(struct world *) ((char *) exchange - offsetof(struct world, exchange));

	world->answers++;
}

void world_prepare(struct world *world, enum api_method method, const char *uri, const char *body)
{
	struct exchange *exchange = &world->exchange;
	struct failure why;

	exchange_abandon(exchange);
	exchange_done(exchange);
	memset(exchange, 0, sizeof(*exchange));
	world->answers = 0;
	exchange->agent = &world->agent;
	exchange->readers = world->readers;
	exchange->answered = count_answer;
	exchange->method = method;
	exchange->form = world_form;
	exchange->content = world_content;
	exchange->may_wait = world_may_wait;
	exchange->rights = world_rights;
	exchange->peer = "uid 7, process 8";
	exchange->watches = world->watches;
	if (body) {
		exchange->body = strdup(body);
		exchange->body_length = strlen(body);
	}
	assert_int_equal(api_path_parse(uri, &exchange->path, &why), 0);
}

void world_begin(struct world *world, enum api_method method, const char *uri, const char *body)
{
	world_prepare(world, method, uri, body);
	api_dispatch(&world->exchange);
}

void world_turn(struct world *world)
{
	for (int i = 0; i < TURNS_MAX && world->answers == 0; i++)
		assert_true(sd_event_run(world->event, TURN_USEC) >= 0);
}

int world_request(struct world *world, enum api_method method, const char *uri, const char *body)
{
	world_begin(world, method, uri, body);
	world_turn(world);
	assert_int_equal(world->answers, 1);
	assert_non_null(world->exchange.reply);
	assert_int_equal(strlen(world->exchange.reply), world->exchange.reply_length);
	return world->exchange.status;
}

/* ---- streams ---- */

static void count_wake_up(struct exchange *exchange)
{
	struct world *world =
		(struct world *) ((char *) exchange - offsetof(struct world, exchange));

	world->wake_ups++;
}

const char *world_pull(struct world *world, size_t step)
{
	struct exchange *exchange = &world->exchange;
	cleanup_free char *buffer = malloc(step);
	size_t length = 0;
	FILE *file;
	ssize_t n;

	assert_non_null(buffer);
	assert_non_null(exchange->pull);
	exchange->pull_ready = count_wake_up;
	world->wake_ups = 0;
	free(world->pulled);
	file = open_memstream(&world->pulled, &length);
	assert_non_null(file);
	while ((n = exchange->pull(exchange->work, buffer, step)) > 0) {
		assert_true((size_t) n <= step);
		assert_int_equal(fwrite(buffer, 1, (size_t) n, file), n);
	}
	assert_int_equal(fclose(file), 0);
	world->stream_ended = n < 0;
	return world->pulled;
}

void world_wait_for_wake_up(struct world *world)
{
	for (int i = 0; i < TURNS_MAX && world->wake_ups == 0; i++)
		assert_true(sd_event_run(world->event, TURN_USEC) >= 0);
	assert_true(world->wake_ups > 0);
}

void world_leave(struct world *world)
{
	exchange_abandon(&world->exchange);
}

const char *world_reply(const struct world *world)
{
	return world->exchange.reply;
}

const char *world_string(struct world *world, const char *path)
{
	static char text[1024];
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 64 };
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *at;
	struct failure why;
	char key[256];
	int64_t number;

	assert_int_equal(json_parse(world->exchange.reply, world->exchange.reply_length, &limits,
				    &tree, &why),
			 0);
	at = tree;
	while (*path) {
		size_t length = strcspn(path, ".");

		(void) snprintf(key, sizeof(key), "%.*s", (int) length, path);
		at = json_is_array(at) ? json_at(at, strtoul(key, NULL, 10)) : json_get(at, key);
		path += length + (path[length] == '.');
	}
	if (json_int64(at, &number))
		(void) snprintf(text, sizeof(text), "%lld", (long long) number);
	else
		(void) snprintf(text, sizeof(text), "%s", json_string(at, ""));
	return text;
}

/* ---- one world per test ---- */

int world_set_up(void **state)
{
	const struct worker_limits limits = { 1, 1, 5000000 };
	struct world *world = calloc(1, sizeof(*world));
	struct failure why;

	world_form = FORM_JSON;
	world_content = CONTENT_JSON;
	world_may_wait = true;
	world_rights = RIGHTS_ALL;
	/* In memory where there is a place: these objects need not survive a power loss. */
	(void) snprintf(world->directory, sizeof(world->directory), "%s/podvol-api-XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(world->directory));
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(store_open_embedded(world->event, store_open_begin(world->directory),
					     &world->agent.store, &why),
			 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->from_readers), 0);
	assert_int_equal(worker_pool_new("readers", world->from_readers, &limits, &world->readers),
			 0);
	assert_int_equal(watches_new(world->event, WORLD_WATCHES, &world->watches), 0);
	world->agent.ready = true;
	*state = world;
	return 0;
}

static void empty_and_remove(const char *directory)
{
	cleanup_closedir DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			(void) unlinkat(dirfd(dir), entry->d_name, 0);
	(void) rmdir(directory);
}

int world_tear_down(void **state)
{
	struct world *world = *state;

	exchange_abandon(&world->exchange);
	exchange_done(&world->exchange);
	free(world->pulled);
	(void) watches_free(world->watches);
	(void) worker_pool_free(world->readers);
	(void) worker_return_free(world->from_readers);
	(void) store_free(world->agent.store);
	(void) sd_event_unref(world->event);
	empty_and_remove(world->directory);
	free(world);
	return 0;
}
