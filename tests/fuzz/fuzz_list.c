/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_list - what can be asked of a collection: selectors, pages, continue tokens, versions
 *
 * The input is the query of a list or, when it begins with '!', of a watch; the handlers and the
 * store are the real ones. An answer is a list, a Table or a Status that reads as JSON. A page is
 * no longer than was asked for, and its token leads to a next one.
 *
 * Link with -Wl,--wrap=agent_store
 */
#include "fuzz.h"

#include "agent.h"
#include "api/exchange.h"
#include "api/objects/watches.h"
#include "base/cleanup.h"
#include "object/json/json.h"
#include "store/embedded.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS = 6, STREAM_PULLS = 64, PAGES_MAX = OBJECTS + 1 };

struct store *__wrap_agent_store(struct agent *agent);

static sd_event *event;
static struct store *store;
static struct watches *watches;
static unsigned int stored;

struct store *__wrap_agent_store(struct agent *agent)
{
	return store;
}

static void on_stored(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	HOLDS(error == 0);
	stored++;
}

static void store_config_map(unsigned int index)
{
	const struct object *object;
	struct document_list list;
	char yaml[160];

	(void) snprintf(yaml, sizeof(yaml),
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%u, namespace: n%u,"
			" labels: {app: a%u, n: '%u'}}\ndata: {k: v}",
			index, index % 2, index % 3, index);
	HOLDS(documents_parse(yaml, strlen(yaml), &list, NULL) == 0);
	object = list.documents[0].object;
	HOLDS(object && store_create(store, object, on_stored, NULL) == 0);
	document_list_done(&list);
}

static void start(void)
{
	static const char *const names[] = { "store.db", "store.db-wal", "store.db-shm",
					     "events.db", "events.db-wal" };
	char directory[] = "/tmp/podvol-fuzz-list-XXXXXX", path[64];

	HOLDS(mkdtemp(directory) && sd_event_new(&event) >= 0);
	HOLDS(store_open_embedded(event, store_open_begin(directory), &store, NULL) == 0);
	HOLDS(watches_new(event, 4, &watches) == 0);
	for (unsigned int i = 0; i < OBJECTS; i++)
		store_config_map(i);
	while (stored < OBJECTS)
		HOLDS(sd_event_run(event, UINT64_MAX) >= 0);
	/* Nothing is written from now on; the open database needs no names. */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		(void) remove(path);
	}
	(void) remove(directory);
}

static void on_answered(struct exchange *exchange)
{
	HOLDS(exchange->status != 0);
}

/* A watch that is up to date has nothing to say; a long list comes in pieces. */
static void pull_all(struct exchange *exchange)
{
	char buffer[512];

	for (int i = 0; i < STREAM_PULLS; i++) {
		ssize_t n = exchange->pull(exchange->work, buffer, sizeof(buffer));

		HOLDS(n <= (ssize_t) sizeof(buffer));
		if (n <= 0)
			return;
	}
}

/* @ret_token: of the next page, "" at the end. */
static void check_reply(const struct exchange *exchange, char ret_token[static 512])
{
	static const struct json_limits limits = { .bytes = 1 << 24, .depth = OBJECT_DEPTH_MAX };
	struct cJSON *tree = NULL;
	const char *text;

	/* 504: a version that is not there yet. */
	HOLDS(exchange->status == 200 || exchange->status == 504 ||
	      (exchange->status >= 400 && exchange->status < 500));
	HOLDS(exchange->reply && exchange->reply_type);
	if (strncmp(exchange->reply_type, "application/json", 16) != 0)
		return;
	HOLDS(json_parse(exchange->reply, exchange->reply_length, &limits, &tree, NULL) == 0);
	text = json_string(json_get(json_get(tree, "metadata"), "continue"), "");
	(void) snprintf(ret_token, 512, "%s", text);
	json_free(tree);
}

static void ask(const char *query, char ret_token[static 512])
{
	struct exchange exchange = { .agent = (struct agent *) &store,
				     .method = METHOD_GET,
				     .rights = RIGHT_READ | RIGHT_WRITE,
				     .may_wait = true,
				     .watches = watches,
				     .answered = on_answered };
	char uri[API_URI_BYTES_MAX + 64];

	*ret_token = '\0';
	(void) snprintf(uri, sizeof(uri), "/api/v1/configmaps?%s", query);
	if (api_path_parse(uri, &exchange.path, NULL) < 0)
		return;
	api_dispatch(&exchange);
	HOLDS(exchange.status != 0);
	if (exchange.pull)
		pull_all(&exchange);
	else
		check_reply(&exchange, ret_token);
	exchange_abandon(&exchange);
	exchange_done(&exchange);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool watch = size > 0 && data[0] == '!';
	char *query = NULL, token[512];
	unsigned int pages = 0;

	if (!event)
		start();
	if (memchr(data, '\0', size) || size > API_URI_BYTES_MAX)
		return 0;
	HOLDS(asprintf(&query, "%s%.*s", watch ? "watch=1&" : "", (int) (size - watch),
		       (const char *) data + watch) >= 0);
	ask(query, token);
	free(query);
	/* From any page the end is near. */
	while (*token) {
		HOLDS(++pages < PAGES_MAX);
		HOLDS(asprintf(&query, "limit=1&continue=%s", token) >= 0);
		ask(query, token);
		free(query);
	}
	return 0;
}
