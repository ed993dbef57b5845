/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client - libcurl's sockets and its one timer as sources of the event loop
 *
 * libcurl's callbacks only keep bytes and waits; lines and ends are handed on after it has
 * returned, so that a receiver may begin and cancel calls. A call that ends or is cancelled
 * meanwhile stays in the list until the turn is over.
 */
#include "store/remote/http_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <utlist.h>

/* libcurl's waits are short ones; sd-event's own accuracy is 250 ms. */
enum { TIMER_ACCURACY_USEC = 1000 };

/* ---- what libcurl waits for ---- */

static void turn(struct http_client *client, curl_socket_t fd, int events);

static int socket_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	int events = 0;

	if (revents & (EPOLLIN | EPOLLHUP))
		events |= CURL_CSELECT_IN;
	if (revents & EPOLLOUT)
		events |= CURL_CSELECT_OUT;
	if (revents & EPOLLERR)
		events |= CURL_CSELECT_ERR;
	turn(userdata, fd, events);
	return 0;
}

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *userdata, void *known)
{
	struct http_client *client = userdata;
	sd_event_source *source = known;
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);

	if (what == CURL_POLL_REMOVE) {
		(void) sd_event_source_disable_unref(source);
		return 0;
	}
	if (source)
		return sd_event_source_set_io_events(source, events) < 0 ? -1 : 0;
	if (sd_event_add_io(client->event, &source, fd, events, socket_ready, client) < 0)
		return -1;
	(void) sd_event_source_set_description(source, "kube-apiserver-socket");
	return libcurl.multi_assign(client->multi, fd, source) == CURLM_OK ? 0 : -1;
}

static int timer_elapsed(sd_event_source *source, uint64_t usec, void *userdata)
{
	turn(userdata, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

/* Negative: never. */
static int timer_changed(CURLM *multi, long msec, void *userdata)
{
	struct http_client *client = userdata;

	if (msec < 0)
		return sd_event_source_set_enabled(client->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	timer_set_in(client->timer, (uint64_t) msec * USEC_PER_MSEC);
	return 0;
}

/* ---- bytes ---- */

static int status_of(const struct http_call *call)
{
	long status = 0;

	(void) libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return (int) status;
}

static bool is_stream(const struct http_call *call)
{
	return call->line && status_of(call) == 200;
}

/* What answers with something else is not a kube-apiserver: a captive portal, a load balancer. */
static bool is_json(const struct http_call *call)
{
	const char *type = NULL;

	(void) libcurl.easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &type);
	return type && strncasecmp(type, "application/json", 16) == 0 &&
	       strchr("; ", type[16]) != NULL;
}

static int receive(struct http_call *call, const char *data, size_t length)
{
	size_t limit = is_stream(call) ? HTTP_LINE_BYTES_MAX : HTTP_BODY_BYTES_MAX;

	if (status_of(call) < 300 && !is_json(call))
		return -EPROTO;
	return byte_buffer_add(&call->received, data, length, limit);
}

size_t http_call_received(char *data, size_t size, size_t count, void *userdata)
{
	struct http_call *call = userdata;

	call->client->received_usec = monotonic_usec();
	call->receive_error = receive(call, data, size * count);
	return call->receive_error == 0 ? size * count : 0;
}

/* Every whole line that is there; the rest of one stays. */
static void hand_on_lines(struct http_call *call)
{
	size_t from = 0;
	char *end;

	while (!call->is_over && from < call->received.length &&
	       (end = memchr(call->received.bytes + from, '\n', call->received.length - from))) {
		size_t length = (size_t) (end - call->received.bytes) - from;

		*end = '\0';
		if (length > 0)
			call->line(call->userdata, call->received.bytes + from, length);
		from += length + 1;
	}
	if (call->is_over || from == 0)
		return;
	memmove(call->received.bytes, call->received.bytes + from, call->received.length - from);
	call->received.length -= from;
}

/* ---- the end of a call ---- */

/* Neither lines nor an end any more. */
static void leave(struct http_call *call)
{
	assert(!call->is_over);
	(void) libcurl.multi_remove_handle(call->client->multi, call->easy);
	call->is_over = true;
	call->client->call_count--;
}

static void call_free(struct http_call *call)
{
	libcurl.easy_cleanup(call->easy);
	libcurl.slist_free_all(call->headers);
	free(call->path);
	free(call->received.bytes);
	free(call);
}

static void free_ended(struct http_client *client)
{
	struct http_call *call, *next;

	DL_FOREACH_SAFE (client->calls, call, next) {
		if (!call->is_over)
			continue;
		DL_DELETE(client->calls, call);
		call_free(call);
	}
}

/* Of an answer that libcurl takes for whole. */
static int error_of_whole(const struct http_call *call)
{
	if (status_of(call) < 300 && !is_json(call))
		return -EPROTO;
	return is_stream(call) && call->received.length > 0 ? -EBADMSG : 0;
}

static int error_of(const struct http_call *call, CURLcode code)
{
	long system_error = 0;

	if (call->receive_error)
		return call->receive_error;
	(void) libcurl.easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &system_error);
	switch (code) {
	case CURLE_OK:
		return error_of_whole(call);
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return -EHOSTUNREACH;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
		return -EKEYREJECTED;
	default:
		return system_error ? -(int) system_error : -ECONNRESET;
	}
}

static const char *words_for(const struct http_call *call, int error)
{
	switch (error) {
	case -EPROTO:
		return "the answer is not application/json: not a kube-apiserver";
	case -E2BIG:
		return "the answer is too long";
	case -EBADMSG:
		return "the stream ended in the middle of a line";
	default:
		return call->error_text[0] ? call->error_text : strerror(-error);
	}
}

static bool is_multiplexed(const struct http_call *call)
{
	long version = 0;

	(void) libcurl.easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
	return version == CURL_HTTP_VERSION_2_0;
}

static unsigned int retry_after_seconds(const struct http_call *call)
{
	curl_off_t seconds = 0;

	(void) libcurl.easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &seconds);
	return seconds < HTTP_RETRY_AFTER_SECONDS_MAX ? (unsigned int) seconds
						      : HTTP_RETRY_AFTER_SECONDS_MAX;
}

