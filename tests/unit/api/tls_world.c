/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_world - see tls_world.h
 */
#include "tls_world.h"

#include "api/api.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

void serve_again(struct served *served)
{
	struct api_options options = { .event = served->world->event,
				       .agent = &served->world->agent,
				       .connections_max = 16,
				       .request_bytes_max = 4096,
				       .watches_max = 16,
				       .idle_seconds = 60,
				       .request_seconds = 60 };
	struct api_listen_options listen = { .tls_address = served->address,
					     .plain_address = "",
					     .docker_path = "" };
	struct api_credentials_options files = { .state_dir = served->world->directory,
						 .token_file = "",
						 .client_ca_file = "",
						 .node_name = "node",
						 .names = "kubernetes.default" };
	struct sockaddr_in address;
	socklen_t length = sizeof(address);
	char path[128];

	(void) snprintf(path, sizeof(path), "%s/sock", served->world->directory);
	listen.socket_path = path;
	assert_int_equal(api_listen(&listen, options.listeners, &options.listener_count, NULL), 0);
	assert_int_equal(options.listener_count, 2);
	files.listen_fd = options.listeners[1].fd;
	assert_int_equal(getsockname(files.listen_fd, &address, &length), 0);
	(void) snprintf(served->address, sizeof(served->address), "127.0.0.1:%u",
			(unsigned int) ntohs(address.sin_port));
	(void) snprintf(served->server, sizeof(served->server), "https://%s", served->address);
	assert_int_equal(api_credentials_new(&files, &served->credentials, NULL), 0);
	options.credentials = served->credentials;
	assert_int_equal(api_new(&options, &served->api, NULL), 0);
}

void stop_serving(struct served *served)
{
	served->api = api_free(served->api);
	served->credentials = api_credentials_free(served->credentials);
}

int served_set_up(void **state)
{
	struct served *served = calloc(1, sizeof(*served));

	assert_non_null(served);
	assert_int_equal(world_set_up((void **) &served->world), 0);
	(void) snprintf(served->address, sizeof(served->address), "127.0.0.1:0");
	(void) snprintf(served->ca_file, sizeof(served->ca_file), "%s/ca.pem",
			served->world->directory);
	(void) snprintf(served->token_file, sizeof(served->token_file), "%s/token",
			served->world->directory);
	serve_again(served);
	*state = served;
	return 0;
}

int served_tear_down(void **state)
{
	struct served *served = *state;

	served->client = http_client_free(served->client);
	stop_serving(served);
	assert_int_equal(world_tear_down((void **) &served->world), 0);
	free(served);
	return 0;
}

static void take_credentials(struct served *served, const struct kubeconfig *kubeconfig)
{
	struct client_credentials credentials;

	assert_int_equal(client_credentials_read(kubeconfig, &credentials, NULL), 0);
	http_client_set_credentials(served->client, &credentials);
	assert_null(credentials.token);
}

void use_token(struct served *served, const char *token)
{
	const struct kubeconfig kubeconfig = {
		.authority.file = served->ca_file,
		.token = (char *) (uintptr_t) token,
		.token_file = token ? NULL : served->token_file,
	};

	take_credentials(served, &kubeconfig);
}

void connect_as(struct served *served, const char *name, const char *token, const char *ca_file)
{
	const struct kubeconfig kubeconfig = {
		.server = served->server,
		.tls_server_name = (char *) (uintptr_t) name,
		.authority.file = (char *) (uintptr_t) ca_file,
		.token = (char *) (uintptr_t) token,
		.token_file = token ? NULL : served->token_file,
	};

	served->client = http_client_free(served->client);
	assert_int_equal(http_client_new(served->world->event, &kubeconfig, &served->client, NULL),
			 0);
	take_credentials(served, &kubeconfig);
}
