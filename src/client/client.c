/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client - the transport of libpodvol: one libcurl handle on a unix socket
 *
 * libcurl keeps the connection between calls, notices a daemon that was restarted and leaves
 * signals alone (CURLOPT_NOSIGNAL). An answer is kept in memory and bounded. Only this file and
 * watch.c know curl.
 */
#include "client/handle.h"

#include "base/cleanup.h"

#include <curl/curl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/un.h>

enum {
	ERROR_BYTES = 8192,                  /* a whole failure of podvold in a sentence */
	REPLY_BYTES_MAX = 512 * 1024 * 1024, /* an answer that is longer is none of podvold's */
};

struct podvol {
	CURL *curl;
	char socket_path[sizeof(((struct sockaddr_un *) NULL)->sun_path)];
	char error[ERROR_BYTES];
	int status;
};

struct receiver {
	char *bytes;
	size_t length, allocated;
	bool too_long;
};

int handle_failed(struct podvol *podvol, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(podvol->error, sizeof(podvol->error), format, arguments);
	va_end(arguments);
	return error;
}

/* ---- the handle ---- */

int podvol_connect(const char *socket_path, struct podvol **ret)
{
	struct podvol *podvol;

	if (!ret)
		return -EINVAL;
	if (!socket_path)
		socket_path = secure_getenv("PODVOL_SOCKET");
	if (!socket_path)
		socket_path = PODVOL_SOCKET_DEFAULT;
	if (socket_path[0] != '/')
		return -EINVAL;
	if (strlen(socket_path) >= sizeof(podvol->socket_path))
		return -ENAMETOOLONG;

	podvol = calloc(1, sizeof(*podvol));
	if (!podvol)
		return -ENOMEM;
	memcpy(podvol->socket_path, socket_path, strlen(socket_path) + 1);
	podvol->curl = curl_easy_init();
	if (!podvol->curl) {
		free(podvol);
		return -ENOMEM;
	}
	*ret = podvol;
	return 0;
}

void podvol_free(struct podvol *podvol)
{
	if (!podvol)
		return;
	curl_easy_cleanup(podvol->curl);
	free(podvol);
}

const char *podvol_error(const struct podvol *podvol)
{
	return podvol ? podvol->error : "";
}

int podvol_status(const struct podvol *podvol)
{
	return podvol ? podvol->status : 0;
}

const char *podvol_socket(const struct podvol *podvol)
{
	return podvol ? podvol->socket_path : "";
}

/* ---- one request ---- */

/* Doubling, and bounded: a stranger on the socket cannot fill our memory. */
static size_t receive(char *data, size_t size, size_t count, void *userdata)
{
	struct receiver *receiver = userdata;
	size_t length = size * count;
	size_t needed = receiver->length + length + 1;

	if (needed > REPLY_BYTES_MAX) {
		receiver->too_long = true;
		return 0;
	}
	if (needed > receiver->allocated) {
		size_t allocated =
			receiver->allocated * 2 > needed ? receiver->allocated * 2 : needed;
		char *grown = realloc(receiver->bytes, allocated);

		if (!grown)
			return 0;
		receiver->bytes = grown;
		receiver->allocated = allocated;
	}
	memcpy(receiver->bytes + receiver->length, data, length);
	receiver->length += length;
	receiver->bytes[receiver->length] = '\0';
	return length;
}

/* What curl met on the way there, in our words. */
static int transport_failed(struct podvol *podvol, CURLcode code, const struct receiver *receiver)
{
	long system_error = 0;

	switch (code) {
	case CURLE_COULDNT_CONNECT:
		(void) curl_easy_getinfo(podvol->curl, CURLINFO_OS_ERRNO, &system_error);
		if (system_error == EACCES || system_error == EPERM)
			return handle_failed(podvol, -EACCES,
					     "no right to use the socket '%s': be root or a member "
					     "of group podvol",
					     podvol->socket_path);
		return handle_failed(podvol, -ECONNREFUSED,
				     "no answer on '%s'%s%s: is podvold running?",
				     podvol->socket_path, system_error ? ": " : "",
				     system_error ? strerror((int) system_error) : "");
	case CURLE_OPERATION_TIMEDOUT:
		return handle_failed(podvol, -ETIMEDOUT, "podvold did not answer in time");
	case CURLE_OUT_OF_MEMORY:
		return handle_failed(podvol, -ENOMEM, "out of memory");
	case CURLE_WRITE_ERROR:
		if (receiver->too_long)
			return handle_failed(podvol, -EPROTO, "the answer is too long");
		return handle_failed(podvol, -ENOMEM, "out of memory");
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return handle_failed(podvol, -ECONNREFUSED,
				     "podvold closed the connection without an answer");
	case CURLE_BAD_FUNCTION_ARGUMENT:
	case CURLE_URL_MALFORMAT:
		return handle_failed(podvol, -EINVAL, "the path is not a path of a request");
	default:
		return handle_failed(podvol, -EPROTO, "what answers on '%s' is not podvold: %s",
				     podvol->socket_path, curl_easy_strerror(code));
	}
}

