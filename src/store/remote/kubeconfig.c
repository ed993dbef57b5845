/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig - current-context, its cluster and its user, checked field by field
 *
 * Fields with a text are rows of a table; so are those that are refused. Looks at no file but the
 * kubeconfig itself.
 */
#include "store/remote/kubeconfig.h"

#include "base/cleanup.h"
#include "base/secret_file.h"
#include "object/json/base64.h"
#include "object/json/json.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

/* Absent, null, false and empty mean the same in client-go: not set. */
static bool is_set(const struct cJSON *value)
{
	if (!value || json_is_null(value))
		return false;
	if (json_is_string(value))
		return *json_string(value, "") != '\0';
	if (json_is_bool(value))
		return json_bool(value, false);
	return json_count(value) > 0 || !(json_is_object(value) || json_is_array(value));
}

/* ---- lists of named entries ---- */

/* The @member of the entry of that name; NULL with a failure: none, two, or no mapping. */
static const struct cJSON *named(const struct cJSON *tree, const char *list, const char *member,
				 const char *name, struct failure *reterr)
{
	const struct cJSON *found = NULL, *item;

	for (item = json_first(json_get(tree, list)); item; item = json_next(item)) {
		if (!json_text_is(item, "name", name))
			continue;
		if (found) {
			(void) failed_plain(reterr, -EINVAL, "%s has two entries named '%s'", list,
					    name);
			return NULL;
		}
		found = item;
	}
	if (!found) {
		(void) failed_plain(reterr, -EINVAL, "%s has no entry named '%s'", list, name);
		return NULL;
	}
	found = json_get(found, member);
	if (!json_is_object(found)) {
		(void) failed_plain(reterr, -EINVAL, "entry '%s' of %s has no %s", name, list,
				    member);
		return NULL;
	}
	return found;
}

/* ---- fields ---- */

struct refused_field {
	const char *name, *why;
};

static const struct refused_field refused_of_cluster[] = {
	{ "insecure-skip-tls-verify",
	  "a server that is not verified could make this node mount anything; give "
	  "certificate-authority" },
	{ NULL, NULL },
};

static const struct refused_field refused_of_user[] = {
	{ "auth-provider", "client-go 1.26 removed these plugins; give a client certificate or a "
			   "tokenFile" },
	{ "username", "kube-apiserver accepts no passwords" },
	{ "password", "kube-apiserver accepts no passwords" },
	{ "as", "impersonation is not supported" },
	{ "as-uid", "impersonation is not supported" },
	{ "as-groups", "impersonation is not supported" },
	{ "as-user-extra", "impersonation is not supported" },
	{ NULL, NULL },
};

static int check_refused(const struct cJSON *entry, const struct refused_field *fields,
			 struct failure *reterr)
{
	for (; fields->name; fields++)
		if (is_set(json_get(entry, fields->name)))
			return failed_plain(reterr, -EINVAL, "%s: %s", fields->name, fields->why);
	return 0;
}

int kubeconfig_take_text(const struct cJSON *entry, const char *field, char **ret,
			 struct failure *reterr)
{
	const struct cJSON *value = json_get(entry, field);

	if (!is_set(value))
		return 0;
	if (!json_is_string(value))
		return failed_plain(reterr, -EINVAL, "%s: not a string", field);
	*ret = strdup(json_string(value, ""));
	return *ret ? 0 : failed(reterr, -ENOMEM, "%s", field);
}

int kubeconfig_take_path(const struct cJSON *entry, const char *field, const char *directory,
			 char **ret, struct failure *reterr)
{
	cleanup_free char *text = NULL;
	int r = kubeconfig_take_text(entry, field, &text, reterr);

	if (r < 0 || !text)
		return r;
	if (*text == '/')
		*ret = TAKE_PTR(text);
	else if (asprintf(ret, "%s/%s", directory, text) < 0)
		*ret = NULL;
	return *ret ? 0 : failed(reterr, -ENOMEM, "%s", field);
}

/* FIELD is the name of a file and FIELD-data is base64; the data wins, as in client-go. */
static int take_pem(const struct cJSON *entry, const char *field, const char *directory,
		    struct kubeconfig_pem *ret, struct failure *reterr)
{
	char *encoded = NULL, name[64];
	int r;

	(void) snprintf(name, sizeof(name), "%s-data", field);
	r = kubeconfig_take_text(entry, name, &encoded, reterr);
	if (r < 0)
		return r;
	if (!encoded)
		return kubeconfig_take_path(entry, field, directory, &ret->file, reterr);
	r = base64_decode_text(encoded, &ret->data);
	encoded = secret_text_free(encoded);
	return r < 0 ? failed(reterr, r, "%s: not base64 of a PEM text", name) : 0;
}

/* ---- where the server is ---- */

