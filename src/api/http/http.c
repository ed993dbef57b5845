/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http - makes an exchange of each request of the library: head, rights, body, then its handler
 *
 * What can be refused by its head is refused before a byte of its body is read. Who a client is
 * comes first: who may do nothing here learns nothing from the other refusals.
 */
#include "api/request.h"

#include "api/auth/credentials.h"
#include "api/docker/docker_volume.h"
#include "api/http/head.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <string.h>
#include <utlist.h>

/* How much more than the limit of a body is read and thrown away before we hang up. */
enum { DISCARD_TIMES = 4 };

struct connection *http_connection(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Waits may take three of four connections; the last quarter is for those who ask why. */
static bool may_wait(const struct listener *listener)
{
	return listener->waiting < (listener->api->options.connections_max + 3) / 4 * 3;
}

/* ---- the head ---- */

static enum api_method parse_method(const char *method)
{
	static const struct {
		const char *name;
		enum api_method method;
	} methods[] = {
		{ MHD_HTTP_METHOD_GET, METHOD_GET },     { MHD_HTTP_METHOD_HEAD, METHOD_GET },
		{ MHD_HTTP_METHOD_POST, METHOD_POST },   { MHD_HTTP_METHOD_PUT, METHOD_PUT },
		{ MHD_HTTP_METHOD_PATCH, METHOD_PATCH }, { MHD_HTTP_METHOD_DELETE, METHOD_DELETE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(method, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

static size_t body_bytes_max(const struct request *request)
{
	size_t most = request->api->options.request_bytes_max;

	if (request->connection->listener->kind == API_DOCKER && most > API_DOCKER_BODY_BYTES_MAX)
		return API_DOCKER_BODY_BYTES_MAX;
	return most;
}

static bool body_is_too_large(struct request *request)
{
	const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > body_bytes_max(request);
}

static void refuse_too_large(struct request *request)
{
	reply_refusal(&request->exchange, API_TOO_LARGE,
		      "the request body is longer than %zu bytes", body_bytes_max(request));
}

/* Refusals that need no body; they come as JSON, whatever form was asked for. With an answer this
 * early the library closes the connection: what follows the head is not taken for a request. */
static void check_head(struct request *request, const char *method, const char *version)
{
	struct exchange *exchange = &request->exchange;
	const char *problem = head_line_problem(method, request->uri, request->uri_bytes, version);

	if (!problem)
		problem = head_problem(request->library, method, version);
	if (problem)
		reply_refusal(exchange, API_BAD_REQUEST, "%s", problem);
	if (problem || !authenticate(request))
		return;
	if (request->uri_failure)
		reply_refusal(exchange,
			      request->uri_failure->error == -ENAMETOOLONG ? API_URI_TOO_LONG
									   : API_BAD_REQUEST,
			      "%s", request->uri_failure->text);
	else if (body_is_too_large(request))
		refuse_too_large(request);
	exchange->accept = request_header(request, MHD_HTTP_HEADER_ACCEPT);
	exchange->content =
		api_content_parse(request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE));
}

/* ---- the body ---- */

/* Grows by doubling; one byte more than the body for its NUL. */
static int grow_body(struct request *request, size_t needed)
{
	struct api *api = request->api;
	size_t doubled = request->body_allocated * 2;
	size_t allocated = doubled > needed ? doubled : needed;
	size_t more = allocated - request->body_allocated;
	char *grown;

	if ((api->body_bytes + more) / API_BODIES_IN_FLIGHT_MAX > api->options.request_bytes_max)
		return -EBUSY;
	/* realloc() would leave a copy behind, and there may be secrets in it. */
	grown = malloc(allocated);
	if (!grown)
		return -ENOMEM;
	if (request->exchange.body) {
		memcpy(grown, request->exchange.body, request->exchange.body_length + 1);
		explicit_bzero(request->exchange.body, request->exchange.body_length);
		free(request->exchange.body);
	}
	request->exchange.body = grown;
	request->body_allocated = allocated;
	api->body_bytes += more;
	return 0;
}

static enum MHD_Result discard_body(struct request *request, size_t length)
{
	request->body_discarded += length;
	return request->body_discarded / DISCARD_TIMES > request->api->options.request_bytes_max
		       ? MHD_NO
		       : MHD_YES;
}

static enum MHD_Result keep_body(struct request *request, const char *data, size_t length)
{
	struct exchange *exchange = &request->exchange;
	size_t needed = exchange->body_length + length + 1;
	int r = 0;

	if (request->body_state == BODY_KEPT &&
	    exchange->body_length + length > body_bytes_max(request))
		request->body_state = BODY_TOO_LARGE;
	if (request->body_state == BODY_KEPT && needed > request->body_allocated)
		r = grow_body(request, needed);
	if (r == -EBUSY)
		request->body_state = BODY_TOO_MANY;
	else if (r < 0)
		return MHD_NO;
	if (request->body_state != BODY_KEPT)
		return discard_body(request, length);
	memcpy(exchange->body + exchange->body_length, data, length);
	exchange->body_length += length;
	exchange->body[exchange->body_length] = '\0';
	return MHD_YES;
}

/* ---- the handler ---- */

/* A handler that began a stream all the same learns that the client left. */
static void refuse_stream(struct exchange *exchange)
{
	exchange_abandon(exchange);
	exchange->status = 0;
	exchange->pull = NULL;
	reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
}

static void run_handler(struct request *request)
{
	struct exchange *exchange = &request->exchange;

	if (MHD_get_connection_values(request->library, MHD_FOOTER_KIND, NULL, NULL) > 0)
		reply_refusal(exchange, API_BAD_REQUEST,
			      "fields after a body (trailers) are not supported");
	else if (request->body_state == BODY_TOO_LARGE)
		refuse_too_large(request);
	else if (request->body_state == BODY_TOO_MANY)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS,
			      "too many long requests are being read");
	else if (request->api->reply_bytes > API_REPLY_BYTES_MAX)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS, "too many long answers are unread");
	else if (request->connection->listener->kind == API_DOCKER)
		docker_volume_dispatch(exchange); /* JSON, by whatever name */
	else if (exchange->body_length > 0 &&
		 (exchange->content == CONTENT_OTHER ||
		  (exchange->content == CONTENT_PROTOBUF && !api_takes_protobuf(&exchange->path))))
		reply_refusal(exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "the body of the request was in an unknown format - accepted media "
			      "types include: application/json, application/yaml (kubectl create "
			      "sends some kinds as protobuf: add --dry-run=client -o yaml and "
			      "pipe that into kubectl apply -f -)");
	else
		api_dispatch(exchange);
	if (exchange->pull && !exchange->may_wait)
		refuse_stream(exchange);
}

static enum MHD_Result dispatch(struct request *request)
{
	connection_enter(request->connection, DEADLINE_NONE);
	request->ran = true;
	request->exchange.may_wait = may_wait(request->connection->listener);
	request->running = true;
	run_handler(request);
	request->running = false;

	if (request->exchange.status != 0)
		return answer_send(request);
	if (answer_suspend(request) < 0) {
		exchange_abandon(&request->exchange);
		return MHD_NO;
	}
	return MHD_YES;
}

/* ---- the library's callbacks ---- */

static enum MHD_Result begin(struct request *request, struct MHD_Connection *connection,
			     const char *method, const char *version)
{
	request->seen = true;
	if (request->connection->listener->kind == API_DOCKER)
		request->exchange.form = FORM_DOCKER;
	request->library = connection;
	request->exchange.method = parse_method(method);
	request->running = true;
	check_head(request, method, version);
	request->running = false;
	return request->exchange.status != 0 ? answer_send(request) : MHD_YES;
}

/* Called for the head, for each piece of the body, at its end, and again after a resume. */
enum MHD_Result http_on_request(void *userdata, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *data,
				size_t *data_length, void **request_slot)
{
	struct request *request = *request_slot;
	enum MHD_Result result;

	if (!request || !request->connection || request->left || request->api->stopping)
		return MHD_NO; /* closes the connection */
	if (!request->seen)
		return begin(request, connection, method, version);
	if (*data_length > 0) {
		result = keep_body(request, data, *data_length);
		*data_length = 0;
		return result;
	}
	return request->exchange.status != 0 ? answer_send(request) : dispatch(request);
}

/* The request line is there: the one place where the path is still as it was sent. */
void *http_on_uri(void *userdata, const char *uri, struct MHD_Connection *connection)
{
	struct api *api = ((struct listener *) userdata)->api;
	struct request *request = calloc(1, sizeof(*request));
	struct failure why;
	int r;

	if (!request)
		return NULL;
	request->api = api;
	request->uri = uri;
	request->uri_bytes = strlen(uri);
	request->connection = http_connection(connection);
	request->exchange.agent = api->options.agent;
	request->exchange.readers = api->readers;
	request->exchange.watches = api->watches;
	request->exchange.credentials = api->options.credentials;
	request->exchange.answered = answer_is_there;
	/* The library takes the last blank of the line for the end of the path, others the first.
	 */
	r = strchr(uri, ' ') ? failed_plain(&why, -EINVAL, "the path holds a blank")
			     : api_path_parse(uri, &request->exchange.path, &why);
	if (r < 0)
		request->uri_failure = failure_keep(&why);
	if (request->connection) {
		request->connection->asked = true;
		connection_enter(request->connection, DEADLINE_REQUEST);
	}
	DL_APPEND2(api->requests, request, previous, next);
	return request;
}

void http_on_completed(void *userdata, struct MHD_Connection *connection, void **request_slot,
		       enum MHD_RequestTerminationCode code)
{
	struct request *request = *request_slot;

	if (!request)
		return;
	DL_DELETE2(request->api->requests, request, previous, next);
	audit_end(request);
	exchange_abandon(&request->exchange);
	answer_done(request);
	request->api->body_bytes -= request->body_allocated;
	exchange_done(&request->exchange);
	(void) failure_drop(request->uri_failure);
	if (request->connection)
		connection_enter(request->connection, DEADLINE_IDLE);
	free(request);
	*request_slot = NULL;
}

void http_abandon_all(struct api *api)
{
	struct request *request;

	DL_FOREACH2(api->requests, request, next)
	{
		if (!request->suspended)
			continue;
		exchange_abandon(&request->exchange);
		answer_resume(request);
	}
}

static void end_request(struct request *request)
{
	request->left = true; /* a stream that is being sent ends at its next pull */
	if (!request->suspended)
		return;
	exchange_abandon(&request->exchange);
	answer_resume(request);
}

/* What it came with, a named token or a certificate, opens something still. */
static bool credential_holds(const struct request *request, const struct token_list *list,
			     uint64_t now_usec)
{
	if (!request->has_certificate)
		return token_list_holds(list, request->token, now_usec);
	return !client_certificate_problem(&request->connection->handshake.certificate, list,
					   now_usec);
}

bool http_check_tokens(struct api *api)
{
	const struct token_list *list = credentials_tokens(api->options.credentials);
	uint64_t now_usec = realtime_usec();
	struct request *request;
	bool more = false;

	DL_FOREACH2(api->requests, request, next)
	{
		if (*request->user == '\0' || request->left)
			continue;
		if (credential_holds(request, list, now_usec))
			more = true;
		else if (request->waits)
			end_request(request);
	}
	return more;
}
