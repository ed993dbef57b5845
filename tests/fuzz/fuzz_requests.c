/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_requests - requests with bodies, by the real handlers on a real store
 *
 * The input is a line "METHOD CONTENT /path?query" (digits of enum api_method and api_content) and
 * the body: objects, patches, options of deletion, holds, apply, docker's volume calls. Each is
 * answered, never as an internal error (500; docker's protocol has no other refusal), and a JSON
 * answer reads back. What is stored is the same for every input.
 *
 * With tests/unit/api/api_world.c tests/unit/api/api_node.c
 */
#include "fuzz.h"

#include "tests/unit/api/api_world.h"

#include "api/docker/docker_volume.h"
#include "base/cleanup.h"
#include "object/json/json.h"

#include <string.h>

enum { TURNS_MAX = 50, TURN_USEC = 1000, PULLS_MAX = 64 };

static struct world *world;
static uint64_t first_version; /* of the store when an input begins */

static void remove_world(void)
{
	void *state = world;

	(void) world_tear_down(&state);
	world = NULL;
}

static void store_object(const char *uri, const char *body)
{
	HOLDS(world_request(world, METHOD_POST, uri, body) == 201);
}

static void make_world(void)
{
	static bool is_known;
	void *state;

	HOLDS(world_set_up(&state) == 0);
	world = state;
	if (!is_known)
		HOLDS(atexit(remove_world) == 0);
	is_known = true;
	store_object("/api/v1/persistentvolumes", world_pv_json);
	store_object("/api/v1/namespaces/default/pods", world_pod_json);
	world->agent.wait_result = -ENOBUFS; /* or the request would wait for the test */
	world->agent.plan_result = -EAGAIN;
	world->agent.holds = "{\"items\":[{\"id\":\"00000000aa\"}]}";
	first_version = store_resource_version(world->agent.store);
}

static bool is_docker(const char *uri)
{
	return strncmp(uri, "/VolumeDriver.", 14) == 0 || strncmp(uri, "/Plugin.", 8) == 0;
}

static void check_answer(const struct exchange *exchange, bool by_docker)
{
	static const struct json_limits limits = { .bytes = 1 << 26, .depth = 128 };
	struct cJSON *tree = NULL;

	HOLDS(exchange->status >= 200 && exchange->status < 600);
	HOLDS(by_docker || exchange->status != 500);
	if (exchange->pull)
		return;
	HOLDS(exchange->reply && exchange->reply_type);
	if (strcmp(exchange->reply_type, "application/json") != 0)
		return;
	HOLDS(json_parse(exchange->reply, exchange->reply_length, &limits, &tree, NULL) == 0);
	json_free(tree);
}

static void finish(struct exchange *exchange)
{
	char buffer[512];

	for (int i = 0; i < TURNS_MAX && world->answers == 0; i++)
		HOLDS(sd_event_run(world->event, TURN_USEC) >= 0);
	for (int i = 0; i < PULLS_MAX && exchange->pull; i++)
		if (exchange->pull(exchange->work, buffer, sizeof(buffer)) <= 0)
			break;
}

static void ask(enum api_method method, const char *uri, const char *body)
{
	struct exchange *exchange = &world->exchange;
	struct api_path path;

	if (api_path_parse(uri, &path, NULL) < 0)
		return;
	world_prepare(world, method, uri, body);
	exchange->form = is_docker(uri) ? FORM_DOCKER : FORM_JSON;
	if (is_docker(uri))
		docker_volume_dispatch(exchange);
	else
		api_dispatch(exchange);
	finish(exchange);
	/* Statistics and watches of volumes go on for as long as the client stays. */
	if (world->answers > 0)
		check_answer(exchange, is_docker(uri));
	exchange_abandon(exchange);
	exchange_done(exchange);
	memset(exchange, 0, sizeof(*exchange));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *body;

	if (size < 5 || data[0] < '0' || data[0] > '0' + METHOD_OTHER || data[2] < '0' ||
	    data[2] > '0' + CONTENT_OTHER || data[4] != '/' || memchr(data, '\0', size))
		return 0;
	if (!world)
		make_world();
	text = strndup((const char *) data, size);
	HOLDS(text);
	body = text + 4;
	world_content = (enum api_content)(data[2] - '0');
	(void) strsep(&body, "\n");
	ask((enum api_method)(data[0] - '0'), text + 4, body);
	free(text);
	if (store_resource_version(world->agent.store) != first_version)
		remove_world();
	return 0;
}