/* HOST of "HOST[:PORT][/PATH]"; brackets of an IPv6 address included. */
static size_t host_length(const char *rest)
{
	return *rest == '[' ? strcspn(rest, "]/") + (strchr(rest, ']') != NULL)
			    : strcspn(rest, ":/");
}

static bool is_loopback(const char *host, size_t length)
{
	static const char *const names[] = { "127.0.0.1", "[::1]", "localhost" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && strncasecmp(names[i], host, length) == 0)
			return true;
	return false;
}

static int check_server(const char *server, struct failure *reterr)
{
	bool is_tls = server && strncasecmp(server, "https://", 8) == 0;
	bool is_plain = server && strncasecmp(server, "http://", 7) == 0;
	const char *rest;

	if (!is_tls && !is_plain)
		return failed_plain(reterr, -EINVAL, "server: '%s' is not the https URL of a host",
				    server ? server : "");
	rest = server + (is_tls ? 8 : 7);
	if (host_length(rest) == 0 || strpbrk(rest, "@?# \t\r\n"))
		return failed_plain(reterr, -EINVAL, "server: '%s' is not the https URL of a host",
				    server);
	if (is_plain && !is_loopback(rest, host_length(rest)))
		return failed_plain(reterr, -EINVAL,
				    "server: '%s' sends credentials unencrypted; http:// is for "
				    "127.0.0.1, [::1] and localhost only",
				    server);
	return 0;
}

static int take_cluster(const struct cJSON *cluster, const char *directory, struct kubeconfig *ret,
			struct failure *reterr)
{
	int r = check_refused(cluster, refused_of_cluster, reterr);

	if (r == 0)
		r = kubeconfig_take_text(cluster, "server", &ret->server, reterr);
	if (r == 0)
		r = check_server(ret->server, reterr);
	if (r < 0)
		return r;
	for (size_t n = strlen(ret->server); ret->server[n - 1] == '/'; n--)
		ret->server[n - 1] = '\0';
	ret->disable_compression = is_set(json_get(cluster, "disable-compression"));
	r = kubeconfig_take_text(cluster, "tls-server-name", &ret->tls_server_name, reterr);
	if (r == 0)
		r = kubeconfig_take_text(cluster, "proxy-url", &ret->proxy_url, reterr);
	if (r == 0)
		r = take_pem(cluster, "certificate-authority", directory, &ret->authority, reterr);
	if (r == 0)
		r = kubeconfig_exec_take_cluster(cluster, &ret->exec, reterr);
	return r;
}

/* ---- who asks ---- */

static bool is_given(const struct kubeconfig_pem *pem)
{
	return pem->data || pem->file;
}

static int take_user(const struct cJSON *user, const char *directory, struct kubeconfig *ret,
		     struct failure *reterr)
{
	int r = check_refused(user, refused_of_user, reterr);

	if (r == 0)
		r = take_pem(user, "client-certificate", directory, &ret->certificate, reterr);
	if (r == 0)
		r = take_pem(user, "client-key", directory, &ret->key, reterr);
	if (r == 0)
		r = kubeconfig_take_text(user, "token", &ret->token, reterr);
	if (r == 0)
		r = kubeconfig_take_path(user, "tokenFile", directory, &ret->token_file, reterr);
	if (r == 0 && is_set(json_get(user, "exec")))
		r = kubeconfig_exec_take(json_get(user, "exec"), directory, &ret->exec, reterr);
	if (r < 0)
		return r;
	if (is_given(&ret->certificate) != is_given(&ret->key))
		return failed_plain(reterr, -EINVAL,
				    "client-certificate and client-key must be given together");
	if (!is_given(&ret->certificate) && !ret->token && !ret->token_file && !ret->exec.command)
		return failed_plain(
			reterr, -EINVAL,
			"no client-certificate, token, tokenFile or exec: kube-apiserver "
			"would refuse every request");
	return 0;
}

/* ---- the whole ---- */

/* Its cluster and its user, each by the name that the context has for it. */
struct part {
	const char *key, *list;
	int (*take)(const struct cJSON *entry, const char *directory, struct kubeconfig *ret,
		    struct failure *reterr);
};

static const struct part parts[] = {
	{ "cluster", "clusters", take_cluster },
	{ "user", "users", take_user },
};

static int take_context(const struct cJSON *tree, const char *directory, struct kubeconfig *ret,
			struct failure *reterr)
{
	const struct cJSON *context, *entry;
	int r = kubeconfig_take_text(tree, "current-context", &ret->context, reterr);

