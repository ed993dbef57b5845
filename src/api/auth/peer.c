/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer - credentials of a unix socket's other end, and what they entitle to; see peer.h
 *
 * The kernel recorded the credentials at connect(2), so a process that changes its ids later, or
 * passes the descriptor on, keeps those. Groups come from SO_PEERGROUPS and not from the name
 * service, which could block and could differ from what the process has.
 */
#include "api/auth/peer.h"

#include "api/exchange.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

gid_t peer_group_id(void)
{
	const struct group *group = getgrnam(API_GROUP);

	return group ? group->gr_gid : PEER_NO_GROUP;
}

static bool has_supplementary_group(int fd, gid_t group)
{
	cleanup_free gid_t *groups = NULL;
	socklen_t bytes = 0;

	/* First how many there are: the call fails with ERANGE and says so. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE)
		return false;
	groups = malloc(bytes);
	if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return false;

	for (size_t i = 0; i < bytes / sizeof(gid_t); i++)
		if (groups[i] == group)
			return true;
	return false;
}

unsigned int peer_rights(int fd, gid_t group, unsigned int group_rights, bool others_may_read)
{
	const unsigned int others = others_may_read ? RIGHT_READ : 0;
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	assert(fd >= 0);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 || bytes != sizeof(peer))
		return 0;
	if (peer.uid == 0)
		return RIGHTS_ALL;
	/* (uid_t) -1 is what a namespace shows that cannot name the peer. */
	if (group == PEER_NO_GROUP || peer.uid == (uid_t) -1)
		return others;
	if (peer.gid == group || has_supplementary_group(fd, group))
		return group_rights;
	return others;
}

void peer_name(int fd, char ret[PEER_NAME_BYTES])
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 || bytes != sizeof(peer))
		(void) snprintf(ret, PEER_NAME_BYTES, "an unknown process");
	else
		(void) snprintf(ret, PEER_NAME_BYTES, "uid %u, process %d", peer.uid, peer.pid);
}

void peer_address(int fd, char ret[PEER_NAME_BYTES])
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(peer);
	char address[INET6_ADDRSTRLEN], port[8];
	bool is_ipv6;

	if (getpeername(fd, (struct sockaddr *) &peer, &bytes) < 0 ||
	    getnameinfo((const struct sockaddr *) &peer, bytes, address, sizeof(address), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		(void) snprintf(ret, PEER_NAME_BYTES, "an unknown address");
		return;
	}
	is_ipv6 = peer.ss_family == AF_INET6;
	(void) snprintf(ret, PEER_NAME_BYTES, "%s%s%s:%s", is_ipv6 ? "[" : "", address,
			is_ipv6 ? "]" : "", port);
}

void peer_user(int fd, char ret[PEER_NAME_BYTES])
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		(void) snprintf(ret, PEER_NAME_BYTES, "system:anonymous");
	else
		(void) snprintf(ret, PEER_NAME_BYTES, "uid:%u", peer.uid);
}
