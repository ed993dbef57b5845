/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport - one request on one libcurl handle; see transport.h
 *
 * libcurl leaves signals alone (CURLOPT_NOSIGNAL). An answer is kept in memory and bounded.
 */
#include "client/transport.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "client/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

enum { TOKEN_BYTES_MAX = 16384 };
enum { REPLY_BYTES_MAX = 512 * 1024 * 1024 }; /* an answer that is longer is none of podvold's */

bool transport_is_valid(const struct podvol_request *request)
{
	return request && request->method && *request->method && request->path &&
	       request->path[0] == '/' && !strpbrk(request->path, " \r\n") &&
	       (request->body || request->body_length == 0);
}

/* ---- what is sent ---- */

/* A value with a line break would be another header. */
static int add_header(struct curl_slist **list, const char *name, const char *value)
{
	cleanup_free char *header = NULL;
	struct curl_slist *longer;

	if (strpbrk(value, "\r\n"))
		return -EINVAL;
	header = new_text("%s %s", name, value);
	if (!header)
		return -ENOMEM;
	longer = curl_slist_append(*list, header);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static bool is_tls(const struct server *server)
{
	return server->address[0] != '/';
}

const char *transport_base(const struct server *server)
{
	return is_tls(server) ? server->address : "http://localhost";
}

/* A token that was renewed is read with the next request. */
static int add_token(const char *path, struct curl_slist **headers)
{
	char token[TOKEN_BYTES_MAX + 1];
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, token, sizeof(token));
	int r = length < 0 ? -errno : -ENODATA;

	if (length > 0 && length < (ssize_t) sizeof(token)) {
		token[length] = '\0';
		token[strcspn(token, "\r\n")] = '\0';
		r = add_header(headers, "Authorization: Bearer", token);
	}
	explicit_bzero(token, sizeof(token));
	return r;
}

int transport_set_server(CURL *curl, const struct server *server, const char *accept,
			 struct curl_slist **ret_headers)
{
	int r = add_header(ret_headers, "Accept:", accept ? accept : "application/json");

	if (r < 0)
		return r;
	(void) curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void) curl_easy_setopt(curl, CURLOPT_PROXY, "");
	(void) curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	if (!is_tls(server))
		return curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, server->address) == CURLE_OK
			       ? 0
			       : -ENOMEM;
	(void) curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
	(void) curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
	if (*server->ca_file && curl_easy_setopt(curl, CURLOPT_CAINFO, server->ca_file) != CURLE_OK)
		return -ENOMEM;
	return *server->token_file ? add_token(server->token_file, ret_headers) : 0;
}

static size_t receive(char *data, size_t size, size_t count, void *userdata);

static void set_options(CURL *curl, const struct podvol_request *request, struct receiver *receiver)
{
	(void) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	(void) curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	(void) curl_easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
	(void) curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long) request->timeout_msec);
}

int transport_set_up(CURL *curl, const struct server *server, const struct podvol_request *request,
		     struct receiver *receiver, struct curl_slist **ret_headers)
{
	cleanup_free char *url = NULL;
	CURLcode code;
	int r;

	*ret_headers = NULL;
	url = new_text("%s%s", transport_base(server), request->path);
	if (!url)
		return -ENOMEM;
	/* Keeps the connection, drops every option of the request before. */
	curl_easy_reset(curl);
	r = transport_set_server(curl, server, request->accept, ret_headers);
	if (r == 0 && request->body)
		r = add_header(ret_headers, "Content-Type:",
			       request->content_type ? request->content_type : "application/json");
	if (r < 0)
		return r;
	set_options(curl, request, receiver);
	(void) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *ret_headers);
	code = curl_easy_setopt(curl, CURLOPT_URL, url);
	if (code == CURLE_OK && request->body) {
		(void) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
					(curl_off_t) request->body_length);
		(void) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
	return code == CURLE_OK ? 0 : code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
}

/* ---- what comes back ---- */

static size_t receive(char *data, size_t size, size_t count, void *userdata)
{
	struct receiver *receiver = userdata;
	int r = byte_buffer_add(&receiver->answer, data, size * count, REPLY_BYTES_MAX);

	receiver->too_long = r == -E2BIG;
	return r < 0 ? 0 : size * count;
}

