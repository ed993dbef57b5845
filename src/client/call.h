/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call - the calls of one handle that do not block; see podvol_call() in podvol.h
 *
 * All of them are transfers of one curl multi handle. What curl waits for (sockets, a time) is in
 * one epoll descriptor, so that the caller's loop needs to know nothing but that.
 */
#pragma once

#include "client/podvol.h"

struct calls;
typedef void podvol_call_done(void *userdata, int result, struct podvol_reply *reply);

enum { CALLS_MAX = 1000 }; /* under way at once, of one handle */

/* @podvol outlives it. Return: 0; -ENOMEM, -EMFILE, ... */
int calls_new(struct podvol *podvol, struct calls **ret);
/* Calls under way end without being called back. Accepts NULL. Return: NULL. */
struct calls *calls_free(struct calls *calls);
int calls_fd(const struct calls *calls);
/* Return: how many are under way; negative errno. */
int calls_process(struct calls *calls);
/* Return: 0; -EAGAIN CALLS_MAX are under way; -EINVAL, -ENOMEM. */
int calls_start(struct calls *calls, const struct podvol_request *request, podvol_call_done *done,
		void *userdata, struct podvol_call **ret);
