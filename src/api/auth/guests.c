/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests - who is closed when connections without credentials are too many; see guests.h
 *
 * The list is walked for each new guest; it has at most half of connections-max members.
 */
#include "api/auth/guests.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

static struct guest_peer peer_of_ipv6(const struct in6_addr *address)
{
	struct guest_peer peer = { .family = AF_INET6 };

	if (IN6_IS_ADDR_V4MAPPED(address)) {
		peer.family = AF_INET;
		memcpy(peer.bytes, &address->s6_addr[12], sizeof(struct in_addr));
	} else {
		memcpy(peer.bytes, address->s6_addr, sizeof(peer.bytes));
	}
	return peer;
}

static struct guest_peer peer_of_unix(int fd)
{
	struct guest_peer peer = { .family = AF_UNIX };
	struct ucred credentials;
	socklen_t bytes = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) < 0)
		return (struct guest_peer){ .family = AF_UNSPEC };
	memcpy(peer.bytes, &credentials.uid, sizeof(credentials.uid));
	return peer;
}

struct guest_peer guest_peer_of(int fd)
{
	struct guest_peer peer = { .family = AF_UNSPEC };
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

void guest_peer_name(const struct guest_peer *peer, char ret[GUEST_PEER_NAME_BYTES])
{
	unsigned char address[sizeof(struct in6_addr)] = { 0 };
	char text[INET6_ADDRSTRLEN] = "";
	uid_t uid;

	memcpy(address, peer->bytes, sizeof(peer->bytes));
	memcpy(&uid, peer->bytes, sizeof(uid));
	if (peer->family == AF_INET || peer->family == AF_INET6)
		(void) inet_ntop(peer->family, address, text, sizeof(text));
	if (peer->family == AF_UNIX)
		(void) snprintf(ret, GUEST_PEER_NAME_BYTES, "uid %u", uid);
	else if (peer->family == AF_INET6)
		(void) snprintf(ret, GUEST_PEER_NAME_BYTES, "%s/64", text);
	else
		(void) snprintf(ret, GUEST_PEER_NAME_BYTES, "%s", *text ? text : "unknown clients");
}

void guests_add(struct guests *guests, struct guest *guest)
{
	assert(guests->connections_max > 0 && !guest->listed);
	DL_APPEND2(guests->first, guest, previous, next);
	guest->listed = true;
	guests->count++;
}

void guests_remove(struct guests *guests, struct guest *guest)
{
	if (!guest->listed)
		return;
	DL_DELETE2(guests->first, guest, previous, next);
	guest->listed = false;
	guests->count--;
}

static bool is_same_peer(const struct guest_peer *a, const struct guest_peer *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* @peer: NULL: of any. */
static struct guest *oldest_idle(const struct guests *guests, const struct guest_peer *peer)
{
	struct guest *guest;

	DL_FOREACH2(guests->first, guest, next)
	{
		if ((!peer || is_same_peer(&guest->peer, peer)) && guests->is_idle(guest))
			return guest;
	}
	return NULL;
}

static size_t count_of_peer(const struct guests *guests, const struct guest_peer *peer)
{
	const struct guest *guest;
	size_t count = 0;

	DL_FOREACH2(guests->first, guest, next)
	{
		count += is_same_peer(&guest->peer, peer);
	}
	return count;
}

/* Of all connections: at least one. */
static size_t share(const struct guests *guests, size_t divisor)
{
	size_t part = guests->connections_max / divisor;

	return part > 0 ? part : 1;
}

struct guest *guests_surplus(const struct guests *guests, struct guest *newest)
{
	size_t most = guests->connections_max, free_most = share(guests, GUESTS_FREE_SHARE);
	bool peer_is_over = newest && count_of_peer(guests, &newest->peer) >
					      share(guests, GUESTS_PER_PEER_SHARE);
	struct guest *guest = NULL;

	if (peer_is_over || guests->count > share(guests, GUESTS_SHARE)) {
		guest = oldest_idle(guests, peer_is_over ? &newest->peer : NULL);
		return guest ? guest : newest;
	}
	/* Who comes next is let in, too: the library accepts no more than connections-max. */
	if (guests->connections + free_most > most)
		guest = oldest_idle(guests, NULL);
	return guest == newest ? NULL : guest;
}
