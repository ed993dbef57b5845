/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer - who is at the other end of a unix socket, and what may they do
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* No such group: no user is a member. */
#define PEER_NO_GROUP ((gid_t) -1)

/* The gid of API_GROUP, or PEER_NO_GROUP. May block on the name service: start-up only. */
gid_t peer_group_id(void);

/**
 * peer_rights - what the peer may do: root everything, the group what its role may
 * @fd:              connected unix socket
 * @group:           of peer_group_id()
 * @group_rights:    of the role that the group has
 * @others_may_read: everybody else may read, Secrets apart; else they may do nothing
 *
 * As it was when it connected; primary and supplementary groups count. What cannot be found out
 * counts against the peer.
 *
 * Return: set of enum api_right.
 */
unsigned int peer_rights(int fd, gid_t group, unsigned int group_rights, bool others_may_read);

enum { PEER_NAME_BYTES = 64 };
/* Who that is, for the record: "uid 0, process 4242". Of a process that has ended since, the number
 * is all that is left. */
void peer_name(int fd, char ret[PEER_NAME_BYTES]);
/* The same of a TCP socket: "192.0.2.1:4242", "[2001:db8::1]:4242". */
void peer_address(int fd, char ret[PEER_NAME_BYTES]);
/* The same without the process: "uid:0", or "system:anonymous". */
void peer_user(int fd, char ret[PEER_NAME_BYTES]);
