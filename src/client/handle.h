/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle - what the files of the client library know of each other
 */
#ifndef PODVOL_CLIENT_HANDLE_H
#define PODVOL_CLIENT_HANDLE_H

#include "client/podvol.h"

#define TYPE_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

/* Sets the handle's sentence. Return: @error. */
int handle_failed(struct podvol *podvol, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A Table from the bytes of an answer. Return: 0; -EPROTO with @podvol's sentence; -ENOMEM. */
int table_parse(struct podvol *podvol, const char *text, size_t length, struct podvol_table **ret);

#endif
