/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_world - timers, calls and writes in the order of their times; see cluster_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <utlist.h>

struct sd_event_source {
	struct sd_event_source *prev, *next;
	uint64_t due_usec;
	bool is_on;
	sd_event_time_handler_t handler;
	sd_event_handler_t deferred; /* instead: of no time, due at once */
	void *userdata;
};

struct stored_write {
	struct stored_write *prev, *next;
	const struct object *object; /* to put; NULL: what is named goes */
	enum object_kind kind;
	char name_space[64], name[64], uid[64];
	store_done_fn *done;
	void *userdata;
};

static struct cluster_world *current;

/* ---- what the linker takes over: time ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags);
void __wrap_log_message(int level, const char *format, ...);
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_defer(sd_event *event, sd_event_source **ret, sd_event_handler_t handler,
			      void *userdata);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled);
int __wrap_sd_event_source_set_description(sd_event_source *source, const char *description);
sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = (time_t) (current->clock_usec / USEC_PER_SEC),
				  .tv_nsec = (long) (current->clock_usec % USEC_PER_SEC * 1000) };
	return 0;
}

ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags)
{
	memset(buffer, (int) (current->latency_usec() & 0xff), length);
	return (ssize_t) length;
}

void __wrap_log_message(int level, const char *format, ...)
{
	current->log_lines++;
}

int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t handler, void *userdata)
{
	struct sd_event_source *source = calloc(1, sizeof(*source));

	assert_non_null(source);
	*source = (struct sd_event_source){
		.due_usec = usec, .is_on = true, .handler = handler, .userdata = userdata
	};
	DL_APPEND(current->timers, source);
	*ret = source;
	return 0;
}

int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata)
{
	return __wrap_sd_event_add_time(event, ret, clock, current->clock_usec + usec, accuracy,
					handler, userdata);
}

int __wrap_sd_event_add_defer(sd_event *event, sd_event_source **ret, sd_event_handler_t handler,
			      void *userdata)
{
	int r = __wrap_sd_event_add_time(event, ret, CLOCK_MONOTONIC, 0, 0, NULL, userdata);

	(*ret)->deferred = handler;
	return r;
}

int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	source->due_usec = usec;
	return 0;
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	source->due_usec = current->clock_usec + usec;
	return 0;
}

int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled)
{
	source->is_on = enabled != SD_EVENT_OFF;
	return 0;
}

int __wrap_sd_event_source_set_description(sd_event_source *source, const char *description)
{
	return 0;
}

sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source)
{
	if (source) {
		DL_DELETE(current->timers, source);
		free(source);
	}
	return NULL;
}

/* ---- the transport ---- */

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret);
struct http_call *__wrap_http_call_cancel(struct http_call *call);

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret)
{
	struct http_call *call = calloc(1, sizeof(*call));

	assert_non_null(call);
	call->request = *request;
	call->request.path = strdup(request->path);
	call->due_usec = current->clock_usec + current->latency_usec();
	DL_APPEND(current->calls, call);
	*ret = call;
	return 0;
}

struct http_call *__wrap_http_call_cancel(struct http_call *call)
{
	if (call) {
		DL_DELETE(current->calls, call);
		free((char *) (uintptr_t) call->request.path);
		free(call);
	}
	return NULL;
}

static void answer_call(struct http_call *call)
{
	const struct failure why = { .error = -ECONNRESET, .text = "the connection broke" };
	struct http_request request = call->request;
	struct reply reply = { .error = -ECONNRESET, .status = call->is_open ? 200 : 0 };
	struct http_answer answer;

	if (!call->is_reset)
		reply = call->is_open ? (struct reply){ .status = 200 } : current->serve(call);
	if (request.line && !call->is_open && reply.status == 200 && !reply.error && !reply.body) {
		call->is_open = true;
		call->due_usec = current->clock_usec + 90 * USEC_PER_SEC;
		current->opened(call);
		return;
	}
	answer = (struct http_answer){ .error = reply.error,
				       .why = reply.error ? &why : NULL,
				       .status = reply.status,
				       .body = reply.body ? reply.body : "",
				       .length = reply.body ? strlen(reply.body) : 0,
				       .retry_after_seconds = reply.retry_after_seconds };
	(void) __wrap_http_call_cancel(call);
	request.done(request.userdata, &answer);
	free(reply.body);
}

