/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials - authority, server certificate and token of the TLS listener; see credentials.h
 */
#include "api/auth/credentials.h"

#include "api/auth/token_list.h"
#include "api/http/listen.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "object/kinds/root_ca.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct api_credentials {
	struct authority *authority;
	struct client_authority *clients; /* NULL: none */
	struct server_certificate *present;
	struct server_certificate *former; /* a handshake may still use it */
	struct server_names names;
	char *token, *server, *node_name;
	struct token_list tokens;
	int directory_fd;        /* of the state directory */
	bool tokens_are_changed; /* a new list is being written */
};

/* ---- names ---- */

static int add_name(struct api_credentials *credentials, const char *name, struct failure *reterr)
{
	int r = server_names_add(&credentials->names, name);

	if (r == -E2BIG)
		return failed_plain(reterr, r, "listen-names: more than %d names and addresses",
				    CERTIFICATE_NAMES_MAX);
	if (r < 0)
		return failed_plain(reterr, r,
				    "listen-names: '%s' is neither a name nor an address", name);
	return 0;
}

static int add_list(struct api_credentials *credentials, const char *names, struct failure *reterr)
{
	cleanup_free char *list = strdup(names);
	char *rest = list, *word;
	int r = list ? 0 : failed(reterr, -ENOMEM, "listen-names");

	while (r == 0 && (word = strsep(&rest, ",")))
		if (*word)
			r = add_name(credentials, word, reterr);
	return r;
}

/* As the machine has them now; one that comes later needs a restart, or listen-names. */
static void add_every_address(struct api_credentials *credentials)
{
	struct ifaddrs *all = NULL;
	char text[INET6_ADDRSTRLEN];

	if (getifaddrs(&all) < 0)
		return; /* loopback is named in any case */
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		const struct sockaddr_in *ipv4 = (const struct sockaddr_in *) one->ifa_addr;
		const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *) one->ifa_addr;
		int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;

		if (family != AF_INET && family != AF_INET6)
			continue;
		if (inet_ntop(family,
			      family == AF_INET ? (const void *) &ipv4->sin_addr : &ipv6->sin6_addr,
			      text, sizeof(text)))
			(void) server_names_add(&credentials->names, text);
	}
	freeifaddrs(all);
}

/* Those that cannot be left out first: only addresses of interfaces may find no room. */
static int collect_names(struct api_credentials *credentials,
			 const struct api_credentials_options *options,
			 const struct listen_address *address, struct failure *reterr)
{
	static const char *const always[] = { "localhost", "127.0.0.1", "::1" };
	int r = add_name(credentials, options->node_name, reterr);

	for (size_t i = 0; i < ARRAY_SIZE(always) && r == 0; i++)
		r = add_name(credentials, always[i], reterr);
	if (r == 0)
		r = add_list(credentials, options->names, reterr);
	if (r == 0 && !address->any)
		r = add_name(credentials, address->text, reterr);
	else if (r == 0)
		add_every_address(credentials);
	return r;
}

/* What a client on this machine writes; who is elsewhere knows by which address it comes here. */
static char *server_url(const struct listen_address *address)
{
	char *url = NULL;
	int n;

	if (address->any)
		n = asprintf(&url, "https://127.0.0.1:%u", address->port);
	else if (address->family == AF_INET6)
		n = asprintf(&url, "https://[%s]:%u", address->text, address->port);
	else
		n = asprintf(&url, "https://%s:%u", address->text, address->port);
	return n < 0 ? NULL : url;
}

/* ---- making and freeing ---- */

static int load(struct api_credentials *credentials, const struct api_credentials_options *options,
		struct failure *reterr)
{
	cleanup_close int directory_fd = secret_directory_open(options->state_dir, reterr);
	time_t now = (time_t) (realtime_usec() / USEC_PER_SEC);
	struct listen_address address;
	int r;

	if (directory_fd < 0)
		return directory_fd;
	r = listen_address_of(options->listen_fd, &address);
	if (r < 0)
		return failed(reterr, r, "cannot determine where TLS is served");
	credentials->server = server_url(&address);
	credentials->node_name = strdup(options->node_name);
	if (!credentials->server || !credentials->node_name)
		return failed(reterr, -ENOMEM, "cannot prepare TLS");
	r = collect_names(credentials, options, &address, reterr);
	if (r == 0)
		r = authority_load(directory_fd, options->node_name, now, &credentials->authority,
				   reterr);
	if (r == 0)
		r = token_load(directory_fd, options->token_file, &credentials->token, reterr);
	if (r == 0 && *options->client_ca_file)
		r = client_authority_load(options->client_ca_file, &credentials->clients, reterr);
	if (r == 0)
		r = token_list_load(directory_fd, &credentials->tokens, reterr);
	if (r == 0)
		r = server_certificate_new(credentials->authority, &credentials->names, now,
					   &credentials->present, reterr);
	if (r == 0)
		credentials->directory_fd = TAKE_FD(directory_fd);
	return r;
}

