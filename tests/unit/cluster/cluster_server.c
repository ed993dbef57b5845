/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_server - a kube-apiserver's answers about one node; see cluster_server.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster_server.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

unsigned int server_last_uid;

unsigned int server_name_of(const struct object *pod)
{
	return (unsigned int) strtoul(pod->meta.name + strlen("pod-"), NULL, 10);
}

unsigned int server_uid_of(const struct object *pod)
{
	return (unsigned int) strtoul(strchr(pod->meta.uid, '-') + 1, NULL, 10);
}

/* ---- changes ---- */

static void note(struct server *server, const char *type, unsigned int name)
{
	if (server->log_count == SERVER_LOG) {
		server->forgotten = server->log[0].version;
		memmove(server->log, server->log + 1, sizeof(server->log) - sizeof(*server->log));
		server->log_count--;
	}
	server->log[server->log_count++] = (struct server_change){
		.type = type,
		.version = server->etcd.version,
		.name = name,
		.pod = server->etcd.pods[name],
	};
}

void server_put(struct server *server, unsigned int name, bool is_new)
{
	struct server_pod *pod = &server->etcd.pods[name];

	pod->version = ++server->etcd.version;
	if (is_new) {
		pod->uid = ++server_last_uid;
		assert_true(pod->uid < SERVER_UIDS_MAX);
	}
	note(server, is_new ? "ADDED" : "MODIFIED", name);
}

void server_delete(struct server *server, unsigned int name)
{
	server->etcd.pods[name].version = ++server->etcd.version;
	note(server, "DELETED", name);
	server->etcd.pods[name].uid = 0;
}

void server_restore(struct server *server, const struct etcd *snapshot)
{
	server->etcd = *snapshot;
	server->log_count = 0;
	server->forgotten = snapshot->version;
	server->listed.version = server->cached.version = 0;
}

/* ---- texts ---- */

static struct reply with(int status, char *body)
{
	return (struct reply){ .status = status, .body = body };
}

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text_of(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	assert_return_code(vasprintf(&text, format, arguments), 0);
	va_end(arguments);
	return text;
}

static char *pod_text(const struct server *server, unsigned int name, const struct server_pod *pod)
{
	return text_of("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pod-%u\","
		       "\"namespace\":\"n\",\"uid\":\"%s-%u\",\"resourceVersion\":\"%" PRIu64
		       "\"},\"spec\":{\"nodeName\":\"node\",\"containers\":[{\"name\":\"c\","
		       "\"image\":\"i\"}]}}",
		       name, server->cluster, pod->uid, pod->version);
}

static struct reply one_of(const struct server *server, const char *kind, const char *name)
{
	return with(200, text_of("{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
				 "\"%s\",\"uid\":\"%s-%s\",\"resourceVersion\":\"1\"}}",
				 kind, name, server->cluster, name));
}

struct reply server_status(int status, const char *reason, const char *kind, const char *name)
{
	return with(status, text_of("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
				    "\"Failure\",\"reason\":\"%s\",\"details\":{\"name\":\"%s\","
				    "\"kind\":\"%s\"},\"code\":%d}",
				    reason, name, kind, status));
}

/* ---- answers ---- */

/* @from: the name to begin with; then that of the next page, or 0. */
static char *items(const struct server *server, const struct etcd *etcd, unsigned int most,
		   unsigned int *from)
{
	char *list = strdup("");
	unsigned int count = 0, name;

	for (name = *from; name < SERVER_PODS && count < most; name++) {
		cleanup_free char *before = list;
		cleanup_free char *item = NULL;

		if (etcd->pods[name].uid == 0) {
			before = NULL;
			continue;
		}
		item = pod_text(server, name, &etcd->pods[name]);
		list = text_of("%s%s%s", before, *before ? "," : "", item);
		count++;
	}
	*from = name < SERVER_PODS ? name : 0;
	return list;
}

static struct reply list_of(const struct etcd *etcd, const char *next, const char *items)
{
	return with(200, text_of("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
				 "\"resourceVersion\":\"%" PRIu64 "\",\"continue\":\"%s\"},"
				 "\"items\":[%s]}",
				 etcd->version, next, items));
}

struct reply server_empty_list(uint64_t version)
{
	return list_of(&(struct etcd){ .version = version }, "", "");
}

static struct reply list_whole(struct server *server, uint64_t least)
{
	cleanup_free char *list = NULL;
	unsigned int next = 0;

	if (least > server->etcd.version)
		return server_status(504, "Timeout", "", "");
	server->listed = least && server->cached.version >= least ? server->cached : server->etcd;
	server->cached = server->etcd;
	list = items(server, &server->listed, SERVER_PODS, &next);
	if (server->listed_all)
		server->listed_all(server);
	return list_of(&server->listed, "", list);
}

static struct reply list(struct server *server, const char *path)
{
	const char *token = strstr(path, "&continue=");
	const char *least = strstr(path, "&resourceVersion=");
	cleanup_free char *list = NULL;
	char next[64] = "";
	unsigned int from = 0;