void cluster_world_reset(struct cluster_world *world)
{
	struct http_call *call;

	DL_FOREACH (world->calls, call) {
		call->is_reset = true;
		call->due_usec = world->clock_usec;
	}
}

struct http_call *cluster_world_watch(const struct cluster_world *world)
{
	struct http_call *call;

	DL_FOREACH (world->calls, call)
		if (call->is_open && !call->is_reset)
			return call;
	return NULL;
}

/* ---- the store ---- */

void __wrap_store_set_upstream(struct store *store, unsigned int kinds, store_upstream_fn *take,
			       void *userdata);
int __wrap_store_mirror(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata);
int __wrap_store_mirror_delete(struct store *store, const struct store_key *key, const char *uid,
			       store_done_fn *done, void *userdata);

void __wrap_store_set_upstream(struct store *store, unsigned int kinds, store_upstream_fn *take,
			       void *userdata)
{
	current->upstream = take;
	current->upstream_userdata = userdata;
}

static void queue_write(struct stored_write *write)
{
	if (!current->writes)
		current->commit_usec = current->clock_usec + USEC_PER_MSEC;
	DL_APPEND(current->writes, write);
}

static struct stored_write *new_write(store_done_fn *done, void *userdata)
{
	struct stored_write *write = calloc(1, sizeof(*write));

	assert_non_null(write);
	write->done = done;
	write->userdata = userdata;
	return write;
}

int __wrap_store_mirror(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata)
{
	struct stored_write *write = new_write(done, userdata);

	write->object = object_ref(object);
	queue_write(write);
	return 0;
}

int __wrap_store_mirror_delete(struct store *store, const struct store_key *key, const char *uid,
			       store_done_fn *done, void *userdata)
{
	struct stored_write *write = new_write(done, userdata);

	write->kind = key->kind;
	(void) snprintf(write->name_space, sizeof(write->name_space), "%s", key->name_space);
	(void) snprintf(write->name, sizeof(write->name), "%s", key->name);
	(void) snprintf(write->uid, sizeof(write->uid), "%s", uid);
	queue_write(write);
	return 0;
}

static size_t find(const struct store *store, enum object_kind kind, const char *name_space,
		   const char *name)
{
	size_t i = 0;

	while (i < store->count && (store->objects[i]->kind != kind ||
				    strcmp(store->objects[i]->meta.name, name) != 0 ||
				    strcmp(store->objects[i]->meta.name_space, name_space) != 0))
		i++;
	return i;
}

static void put(struct store *store, const struct object *object)
{
	size_t i = find(store, object->kind, object->meta.name_space, object->meta.name);
	const struct object *previous = i < store->count ? store->objects[i] : NULL;

	assert_true(i < FAKE_STORE_OBJECTS_MAX);
	store->count += !previous;
	store->objects[i] = object_ref(object);
	/* One that takes a name takes the volumes of the one before. */
	if (previous && strcmp(previous->meta.uid, object->meta.uid) != 0 &&
	    object->kind == KIND_POD)
		current->removed(previous);
	if (object->kind == KIND_POD)
		current->put(object);
	(void) object_unref(previous);
}

static int take_away(struct store *store, const struct stored_write *write)
{
	size_t i = find(store, write->kind, write->name_space, write->name);
	const struct object *object;

	if (i == store->count)
		return -ENOENT;
	object = store->objects[i];
	if (strcmp(object->meta.uid, write->uid) != 0)
		return -ESTALE;
	store->objects[i] = store->objects[--store->count];
	current->removed(object);
	(void) object_unref(object);
	return 0;
}

