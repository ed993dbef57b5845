/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_setup - what a call asks of libcurl: transport, limits, credentials, headers
 *
 * Nothing but HTTP, TLS 1.2 or later with the authority that is given, and no redirects.
 */
#include "store/remote/http_internal.h"

#include "base/cleanup.h"
#include "build-config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* A peer that is gone without a word ends a watch, too. */
static int socket_made(void *userdata, curl_socket_t fd, curlsocktype purpose)
{
	unsigned int msec = HTTP_DEAD_PEER_SECONDS * 1000;

	(void) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &msec, sizeof(msec));
	return CURL_SOCKOPT_OK;
}

static bool set_blob(CURL *easy, CURLoption option, const char *text)
{
	struct curl_blob blob = { .flags = CURL_BLOB_COPY };

	if (!text)
		return true;
	blob.data = (void *) (uintptr_t) text;
	blob.len = strlen(text);
	return libcurl.easy_setopt(easy, option, &blob) == CURLE_OK;
}

static bool set_credentials(CURL *easy, const struct client_credentials *credentials)
{
	bool ok = true;

	if (credentials->authority) /* and no directory of the system's beside it */
		ok = libcurl.easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK &&
		     set_blob(easy, CURLOPT_CAINFO_BLOB, credentials->authority);
	ok = ok && set_blob(easy, CURLOPT_SSLCERT_BLOB, credentials->certificate) &&
	     set_blob(easy, CURLOPT_SSLKEY_BLOB, credentials->key);
	if (ok && credentials->token)
		ok = libcurl.easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER) == CURLE_OK &&
		     libcurl.easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, credentials->token) ==
			     CURLE_OK;
	return ok;
}

static bool add_header(struct http_call *call, const char *name, const char *value)
{
	struct curl_slist *longer;
	char text[256];

	(void) snprintf(text, sizeof(text), "%s: %s", name, value);
	longer = libcurl.slist_append(call->headers, text);
	if (longer)
		call->headers = longer;
	return longer != NULL;
}

/* Limits, and what the connection must be like. */
static void set_transport(const struct http_call *call, const struct http_request *request)
{
	const struct http_client *client = call->client;
	CURL *easy = call->easy;

	(void) libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void) libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void) libcurl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_2TLS);
	(void) libcurl.easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
	(void) libcurl.easy_setopt(easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
	(void) libcurl.easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	(void) libcurl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long) HTTP_CONNECT_SECONDS);
	(void) libcurl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) (request->timeout_usec / 1000));
	(void) libcurl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	(void) libcurl.easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long) HTTP_DEAD_PEER_SECONDS);
	(void) libcurl.easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long) HTTP_DEAD_PEER_SECONDS / 3);
	(void) libcurl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket_made);
	(void) libcurl.easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error_text);
	(void) libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_call_received);
	(void) libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, call);
	(void) libcurl.easy_setopt(easy, CURLOPT_PRIVATE, call);
	(void) libcurl.easy_setopt(easy, CURLOPT_USERAGENT, "podvold/" PACKAGE_VERSION);
	(void) libcurl.easy_setopt(easy, CURLOPT_CONNECT_TO, client->connect_to);
}

bool http_call_set_up(struct http_call *call, const struct http_request *request)
{
	const struct http_client *client = call->client;
	cleanup_free char *url = NULL;
	CURL *easy = call->easy;
	bool ok;

	if (asprintf(&url, "%s%s", client->url, request->path) < 0)
		url = NULL;
	set_transport(call, request);
	ok = url && libcurl.easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
	     libcurl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK &&
	     set_credentials(easy, &client->credentials) &&
	     add_header(call, "Accept", "application/json");
	if (ok && client->proxy_url)
		ok = libcurl.easy_setopt(easy, CURLOPT_PROXY, client->proxy_url) == CURLE_OK;
	if (ok && !client->disable_compression)
		ok = libcurl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK;
	if (ok && request->body)
		ok = add_header(call, "Content-Type", request->content_type) &&
		     add_header(call, "Expect", "") &&
		     libcurl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body) == CURLE_OK;
	return ok && libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers) == CURLE_OK;
}
