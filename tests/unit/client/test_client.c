/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_client - libpodvol against a server of canned answers: what it sends, what it makes of them
 */
#include "base/cleanup.h"
#include "canned_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TABLE                                                                                      \
	ANSWER("200 OK",                                                                           \
	       "{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Pod\",\"priority\":0},"     \
	       "{\"name\":\"Unique Name\",\"priority\":1},{\"name\":\"Count\"}],\"rows\":[{"       \
	       "\"cells\":[\"default/web\",\"p/x\",7],\"object\":{\"metadata\":{\"name\":\"web\"," \
	       "\"namespace\":\"default\"}}},{\"cells\":[\"edge/db\",null,true]},{\"cells\":["     \
	       "\"short\"]},{\"cells\":\"none\"}]}")

static void test_request(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	const struct podvol_request request = { .method = "PUT",
						.path = "/api/v1/pods?a=b%2Fc",
						.content_type = "application/yaml",
						.accept = "application/yaml",
						.body = "a: b\n",
						.body_length = 5,
						.timeout_msec = 100000 };
	struct podvol_reply reply = { 0 };

	server->answer = ANSWER("201 Created", "hello");
	for (int i = 0; i < 2; i++) { /* the second on the same connection */
		assert_int_equal(podvol_request(podvol, &request, &reply), 0);
		assert_int_equal(reply.status, 201);
		assert_int_equal(podvol_status(podvol), 201);
		assert_int_equal(reply.length, 5);
		assert_string_equal(reply.body, "hello");
		assert_string_equal(podvol_error(podvol), "");
		podvol_reply_done(&reply);
		assert_null(reply.body);
	}
	assert_non_null(strstr(server->request, "PUT /api/v1/pods?a=b%2Fc HTTP/1.1\r\n"));
	assert_non_null(strstr(server->request, "Accept: application/yaml\r\n"));
	assert_non_null(strstr(server->request, "Content-Type: application/yaml\r\n"));
	assert_non_null(strstr(server->request, "\r\n\r\na: b\n"));
	assert_int_equal(podvol_request(podvol, &request, NULL), 0);
	podvol_free(podvol);
}

