/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen - TCP sockets, and which socket of the service manager is which; see listen.h
 *
 * No name is looked up: what is listened on is what the configuration says, literally. Plain TCP
 * outside of loopback is refused here, no matter who made the socket.
 */
#include "api/http/listen.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

enum { ADDRESS_BYTES_MAX = 64 };

/* ---- addresses ---- */

static void describe_ipv4(const struct in_addr *in, struct listen_address *ret)
{
	ret->family = AF_INET;
	memcpy(ret->bytes, in, sizeof(*in));
	ret->any = in->s_addr == htonl(INADDR_ANY);
	ret->loopback = (ntohl(in->s_addr) >> IN_CLASSA_NSHIFT) == IN_LOOPBACKNET;
}

static void describe_ipv6(const struct in6_addr *in, struct listen_address *ret)
{
	ret->family = AF_INET6;
	memcpy(ret->bytes, in, sizeof(*in));
	ret->any = IN6_IS_ADDR_UNSPECIFIED(in);
	ret->loopback = IN6_IS_ADDR_LOOPBACK(in);
}

static int describe(const struct sockaddr *address, struct listen_address *ret)
{
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *) address;
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *) address;

	*ret = (struct listen_address){ .port = 0 };
	switch (address->sa_family) {
	case AF_INET:
		describe_ipv4(&ipv4->sin_addr, ret);
		ret->port = ntohs(ipv4->sin_port);
		break;
	case AF_INET6:
		describe_ipv6(&ipv6->sin6_addr, ret);
		ret->port = ntohs(ipv6->sin6_port);
		break;
	default:
		return -EINVAL;
	}
	(void) inet_ntop(ret->family, ret->bytes, ret->text, sizeof(ret->text));
	return 0;
}

int listen_address_of(int fd, struct listen_address *ret)
{
	struct sockaddr_storage storage = { .ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(storage);

	assert(ret);
	if (getsockname(fd, (struct sockaddr *) &storage, &bytes) < 0)
		return -errno;
	return describe((const struct sockaddr *) &storage, ret);
}

static int check_loopback(const struct listen_address *address, struct failure *reterr)
{
	if (address->loopback)
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "'%s' is not a loopback address, as 127.0.0.1 or ::1: nothing else is "
			    "served without TLS",
			    address->text);
}

/* The resolver would take 65537 for 1. */
static bool is_port(const char *text)
{
	size_t length = strspn(text, "0123456789");

	return length > 0 && length <= 5 && text[length] == '\0' &&
	       strtoul(text, NULL, 10) <= 65535;
}

/* "ADDRESS:PORT" in its two parts; an IPv6 address stands in brackets. */
static int split_address(const char *text, char address[static ADDRESS_BYTES_MAX],
			 const char **ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t) (colon - text) : 0;

	if (!colon || !is_port(colon + 1) || length >= ADDRESS_BYTES_MAX)
		return -EINVAL;
	if (length > 0 && text[0] == '[') {
		if (length < 2 || text[length - 1] != ']')
			return -EINVAL;
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -EINVAL; /* where does the address end? */
	}
	memcpy(address, text, length);
	address[length] = '\0';
	*ret_port = colon + 1;
	return 0;
}

static int resolve(const char *option, const char *text, struct addrinfo **ret,
		   struct failure *reterr)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	char address[ADDRESS_BYTES_MAX];
	const char *port;

	if (split_address(text, address, &port) < 0 ||
	    getaddrinfo(*address ? address : "::", port, &hints, ret) != 0)
		return failed_plain(reterr, -EINVAL,
				    "%s: '%s' is not ADDRESS:PORT with numbers, as 127.0.0.1:6443, "
				    "[::1]:6443 or :6443",
				    option, text);
	return 0;
}

