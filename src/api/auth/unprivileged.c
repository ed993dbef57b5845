/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unprivileged - which one is closed when connections without credentials are too many; see
 * unprivileged.h
 *
 * The list is walked for each new connection of it; it has at most half of connections-max members.
 */
#include "api/auth/unprivileged.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

static struct remote_peer peer_of_ipv6(const struct in6_addr *address)
{
	struct remote_peer peer = { .family = AF_INET6 };

	if (IN6_IS_ADDR_V4MAPPED(address)) {
		peer.family = AF_INET;
		memcpy(peer.bytes, &address->s6_addr[12], sizeof(struct in_addr));
	} else {
		memcpy(peer.bytes, address->s6_addr, sizeof(peer.bytes));
	}
	return peer;
}

static struct remote_peer peer_of_unix(int fd)
{
	struct remote_peer peer = { .family = AF_UNIX };
	struct ucred credentials;
	socklen_t bytes = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) < 0)
		return (struct remote_peer){ .family = AF_UNSPEC };
	memcpy(peer.bytes, &credentials.uid, sizeof(credentials.uid));
	return peer;
}

struct remote_peer remote_peer_of(int fd)
{
	struct remote_peer peer = { .family = AF_UNSPEC };
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	if (getpeername(fd, (struct sockaddr *) &address, &bytes) < 0)
		return peer;
	switch (address.ss_family) {
	case AF_INET:
		peer.family = AF_INET;
		memcpy(peer.bytes, &((const struct sockaddr_in *) &address)->sin_addr,
		       sizeof(struct in_addr));
		return peer;
	case AF_INET6:
		return peer_of_ipv6(&((const struct sockaddr_in6 *) &address)->sin6_addr);
	case AF_UNIX:
		return peer_of_unix(fd);
	default:
		return peer;
	}
}

void remote_peer_name(const struct remote_peer *peer, char ret[REMOTE_PEER_NAME_BYTES])
{
	unsigned char address[sizeof(struct in6_addr)] = { 0 };
	char text[INET6_ADDRSTRLEN] = "";
	uid_t uid;

	memcpy(address, peer->bytes, sizeof(peer->bytes));
	memcpy(&uid, peer->bytes, sizeof(uid));
	if (peer->family == AF_INET || peer->family == AF_INET6)
		(void) inet_ntop(peer->family, address, text, sizeof(text));
	if (peer->family == AF_UNIX)
		(void) snprintf(ret, REMOTE_PEER_NAME_BYTES, "uid %u", uid);
	else if (peer->family == AF_INET6)
		(void) snprintf(ret, REMOTE_PEER_NAME_BYTES, "%s/64", text);
	else
		(void) snprintf(ret, REMOTE_PEER_NAME_BYTES, "%s",
				*text ? text : "unknown clients");
}

void unprivileged_add(struct unprivileged_list *list, struct unprivileged *one)
{
	assert(list->connections_max > 0 && !one->listed);
	DL_APPEND2(list->first, one, previous, next);
	one->listed = true;
	list->count++;
}

void unprivileged_remove(struct unprivileged_list *list, struct unprivileged *one)
{
	if (!one->listed)
		return;
	DL_DELETE2(list->first, one, previous, next);
	one->listed = false;
	list->count--;
}

static bool is_same_peer(const struct remote_peer *a, const struct remote_peer *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* @peer: NULL: of any. */
static struct unprivileged *oldest_idle(const struct unprivileged_list *list,
					const struct remote_peer *peer)
{
	struct unprivileged *one;

	DL_FOREACH2(list->first, one, next)
	{
		if ((!peer || is_same_peer(&one->peer, peer)) && list->is_idle(one))
			return one;
	}
	return NULL;
}

static size_t count_of_peer(const struct unprivileged_list *list, const struct remote_peer *peer)
{
	const struct unprivileged *one;
	size_t count = 0;

	DL_FOREACH2(list->first, one, next)
	{
		count += is_same_peer(&one->peer, peer);
	}
	return count;
}

/* Of all connections: at least one. */
static size_t share(const struct unprivileged_list *list, size_t divisor)
{
	size_t part = list->connections_max / divisor;

	return part > 0 ? part : 1;
}

struct unprivileged *unprivileged_surplus(const struct unprivileged_list *list,
					  struct unprivileged *newest)
{
	size_t most = list->connections_max, free_most = share(list, UNPRIVILEGED_FREE_SHARE);
	bool peer_is_over = newest && count_of_peer(list, &newest->peer) >
					      share(list, UNPRIVILEGED_PER_PEER_SHARE);
	struct unprivileged *one = NULL;

	if (peer_is_over || list->count > share(list, UNPRIVILEGED_SHARE)) {
		one = oldest_idle(list, peer_is_over ? &newest->peer : NULL);
		return one ? one : newest;
	}
	/* Who comes next is let in, too: the library accepts no more than connections-max. */
	if (list->connections + free_most > most)
		one = oldest_idle(list, NULL);
	return one == newest ? NULL : one;
}