static void end_call(struct http_call *call, CURLcode code)
{
	bool has_body = call->received.bytes && !is_stream(call);
	struct http_answer answer = { .error = error_of(call, code),
				      .status = status_of(call),
				      .is_multiplexed = is_multiplexed(call),
				      .body = has_body ? call->received.bytes : "",
				      .length = has_body ? call->received.length : 0,
				      .retry_after_seconds = retry_after_seconds(call) };
	struct failure why = { 0 };

	(void) libcurl.easy_getinfo(call->easy, CURLINFO_LOCAL_IP, &answer.local_address);
	if (answer.error) {
		(void) failed_plain(&why, answer.error, "%s%s: %s", call->client->url, call->path,
				    words_for(call, answer.error));
		answer.why = &why;
	}
	leave(call);
	call->done(call->userdata, &answer);
}

static void turn(struct http_client *client, curl_socket_t fd, int events)
{
	struct http_call *call;
	CURLMsg *message;
	int left;

	assert(!client->in_turn);
	client->in_turn = true;
	(void) libcurl.multi_socket_action(client->multi, fd, events, &left);
	DL_FOREACH (client->calls, call)
		if (!call->is_over && is_stream(call))
			hand_on_lines(call);
	while ((message = libcurl.multi_info_read(client->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		(void) libcurl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		end_call(call, message->data.result);
	}
	client->in_turn = false;
	free_ended(client);
}

struct http_call *http_call_cancel(struct http_call *call)
{
	if (!call)
		return NULL;
	leave(call);
	if (!call->client->in_turn)
		free_ended(call->client);
	return NULL;
}

/* ---- the begin of a call ---- */

int http_client_call(struct http_client *client, const struct http_request *request,
		     struct http_call **ret)
{
	struct http_call *call;

	assert(client && request && request->done && *request->path == '/');
	if (client->awaits_credentials)
		return -ENOKEY;
	if (client->call_count >= HTTP_CALLS_MAX)
		return -ENOBUFS;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	*call = (struct http_call){ .client = client,
				    .easy = libcurl.easy_init(),
				    .path = strdup(request->path),
				    .line = request->line,
				    .done = request->done,
				    .userdata = request->userdata };
	if (!call->easy || !call->path || !http_call_set_up(call, request) ||
	    libcurl.multi_add_handle(client->multi, call->easy) != CURLM_OK) {
		call_free(call);
		return -ENOMEM;
	}
	DL_APPEND(client->calls, call);
	client->call_count++;
	if (ret)
		*ret = call;
	return 0;
}

/* ---- the client ---- */

/* The certificate is for another name than the server is reached by: that name is in the URL, and
 * libcurl connects to the server all the same. */
static int rename_server(struct http_client *client, const char *name)
{
	cleanup_free char *connect_to = NULL, *url = NULL;
	char *scheme = NULL, *host = NULL, *port = NULL, *path = NULL;
	CURLU *parts = libcurl.url();
	int r = -EINVAL;

	if (parts && libcurl.url_set(parts, CURLUPART_URL, client->url, 0) == CURLUE_OK &&
	    libcurl.url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    libcurl.url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	    libcurl.url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
	    libcurl.url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK) {
		if (asprintf(&connect_to, "%s:%s:%s:%s", name, port, host, port) < 0)
			connect_to = NULL;
		if (asprintf(&url, "%s://%s:%s%s", scheme, name, port,
			     strcmp(path, "/") == 0 ? "" : path) < 0)
			url = NULL;
		client->connect_to = connect_to ? libcurl.slist_append(NULL, connect_to) : NULL;
		r = client->connect_to && url ? 0 : -ENOMEM;
	}
	if (r == 0) {
		free(client->url);
		client->url = TAKE_PTR(url);
	}
	libcurl.free(scheme);
	libcurl.free(host);
	libcurl.free(port);
	libcurl.free(path);
	libcurl.url_cleanup(parts);
	return r;
}

static int copy_kubeconfig(struct http_client *client, const struct kubeconfig *kubeconfig)
{
	client->disable_compression = kubeconfig->disable_compression;
	client->url = strdup(kubeconfig->server);
	if (!client->url)
		return -ENOMEM;
	if (kubeconfig->proxy_url) {
		client->proxy_url = strdup(kubeconfig->proxy_url);
		if (!client->proxy_url)
			return -ENOMEM;
	}
	return kubeconfig->tls_server_name ? rename_server(client, kubeconfig->tls_server_name) : 0;
}

static CURLM *make_multi(struct http_client *client)
{
	CURLM *multi = libcurl.multi_init();

	if (!multi)
		return NULL;
	(void) libcurl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
	(void) libcurl.multi_setopt(multi, CURLMOPT_SOCKETDATA, client);
	(void) libcurl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
	(void) libcurl.multi_setopt(multi, CURLMOPT_TIMERDATA, client);
	return multi;
}

static int join_loop(struct http_client *client)
{
	int r;

	r = timer_new(client->event, TIMER_ACCURACY_USEC, timer_elapsed, client, &client->timer);
	if (r < 0)
		return r;
	(void) sd_event_source_set_description(client->timer, "kube-apiserver-timer");
	client->multi = make_multi(client);
	return client->multi ? 0 : -ENOMEM;
}

int http_client_new(sd_event *event, const struct kubeconfig *kubeconfig, struct http_client **ret,
		    struct failure *reterr)
{
	struct http_client *client;
	int r;

	assert(event && kubeconfig && kubeconfig->server && ret);
	r = curl_library_load(reterr);
	if (r < 0)
		return r;
	client = calloc(1, sizeof(*client));
	if (!client)
		return failed(reterr, -ENOMEM, "server '%s'", kubeconfig->server);
	client->event = sd_event_ref(event);
	r = copy_kubeconfig(client, kubeconfig);
	if (r == 0)
		r = join_loop(client);
	if (r < 0) {
		(void) http_client_free(client);
		return failed(reterr, r, "server '%s'", kubeconfig->server);
	}
	*ret = client;
	return 0;
}

struct http_client *http_client_free(struct http_client *client)
{
	struct http_call *call;

	if (!client)
		return NULL;
	assert(!client->in_turn);
	DL_FOREACH (client->calls, call)
		leave(call);
	free_ended(client);
	if (client->multi)
		(void) libcurl.multi_cleanup(client->multi);
	(void) sd_event_source_disable_unref(client->timer);
	(void) sd_event_unref(client->event);
	libcurl.slist_free_all(client->connect_to);
	client_credentials_done(&client->credentials);
	free(client->url);
	free(client->proxy_url);
	free(client);
	return NULL;
}

uint64_t http_client_received_usec(const struct http_client *client)
{
	return client->received_usec;
}

unsigned int http_client_call_count(const struct http_client *client)
{
	return client->call_count;
}

/* libcurl keeps a connection whose stream timed out, and would use it again: it goes with all that
 * the handle has. */
void http_client_drop_connections(struct http_client *client)
{
	CURLM *fresh = make_multi(client);
	struct http_call *call;

	assert(!client->in_turn);
	if (!fresh)
		return; /* as before, then */
	DL_FOREACH (client->calls, call) {
		(void) libcurl.multi_remove_handle(client->multi, call->easy);
		call->is_dropped = true;
	}
	(void) libcurl.multi_cleanup(client->multi);
	client->multi = fresh;
	client->in_turn = true;
	DL_FOREACH (client->calls, call)
		if (call->is_dropped && !call->is_over)
			end_call(call, CURLE_OPERATION_TIMEDOUT);
	client->in_turn = false;
	free_ended(client);
}

void http_client_set_credentials(struct http_client *client, struct client_credentials *credentials)
{
	assert(client && credentials);
	client_credentials_done(&client->credentials);
	client->credentials = *credentials;
	client->awaits_credentials = false;
	*credentials = (struct client_credentials){ 0 };
}

void http_client_await_credentials(struct http_client *client)
{
	client->awaits_credentials = true;
}