/* A value with a line break would be another header. */
static int add_header(struct curl_slist **list, const char *name, const char *value)
{
	char header[256];
	struct curl_slist *longer;

	if (strpbrk(value, "\r\n") ||
	    snprintf(header, sizeof(header), "%s: %s", name, value) >= (int) sizeof(header))
		return -EINVAL;
	longer = curl_slist_append(*list, header);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int make_headers(const struct podvol_request *request, struct curl_slist **ret)
{
	const char *type = request->content_type ? request->content_type : "application/json";
	int r;

	r = add_header(ret, "Accept", request->accept ? request->accept : "application/json");
	if (r == 0 && request->body)
		r = add_header(ret, "Content-Type", type);
	return r;
}

static void set_options(struct podvol *podvol, const struct podvol_request *request,
			struct curl_slist *headers, struct receiver *receiver)
{
	CURL *curl = podvol->curl;

	/* Keeps the connection, drops every option of the request before. */
	curl_easy_reset(curl);
	(void) curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void) curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, podvol->socket_path);
	(void) curl_easy_setopt(curl, CURLOPT_PROXY, "");
	(void) curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	(void) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	(void) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void) curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	(void) curl_easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
	(void) curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long) request->timeout_msec);
	if (request->body) {
		(void) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
		(void) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
					(curl_off_t) request->body_length);
	}
}

/* The handle is kept between requests, and with it the connection. */
static int perform(struct podvol *podvol, const struct podvol_request *request,
		   struct receiver *receiver)
{
	struct curl_slist *headers = NULL;
	cleanup_free char *url = NULL;
	long status = 0;
	CURLcode code;
	int r;

	r = make_headers(request, &headers);
	if (r == 0 && asprintf(&url, "http://localhost%s", request->path) < 0) {
		url = NULL;
		r = -ENOMEM;
	}
	if (r < 0) {
		curl_slist_free_all(headers);
		return handle_failed(podvol, r, "%s",
				     r == -ENOMEM ? "out of memory" : "a header is not valid");
	}
	set_options(podvol, request, headers, receiver);
	code = curl_easy_setopt(podvol->curl, CURLOPT_URL, url);
	if (code == CURLE_OK)
		code = curl_easy_perform(podvol->curl);
	curl_slist_free_all(headers);
	if (code != CURLE_OK)
		return transport_failed(podvol, code, receiver);
	(void) curl_easy_getinfo(podvol->curl, CURLINFO_RESPONSE_CODE, &status);
	podvol->status = (int) status;
	return 0;
}

/* Our callers' mistakes are theirs to mend: an error code, never an assertion. */
static bool is_valid(const struct podvol_request *request)
{
	return request && request->method && *request->method && request->path &&
	       request->path[0] == '/' && !strpbrk(request->path, " \r\n") &&
	       (request->body || request->body_length == 0);
}

int podvol_request(struct podvol *podvol, const struct podvol_request *request,
		   struct podvol_reply *ret)
{
	struct receiver receiver = { 0 };
	int r;

	if (!podvol)
		return -EINVAL;
	podvol->error[0] = '\0';
	podvol->status = 0;
	if (!is_valid(request))
		return handle_failed(podvol, -EINVAL, "the request is not valid");

	r = perform(podvol, request, &receiver);
	if (r == 0 && !receiver.bytes) {
		receiver.bytes = calloc(1, 1);
		if (!receiver.bytes)
			r = handle_failed(podvol, -ENOMEM, "out of memory");
	}
	if (r == 0) {
		if (podvol->status >= 400)
			r = refusal_read(podvol->status, receiver.bytes, receiver.length,
					 podvol->error, sizeof(podvol->error));
		if (ret)
			*ret = (struct podvol_reply){ .status = podvol->status,
						      .body = TAKE_PTR(receiver.bytes),
						      .length = receiver.length };
	}
	free(receiver.bytes);
	return r;
}

void podvol_reply_done(struct podvol_reply *reply)
{
	if (!reply)
		return;
	free(reply->body);
	*reply = (struct podvol_reply){ 0 };
}
