/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener - libmicrohttpd on the event loop, one instance for each listening socket
 *
 * The library has no thread: its epoll descriptor is one source of the loop, its time-outs one
 * timer. It counts the time between two bytes; deadline.h counts the whole.
 */
#include "api/http/transport.h"

#include "api/auth/audit.h"
#include "api/auth/credentials.h"
#include "api/auth/refusals.h"
#include "api/exchange.h"
#include "api/http/listen.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* A remote client whose machine went away is found out after so many seconds, asked so often. */
enum { KEEPALIVE_SECONDS = 60, KEEPALIVE_INTERVAL_SECONDS = 10, KEEPALIVE_PROBES = 3 };

/* ---- driving the library ---- */

/* The library counts time-outs itself and only says when it wants to be run next. */
static void arm_timer(struct listener *listener)
{
	MHD_UNSIGNED_LONG_LONG msec;

	if (MHD_get_timeout(listener->daemon, &msec) != MHD_YES) {
		(void) sd_event_source_set_enabled(listener->timer, SD_EVENT_OFF);
		return;
	}
	/* At once means at once: a timer may be late by a quarter of a second, and the next request
	 * on a connection that waited would be late by that. */
	if (msec == 0) {
		(void) sd_event_source_set_enabled(listener->again, SD_EVENT_ONESHOT);
		return;
	}
	timer_set_in(listener->timer, msec * USEC_PER_MSEC);
}

static unsigned int connection_count(const struct listener *listener)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/* After each run the next time-out may be another one. */
static void run(struct listener *listener)
{
	unsigned int before = connection_count(listener);

	(void) MHD_run(listener->daemon);
	/* At its limit the library does not listen; it only begins again at the next run. */
	if (connection_count(listener) < before)
		listener_run_again(listener);
	arm_timer(listener);
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	run(userdata);
	return 0;
}

static int on_again(sd_event_source *source, void *userdata)
{
	run(userdata);
	return 0;
}

void listener_run_again(struct listener *listener)
{
	(void) sd_event_source_set_enabled(listener->again, SD_EVENT_ONESHOT);
}

/* ---- connections ---- */

static unsigned int rights_of(const struct listener *listener, int fd)
{
	switch (listener->kind) {
	case API_UNIX:
		return peer_rights(fd, listener->api->group, listener->api->options.group_rights,
				   listener->api->options.others_may_read);
	case API_DOCKER: /* nothing that a group may do is enough */
		return peer_rights(fd, PEER_NO_GROUP, 0, false);
	case API_PLAIN:
		return RIGHT_READ;
	case API_TLS: /* the token says, request by request */
	case API_LISTENER_COUNT:
		break;
	}
	return 0;
}

/* Small pieces go out at once: a handshake and the events of a watch are made of them, and waiting
 * for more costs forty milliseconds each time. */
