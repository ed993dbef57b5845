/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests - connections that have shown no credential yet, or one that only reads
 *
 * Each listener has one list, oldest first. A guest counts for its peer: the IPv4 address, the /64
 * of an IPv6 address, the uid on a unix socket. A peer has a quarter of the listener's connections,
 * all guests together half of them, so that the other half is left to root, to the group and to
 * clients with a token. Over a limit the oldest guest without a running request is closed, of the
 * same peer where the peer is over its own. Root is never a guest, nor is the group unless it may
 * only read and everyone may. The loop only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	GUESTS_PER_PEER_SHARE = 4, /* a peer's guests: connections-max divided by this */
	GUESTS_SHARE = 2,          /* all guests */
	GUESTS_FREE_SHARE = 16,    /* kept free while there are guests to close */
};

/* Whose connections are counted together. */
struct guest_peer {
	sa_family_t family;
	unsigned char bytes[8]; /* zero beyond the address or uid */
};

/* Part of a connection; zeroed it is no guest. */
struct guest {
	struct guest_peer peer;
	bool listed;
	struct guest *previous, *next;
};

struct guests {
	struct guest *first;
	size_t count;
	size_t connections;     /* open ones, guests or not, but for those being closed */
	size_t connections_max; /* at least 1 */
	/* May it be closed now? */
	bool (*is_idle)(const struct guest *guest);
};

/* The other end of a connected socket. What cannot be read is one peer: family AF_UNSPEC. */
struct guest_peer guest_peer_of(int fd);

enum { GUEST_PEER_NAME_BYTES = 64 };
/* "192.0.2.1", "2001:db8::/64", "uid 1000". */
void guest_peer_name(const struct guest_peer *peer, char ret[GUEST_PEER_NAME_BYTES]);

void guests_add(struct guests *guests, struct guest *guest);
/* It left, or has shown what it may do. One that is no guest is fine. */
void guests_remove(struct guests *guests, struct guest *guest);

/**
 * guests_surplus - the guest to be closed next
 * @newest: the one that was just added; NULL: none was
 *
 * Return: an idle guest; @newest when a limit of guests is passed and all others are busy; NULL:
 * every limit is kept, or nothing but busy guests is left.
 */
struct guest *guests_surplus(const struct guests *guests, struct guest *newest);
