/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer - who is at the other end of a unix socket, and may they use it
 */
#ifndef PODVOL_API_PEER_H
#define PODVOL_API_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* No such group: nobody is a member. */
#define PEER_NO_GROUP ((gid_t) -1)

/* The gid of API_GROUP, or PEER_NO_GROUP. May block on the name service: start-up only. */
gid_t peer_group_id(void);

/**
 * peer_may_use - is the peer root or a member of the group, as it was when it connected
 * @fd:    connected unix socket
 * @group: of peer_group_id()
 *
 * Primary and supplementary groups count. What cannot be found out means no.
 */
bool peer_may_use(int fd, gid_t group);

#endif
