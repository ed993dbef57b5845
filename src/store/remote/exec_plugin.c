/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_plugin - a process, its two pipes and its clock as sources of the loop; see exec_plugin.h
 *
 * The run is over when the process is: what others that it left behind still write is not read, and
 * its group is killed. Refuses output that is too long, or no ExecCredential of the version that
 * was asked for.
 */
#include "store/remote/exec_plugin.h"

#include "base/byte_buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "base/trusted_path.h"
#include "object/json/base64.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EXEC_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { SAID_BYTES = 512, DEFAULTS = 4 };

struct exec_plugin {
	const struct kubeconfig *kubeconfig;
	pid_t pid;
	int pid_fd, output_fd, errors_fd;
	sd_event_source *ended, *output, *errors, *timer;
	struct byte_buffer text;
	char said[SAID_BYTES]; /* the end of its errors, as one line */
	size_t said_length;
	int error; /* why it was killed; 0 */
	void (*done)(void *userdata, int error, struct exec_credential *credential,
		     const struct failure *why);
	void *userdata;
};

/* ---- which program ---- */

static int check_program(const char *path, struct failure *reterr)
{
	struct stat status;

	int r = trusted_path_check(path, TRUST_USER, reterr);

	if (r < 0)
		return failure_prefix(reterr, "credential plugin");
	if (stat(path, &status) < 0)
		return failed(reterr, -errno, "credential plugin '%s'", path);
	if (!S_ISREG(status.st_mode) || access(path, X_OK) < 0)
		return failed_plain(reterr, -EACCES, "credential plugin '%s' is not executable",
				    path);
	return 0;
}

static int find_program(const struct kubeconfig_exec *exec, char path[PATH_MAX],
			struct failure *reterr)
{
	static const char *const directories[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
						   "/usr/bin",        "/sbin",          "/bin" };

	if (*exec->command == '/') {
		(void) snprintf(path, PATH_MAX, "%s", exec->command);
		return check_program(path, reterr);
	}
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		(void) snprintf(path, PATH_MAX, "%s/%s", directories[i], exec->command);
		if (access(path, X_OK) == 0)
			return check_program(path, reterr);
	}
	return failed_plain(reterr, -ENOENT, "credential plugin '%s' is not in " EXEC_PATH "%s%s",
			    exec->command, exec->install_hint ? ": " : "",
			    exec->install_hint ? exec->install_hint : "");
}

/* ---- what it gets ---- */

static void add_cluster(struct cJSON *spec, const struct kubeconfig *kubeconfig,
			const char *authority)
{
	const char *config = kubeconfig->exec.cluster_config;
	const struct json_limits limits = { .bytes = EXEC_PLUGIN_BYTES_MAX, .depth = 64 };
	struct cJSON *cluster = json_add_object(spec, "cluster"), *tree = NULL;
	cleanup_free char *encoded = authority ? base64_encode(authority, strlen(authority)) : NULL;

	(void) json_set_string(cluster, "server", kubeconfig->server);
	if (kubeconfig->tls_server_name)
		(void) json_set_string(cluster, "tls-server-name", kubeconfig->tls_server_name);
	if (encoded)
		(void) json_set_string(cluster, "certificate-authority-data", encoded);
	if (kubeconfig->proxy_url)
		(void) json_set_string(cluster, "proxy-url", kubeconfig->proxy_url);
	if (kubeconfig->disable_compression)
		(void) json_set_bool(cluster, "disable-compression", true);
	if (config && json_parse(config, strlen(config), &limits, &tree, NULL) == 0)
		(void) json_set(cluster, "config", tree);
}

