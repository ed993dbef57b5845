/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect - a unix socket by a path of any length
 *
 * A path look-up may wait for a file server, and one that hangs is waited for without end.
 * So the loop connects only by what the kernel has cached of local file systems, which is nearly
 * always; else connector.c has it done on a thread.
 */
#pragma once

#include "base/failure.h"

#include <sys/types.h>
#include <systemd/sd-event.h>

/**
 * grpc_connect - connect, however long the look-up takes [any thread but the loop's]
 * @path: absolute; its last name must fit into a socket address
 * @ret_device: the file system of the socket, for grpc_connect_trust(); 0: it may ask a server
 *
 * Return: a non-blocking descriptor; -EAGAIN the listener's queue is full: try again later, for
 * nothing tells when there is room; -ENOENT, -ECONNREFUSED, -EACCES, -ENAMETOOLONG, -EMFILE, ...
 */
int grpc_connect(const char *path, dev_t *ret_device, struct failure *reterr);

/* From now on sockets of this file system are connected to on the loop. Loop thread only. */
void grpc_connect_trust(dev_t device);

/**
 * grpc_connect_now - connect without waiting for anything
 *
 * Loop thread only. Return: as grpc_connect(), or -EINPROGRESS: it cannot be known without waiting,
 * and nothing was done.
 */
int grpc_connect_now(const char *path, struct failure *reterr);

/* ---- connector.c: one thread for each socket path that is looked up, and none for long ---- */

/* On the loop, once. @result: as grpc_connect(); a descriptor is the receiver's now; @why says
 * more of an error. */
typedef void grpc_connected_fn(void *userdata, int result, const struct failure *why);

struct grpc_connecting;

/**
 * grpc_connector_start - connect to a path on a thread
 * @ret: for grpc_connector_cancel(), until done was called, which is never before this returned
 *
 * Return: 0; -ENOMEM, -EMFILE, -EAGAIN there can be no thread.
 */
int grpc_connector_start(sd_event *event, const char *path, grpc_connected_fn *done, void *userdata,
			 struct grpc_connecting **ret, struct failure *reterr);

/* The caller waits no more; the thread is left to end by itself. Accepts NULL. Return: NULL. */
struct grpc_connecting *grpc_connector_cancel(struct grpc_connecting *connecting);
