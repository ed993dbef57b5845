/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unprivileged - connections that have shown no credential yet, or one that only reads
 *
 * Each listener has one list, oldest first. One counts for its peer: the IPv4 address, the /64
 * of an IPv6 address, the uid on a unix socket. A peer has a quarter of the listener's connections,
 * all of them together half of them, so that the other half is left to root, to the group and to
 * clients with a token. Over a limit the oldest without a running request is closed, of the
 * same peer where the peer is over its own. Root is never listed, nor is the group unless it may
 * only read and everyone may. The loop only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	UNPRIVILEGED_PER_PEER_SHARE = 4, /* those of a peer: connections-max divided by this */
	UNPRIVILEGED_SHARE = 2,          /* all of them */
	UNPRIVILEGED_FREE_SHARE = 16,    /* kept free while there are any to close */
};

/* Whose connections are counted together. */
struct remote_peer {
	sa_family_t family;
	unsigned char bytes[8]; /* zero beyond the address or uid */
};

/* Part of a connection; zeroed it is not listed. */
struct unprivileged {
	struct remote_peer peer;
	bool listed;
	struct unprivileged *previous, *next;
};

struct unprivileged_list {
	struct unprivileged *first;
	size_t count;
	size_t connections;     /* open ones, listed or not, but for those being closed */
	size_t connections_max; /* at least 1 */
	/* May it be closed now? */
	bool (*is_idle)(const struct unprivileged *one);
};

/* The other end of a connected socket. What cannot be read is one peer: family AF_UNSPEC. */
struct remote_peer remote_peer_of(int fd);

enum { REMOTE_PEER_NAME_BYTES = 64 };
/* "192.0.2.1", "2001:db8::/64", "uid 1000". */
void remote_peer_name(const struct remote_peer *peer, char ret[REMOTE_PEER_NAME_BYTES]);

void unprivileged_add(struct unprivileged_list *list, struct unprivileged *one);
/* It left, or has shown what it may do. One that is not listed is fine. */
void unprivileged_remove(struct unprivileged_list *list, struct unprivileged *one);

/**
 * unprivileged_surplus - the one to be closed next
 * @newest: the one that was just added; NULL: none was
 *
 * Return: an idle one; @newest when a limit is passed and all others are busy; NULL:
 * every limit is kept, or only busy ones are left.
 */
struct unprivileged *unprivileged_surplus(const struct unprivileged_list *list,
					  struct unprivileged *newest);
