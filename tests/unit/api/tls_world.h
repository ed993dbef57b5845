/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_world - podvold's own API server with TLS on loopback, and a client of it in the same thread
 */
#pragma once

#include "api_world.h"

#include "store/remote/http_client.h"

struct served {
	struct world *world;
	struct api *api; /* NULL: the server is away */
	struct api_credentials *credentials;
	char address[64], server[80], ca_file[128], token_file[128];
	struct http_client *client;
};

/* In *state, for cmocka's set-up and tear-down. */
int served_set_up(void **state);
int served_tear_down(void **state);

/* The server ends, and comes back at the same address with the same store and files. */
void stop_serving(struct served *served);
void serve_again(struct served *served);

/* The client is made again: it expects this name in the certificate (NULL: the address). */
void connect_as(struct served *served, const char *name, const char *token, const char *ca_file);

/* The client's calls from now on have this token, or the server's own for NULL. */
void use_token(struct served *served, const char *token);
