/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials - what the TLS listener shows and what it asks for
 *
 * See api_credentials_new() in api.h. The loop thread only.
 */
#pragma once

#include "api/api.h"
#include "api/auth/certificate.h"
#include "api/auth/token_list.h"
#include "api/client_certificate.h"

#include <stdbool.h>

/**
 * credentials_certificate - the certificate for a handshake that begins at @now
 * @now: seconds of the real clock
 *
 * Makes a new one when the present one's time is nearly over, or not come yet; if that fails, the
 * present one is used on. Valid until the next but one was made, which is longer than a handshake
 * may take.
 */
struct server_certificate *credentials_certificate(struct api_credentials *credentials, time_t now);

/* Does an Authorization header, which may be NULL, carry the token? */
bool credentials_token_is_given(const struct api_credentials *credentials,
				const char *authorization);

/* Named tokens. credentials_tokens() is borrowed until the loop turns. */
const struct token_list *credentials_tokens(const struct api_credentials *credentials);
/* Begins a change: a copy of the list, and a descriptor of its directory that is the caller's.
 * Return: 0; -EBUSY another one is not over; else what fcntl(2) gave. */
int credentials_tokens_begin(struct api_credentials *credentials, struct token_list *ret_list,
			     int *ret_directory_fd);
/* Ends it. @list: counts from now on; NULL: nothing changed. */
void credentials_tokens_changed(struct api_credentials *credentials, const struct token_list *list);

/* Who signs certificates of clients; NULL: none are asked for. */
const struct client_authority *
credentials_client_authority(const struct api_credentials *credentials);

/* For a kubeconfig: PEM; the URL of what is listened on; the token. As long as the credentials. */
const char *credentials_authority(const struct api_credentials *credentials);
const char *credentials_server(const struct api_credentials *credentials);
const char *credentials_token(const struct api_credentials *credentials);
const char *credentials_node_name(const struct api_credentials *credentials);
