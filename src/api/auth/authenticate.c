/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authenticate - who sends a request, and whether its head alone is reason to refuse it
 *
 * On a unix socket the kernel has said who it is when the connection began; over TLS each request
 * carries a token, or the handshake has brought a certificate. A peer that guessed too often is
 * answered 429 before its token is compared.
 */
#include "api/request.h"

#include "api/auth/credentials.h"
#include "api/auth/refusals.h"
#include "api/http/head.h"
#include "api/http/listen.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

const char *request_header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->library, MHD_HEADER_KIND, name);
}

/* ---- who it is ---- */

/* A named token also names the user, and the request ends with it. */
static unsigned int rights_of_named_token(struct request *request, const unsigned char *digest)
{
	const struct token_list *list = credentials_tokens(request->api->options.credentials);
	const struct named_token *token = token_list_find(list, digest);

	if (!token)
		return 0;
	if (!named_token_is_valid(token, realtime_usec())) {
		request->credential = "an expired token";
		return 0;
	}
	memcpy(request->token, token->digest, sizeof(request->token));
	memcpy(request->user, token->name, sizeof(request->user));
	request->exchange.user = request->user;
	api_check_tokens_later(request->api);
	return token->rights;
}

/* Proven by the handshake: nothing can be guessed here. */
static unsigned int rights_of_certificate(struct request *request)
{
	const struct client_certificate *certificate = handshake_certificate(request->connection);
	const struct token_list *list = credentials_tokens(request->api->options.credentials);

	request->credential = client_certificate_problem(certificate, list, realtime_usec());
	if (request->credential)
		return 0;
	(void) snprintf(request->user, sizeof(request->user), "%s", certificate->user);
	request->has_certificate = true;
	request->exchange.user = request->user;
	api_check_tokens_later(request->api);
	return certificate->rights;
}

/* Without a header there is nothing to guess. */
static unsigned int rights_of_token(struct request *request)
{
	const char *given = request_header(request, MHD_HTTP_HEADER_AUTHORIZATION);
	const struct remote_peer *peer = &request->connection->unprivileged.peer;
	struct refusals *refusals = request->api->refusals;
	unsigned char digest[TOKEN_DIGEST_BYTES];
	uint64_t now_usec = monotonic_usec();
	unsigned int rights = 0;
	bool is_token;

	if (!given)
		return rights_of_certificate(request);
	request->credential = "an unknown credential";
	is_token = token_digest(given, digest) == 0;
	request->exchange.retry_seconds =
		refusals_wait(refusals, peer, is_token ? digest : NULL, now_usec);
	if (request->exchange.retry_seconds > 0)
		return 0;
	if (credentials_token_is_given(request->api->options.credentials, given))
		rights = RIGHTS_ALL;
	else if (is_token)
		rights = rights_of_named_token(request, digest);
	if (rights == 0)
		refusals_guessed(refusals, peer, now_usec);
	else if (is_token)
		refusals_accepted(refusals, peer, digest, now_usec);
	if (rights != 0)
		request->credential = NULL;
	return rights;
}

/* The kernel's word cannot be guessed, but who tries without end costs as much. */
static unsigned int rights_of_peer(struct request *request)
{
	const struct connection *connection = request->connection;
	struct refusals *refusals = request->api->refusals;
	uint64_t now_usec = monotonic_usec();

	if (connection->rights != 0)
		return connection->rights;
	request->credential = "its uid";
	request->exchange.retry_seconds =
		refusals_wait(refusals, &connection->unprivileged.peer, NULL, now_usec);
	if (request->exchange.retry_seconds == 0)
		refusals_guessed(refusals, &connection->unprivileged.peer, now_usec);
	return 0;
}

static unsigned int rights(struct request *request)
{
	request->exchange.user = request->connection->user;
	return request->connection->listener->kind == API_TLS ? rights_of_token(request)
							      : rights_of_peer(request);
}

/* On a unix socket the uid is the user. */
static void note_peer(struct request *request)
{
	struct connection *connection = request->connection;

	request->exchange.record.client = connection->peer;
	request->exchange.peer = connection->peer;
	if (listener_is_unix(connection->listener->kind))
		return;
	(void) snprintf(request->peer, sizeof(request->peer), "%s at %s", request->exchange.user,
			connection->peer);
	request->exchange.peer = request->peer;
}

/* ---- may it go on ---- */

static void refuse_guess(struct request *request)
{
	const struct reply_details details = { .retry_seconds = request->exchange.retry_seconds };

	request->is_throttled = true;
	reply_refusal_about(&request->exchange, API_TOO_MANY_REQUESTS, &details,
			    "too many requests of this client were refused: try again later");
}

static void refuse_client(struct request *request)
{
	struct exchange *exchange = &request->exchange;
	enum api_listener_kind kind = request->connection->listener->kind;

	if (exchange->retry_seconds > 0)
		refuse_guess(request);
	else if (kind == API_TLS)
		reply_refusal(exchange, API_UNAUTHORIZED, "Unauthorized");
	else if (kind == API_DOCKER)
		reply_refusal(exchange, API_FORBIDDEN, "only root may use this socket");
	else
		reply_refusal(exchange, API_FORBIDDEN,
			      "only root and members of group " API_GROUP " may use this socket");
}

bool authenticate(struct request *request)
{
	struct exchange *exchange = &request->exchange;
	enum api_listener_kind kind = request->connection->listener->kind;

	exchange->rights = rights(request);
	if ((exchange->rights & RIGHT_WRITE) && request->api->options.local_is_bounded)
		exchange->rights |= RIGHT_BOUNDED_LOCAL;
	note_peer(request);
	if (exchange->rights == 0)
		refuse_client(request);
	else if (kind == API_PLAIN && !head_host_is_local(request->library))
		reply_refusal(exchange, API_FORBIDDEN,
			      "without TLS only requests for localhost are answered");
	else if (request_header(request, "Impersonate-User"))
		reply_refusal(exchange, API_FORBIDDEN, "impersonation is not supported");
	else if (exchange->method != METHOD_GET && !(exchange->rights & RIGHT_WRITE) &&
		 !api_is_self_review(&exchange->path))
		reply_refusal(exchange, API_FORBIDDEN, "this address is read-only");
	/* A credential that does not allow this request is one all the same. */
	if (exchange->status == 0 || (kind == API_TLS && exchange->rights != 0))
		connection_authenticated(request->connection);
	return exchange->status == 0;
}