/* "KUBERNETES_EXEC_INFO=..."; NULL: no memory. */
static char *exec_info(const struct kubeconfig *kubeconfig, const char *authority)
{
	cleanup_json struct cJSON *tree = json_new_object();
	cleanup_free char *text = NULL;
	struct cJSON *spec;
	char *variable;

	(void) json_set_string(tree, "kind", "ExecCredential");
	(void) json_set_string(tree, "apiVersion", kubeconfig->exec.api_version);
	spec = json_add_object(tree, "spec");
	(void) json_set_bool(spec, "interactive", false);
	if (kubeconfig->exec.provides_cluster)
		add_cluster(spec, kubeconfig, authority);
	text = json_print(tree);
	if (!text || asprintf(&variable, "KUBERNETES_EXEC_INFO=%s", text) < 0)
		return NULL;
	return variable;
}

static bool has_variable(char *const *environment, const char *variable)
{
	size_t length = (size_t) (strchr(variable, '=') - variable) + 1;

	for (; environment && *environment; environment++)
		if (strncmp(*environment, variable, length) == 0)
			return true;
	return false;
}

/* Those of the kubeconfig, and few others. Borrowed texts in an array of the caller's. */
static char **make_environment(const struct kubeconfig_exec *exec, char *info)
{
	static const char *const defaults[] = { ("PATH=" EXEC_PATH), "HOME=/root", "LC_ALL=C" };
	char **environment = calloc(KUBECONFIG_EXEC_TEXTS_MAX + DEFAULTS + 1, sizeof(*environment));
	char *const own[] = { info, NULL };
	size_t n = 0;

	if (!environment)
		return NULL;
	environment[n++] = info;
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!has_variable(exec->environment, defaults[i]))
			environment[n++] = (char *) (uintptr_t) defaults[i];
	for (size_t i = 0; exec->environment && exec->environment[i]; i++)
		if (!has_variable(own, exec->environment[i]))
			environment[n++] = exec->environment[i];
	return environment;
}

static char **make_arguments(const struct kubeconfig_exec *exec)
{
	char **arguments = calloc(KUBECONFIG_EXEC_TEXTS_MAX + 2, sizeof(*arguments));

	if (!arguments)
		return NULL;
	arguments[0] = exec->command;
	for (size_t i = 0; exec->arguments && exec->arguments[i]; i++)
		arguments[i + 1] = exec->arguments[i];
	return arguments;
}

/* ---- its start ---- */