static int bind_and_listen(int fd, const struct addrinfo *where, const char *option,
			   const char *text, struct failure *reterr)
{
	const int on = 1, off = 0;

	/* A restart must not wait for connections of the last one to be forgotten. */
	(void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (where->ai_family == AF_INET6)
		(void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, where->ai_addr, where->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return failed(reterr, -errno, "%s: cannot listen on '%s'", option, text);
	return 0;
}

int listen_tcp(const char *option, const char *text, bool loopback_only, struct failure *reterr)
{
	struct listen_address address;
	cleanup_close int fd = -EBADF;
	struct addrinfo *where = NULL;
	int r;

	assert(option && text);
	r = resolve(option, text, &where, reterr);
	if (r < 0)
		return r;
	r = describe(where->ai_addr, &address);
	if (r == 0 && loopback_only && check_loopback(&address, reterr) < 0)
		r = failure_prefix(reterr, "%s", option);
	if (r == 0) {
		fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		r = fd < 0 ? failed(reterr, -errno, "%s: cannot make a socket", option)
			   : bind_and_listen(fd, where, option, text, reterr);
	}
	freeaddrinfo(where);
	return r < 0 ? r : TAKE_FD(fd);
}

/* ---- what is a descriptor? ---- */

static int check_unix(const struct api_listener *listener, struct failure *reterr)
{
	int domain = 0;
	socklen_t bytes = sizeof(domain);

	if (getsockopt(listener->fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) < 0 ||
	    domain != AF_UNIX)
		return failed_plain(reterr, -EINVAL,
				    "the descriptor that was handed over is not a unix socket");
	return 0;
}

static int check_tcp(const struct api_listener *listener, struct failure *reterr)
{
	struct listen_address address;

	if (listen_address_of(listener->fd, &address) < 0)
		return failed_plain(reterr, -EINVAL,
				    "the descriptor that was handed over is not a TCP socket");
	return listener->kind == API_PLAIN ? check_loopback(&address, reterr) : 0;
}

int listen_check(const struct api_listener *listener, struct failure *reterr)
{
	int listening = 0;
	socklen_t bytes = sizeof(listening);

	assert(listener && listener->kind < API_LISTENER_COUNT);
	if (getsockopt(listener->fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) < 0 ||
	    !listening)
		return failed_plain(
			reterr, -EINVAL,
			"the descriptor that was handed over is not a listening socket");
	return listener_is_unix(listener->kind) ? check_unix(listener, reterr)
						: check_tcp(listener, reterr);
}

/* ---- all of them ---- */

static enum api_listener_kind kind_by_name(const char *name)
{
	if (strcmp(name, "tls") == 0)
		return API_TLS;
	if (strcmp(name, "docker") == 0)
		return API_DOCKER;
	return strcmp(name, "plain") == 0 ? API_PLAIN : API_UNIX;
}

static int take_over(int fd, const char *name, int fds[static API_LISTENER_COUNT],
		     struct failure *reterr)
{
	const struct api_listener listener = { .kind = kind_by_name(name), .fd = fd };
	int flags = fcntl(fd, F_GETFL);

	if (fds[listener.kind] >= 0)
		return failed_plain(
			reterr, -EINVAL,
			"the service manager passed two sockets of one kind; the second "
			"is called '%s'",
			name);
	if (listen_check(&listener, reterr) < 0)
		return failure_prefix(reterr, "socket '%s' of the service manager", name);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return failed(reterr, -errno, "cannot use the socket '%s'", name);
	fds[listener.kind] = fd;
	return 0;
}

static void free_names(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

static int take_over_all(int fds[static API_LISTENER_COUNT], struct failure *reterr)
{
	char **names = NULL;
	int count = sd_listen_fds_with_names(1, &names);
	int r = 0;

	for (int i = 0; i < count && r == 0; i++)
		r = take_over(SD_LISTEN_FDS_START + i, names[i], fds, reterr);
	free_names(names);
	return count < 0 ? failed(reterr, count, "cannot take the service manager's sockets") : r;
}

/* Makes what the configuration asks for and was not handed over. */
static int make_missing(const struct api_listen_options *options,
			int fds[static API_LISTENER_COUNT], struct failure *reterr)
{
	if (fds[API_UNIX] < 0)
		fds[API_UNIX] =
			listen_unix(options->socket_path,
				    options->others_may_read ? LISTEN_ALL : LISTEN_GROUP, reterr);
	if (fds[API_UNIX] < 0)
		return fds[API_UNIX];
	if (*options->tls_address && fds[API_TLS] < 0) {
		fds[API_TLS] = listen_tcp("listen", options->tls_address, false, reterr);
		if (fds[API_TLS] < 0)
			return fds[API_TLS];
	}
	if (*options->plain_address && fds[API_PLAIN] < 0) {
		fds[API_PLAIN] = listen_tcp("listen-plain", options->plain_address, true, reterr);
		if (fds[API_PLAIN] < 0)
			return fds[API_PLAIN];
	}
	if (*options->docker_path && fds[API_DOCKER] < 0) {
		fds[API_DOCKER] = listen_unix(options->docker_path, LISTEN_OWNER, reterr);
		if (fds[API_DOCKER] < 0)
			return failure_prefix(reterr, "docker-plugin-socket");
	}
	return 0;
}

int api_listen(const struct api_listen_options *options,
	       struct api_listener ret[static API_LISTENER_COUNT], size_t *ret_count,
	       struct failure *reterr)
{
	int fds[API_LISTENER_COUNT] = { -EBADF, -EBADF, -EBADF, -EBADF };
	size_t count = 0;
	int r;

	static_assert(API_LISTENER_COUNT == 4, "no socket of any kind at first");
	assert(options && options->socket_path && options->tls_address && options->plain_address &&
	       options->docker_path);
	r = take_over_all(fds, reterr);
	if (r == 0)
		r = make_missing(options, fds, reterr);
	for (int kind = 0; kind < API_LISTENER_COUNT; kind++) {
		if (fds[kind] < 0)
			continue;
		if (r < 0)
			(void) close(fds[kind]);
		else
			ret[count++] = (struct api_listener){ .kind = kind, .fd = fds[kind] };
	}
	if (r < 0)
		return r;
	*ret_count = count;
	return 0;
}
