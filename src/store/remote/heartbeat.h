/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heartbeat - whether a silent server still responds
 *
 * A watch may be silent for long, and a connection to a dead server looks the same: a proxy, or the
 * kernel of a server that hangs, still acknowledges TCP. So when calls are under way and no byte
 * came for some time, "/livez" is requested, which a busy server serves first. Without a reply all
 * connections are dropped; any status counts as a reply. Proves nothing of a connection of
 * HTTP/1.1, which a watch has to itself. The loop thread only.
 */
#pragma once

#include "store/remote/http_client.h"

enum {
	HEARTBEAT_SILENT_MSEC = 60000, /* no byte received */
	HEARTBEAT_ANSWER_MSEC = 15000, /* until it is there */
};

struct heartbeat;

/* Begins with the loop. @client: borrowed. @silent_msec, @answer_msec: mostly those above. Return:
 * 0; -ENOMEM, -EMFILE. */
int heartbeat_new(sd_event *event, struct http_client *client, unsigned int silent_msec,
		  unsigned int answer_msec, struct heartbeat **ret);
/* Before the client. Accepts NULL. Return: NULL. */
struct heartbeat *heartbeat_free(struct heartbeat *heartbeat);