	if (r < 0)
		return r;
	if (!ret->context)
		return failed_plain(reterr, -EINVAL, "current-context is not set");
	context = named(tree, "contexts", "context", ret->context, reterr);
	if (!context)
		return -EINVAL;
	for (const struct part *part = parts; part < parts + ARRAY_SIZE(parts); part++) {
		const char *name = json_text(context, part->key);

		entry = named(tree, part->list, part->key, name, reterr);
		if (!entry)
			return -EINVAL;
		r = part->take(entry, directory, ret, reterr);
		if (r < 0) {
			(void) failure_prefix(reterr, "%s '%s'", part->key, name);
			return r;
		}
	}
	return 0;
}

int kubeconfig_parse(const char *text, size_t length, const char *directory, struct kubeconfig *ret,
		     struct failure *reterr)
{
	cleanup_json_secret struct cJSON *tree = NULL;
	const char *kind, *version;
	int r;

	assert(text && directory && *directory == '/' && ret);
	*ret = (struct kubeconfig){ 0 };
	r = json_parse_yaml(text, length, &tree, reterr);
	if (r < 0)
		return r;
	kind = json_string(json_get(tree, "kind"), "Config");
	version = json_string(json_get(tree, "apiVersion"), "v1");
	if (!json_is_object(tree) || strcmp(kind, "Config") != 0 || strcmp(version, "v1") != 0)
		return failed_plain(reterr, -EINVAL, "not a kubeconfig: not kind Config of v1");
	return take_context(tree, directory, ret, reterr);
}

int kubeconfig_read(const char *path, struct kubeconfig *ret, struct failure *reterr)
{
	cleanup_free char *directory = NULL;
	char *text = NULL;
	int r;

	assert(path && *path == '/' && ret);
	*ret = (struct kubeconfig){ 0 };
	r = secret_file_read(AT_FDCWD, path, &text, reterr);
	if (r < 0)
		return r;
	directory = strndup(path, (size_t) (strrchr(path, '/') - path));
	r = directory ? kubeconfig_parse(text, strlen(text), *directory ? directory : "/", ret,
					 reterr)
		      : failed(reterr, -ENOMEM, "out of memory");
	if (r < 0)
		(void) failure_prefix(reterr, "kubeconfig '%s'", path);
	text = secret_text_free(text);
	return r;
}

/* ---- in a container of the cluster ---- */

/* An IPv6 address gets its brackets. */
static int join_host_port(char **ret, struct failure *reterr)
{
	const char *host = secure_getenv("KUBERNETES_SERVICE_HOST");
	const char *port = secure_getenv("KUBERNETES_SERVICE_PORT");
	bool is_address = host && strchr(host, ':');

	if (!host || *host == '\0' || !port || *port == '\0')
		return failed_plain(reterr, -EINVAL,
				    "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
				    "set: this is not a container of a cluster");
	if (strlen(port) > 5 || port[strspn(port, "0123456789")] != '\0')
		return failed_plain(reterr, -EINVAL, "KUBERNETES_SERVICE_PORT: '%s' is not a port",
				    port);
	if (strpbrk(host, "/[]"))
		return failed_plain(reterr, -EINVAL, "KUBERNETES_SERVICE_HOST: '%s' is not a host",
				    host);
	if (asprintf(ret, "https://%s%s%s:%s", is_address ? "[" : "", host, is_address ? "]" : "",
		     port) < 0)
		*ret = NULL;
	return *ret ? check_server(*ret, reterr) : failed(reterr, -ENOMEM, "out of memory");
}

int kubeconfig_in_cluster(const char *directory, struct kubeconfig *ret, struct failure *reterr)
{
	int r;

	assert(directory && *directory == '/' && ret);
	*ret = (struct kubeconfig){ 0 };
	r = join_host_port(&ret->server, reterr);
	if (r < 0)
		return r;
	ret->context = strdup(KUBECONFIG_IN_CLUSTER);
	if (asprintf(&ret->token_file, "%s/token", directory) < 0)
		ret->token_file = NULL;
	if (asprintf(&ret->authority.file, "%s/ca.crt", directory) < 0)
		ret->authority.file = NULL;
	return ret->context && ret->token_file && ret->authority.file
		       ? 0
		       : failed(reterr, -ENOMEM, "out of memory");
}

static void pem_done(struct kubeconfig_pem *pem)
{
	pem->data = secret_text_free(pem->data);
	free(pem->file);
}

void kubeconfig_done(struct kubeconfig *kubeconfig)
{
	assert(kubeconfig);
	free(kubeconfig->context);
	free(kubeconfig->server);
	free(kubeconfig->tls_server_name);
	free(kubeconfig->proxy_url);
	free(kubeconfig->token_file);
	kubeconfig->token = secret_text_free(kubeconfig->token);
	pem_done(&kubeconfig->authority);
	pem_done(&kubeconfig->certificate);
	pem_done(&kubeconfig->key);
	kubeconfig_exec_done(&kubeconfig->exec);
	*kubeconfig = (struct kubeconfig){ 0 };
}
