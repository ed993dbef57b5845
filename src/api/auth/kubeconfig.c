/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig - GET /podvol/v1/kubeconfig: what kubectl needs to come in by TLS
 *
 * Holds the token, so it is for those who may read Secrets.
 */
#include "api/auth/credentials.h"
#include "api/exchange.h"
#include "base/cleanup.h"
#include "base/gnutls_begin.h"

#include <string.h>

/* A list of one named thing, as a kubeconfig has them. Return: the thing, borrowed. */
static struct cJSON *add_named(struct cJSON *config, const char *list, const char *name,
			       const char *thing)
{
	struct cJSON *item = json_add_object(json_add_array(config, list), NULL);

	(void) json_set_string(item, "name", name);
	return json_add_object(item, thing);
}

/* The certificate as a kubeconfig wants it: the PEM text in base64. */
static char *encode(const char *text)
{
	const gnutls_datum_t plain = { .data = (unsigned char *) (uintptr_t) text,
				       .size = (unsigned int) strlen(text) };
	gnutls_datum_t encoded = { .data = NULL };
	char *copy;

	if (gnutls_begin() < 0 || gnutls_base64_encode2(&plain, &encoded) < 0)
		return NULL;
	copy = strndup((const char *) encoded.data, encoded.size);
	gnutls_free(encoded.data);
	return copy;
}

/* NULL: no memory. */
static struct cJSON *make_kubeconfig(const struct api_credentials *credentials, const char *server)
{
	const char *node = credentials_node_name(credentials);
	cleanup_free char *authority = encode(credentials_authority(credentials));
	struct cJSON *config = authority ? json_new_object() : NULL, *cluster, *user, *context;

	(void) json_set_string(config, "apiVersion", "v1");
	(void) json_set_string(config, "kind", "Config");
	cluster = add_named(config, "clusters", node, "cluster");
	(void) json_set_string(cluster, "server", server);
	(void) json_set_string(cluster, "certificate-authority-data", authority);
	user = add_named(config, "users", node, "user");
	(void) json_set_string(user, "token", credentials_token(credentials));
	context = add_named(config, "contexts", node, "context");
	(void) json_set_string(context, "cluster", node);
	(void) json_set_string(context, "user", node);
	(void) json_set_string(config, "current-context", node);
	return config;
}

void kubeconfig_get(struct exchange *exchange)
{
	const char *server = api_path_parameter(&exchange->path, "server");

	if (!exchange->credentials)
		reply_refusal(exchange, API_NOT_FOUND, REPLY_NO_TLS);
	else
		reply_tree(exchange, 200,
			   make_kubeconfig(exchange->credentials,
					   server && *server
						   ? server
						   : credentials_server(exchange->credentials)));
}
