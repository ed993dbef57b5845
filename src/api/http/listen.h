/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen - how each kind of listening socket is made and recognized
 *
 * Start-up only: all of this may block for a moment. Descriptors are the caller's.
 */
#pragma once

#include "api/api.h"

/* By the kernel's word on the peer; and a hang-up is seen as such. */
static inline bool listener_is_unix(enum api_listener_kind kind)
{
	return kind == API_UNIX || kind == API_DOCKER;
}

/* Where a TCP socket listens, as bytes and as text. */
struct listen_address {
	int family;              /* AF_INET, AF_INET6 */
	unsigned char bytes[16]; /* 4 of them for AF_INET, in network order */
	char text[64];           /* "127.0.0.1", "::1" */
	unsigned int port;
	bool any, loopback; /* every address of the machine; only this machine's own */
};

/* Who may connect to a unix socket, by its mode. */
enum listen_access {
	LISTEN_GROUP, /* 0660, given to the group podvol */
	LISTEN_ALL,   /* 0666, the same */
	LISTEN_OWNER, /* 0600 */
};

/**
 * listen_unix - see api_listen()
 * @path: absolute
 *
 * Return: the descriptor, or what api_listen() says.
 */
int listen_unix(const char *path, enum listen_access access, struct failure *reterr);

/**
 * listen_tcp - listen on "ADDRESS:PORT"
 * @option:        how the address was given, for sentences: "listen"
 * @text:          "127.0.0.1:6443", "[::1]:6443", ":6443" every address of IPv6 and IPv4
 * @loopback_only: any other address is refused
 *
 * Names are not looked up. Return: the descriptor; -EINVAL; else what the system call gave.
 */
int listen_tcp(const char *option, const char *text, bool loopback_only, struct failure *reterr);

/**
 * listen_check - is a descriptor a listening socket of a kind
 *
 * Return: 0; -EINVAL with a sentence.
 */
int listen_check(const struct api_listener *listener, struct failure *reterr);

/* Where a TCP socket is bound. Return: 0; -EINVAL it is none; else what getsockname(2) gave. */
int listen_address_of(int fd, struct listen_address *ret);
