/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_client_container - what libpodvol sends for who starts containers, and its objects' fields
 */
#include "canned_server.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_mounts(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct podvol_table *table = NULL;
	struct podvol_reply reply = { 0 };

	server->answer =
		ANSWER("200 OK", "{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Name\"}],"
				 "\"rows\":[{\"cells\":[\"data\"]}]}");
	assert_int_equal(podvol_container_mounts(podvol, "edge/web", "a b", 1500, &table), 0);
	assert_non_null(strstr(server->request, "POST /podvol/v1/pods/edge/web/mounts?timeout="
						"1500ms&format=table&container=a%20b HTTP/1.1"));
	assert_string_equal(podvol_table_cell(table, 0, 0), "data");
	podvol_table_free(table);
	assert_int_equal(podvol_container_mounts(podvol, "web", NULL, 0, &table), 0);
	assert_non_null(strstr(server->request,
			       "POST /podvol/v1/pods/web/mounts?timeout=0ms&format=table HTTP"));
	podvol_table_free(table);

	server->answer = ANSWER("200 OK", "--mount\n");
	assert_int_equal(podvol_container_mounts_as(podvol, "web", "c", "podman", 0, &reply), 0);
	assert_non_null(strstr(server->request, "mounts?timeout=0ms&format=podman&container=c "));
	assert_string_equal(reply.body, "--mount\n");
	podvol_reply_done(&reply);

	server->answer = ANSWER("409 No", "{\"message\":\"volume 'data': not yet\"}");
	assert_int_equal(podvol_container_mounts(podvol, "web", "c", 0, &table), -EBUSY);
	assert_string_equal(podvol_error(podvol), "volume 'data': not yet");

	assert_int_equal(podvol_container_mounts(NULL, "web", "c", 0, &table), -EINVAL);
	assert_int_equal(podvol_container_mounts(podvol, "web", "c", 0, NULL), -EINVAL);
	assert_int_equal(podvol_container_mounts(podvol, "a/b/c", "c", 0, &table), -EINVAL);
	assert_int_equal(podvol_container_mounts_as(podvol, "web", "c", NULL, 0, &reply), -EINVAL);
	podvol_free(podvol);
}

