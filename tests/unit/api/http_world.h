/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_world - the transport on a real socket, and a client in the same thread
 *
 * Bytes are written, the loop turns, bytes are read. Needs -Wl,--wrap=peer_rights.
 */
#pragma once

#include "api_world.h"

#include <stddef.h>
#include <sys/types.h>

enum { CONNECTIONS = 8, BODY_BYTES = 2000, REPLY_BYTES = 65536, TURNS = 6000, IDLE_SECONDS = 60 };

#define HOST "Host: x\r\n"

struct served {
	struct world *world;
	struct api *api;
	char path[80];
	char reply[REPLY_BYTES];
	size_t length;
	bool closed; /* by the server, seen in get_reply() */
};

/* What peer_rights() says; all in served_set_up(). */
extern unsigned int rights_of_peer;
/* What it was asked last. */
extern gid_t group_of_peer;
extern bool others_of_peer;

int served_set_up(void **state);
int served_tear_down(void **state);

/* A new connection. */
int client(const struct served *served);
/* One turn of the loop. */
void turn(struct served *served);
/* Writes; the loop turns when the socket is full. */
void put(struct served *served, int fd, const char *text);
/* Reads until a whole reply is there, or the end. Return: HTTP status; 0 none came. */
int get_reply(struct served *served, int fd);
/* One request on a connection of its own. Return: as get_reply(). */
int ask(struct served *served, const char *text);
/* Turns the loop until the counter has the value; asserts that it gets there. */
void wait_for(struct served *served, const unsigned int *counter, unsigned int value);