static void commit(struct cluster_world *world)
{
	const struct failure why = { 0 };
	struct stored_write *write;

	while ((write = world->writes)) {
		int r = 0;

		DL_DELETE(world->writes, write);
		if (write->object)
			put(&world->store, write->object);
		else
			r = take_away(&world->store, write);
		if (write->done)
			write->done(write->userdata, r, write->object, &why);
		(void) object_unref(write->object);
		free(write);
	}
}

/* ---- what belongs to other parts of the folder ---- */

void __wrap_needed_sweep(struct needed *needed);
void __wrap_needed_read(const struct needed *needed, const struct object_reference *reference);
void __wrap_node_annotation_begin(struct node_annotation *annotation);
void __wrap_credentials_refused(struct cluster *cluster);

void __wrap_needed_sweep(struct needed *needed)
{
}

void __wrap_needed_read(const struct needed *needed, const struct object_reference *reference)
{
}

void __wrap_node_annotation_begin(struct node_annotation *annotation)
{
}

void __wrap_credentials_refused(struct cluster *cluster)
{
	current->refusals++;
}

static void on_complete(void *userdata)
{
	((struct cluster_world *) userdata)->is_complete = true;
}

/* ---- life ---- */

/* The first timer or call that is due by @end. False: none is. */
static bool step(struct cluster_world *world, uint64_t end)
{
	struct sd_event_source *timer, *first = NULL;
	struct http_call *call, *answered = NULL;
	uint64_t due = end + 1;

	DL_FOREACH (world->timers, timer)
		if (timer->is_on && timer->due_usec < due) {
			first = timer;
			due = timer->due_usec;
		}
	DL_FOREACH (world->calls, call)
		if (call->due_usec < due) {
			answered = call;
			due = call->due_usec;
		}
	if (world->writes && world->commit_usec < due) {
		commit(world);
		return true;
	}
	if (due > end)
		return false;
	if (world->clock_usec < due)
		world->clock_usec = due;
	if (answered) {
		answer_call(answered);
		return true;
	}
	first->is_on = false;
	assert_return_code(first->deferred ? first->deferred(first, first->userdata)
					   : first->handler(first, due, first->userdata),
			   0);
	return true;
}

void cluster_world_run(struct cluster_world *world, uint64_t usec)
{
	uint64_t end = world->clock_usec + usec;

	while (step(world, end))
		;
	world->clock_usec = end;
}

void cluster_world_start(struct cluster_world *world, const char *node_name)
{
	struct cluster *cluster = &world->cluster;

	*cluster = (struct cluster){ .options = { .store = &world->store,
						  .node_name = node_name,
						  .is_takeover = world->is_takeover,
						  .complete = on_complete,
						  .userdata = world },
				     .kubeconfig = { .server = "https://example.com" } };
	world->is_complete = false;
	assert_int_equal(contact_new(cluster), 0);
	assert_int_equal(requests_new(NULL, NULL, &cluster->requests), 0);
	assert_int_equal(identity_new(cluster), 0);
	assert_int_equal(pods_new(cluster), 0);
	assert_int_equal(writes_new(cluster), 0);
}

void cluster_world_stop(struct cluster_world *world)
{
	struct cluster *cluster = &world->cluster;

	cluster->writes = writes_free(cluster->writes);
	cluster->pods = pods_free(cluster->pods);
	versions_free(cluster);
	cluster->identity = identity_free(cluster->identity);
	cluster->requests = requests_free(cluster->requests);
	cluster->contact = contact_free(cluster->contact);
	commit(world); /* what was queued is written */
	assert_null(world->timers);
	assert_null(world->calls);
}

int64_t cluster_world_counted(const struct cluster_world *world,
			      void (*view)(const struct cluster *cluster, struct cJSON *view),
			      const char *member)
{
	cleanup_json struct cJSON *members = json_new_object();
	int64_t count = -1;

	view(&world->cluster, members);
	assert_true(json_int64(json_get(members, member), &count));
	return count;
}

void cluster_world_open(struct cluster_world *world)
{
	current = world;
	world->clock_usec = USEC_PER_SEC;
}

void cluster_world_close(struct cluster_world *world)
{
	fake_store_done(&world->store);
	current = NULL;
}
