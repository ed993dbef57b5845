/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect - a unix socket by a path of any length
 */
#ifndef PODVOL_GRPC_CONNECT_H
#define PODVOL_GRPC_CONNECT_H

#include "base/failure.h"

/**
 * grpc_connect - connect without waiting
 * @path: absolute; its last name must fit into a socket address
 *
 * Return: a non-blocking descriptor; -EAGAIN the listener's queue is full: try again later, for
 * nothing tells when there is room; -ENOENT, -ECONNREFUSED, -EACCES, -ENAMETOOLONG, -EMFILE, ...
 */
int grpc_connect(const char *path, struct failure *reterr);

#endif