static int fail(char error_text[ERROR_BYTES], int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int fail(char error_text[ERROR_BYTES], int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(error_text, ERROR_BYTES, format, arguments);
	va_end(arguments);
	return error;
}

static int connect_failed(CURL *curl, const struct server *server, char error[ERROR_BYTES])
{
	long system_error = 0;

	(void) curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &system_error);
	if (!is_tls(server) && (system_error == EACCES || system_error == EPERM))
		return fail(error, -EACCES,
			    "no right to use the socket '%s': be root or a member of group podvol",
			    server->address);
	return fail(error, -ECONNREFUSED, "no answer on '%s'%s%s: is podvold running?",
		    server->address, system_error ? ": " : "",
		    system_error ? strerror((int) system_error) : "");
}

/* What curl met on the way there, in our words. */
static int transfer_failed(CURL *curl, CURLcode code, const struct server *server,
			   const struct receiver *receiver, char error[ERROR_BYTES])
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return connect_failed(curl, server, error);
	case CURLE_OPERATION_TIMEDOUT:
		return fail(error, -ETIMEDOUT, "podvold did not answer in time");
	case CURLE_OUT_OF_MEMORY:
		return fail(error, -ENOMEM, "out of memory");
	case CURLE_WRITE_ERROR:
		if (receiver->too_long)
			return fail(error, -EPROTO, "the answer is too long");
		return fail(error, -ENOMEM, "out of memory");
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return fail(error, -ECONNREFUSED,
			    "podvold closed the connection without an answer");
	case CURLE_BAD_FUNCTION_ARGUMENT:
	case CURLE_URL_MALFORMAT:
		return fail(error, -EINVAL, "the path is not a path of a request");
	case CURLE_PEER_FAILED_VERIFICATION:
		return fail(error, -EACCES, "the certificate of '%s' is not trusted%s%s: %s",
			    server->address, *server->ca_file ? " by " : "", server->ca_file,
			    curl_easy_strerror(code));
	case CURLE_SSL_CACERT_BADFILE:
		return fail(error, -EINVAL, "cannot read the authority '%s'", server->ca_file);
	default:
		return fail(error, -EPROTO, "what answers on '%s' is not podvold: %s",
			    server->address, curl_easy_strerror(code));
	}
}

int transport_end(CURL *curl, CURLcode code, const struct server *server, struct receiver *receiver,
		  struct outcome *outcome, struct podvol_reply *ret)
{
	cleanup_free char *bytes = TAKE_PTR(receiver->answer.bytes);
	long status = 0;
	int r = 0;

	outcome->error[0] = '\0';
	outcome->status = 0;
	if (code != CURLE_OK)
		return transfer_failed(curl, code, server, receiver, outcome->error);
	if (!bytes && !(bytes = calloc(1, 1)))
		return fail(outcome->error, -ENOMEM, "out of memory");
	(void) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	outcome->status = (int) status;
	if (status >= 400)
		r = refusal_read((int) status, bytes, receiver->answer.length, outcome->error,
				 sizeof(outcome->error));
	if (ret)
		*ret = (struct podvol_reply){ .status = (int) status,
					      .body = TAKE_PTR(bytes),
					      .length = receiver->answer.length };
	return r;
}

/* ---- what it waits for ---- */

int transport_poll_socket(int epoll_fd, curl_socket_t fd, int what)
{
	struct epoll_event event = { .data.fd = fd };

	if (what == CURL_POLL_REMOVE) {
		(void) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events =
		(what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -1 : 0;
}

/* Zero would disarm the timer: the shortest time there is instead. */
int transport_set_timer(int timer_fd, long msec)
{
	struct itimerspec when = { 0 };

	if (msec >= 0) {
		when.it_value.tv_sec = msec / 1000;
		when.it_value.tv_nsec = msec > 0 ? msec % 1000 * 1000000 : 1;
	}
	return timerfd_settime(timer_fd, 0, &when, NULL) < 0 ? -1 : 0;
}