static void test_holds(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	const struct podvol_hold by_pid = { .container = "main", .pid = 4711 };
	const struct podvol_hold by_cgroup = { .container = "\"x\"", .cgroup = "/sys/fs/cgroup/a" };
	const struct podvol_hold lasting = { .container = "main" };
	const struct podvol_hold bad[] = { { .pid = 1 },
					   { .container = "c", .pid = -1 },
					   { .container = "c", .pid = 1, .cgroup = "/x" } };
	char *id = NULL;

	server->answer = ANSWER("201 Created", "{\"id\":\"h-1\",\"container\":\"main\"}");
	assert_int_equal(podvol_hold_add(podvol, "edge/web", &by_pid, &id), 0);
	assert_string_equal(id, "h-1");
	free(id);
	assert_non_null(strstr(server->request, "POST /podvol/v1/pods/edge/web/holds HTTP/1.1"));
	assert_non_null(strstr(server->request, "\r\n\r\n{\"container\":\"main\",\"pid\":4711}"));
	assert_int_equal(podvol_hold_add(podvol, "web", &by_cgroup, NULL), 0);
	assert_non_null(strstr(server->request,
			       "{\"container\":\"\\\"x\\\"\",\"cgroup\":\"/sys/fs/cgroup/a\"}"));
	assert_int_equal(podvol_hold_add(podvol, "web", &lasting, NULL), 0);
	assert_non_null(strstr(server->request, "\r\n\r\n{\"container\":\"main\"}"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(podvol_hold_add(podvol, "web", &bad[i], NULL), -EINVAL);

	server->answer = ANSWER("201 Created", "[]");
	assert_int_equal(podvol_hold_add(podvol, "web", &lasting, &id), -EPROTO);
	assert_string_equal(podvol_error(podvol), "the answer is not a hold");

	server->answer = ANSWER("200 OK", "{}");
	assert_int_equal(podvol_hold_remove(podvol, "web", "h/1"), 0);
	assert_non_null(strstr(server->request, "DELETE /podvol/v1/pods/web/holds/h%2F1 HTTP"));
	assert_int_equal(podvol_hold_remove(podvol, "web", NULL), -EINVAL);
	podvol_free(podvol);
}

static void test_object_fields(void **state)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"web\",\"annotations\":{\"a.b/c\":\"x\","
		"\"it\":\"y\"}},\"spec\":{\"containers\":[{\"name\":\"one\"},{\"name\":"
		"\"two\",\"command\":[\"sh\",\"-c\"]}],\"n\":9007199254740993,\"yes\":true,"
		"\"none\":null}}";
	static const struct {
		const char *field, *text;
		size_t count;
	} rows[] = {
		{ "metadata.name", "web", 0 },
		{ "metadata.annotations['a.b/c']", "x", 0 },
		{ "metadata['annotations'].it", "y", 0 },
		{ "spec.containers", "", 2 },
		{ "spec.containers[1].command[1]", "-c", 0 },
		{ "spec.containers[1].command", "", 2 },
		{ "spec.containers[2].name", "", 0 },
		{ "spec.n", "9007199254740993", 0 },
		{ "spec.yes", "true", 0 },
		{ "spec.none", "", 0 },
		{ "metadata", "", 2 },
		{ "", "", 2 },
		{ "spec.containers[x]", "", 0 },
		{ "spec.containers[0", "", 0 },
		{ "metadata.annotations['a.b/c'", "", 0 },
		{ "metadata..name", "", 0 },
		{ "metadata[0]", "", 0 },
		{ NULL, "", 2 },
	};
	struct podvol_object *object = NULL;

	assert_int_equal(podvol_object_parse(text, strlen(text), &object), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_string_equal(podvol_object_text(object, rows[i].field), rows[i].text);
		assert_int_equal(podvol_object_count(object, rows[i].field), rows[i].count);
	}
	assert_string_equal(podvol_object_json(object, "spec.containers[1].command"),
			    "[\"sh\",\"-c\"]");
	assert_string_equal(podvol_object_json(object, "spec.n"), "9007199254740993");
	assert_string_equal(podvol_object_json(object, ""), text);
	assert_string_equal(podvol_object_json(object, "spec.nothing"), "");
	assert_string_equal(podvol_object_json(NULL, ""), "");
	assert_ptr_equal(podvol_object_text(object, "spec.n"),
			 podvol_object_text(object, "spec.n"));
	podvol_object_free(object);

	assert_int_equal(podvol_object_parse("[1]", 3, &object), -EBADMSG);
	assert_int_equal(podvol_object_parse("{", 1, &object), -EBADMSG);
	assert_int_equal(podvol_object_parse(NULL, 1, &object), -EINVAL);
	assert_string_equal(podvol_object_text(NULL, "a"), "");
	assert_int_equal(podvol_object_count(NULL, "a"), 0);
	podvol_object_free(NULL);
}

static void test_object_get(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct podvol_object *object = NULL;

	server->answer = ANSWER("200 OK", "{\"kind\":\"Pod\"}");
	assert_int_equal(podvol_object_get(podvol, "/api/v1/namespaces/a/pods/b", &object), 0);
	assert_non_null(strstr(server->request, "GET /api/v1/namespaces/a/pods/b HTTP"));
	assert_string_equal(podvol_object_text(object, "kind"), "Pod");
	podvol_object_free(object);

	server->answer = ANSWER("200 OK", "ok");
	assert_int_equal(podvol_object_get(podvol, "/healthz", &object), -EPROTO);
	assert_string_equal(podvol_error(podvol), "the answer is not a JSON object");
	server->answer = ANSWER("404 No", "{\"message\":\"n\"}");
	assert_int_equal(podvol_object_get(podvol, "/x", &object), -ENOENT);
	server->answer = ANSWER("400 No", "{\"message\":\"n\"}");
	assert_int_equal(podvol_object_get(podvol, "/x", &object), -EBADMSG);
	assert_string_equal(podvol_error(podvol), "n");
	podvol_free(podvol);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, server_set_up, server_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_mounts),
		SERVED(test_holds),
		cmocka_unit_test(test_object_fields),
		SERVED(test_object_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