static void prepare_tcp(int fd)
{
	static const struct {
		int name, value;
	} options[] = {
		{ TCP_KEEPIDLE, KEEPALIVE_SECONDS },
		{ TCP_KEEPINTVL, KEEPALIVE_INTERVAL_SECONDS },
		{ TCP_KEEPCNT, KEEPALIVE_PROBES },
	};
	const int on = 1;

	(void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		(void) setsockopt(fd, IPPROTO_TCP, options[i].name, &options[i].value, sizeof(int));
}

/* ---- connections without credentials ---- */

static struct connection *connection_of(const struct unprivileged *one)
{
	return (struct connection *) ((const char *) one -
				      offsetof(struct connection, unprivileged));
}

static bool is_idle(const struct unprivileged *one)
{
	enum deadline_phase phase = connection_of(one)->deadline.phase;

	return phase != DEADLINE_NONE && phase != DEADLINE_ANSWER;
}

/* The library sees the client's end in its next run. */
static void close_unprivileged(struct connection *connection)
{
	struct listener *listener = connection->listener;

	connection->closing = true;
	listener->unprivileged.connections--;
	unprivileged_remove(&listener->unprivileged, &connection->unprivileged);
	(void) shutdown(connection->deadline.fd, SHUT_RDWR);
}

/* Root and the group are none, whatever the group's role is; who only reads because everyone may is
 * one. */
static bool is_unprivileged(const struct connection *connection)
{
	const struct listener *listener = connection->listener;

	if (!listener_is_unix(listener->kind) || connection->rights == 0)
		return true;
	return !(connection->rights & RIGHT_WRITE) && listener->api->options.others_may_read;
}

/* On a unix socket the kernel's word comes with the connection: who may do nothing has the time to
 * be refused. */
static void limit_unprivileged(struct connection *connection)
{
	struct listener *listener = connection->listener;
	bool is_unix = listener_is_unix(listener->kind);
	struct unprivileged *surplus, *newest = NULL;

	connection->authenticated = is_unix && connection->rights != 0;
	deadline_enter(listener->api->deadlines, &connection->deadline,
		       connection->authenticated ? DEADLINE_IDLE : DEADLINE_UNAUTHENTICATED);
	listener->unprivileged.connections++;
	if (is_unprivileged(connection)) {
		newest = &connection->unprivileged;
		unprivileged_add(&listener->unprivileged, newest);
	}
	while ((surplus = unprivileged_surplus(&listener->unprivileged, newest))) {
		close_unprivileged(connection_of(surplus));
		newest = surplus == newest ? NULL : newest;
	}
}

void connection_enter(struct connection *connection, enum deadline_phase phase)
{
	if (connection->authenticated && !connection->closing)
		deadline_enter(connection->listener->api->deadlines, &connection->deadline, phase);
}

/* Clients of the unix socket that may only read remain unprivileged: their number is limited. */
void connection_authenticated(struct connection *connection)
{
	struct listener *listener = connection->listener;

	if (connection->authenticated)
		return;
	connection->authenticated = true;
	if (!listener_is_unix(listener->kind))
		unprivileged_remove(&listener->unprivileged, &connection->unprivileged);
	connection_enter(connection, DEADLINE_REQUEST);
}

/* Without memory for it the connection has no rights, and its first request ends it. */
static void begin_connection(struct listener *listener, struct MHD_Connection *library,
			     void **socket_context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *connection = info ? calloc(1, sizeof(*connection)) : NULL;

	if (!connection)
		return;
	connection->listener = listener;
	connection->rights = rights_of(listener, info->connect_fd);
	if (listener_is_unix(listener->kind)) {
		peer_name(info->connect_fd, connection->peer);
		peer_user(info->connect_fd, connection->user);
	} else {
		peer_address(info->connect_fd, connection->peer);
		(void) snprintf(connection->user, sizeof(connection->user), "%s",
				listener->kind == API_TLS ? "admin" : "system:anonymous");
	}
	connection->unprivileged.peer = remote_peer_of(info->connect_fd);
	deadline_init(&connection->deadline, info->connect_fd);
	limit_unprivileged(connection);
	if (!listener_is_unix(listener->kind))
		prepare_tcp(info->connect_fd);
	if (listener->kind == API_TLS)
		handshake_begin(connection, library);
	*socket_context = connection;
}

/* The library skips lines that begin with a NUL as it skips empty ones, and says nothing of them:
 * such a client is answered by the end. */
static void note_silence(const struct connection *connection)
{
	bool is_late = connection->deadline.phase == DEADLINE_NONE && !connection->closing;

	if (is_late && !connection->asked &&
	    refusals_log(connection->listener->api->refusals, &connection->unprivileged.peer,
			 monotonic_usec()))
		audit_log_silence(connection->peer);
}

static void on_connection(void *userdata, struct MHD_Connection *library, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct listener *listener = userdata;
	struct connection *connection = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin_connection(listener, library, socket_context);
		return;
	}
	if (connection) {
		note_silence(connection);
		handshake_end(connection);
		listener->unprivileged.connections -= !connection->closing;
		unprivileged_remove(&listener->unprivileged, &connection->unprivileged);
		deadline_enter(listener->api->deadlines, &connection->deadline, DEADLINE_NONE);
	}
	free(connection);
	*socket_context = NULL;
}

/* Of clients that break off, mostly: nothing an operator must fix. */
static void on_library_error(void *userdata, const char *format, va_list arguments)
{
	char text[256];

	(void) vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_message(LOG_DEBUG, "api: %s", text);
}

/* ---- TLS ---- */