	if (!strstr(path, "&limit="))
		return list_whole(server, least ? strtoull(least + 17, NULL, 10) : 0);
	if (!token)
		server->listed = server->etcd;
	else if (strtoull(token + strlen("&continue="), NULL, 10) != server->listed.version)
		return server_status(410, "Expired", "", "");
	else
		from = (unsigned int) strtoul(strrchr(token, '-') + 1, NULL, 10);
	list = items(server, &server->listed, SERVER_PAGE, &from);
	if (from)
		(void) snprintf(next, sizeof(next), "%" PRIu64 "-%u", server->listed.version, from);
	else if (server->listed_all)
		server->listed_all(server);
	return list_of(&server->listed, next, list);
}

static struct reply list_one(const struct server *server, const char *selector)
{
	unsigned int name = (unsigned int) strtoul(strstr(selector, "pod-") + 4, NULL, 10);
	cleanup_free char *pod = server->etcd.pods[name].uid
					 ? pod_text(server, name, &server->etcd.pods[name])
					 : strdup("");

	return list_of(&server->etcd, "", pod);
}

static struct reply get(const struct server *server, const char *pod)
{
	unsigned int name = (unsigned int) strtoul(pod + strlen("pod-"), NULL, 10);

	if (server->etcd.pods[name].uid)
		return with(200, pod_text(server, name, &server->etcd.pods[name]));
	return server->hides_absent ? server_status(403, "Forbidden", "pods", pod)
				    : server_status(404, "NotFound", "pods", pod);
}

static struct reply watch(const struct server *server, const char *path)
{
	uint64_t from;

	if (strstr(path, "&sendInitialEvents=true"))
		return server->has_watch_list ? (struct reply){ .status = 200 }
					      : server_status(422, "Invalid", "", "");
	from = strtoull(strstr(path, "&resourceVersion=") + 17, NULL, 10);
	if (from < server->forgotten)
		return server_status(410, "Expired", "", "");
	return (struct reply){ .status = 200 };
}

struct reply server_answer(struct server *server, const char *path)
{
	static const char pods[] = "/api/v1/namespaces/n/pods";

	if (strncmp(path, "/api/v1/nodes/", 14) == 0)
		return one_of(server, "Node", path + 14);
	if (strcmp(path, "/api/v1/namespaces/kube-system") == 0)
		return server->may_read_namespace
			       ? one_of(server, "Namespace", "kube-system")
			       : server_status(403, "Forbidden", "namespaces", "kube-system");
	if (strncmp(path, pods, strlen(pods)) == 0)
		return path[strlen(pods)] == '/' ? get(server, path + sizeof(pods))
						 : list_one(server, path);
	assert_memory_equal(path, "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode&", 47);
	return strstr(path, "watch=1") ? watch(server, path) : list(server, path);
}

/* ---- the watch ---- */

static void send_line(struct http_call *call, char *line)
{
	call->request.line(call->request.userdata, line, strlen(line));
	free(line);
}

bool server_is_initial(const struct http_call *watch)
{
	return strstr(watch->request.path, "&sendInitialEvents=true") != NULL;
}

void server_end_initial(const struct server *server, struct http_call *watch)
{
	send_line(
		watch,
		text_of("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
			"\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\",\"annotations\":{"
			"\"k8s.io/initial-events-end\":\"true\"}}}}",
			server->etcd.version));
}

void server_send_initial(struct server *server, struct http_call *watch, unsigned int pods)
{
	watch->sent = server->etcd.version;
	server->listed = server->etcd;
	for (unsigned int name = 0; name < SERVER_PODS; name++) {
		cleanup_free char *pod = pod_text(server, name, &server->etcd.pods[name]);

		if (server->etcd.pods[name].uid == 0)
			continue;
		if (pods-- == 0)
			return;
		send_line(watch, text_of("{\"type\":\"ADDED\",\"object\":%s}", pod));
	}
	if (server->listed_all)
		server->listed_all(server);
	server_end_initial(server, watch);
}

void server_send(struct server *server, struct cluster_world *world)
{
	for (unsigned int i = 0; i < server->log_count; i++) {
		const struct server_change *change = &server->log[i];
		struct http_call *call = cluster_world_watch(world);
		cleanup_free char *pod = pod_text(server, change->name, &change->pod);

		if (!call)
			return;
		if (call->sent == 0)
			call->sent = strtoull(strstr(call->request.path, "&resourceVersion=") + 17,
					      NULL, 10);
		if (change->version <= call->sent)
			continue;
		call->sent = change->version;
		send_line(call, text_of("{\"type\":\"%s\",\"object\":%s}", change->type, pod));
	}
}

void server_send_bookmark(struct server *server, struct cluster_world *world)
{
	struct http_call *call;

	server_send(server, world);
	call = cluster_world_watch(world);
	if (call)
		send_line(call, text_of("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\","
					"\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
					"\"%" PRIu64 "\"}}}",
					server->etcd.version));
}
