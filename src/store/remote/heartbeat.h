/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heartbeat - does a server that says nothing still answer?
 *
 * A watch may be silent for long, and a connection whose other end stopped answering looks the
 * same: TCP is acknowledged by what is in between, or by the kernel of a server that hangs. So when
 * calls are under way and no byte came for some time, "/livez" is asked, which a busy server
 * answers before all else. Without an answer all connections are dropped. Any answer will do; what
 * it says is not judged. Proves nothing of a connection of HTTP/1.1, which a watch has to itself.
 * The loop thread only.
 */
#pragma once

#include "store/remote/http_client.h"

enum {
	HEARTBEAT_SILENT_MSEC = 60000, /* no byte of any answer */
	HEARTBEAT_ANSWER_MSEC = 15000, /* until it is there */
};

struct heartbeat;

/* Begins with the loop. @client: borrowed. @silent_msec, @answer_msec: mostly those above. Return:
 * 0; -ENOMEM, -EMFILE. */
int heartbeat_new(sd_event *event, struct http_client *client, unsigned int silent_msec,
		  unsigned int answer_msec, struct heartbeat **ret);
/* Before the client. Accepts NULL. Return: NULL. */
struct heartbeat *heartbeat_free(struct heartbeat *heartbeat);