static int start(struct exec_plugin *plugin, const char *path, const char *authority)
{
	cleanup_free char *info = exec_info(plugin->kubeconfig, authority);
	cleanup_free char **environment =
		info ? make_environment(&plugin->kubeconfig->exec, info) : NULL;
	cleanup_free char **arguments = make_arguments(&plugin->kubeconfig->exec);
	cleanup_close int output_fd = -EBADF, errors_fd = -EBADF;
	int pipes[2][2], r;

	if (!environment || !arguments)
		return -ENOMEM;
	if (pipe2(pipes[0], O_CLOEXEC) < 0)
		return -errno;
	plugin->output_fd = pipes[0][0];
	output_fd = pipes[0][1];
	if (pipe2(pipes[1], O_CLOEXEC) < 0)
		return -errno;
	plugin->errors_fd = pipes[1][0];
	errors_fd = pipes[1][1];
	if (fcntl(plugin->output_fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(plugin->errors_fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = spawn_program(path, arguments, environment, output_fd, errors_fd, &plugin->pid);
	if (r < 0)
		return r;
	plugin->pid_fd = pidfd_open(plugin->pid, 0);
	return plugin->pid_fd < 0 ? -errno : 0;
}

/* ---- what it says ---- */

static void kill_group(const struct exec_plugin *plugin)
{
	/* Not reaped, so the group is still the plugin's. */
	if (plugin->pid > 0)
		(void) kill(-plugin->pid, SIGKILL);
}

static void give_up(struct exec_plugin *plugin, int error)
{
	plugin->error = plugin->error ?: error;
	kill_group(plugin);
}

static void keep_said(struct exec_plugin *plugin, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (plugin->said_length == SAID_BYTES - 1) {
			memmove(plugin->said, plugin->said + SAID_BYTES / 2, SAID_BYTES / 2 - 1);
			plugin->said_length = SAID_BYTES / 2 - 1;
		}
		plugin->said[plugin->said_length++] = (unsigned char) text[i] < ' ' ? ' ' : text[i];
	}
	plugin->said[plugin->said_length] = '\0';
}

/* What is there now. Return: 0: there will be no more. */
static int read_fd(struct exec_plugin *plugin, int fd)
{
	char buffer[4096];
	ssize_t got = read(fd, buffer, sizeof(buffer));
	int r = 0;

	if (got > 0 && fd == plugin->errors_fd)
		keep_said(plugin, buffer, (size_t) got);
	else if (got > 0)
		r = byte_buffer_add(&plugin->text, buffer, (size_t) got, EXEC_PLUGIN_BYTES_MAX);
	if (r < 0)
		give_up(plugin, r);
	explicit_bzero(buffer, sizeof(buffer));
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)) ? (int) got : 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	if (read_fd(userdata, fd) == 0)
		(void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	give_up(userdata, -ETIMEDOUT);
	return 0;
}

/* ---- its credential ---- */

static int take_pem(const struct cJSON *status, const char *field, char **ret,
		    struct failure *reterr)
{
	const char *text = json_text(status, field);

	if (*text == '\0')
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : failed(reterr, -ENOMEM, "%s", field);
}

static int take_status(const struct cJSON *status, struct exec_credential *ret,
		       struct failure *reterr)
{
	const char *expires = json_text(status, "expirationTimestamp");
	struct client_credentials *credentials = &ret->credentials;
	int r = take_pem(status, "token", &credentials->token, reterr);

	if (r == 0 && credentials->token)
		r = client_credentials_check_token(credentials->token, reterr);
	if (r == 0)
		r = take_pem(status, "clientCertificateData", &credentials->certificate, reterr);
	if (r == 0)
		r = take_pem(status, "clientKeyData", &credentials->key, reterr);
	if (r < 0)
		return r;
	if (!credentials->certificate != !credentials->key)
		return failed_plain(
			reterr, -EPROTO,
			"clientCertificateData and clientKeyData must be given together");
	if (!credentials->certificate && !credentials->token)
		return failed_plain(reterr, -EPROTO,
				    "status has neither token nor clientCertificateData");
	ret->expires_usec = timestamp_parse(expires);
	if (*expires && ret->expires_usec == 0)
		return failed_plain(reterr, -EPROTO, "expirationTimestamp: '%s' is not a time",
				    expires);
	return 0;
}

static int read_credential(const struct exec_plugin *plugin, struct exec_credential *ret,
			   struct failure *reterr)
{
	const struct json_limits limits = { .bytes = EXEC_PLUGIN_BYTES_MAX, .depth = 64 };
	const char *wanted = plugin->kubeconfig->exec.api_version;
	cleanup_json_secret struct cJSON *tree = NULL;
	int r = json_parse(plugin->text.bytes ? plugin->text.bytes : "", plugin->text.length,
			   &limits, &tree, reterr);

	if (r < 0)
		return r;
	if (!json_text_is(tree, "kind", "ExecCredential") ||
	    !json_text_is(tree, "apiVersion", wanted))
		return failed_plain(reterr, -EPROTO, "its output is not an ExecCredential of %s",
				    wanted);
	return take_status(json_get(tree, "status"), ret, reterr);
}

static int check_result(struct exec_plugin *plugin, int status, struct exec_credential *ret,
			struct failure *reterr)
{
	int r;

	if (plugin->error == -ETIMEDOUT)
		return failed_plain(reterr, -ETIMEDOUT, "it did not end within %d s",
				    EXEC_PLUGIN_SECONDS_MAX);
	if (plugin->error == -E2BIG)
		return failed_plain(reterr, -E2BIG, "its output is longer than %d bytes",
				    EXEC_PLUGIN_BYTES_MAX);
	if (plugin->error < 0)
		return failed(reterr, plugin->error, "its output cannot be read");
	if (WIFSIGNALED(status))
		return failed_plain(reterr, -EPROTO, "signal %d ended it", WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return failed_plain(reterr, -EPROTO, "exit status %d%s%s", WEXITSTATUS(status),
				    plugin->said_length > 0 ? ": " : "", plugin->said);
	r = read_credential(plugin, ret, reterr);
	if (r < 0)
		client_credentials_done(&ret->credentials);
	return r;
}

static struct exec_plugin *plugin_free(struct exec_plugin *plugin)
{
	(void) sd_event_source_disable_unref(plugin->ended);
	(void) sd_event_source_disable_unref(plugin->output);
	(void) sd_event_source_disable_unref(plugin->errors);
	(void) sd_event_source_disable_unref(plugin->timer);
	(void) close_keep_errno(plugin->pid_fd);
	(void) close_keep_errno(plugin->output_fd);
	(void) close_keep_errno(plugin->errors_fd);
	if (plugin->text.bytes)
		explicit_bzero(plugin->text.bytes, plugin->text.length);
	free(plugin->text.bytes);
	free(plugin);
	return NULL;
}

static int on_ended(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct exec_plugin *plugin = userdata;
	struct exec_credential credential = { 0 };
	struct failure why = { 0 };
	int status = 0, r;

	while (read_fd(plugin, plugin->output_fd) > 0 && plugin->error == 0)
		;
	while (read_fd(plugin, plugin->errors_fd) > 0)
		;
	kill_group(plugin);
	if (waitpid(plugin->pid, &status, WNOHANG) <= 0)
		return 0; /* not yet */
	plugin->pid = 0;
	r = check_result(plugin, status, &credential, &why);
	if (r < 0)
		(void) failure_prefix(&why, "credential plugin '%s'",
				      plugin->kubeconfig->exec.command);
	plugin->done(plugin->userdata, r, r < 0 ? NULL : &credential, &why);
	client_credentials_done(&credential.credentials);
	plugin_free(plugin);
	return 0;
}

/* ---- life ---- */

static int add_sources(struct exec_plugin *plugin, sd_event *event)
{
	int r = sd_event_add_io(event, &plugin->ended, plugin->pid_fd, EPOLLIN, on_ended, plugin);

	if (r >= 0)
		r = sd_event_add_io(event, &plugin->output, plugin->output_fd, EPOLLIN, on_readable,
				    plugin);
	if (r >= 0)
		r = sd_event_add_io(event, &plugin->errors, plugin->errors_fd, EPOLLIN, on_readable,
				    plugin);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &plugin->timer, CLOCK_MONOTONIC,
					       EXEC_PLUGIN_SECONDS_MAX * USEC_PER_SEC, USEC_PER_SEC,
					       on_timer, plugin);
	return r;
}

int exec_plugin_run(const struct exec_plugin_order *order, struct exec_plugin **ret,
		    struct failure *reterr)
{
	struct exec_plugin *plugin;
	char path[PATH_MAX];
	int r;

	assert(order && order->kubeconfig->exec.command && order->done && ret);
	r = find_program(&order->kubeconfig->exec, path, reterr);
	if (r < 0)
		return r;
	plugin = calloc(1, sizeof(*plugin));
	if (!plugin)
		return failed(reterr, -ENOMEM, "cannot run a credential plugin");
	*plugin = (struct exec_plugin){ .kubeconfig = order->kubeconfig,
					.pid_fd = -EBADF,
					.output_fd = -EBADF,
					.errors_fd = -EBADF,
					.done = order->done,
					.userdata = order->userdata };
	r = start(plugin, path, order->authority);
	if (r >= 0)
		r = add_sources(plugin, order->event);
	if (r < 0) {
		(void) exec_plugin_cancel(plugin);
		return failed(reterr, r, "credential plugin '%s'", path);
	}
	*ret = plugin;
	return 0;
}

struct exec_plugin *exec_plugin_cancel(struct exec_plugin *plugin)
{
	if (!plugin)
		return NULL;
	kill_group(plugin);
	if (plugin->pid > 0)
		(void) waitpid(plugin->pid, NULL, 0);
	return plugin_free(plugin);
}
