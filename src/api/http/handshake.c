/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake - lets the library sleep while a TLS client takes its time
 *
 * The library forgets, during a handshake only, that a socket had nothing more to read, and asks
 * for it again at once: one silent client would keep the loop busy. So the reading is done here:
 * where there is nothing to read in a handshake, the connection is suspended until there is. A
 * handshake is over when the last message of each side was seen.
 */
#include "api/http/transport.h"

#include "api/auth/credentials.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

static void leave_queue(struct connection *connection)
{
	struct handshake *handshake = &connection->handshake;

	handshake->readable = sd_event_source_disable_unref(handshake->readable);
	DL_DELETE2(connection->listener->handshakes, connection, handshake.previous,
		   handshake.next);
}

static void wake(struct connection *connection)
{
	leave_queue(connection);
	MHD_resume_connection(connection->handshake.library);
	listener_run_again(connection->listener);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	wake(userdata);
	return 0;
}

/* Without the source the connection is not suspended: busy is better than deaf. */
static void wait_for_client(struct connection *connection)
{
	struct listener *listener = connection->listener;
	struct handshake *handshake = &connection->handshake;

	if (listener->api->stopping || handshake->readable ||
	    sd_event_add_io(listener->api->options.event, &handshake->readable,
			    connection->deadline.fd, EPOLLIN, on_readable, connection) < 0)
		return;
	MHD_suspend_connection(handshake->library);
	DL_APPEND2(listener->handshakes, connection, handshake.previous, handshake.next);
}

static bool is_over(const struct handshake *handshake)
{
	return handshake->sent && handshake->received;
}

/* All reading of the connection's life goes through here. */
static ssize_t pull(gnutls_transport_ptr_t userdata, void *buffer, size_t size)
{
	struct connection *connection = userdata;
	ssize_t n = recv(connection->deadline.fd, buffer, size, 0);
	int error = errno;

	if (n < 0 && error == EAGAIN && !is_over(&connection->handshake))
		wait_for_client(connection);
	errno = error;
	return n;
}

static int on_finished(gnutls_session_t session, unsigned int type, unsigned int when,
		       unsigned int incoming, const gnutls_datum_t *message)
{
	struct connection *connection = http_connection(gnutls_session_get_ptr(session));

	if (connection && incoming)
		connection->handshake.received = true;
	else if (connection)
		connection->handshake.sent = true;
	return 0;
}

void handshake_begin(struct connection *connection, struct MHD_Connection *library)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_session_t session = info ? info->tls_session : NULL;

	assert(connection && !connection->handshake.readable);
	if (!session)
		return;
	connection->handshake.library = library;
	gnutls_transport_set_ptr2(session, connection,
				  (gnutls_transport_ptr_t) (intptr_t) connection->deadline.fd);
	gnutls_transport_set_pull_function(session, pull);
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
					   on_finished);
	/* Who shows none comes in by a token. */
	if (credentials_client_authority(connection->listener->api->options.credentials))
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
}

const struct client_certificate *handshake_certificate(struct connection *connection)
{
	const struct api_credentials *credentials = connection->listener->api->options.credentials;
	struct handshake *handshake = &connection->handshake;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handshake->library, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (!handshake->is_certificate_read && info)
		client_certificate_read(credentials_client_authority(credentials),
					info->tls_session, &handshake->certificate);
	handshake->is_certificate_read = true;
	return &handshake->certificate;
}

void handshake_end(struct connection *connection)
{
	if (connection->handshake.readable)
		leave_queue(connection);
}

void handshake_wake_all(struct listener *listener)
{
	assert(listener->api->stopping || !listener->handshakes);
	while (listener->handshakes)
		wake(listener->handshakes);
}
