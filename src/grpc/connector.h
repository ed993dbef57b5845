/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connector - connections whose look-up may wait, made on a thread
 *
 * One thread for each socket path that is looked up, and none for long: where a file server hangs,
 * all who want its socket wait for one thread, and no others do. The loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <systemd/sd-event.h>

/* On the loop, once. @result: a descriptor that is the receiver's now; -EINPROGRESS another call
 * got the connection: try again; else as grpc_connect(), and @why says more. */
typedef void grpc_connected_fn(void *userdata, int result, const struct failure *why);

struct grpc_connecting;

/**
 * grpc_connector_start - connect to a path on a thread
 * @ret: for grpc_connector_leave(), until done was called, which is never before this returned
 *
 * Return: 0; -ENOMEM, -EMFILE, -EAGAIN there can be no thread.
 */
int grpc_connector_start(sd_event *event, const char *path, grpc_connected_fn *done, void *userdata,
			 struct grpc_connecting **ret, struct failure *reterr);

/* The caller waits no more; the thread is left to end by itself. Accepts NULL. Return: NULL. */
struct grpc_connecting *grpc_connector_leave(struct grpc_connecting *connecting);