static void test_refusals_become_errnos(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	const struct podvol_request request = { .method = "GET", .path = "/x" };
	static const struct {
		const char *answer;
		int error;
		const char *text;
	} rows[] = {
		{ ANSWER("400 Bad", "{\"message\":\"m\",\"reason\":\"reason\"}"), -EBADMSG, "m" },
		{ ANSWER("404 No",
			 "kind: Status\napiVersion: v1\nmessage: pods \"web\" not found\n"),
		  -ENOENT, "pods \"web\" not found" },
		{ ANSWER("403 No", "kind: Status\nmessage: 'it''s: no'\ncode: 403\n"), -EACCES,
		  "it's: no" },
		{ ANSWER("422 No", "message: \"a\\tb\"\n"), -EBADMSG, "a\tb" },
		{ ANSWER("403 No", "{}"), -EACCES, "HTTP 403: {}" },
		{ ANSWER("404 No", "{\"message\":\"n\"}"), -ENOENT, "n" },
		{ ANSWER("409 No", "{\"reason\":\"AlreadyExists\"}"), -EEXIST,
		  "HTTP 409: {\"reason\":\"AlreadyExists\"}" },
		{ ANSWER("409 No", "{\"reason\":\"Conflict\"}"), -EBUSY,
		  "HTTP 409: {\"reason\":\"Conflict\"}" },
		{ ANSWER("413 No", ""), -E2BIG, "HTTP 413" },
		{ ANSWER("415 No", ""), -EBADMSG, "HTTP 415" },
		{ ANSWER("422 No", ""), -EBADMSG, "HTTP 422" },
		{ ANSWER("429 No", ""), -EAGAIN, "HTTP 429" },
		{ ANSWER("500 No", "one\ntwo\nx"), -EIO, "HTTP 500: one" },
		{ ANSWER("503 No", ""), -EAGAIN, "HTTP 503" },
		{ ANSWER("504 No", ""), -ETIMEDOUT, "HTTP 504" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct podvol_reply reply = { 0 };

		server->answer = rows[i].answer;
		assert_int_equal(podvol_request(podvol, &request, &reply), rows[i].error);
		assert_string_equal(podvol_error(podvol), rows[i].text);
		assert_int_equal(reply.status, podvol_status(podvol));
		assert_non_null(reply.body);
		podvol_reply_done(&reply);
	}
	podvol_free(podvol);
}

static void test_nobody_there(void **state)
{
	struct server *server = *state;
	const struct podvol_request request = { .method = "GET",
						.path = "/x",
						.timeout_msec = 5000 };
	struct podvol_reply reply = { .status = 77 };
	struct podvol *podvol = NULL;

	assert_int_equal(podvol_connect("/nonexistent/podvol.sock", &podvol), 0);
	assert_int_equal(podvol_request(podvol, &request, &reply), -ECONNREFUSED);
	assert_int_equal(podvol_status(podvol), 0);
	assert_int_equal(reply.status, 77);
	assert_string_equal(podvol_error(podvol),
			    "no answer on '/nonexistent/podvol.sock': No such file or "
			    "directory: is podvold running?");
	podvol_free(podvol);

	podvol = connected(server);
	server->answer = "";
	assert_int_equal(podvol_request(podvol, &request, &reply), -ECONNREFUSED);
	server->answer = "SSH-2.0-OpenSSH\r\n\r\n";
	assert_int_equal(podvol_request(podvol, &request, &reply), -EPROTO);
	server->answer = ANSWER("200 OK", "{}");
	assert_int_equal(podvol_request(podvol, &request, NULL), 0);
	podvol_free(podvol);
}

static void test_table(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct podvol_table *table = NULL;
	size_t column = 0;

	server->answer = TABLE;
	assert_int_equal(podvol_table_get(podvol, "/podvol/v1/volumes", &table), 0);
	assert_non_null(strstr(server->request,
			       "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"));
	assert_int_equal(podvol_table_rows(table), 4);
	assert_int_equal(podvol_table_columns(table), 3);
	assert_string_equal(podvol_table_name(table, 1), "Unique Name");
	assert_string_equal(podvol_table_name(table, 3), "");
	assert_int_equal(podvol_table_priority(table, 1), 1);
	assert_int_equal(podvol_table_priority(table, 2), 0);
	assert_int_equal(podvol_table_priority(table, 3), -1);
	assert_int_equal(podvol_table_find(table, "unique name"), 1);
	assert_int_equal(podvol_table_find(table, "Path"), 3);
	assert_int_equal(podvol_table_find(table, NULL), 3);
	assert_int_equal(podvol_table_column(table, "Unique Name", &column), 0);
	assert_int_equal(column, 1);
	assert_int_equal(podvol_table_column(table, "Path", &column), -EINVAL);
	assert_int_equal(column, 1);
	assert_string_equal(podvol_table_cell(table, 0, 0), "default/web");
	assert_string_equal(podvol_table_cell(table, 0, 2), "7");
	assert_string_equal(podvol_table_cell(table, 1, 1), "");
	assert_string_equal(podvol_table_cell(table, 1, 2), "true");
	assert_string_equal(podvol_table_cell(table, 2, 1), "");
	assert_string_equal(podvol_table_cell(table, 3, 0), "");
	assert_string_equal(podvol_table_cell(table, 4, 0), "");
	assert_string_equal(podvol_table_cell(table, 0, 3), "");
	assert_string_equal(podvol_table_row_name(table, 0), "web");
	assert_string_equal(podvol_table_row_namespace(table, 0), "default");
	assert_string_equal(podvol_table_row_name(table, 1), "");
	assert_string_equal(podvol_table_row_name(table, 9), "");
	podvol_table_free(table);

	server->answer = ANSWER("200 OK", "{}");
	assert_int_equal(podvol_table_get(podvol, "/x", &table), -EPROTO);
	assert_string_equal(podvol_error(podvol), "the answer is not a Table");
	podvol_free(podvol);
}

static void test_pod_calls(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct podvol_table *table = NULL;

	server->answer = TABLE;
	assert_int_equal(podvol_pod_mount(podvol, "default/web", 1500, &table), 0);
	assert_non_null(strstr(server->request,
			       "POST /podvol/v1/pods/default/web/mount?timeout=1500ms HTTP/1.1"));
	podvol_table_free(table);
	assert_int_equal(podvol_pod_mount(podvol, "web", 0, NULL), 0);
	assert_non_null(
		strstr(server->request, "POST /podvol/v1/pods/web/mount?timeout=0ms HTTP/1.1"));
	assert_int_equal(podvol_pod_unmount(podvol, "a b/c", 7), 0);
	assert_non_null(strstr(
		server->request,
		"POST /podvol/v1/pods/a%20b/c/unmount?ignoreNotFound=true&timeout=7ms HTTP"));
	assert_int_equal(podvol_pod_wait(podvol, "web", PODVOL_UNMOUNTED, UINT32_MAX), 0);
	assert_non_null(strstr(server->request, "/wait?for=unmounted&timeout=4294967295ms HTTP"));
	assert_int_equal(podvol_volumes(podvol, "web", &table), 0);
	assert_non_null(strstr(server->request, "GET /podvol/v1/pods/web/volumes HTTP"));
	podvol_table_free(table);
	assert_int_equal(podvol_volumes(podvol, NULL, &table), 0);
	assert_non_null(strstr(server->request, "GET /podvol/v1/volumes HTTP"));
	podvol_table_free(table);
	assert_int_equal(podvol_apply(podvol, "a: b\n", 5, NULL), 0);
	assert_non_null(strstr(server->request, "POST /podvol/v1/apply HTTP"));
	assert_non_null(strstr(server->request, "Content-Type: application/yaml\r\n"));
	podvol_free(podvol);
}

static void test_bad_arguments(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct podvol *other = NULL;
	struct podvol_table *table = NULL;
	static const char *const pods[] = { NULL, "", "/", "/web", "default/", "a/b/c" };
	const struct podvol_request requests[] = {
		{ .path = "/x" },
		{ .method = "", .path = "/x" },
		{ .method = "GET" },
		{ .method = "GET", .path = "x" },
		{ .method = "GET", .path = "/x y" },
		{ .method = "GET", .path = "/x\r\nEvil: 1" },
		{ .method = "GET", .path = "/x", .body_length = 1 },
		{ .method = "GET", .path = "/x", .accept = "a\r\nEvil: 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		assert_int_equal(podvol_request(podvol, &requests[i], NULL), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		assert_int_equal(podvol_pod_unmount(podvol, pods[i], 0), -EINVAL);
	assert_int_equal(podvol_request(podvol, NULL, NULL), -EINVAL);
	assert_int_equal(podvol_request(NULL, &requests[0], NULL), -EINVAL);
	assert_int_equal(podvol_pod_wait(podvol, "web", (enum podvol_wait_for) 7, 0), -EINVAL);
	assert_int_equal(podvol_pod_mount(NULL, "web", 0, NULL), -EINVAL);
	assert_int_equal(podvol_apply(podvol, NULL, 0, NULL), -EINVAL);
	assert_int_equal(podvol_volumes(podvol, "web", NULL), -EINVAL);
	assert_int_equal(podvol_table_get(NULL, "/x", &table), -EINVAL);
	assert_int_equal(podvol_connect("relative", &other), -EINVAL);
	assert_int_equal(podvol_connect("/x", NULL), -EINVAL);
	assert_int_equal(podvol_table_rows(NULL), 0);
	assert_string_equal(podvol_error(NULL), "");
	assert_int_equal(podvol_status(NULL), 0);
	podvol_table_free(NULL);
	podvol_reply_done(NULL);
	podvol_free(NULL);
	podvol_free(podvol);
}

static void test_socket_path(void **state)
{
	struct podvol *podvol = NULL;
	char path[300];

	assert_int_equal(setenv("PODVOL_SOCKET", "/run/other.sock", 1), 0);
	assert_int_equal(podvol_connect(NULL, &podvol), 0);
	assert_string_equal(podvol_socket(podvol), "/run/other.sock");
	podvol_free(podvol);
	assert_int_equal(unsetenv("PODVOL_SOCKET"), 0);
	assert_int_equal(podvol_connect(NULL, &podvol), 0);
	assert_string_equal(podvol_socket(podvol), PODVOL_SOCKET_DEFAULT);
	podvol_free(podvol);
	(void) snprintf(path, sizeof(path), "/%0200d", 0);
	assert_int_equal(podvol_connect(path, &podvol), -ENAMETOOLONG);
}

static void test_escape(void **state)
{
	char *text = podvol_escape("kubernetes.io/local~x_y-\xc3\xa4 %&=");

	assert_string_equal(text, "kubernetes.io%2Flocal~x_y-%C3%A4%20%25%26%3D");
	free(text);
	assert_null(podvol_escape(NULL));
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, server_set_up, server_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_request),
		SERVED(test_refusals_become_errnos),
		SERVED(test_nobody_there),
		SERVED(test_table),
		SERVED(test_pod_calls),
		SERVED(test_bad_arguments),
		cmocka_unit_test(test_socket_path),
		cmocka_unit_test(test_escape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
