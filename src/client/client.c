/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client - a handle of libpodvol and its calls that block: one libcurl handle
 *
 * libcurl keeps the connection between calls and notices a daemon that was restarted.
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "client/transport.h"

#include <stdarg.h>
#include <string.h>
#include <sys/un.h>

struct podvol {
	CURL *curl;
	struct calls *calls; /* that do not block; NULL until the first */
	struct server server;
	struct outcome outcome;
};

int handle_failed(struct podvol *podvol, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(podvol->outcome.error, sizeof(podvol->outcome.error), format, arguments);
	va_end(arguments);
	return error;
}

/* ---- the handle ---- */

static int handle_new(const struct server *server, struct podvol **ret)
{
	struct podvol *podvol = calloc(1, sizeof(*podvol));

	if (!podvol)
		return -ENOMEM;
	podvol->server = *server;
	podvol->curl = curl_easy_init();
	if (!podvol->curl) {
		free(podvol);
		return -ENOMEM;
	}
	*ret = podvol;
	return 0;
}

static int copy_place(const char *text, char to[PLACE_BYTES])
{
	return snprintf(to, PLACE_BYTES, "%s", text ? text : "") < PLACE_BYTES ? 0 : -ENAMETOOLONG;
}

int podvol_connect(const char *socket_path, struct podvol **ret)
{
	struct server server = { 0 };

	if (!ret)
		return -EINVAL;
	if (!socket_path)
		socket_path = secure_getenv("PODVOL_SOCKET");
	if (!socket_path)
		socket_path = PODVOL_SOCKET_DEFAULT;
	if (socket_path[0] != '/')
		return -EINVAL;
	if (strlen(socket_path) >= sizeof(((struct sockaddr_un *) NULL)->sun_path))
		return -ENAMETOOLONG;
	(void) copy_place(socket_path, server.address);
	return handle_new(&server, ret);
}

int podvol_connect_tls(const char *url, const char *ca_file, const char *token_file,
		       struct podvol **ret)
{
	static const char scheme[] = "https://";
	struct server server = { 0 };
	size_t length = strlen(scheme);

	if (!ret || !url || strncmp(url, scheme, length) != 0 || url[length] == '\0' ||
	    strpbrk(url + length, "/?#@ \r\n"))
		return -EINVAL;
	if (copy_place(url, server.address) < 0 || copy_place(ca_file, server.ca_file) < 0 ||
	    copy_place(token_file, server.token_file) < 0)
		return -ENAMETOOLONG;
	return handle_new(&server, ret);
}

void podvol_free(struct podvol *podvol)
{
	if (!podvol)
		return;
	(void) calls_free(podvol->calls);
	curl_easy_cleanup(podvol->curl);
	free(podvol);
}

const char *podvol_error(const struct podvol *podvol)
{
	return podvol ? podvol->outcome.error : "";
}

int podvol_status(const struct podvol *podvol)
{
	return podvol ? podvol->outcome.status : 0;
}

const char *podvol_socket(const struct podvol *podvol)
{
	return podvol ? podvol->server.address : "";
}

const struct server *handle_server(const struct podvol *podvol)
{
	return &podvol->server;
}

/* ---- one request ---- */

static int set_up_failed(struct podvol *podvol, int error)
{
	if (error == -ENOMEM)
		return handle_failed(podvol, error, "out of memory");
	if (error == -EINVAL)
		return handle_failed(podvol, error, "the path or a header is not valid");
	return handle_failed(podvol, error, "cannot read the token '%s': %s",
			     podvol->server.token_file, strerror(-error));
}

int podvol_request(struct podvol *podvol, const struct podvol_request *request,
		   struct podvol_reply *ret)
{
	struct curl_slist *headers = NULL;
	struct receiver receiver = { 0 };
	CURLcode code = CURLE_OK;
	int r;

	if (!podvol)
		return -EINVAL;
	podvol->outcome.error[0] = '\0';
	podvol->outcome.status = 0;
	if (!transport_is_valid(request))
		return handle_failed(podvol, -EINVAL, "the request is not valid");

	r = transport_set_up(podvol->curl, &podvol->server, request, &receiver, &headers);
	if (r == 0)
		code = curl_easy_perform(podvol->curl);
	curl_slist_free_all(headers);
	if (r < 0)
		return set_up_failed(podvol, r);
	return transport_end(podvol->curl, code, &podvol->server, &receiver, &podvol->outcome, ret);
}

void podvol_reply_done(struct podvol_reply *reply)
{
	if (!reply)
		return;
	free(reply->body);
	*reply = (struct podvol_reply){ 0 };
}

/* ---- calls that do not block ---- */

static int need_calls(struct podvol *podvol)
{
	int r = podvol->calls ? 0 : calls_new(podvol, &podvol->calls);

	return r < 0 ? handle_failed(podvol, r, "cannot prepare a call: %s", strerror(-r)) : 0;
}

int podvol_call(struct podvol *podvol, const struct podvol_request *request,
		void (*done)(void *userdata, int result, struct podvol_reply *reply),
		void *userdata, struct podvol_call **ret)
{
	int r;

	if (!podvol)
		return -EINVAL;
	podvol->outcome.error[0] = '\0';
	if (!done || !transport_is_valid(request))
		return handle_failed(podvol, -EINVAL, "the request is not valid");
	r = need_calls(podvol);
	if (r < 0)
		return r;
	r = calls_start(podvol->calls, request, done, userdata, ret);
	if (r == -EAGAIN)
		return handle_failed(podvol, r, "%d calls are under way", CALLS_MAX);
	return r < 0 ? set_up_failed(podvol, r) : 0;
}

int podvol_fd(struct podvol *podvol)
{
	int r;

	if (!podvol)
		return -EINVAL;
	r = need_calls(podvol);
	return r < 0 ? r : calls_fd(podvol->calls);
}

int podvol_process(struct podvol *podvol)
{
	return podvol && podvol->calls ? calls_process(podvol->calls) : 0;
}

struct outcome *handle_outcome(struct podvol *podvol)
{
	return &podvol->outcome;
}