int api_root_certificate(const char *state_dir, const char *node_name,
			 const struct object *published, char **ret, struct failure *reterr)
{
	cleanup_close int directory_fd = secret_directory_open(state_dir, reterr);
	struct authority *authority = NULL;
	cleanup_free char *text = NULL;
	int r;

	assert(ret);
	if (directory_fd < 0)
		return directory_fd;
	text = published ? authority_read_certificate(directory_fd) : NULL;
	if (text && root_ca_has(published, text)) {
		*ret = TAKE_PTR(text);
		return 0;
	}
	r = authority_load(directory_fd, node_name, (time_t) (realtime_usec() / USEC_PER_SEC),
			   &authority, reterr);
	if (r < 0)
		return r;
	*ret = strdup(authority_certificate(authority));
	(void) authority_free(authority);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot read the authority's certificate");
}

int api_credentials_new(const struct api_credentials_options *options, struct api_credentials **ret,
			struct failure *reterr)
{
	struct api_credentials *credentials = calloc(1, sizeof(*credentials));
	int r;

	assert(options && options->state_dir && options->token_file && options->node_name &&
	       options->names && options->client_ca_file && ret);
	if (!credentials)
		return failed(reterr, -ENOMEM, "cannot prepare TLS");
	credentials->directory_fd = -EBADF;
	r = load(credentials, options, reterr);
	if (r < 0)
		(void) api_credentials_free(credentials);
	else
		*ret = credentials;
	return r;
}

struct api_credentials *api_credentials_free(struct api_credentials *credentials)
{
	if (!credentials)
		return NULL;
	(void) server_certificate_free(credentials->present);
	(void) server_certificate_free(credentials->former);
	(void) authority_free(credentials->authority);
	(void) client_authority_free(credentials->clients);
	(void) secret_text_free(credentials->token);
	if (credentials->directory_fd >= 0)
		(void) close(credentials->directory_fd);
	free(credentials->server);
	free(credentials->node_name);
	free(credentials);
	return NULL;
}

/* ---- using them ---- */

struct server_certificate *credentials_certificate(struct api_credentials *credentials, time_t now)
{
	struct server_certificate *fresh = NULL;
	struct failure why = { 0 };

	assert(credentials && credentials->present);
	if (now >= credentials->present->renew_from && now < credentials->present->renew_until)
		return credentials->present;
	if (server_certificate_new(credentials->authority, &credentials->names, now, &fresh, &why) <
	    0) {
		log_message(LOG_WARNING, "api: %s: keeping the present certificate", why.text);
		return credentials->present;
	}
	log_message(LOG_INFO, "api: the server certificate was renewed");
	(void) server_certificate_free(credentials->former);
	credentials->former = credentials->present;
	credentials->present = fresh;
	return fresh;
}

bool credentials_token_is_given(const struct api_credentials *credentials,
				const char *authorization)
{
	return token_is_given(credentials->token, authorization);
}

const struct client_authority *
credentials_client_authority(const struct api_credentials *credentials)
{
	return credentials->clients;
}

const char *credentials_authority(const struct api_credentials *credentials)
{
	return authority_certificate(credentials->authority);
}

const char *credentials_server(const struct api_credentials *credentials)
{
	return credentials->server;
}

const char *credentials_token(const struct api_credentials *credentials)
{
	return credentials->token;
}

const char *credentials_node_name(const struct api_credentials *credentials)
{
	return credentials->node_name;
}

const struct token_list *credentials_tokens(const struct api_credentials *credentials)
{
	return &credentials->tokens;
}

int credentials_tokens_begin(struct api_credentials *credentials, struct token_list *ret_list,
			     int *ret_directory_fd)
{
	int fd;

	if (credentials->tokens_are_changed)
		return -EBUSY;
	fd = fcntl(credentials->directory_fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	credentials->tokens_are_changed = true;
	*ret_list = credentials->tokens;
	*ret_directory_fd = fd;
	return 0;
}

void credentials_tokens_changed(struct api_credentials *credentials, const struct token_list *list)
{
	assert(credentials->tokens_are_changed);
	credentials->tokens_are_changed = false;
	if (list)
		credentials->tokens = *list;
}