/* GnuTLS asks for the certificate at each handshake: so it is renewed under a running listener. */
static int on_handshake(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
			const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
			gnutls_pcert_st **ret_certificate, unsigned int *ret_length,
			gnutls_privkey_t *ret_key)
{
	/* The library stores its connection there. */
	const struct connection *connection = http_connection(gnutls_session_get_ptr(session));
	struct server_certificate *certificate;

	if (!connection)
		return -1;
	certificate = credentials_certificate(connection->listener->api->options.credentials,
					      (time_t) (realtime_usec() / USEC_PER_SEC));
	*ret_certificate = &certificate->certificate;
	*ret_length = 1;
	*ret_key = certificate->key;
	return 0;
}

/* TLS 1.2 with forward secrecy and authenticated encryption is the least: no CBC. */
static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:"
			   "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:"
			   "%SERVER_PRECEDENCE";

static const struct MHD_OptionItem tls_options[] = {
	{ MHD_OPTION_HTTPS_PRIORITIES, 0, priorities },
	{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *) (uintptr_t) on_handshake },
	{ MHD_OPTION_END, 0, NULL },
};
static const struct MHD_OptionItem no_options[] = { { MHD_OPTION_END, 0, NULL } };

/* ---- start and stop ---- */

static int start_daemon(struct listener *listener, int fd, struct failure *reterr)
{
	const struct api_options *options = &listener->api->options;
	bool tls = listener->kind == API_TLS;

	listener->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
			(tls ? MHD_USE_TLS : 0U),
		0, NULL, NULL, http_on_request, listener, MHD_OPTION_EXTERNAL_LOGGER,
		on_library_error, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int) options->connections_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t) API_HEAD_BYTES_MAX, MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
		MHD_OPTION_URI_LOG_CALLBACK, http_on_uri, listener, MHD_OPTION_NOTIFY_COMPLETED,
		http_on_completed, listener, MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener,
		MHD_OPTION_ARRAY, tls ? tls_options : no_options, MHD_OPTION_END);
	if (!listener->daemon)
		return failed_plain(reterr, -EIO, "cannot start the HTTP server%s",
				    tls ? " with TLS" : "");
	return 0;
}

static int add_sources(struct listener *listener, struct failure *reterr)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	sd_event *event = listener->api->options.event;
	int r;

	if (!info)
		return failed_plain(reterr, -ENOMEM, "the HTTP server has no epoll descriptor");
	r = sd_event_add_io(event, &listener->ready, info->epoll_fd, EPOLLIN, on_ready, listener);
	if (r >= 0)
		r = timer_new(event, 0, on_timer, listener, &listener->timer);
	if (r >= 0)
		r = sd_event_add_defer(event, &listener->again, on_again, listener);
	if (r >= 0)
		r = sd_event_source_set_enabled(listener->again, SD_EVENT_OFF);
	if (r < 0)
		return failed(reterr, r, "cannot put the HTTP server on the event loop");
	/* After the work that answers requests: a burst of clients never holds that up. */
	(void) sd_event_source_set_priority(listener->ready, SD_EVENT_PRIORITY_IDLE);
	return 0;
}

int listener_start(struct listener *listener, int fd, struct failure *reterr)
{
	int r;

	assert(listener && listener->api && !listener->daemon && fd >= 0);
	listener->unprivileged.connections_max = listener->api->options.connections_max;
	listener->unprivileged.is_idle = is_idle;
	assert(listener->kind != API_TLS || listener->api->options.credentials);
	r = start_daemon(listener, fd, reterr);
	return r < 0 ? r : add_sources(listener, reterr);
}

void listener_give_back(struct listener *listener)
{
	if (listener->daemon)
		(void) MHD_quiesce_daemon(listener->daemon);
}

void listener_stop(struct listener *listener)
{
	listener->ready = sd_event_source_disable_unref(listener->ready);
	listener->timer = sd_event_source_disable_unref(listener->timer);
	listener->again = sd_event_source_disable_unref(listener->again);
	if (listener->daemon) {
		handshake_wake_all(listener);
		/* One run takes the resumed connections out of the suspended list. */
		(void) MHD_run(listener->daemon);
		MHD_stop_daemon(listener->daemon);
	}
	listener->daemon = NULL;
	assert(listener->waiting == 0);
}
