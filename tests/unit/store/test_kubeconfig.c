/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kubeconfig - which server and which credentials a kubeconfig means, and what is refused
 */
#include "store/remote/client_credentials.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct fixture {
	char directory[32];
	int directory_fd;
	struct kubeconfig config;
	struct client_credentials credentials;
	struct failure why;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	(void) snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/podvol-kube-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	fixture->directory_fd = open(fixture->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->directory_fd >= 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	static const char *const names[] = { "config", "ca", "crt", "key", "token", "link" };

	kubeconfig_done(&fixture->config);
	client_credentials_done(&fixture->credentials);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void) unlinkat(fixture->directory_fd, names[i], 0);
	(void) close(fixture->directory_fd);
	(void) rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void write_file(const struct fixture *fixture, const char *name, const char *text,
		       mode_t mode)
{
	cleanup_close int fd =
		openat(fixture->directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_return_code(fchmod(fd, mode), errno);
}

/* One context with these fields of its cluster and of its user, in YAML's flow style. */
static int parse(struct fixture *fixture, const char *cluster, const char *user)
{
	char text[4096];

	(void) snprintf(text, sizeof(text),
			"apiVersion: v1\nkind: Config\ncurrent-context: here\n"
			"contexts:\n- {name: other, context: {cluster: x, user: y}}\n"
			"- {name: here, context: {cluster: c1, user: u1}}\n"
			"clusters: [{name: c1, cluster: {%s}}]\n"
			"users: [{name: u1, user: {%s}}]\n",
			cluster, user);
	kubeconfig_done(&fixture->config);
	return kubeconfig_parse(text, strlen(text), "/etc/kubernetes", &fixture->config,
				&fixture->why);
}

#define SERVER "server: 'https://example.com:6443'"
#define TOKEN  "token: abc"

static void test_files_are_relative_to_the_kubeconfig(void **state)
{
	struct fixture *fixture = *state;
	const struct kubeconfig *config = &fixture->config;

	assert_int_equal(parse(fixture,
			       "server: 'https://[::1]:6443/prefix/', "
			       "certificate-authority: pki/ca.crt, tls-server-name: kubernetes, "
			       "proxy-url: 'http://example.com:3128', disable-compression: true",
			       "client-certificate: /pki/node.crt, client-key: ../node.key, "
			       "token: abc, tokenFile: token"),
			 0);
	assert_string_equal(config->context, "here");
	assert_string_equal(config->server, "https://[::1]:6443/prefix");
	assert_string_equal(config->authority.file, "/etc/kubernetes/pki/ca.crt");
	assert_string_equal(config->tls_server_name, "kubernetes");
	assert_string_equal(config->proxy_url, "http://example.com:3128");
	assert_true(config->disable_compression);
	assert_string_equal(config->certificate.file, "/pki/node.crt");
	assert_string_equal(config->key.file, "/etc/kubernetes/../node.key");
	assert_string_equal(config->token_file, "/etc/kubernetes/token");
}

static void test_data_wins_over_a_file(void **state)
{
	struct fixture *fixture = *state;
	const struct kubeconfig *config = &fixture->config;

	assert_int_equal(parse(fixture,
			       SERVER ", certificate-authority: /ca, "
				      "certificate-authority-data: QVVUSE9SSVRZ",
			       "client-certificate-data: Q0VSVA==, client-key-data: S0VZ"),
			 0);
	assert_string_equal(config->authority.data, "AUTHORITY");
	assert_null(config->authority.file);
	assert_string_equal(config->certificate.data, "CERT");
	assert_string_equal(config->key.data, "KEY");
}

#define EXEC "exec: {apiVersion: client.authentication.k8s.io/v1, "

struct refusal {
	const char *cluster, *user, *text;
};

static const struct refusal refusals[] = {
	{ SERVER ", insecure-skip-tls-verify: true", TOKEN,
	  "cluster 'c1': insecure-skip-tls-verify: a server that is not verified" },
	{ "server: 'http://example.com'", TOKEN, "sends credentials unencrypted" },
	{ "server: 'http://"
	  "localhost.example.com'",
	  TOKEN, "sends credentials unencrypted" },
	{ "server: 'https://'", TOKEN, "is not the https URL of a host" },
	{ "server: 'https://example.com@host'", TOKEN, "is not the https URL of a host" },
	{ "server: 'ftp://host'", TOKEN, "is not the https URL of a host" },
	{ "server: 7", TOKEN, "server: not a string" },
	{ "proxy-url: x", TOKEN, "server: '' is not the https URL of a host" },
	{ SERVER ", certificate-authority-data: '***'", TOKEN,
	  "certificate-authority-data: not base64 of a PEM text" },
	{ SERVER, "exec: {command: aws}", "user 'u1': exec: apiVersion: '' is neither" },
	{ SERVER, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws}",
	  "v1alpha1' is neither" },
	{ SERVER, EXEC "command: aws}", "interactiveMode: client.authentication.k8s.io/v1 needs" },
	{ SERVER, EXEC "command: aws, interactiveMode: Always}", "podvold has no terminal" },
	{ SERVER, EXEC "command: aws, interactiveMode: Often}", "'Often' is not Never," },
	{ SERVER, EXEC "interactiveMode: Never}", "exec: command: not set" },
	{ SERVER, EXEC "interactiveMode: Never, command: aws, args: [1]}", "args: not strings" },
	{ SERVER, EXEC "interactiveMode: Never, command: aws, env: [{name: A=, value: b}]}",
	  "env: 'A=' is not the name of a variable" },
	{ SERVER, "auth-provider: {name: gcp}", "auth-provider: client-go 1.26 removed" },
	{ SERVER, "username: a, password: b", "username: kube-apiserver accepts no passwords" },
	{ SERVER, TOKEN ", as: admin", "as: impersonation is not supported" },
	{ SERVER, TOKEN ", as-groups: [a]", "as-groups: impersonation is not supported" },
	{ SERVER, "client-key: k", "must be given together" },
	{ SERVER, "token: ''", "no client-certificate, token, tokenFile or exec" },
};

static void test_what_is_not_supported_is_refused_by_field(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		assert_int_equal(parse(fixture, refusals[i].cluster, refusals[i].user), -EINVAL);
		if (!strstr(fixture->why.text, refusals[i].text))
			assert_string_equal(fixture->why.text, refusals[i].text);
	}
}

static void test_fields_that_are_off_refuse_nothing(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(parse(fixture,
			       "server: 'http://127.0.0.1:8001', insecure-skip-tls-verify: false, "
			       "certificate-authority-data: ''",
			       TOKEN ", exec: null, username: '', as-groups: []"),
			 0);
	assert_null(fixture->config.authority.data);
	assert_string_equal(fixture->config.token, "abc");
}

static void test_names_must_lead_to_one_entry(void **state)
{
	struct fixture *fixture = *state;
	static const char *const texts[][2] = {
		{ "kind: Config\n", "current-context is not set" },
		{ "current-context: a\n", "contexts has no entry named 'a'" },
		{ "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n",
		  "clusters has no entry named 'b'" },
		{ "current-context: a\ncontexts: [{name: a, context: {}}, {name: a}]\n",
		  "contexts has two entries named 'a'" },
		{ "current-context: a\ncontexts: [{name: a}]\n", "entry 'a' of contexts has no" },
		{ "kind: Pod\n", "not kind Config of v1" },
		{ "- a\n", "not kind Config of v1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		kubeconfig_done(&fixture->config);
		assert_int_equal(kubeconfig_parse(texts[i][0], strlen(texts[i][0]), "/",
						  &fixture->config, &fixture->why),
				 -EINVAL);
		if (!strstr(fixture->why.text, texts[i][1]))
			assert_string_equal(fixture->why.text, texts[i][1]);
	}
}

#define FILES                                                                                      \
	"current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"              \
	"clusters: [{name: a, cluster: {server: 'https://example.com', certificate-authority: "    \
	"ca}}]\n"                                                                                  \
	"users: [{name: a, user: {client-certificate: crt, client-key: key, tokenFile: link, "     \
	"token: old}}]\n"

static int read_config(struct fixture *fixture)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%s/config", fixture->directory);
	kubeconfig_done(&fixture->config);
	return kubeconfig_read(path, &fixture->config, &fixture->why);
}

static int read_credentials(struct fixture *fixture)
{
	client_credentials_done(&fixture->credentials);
	return client_credentials_read(&fixture->config, &fixture->credentials, &fixture->why);
}

static void write_all_files(struct fixture *fixture)
{
	write_file(fixture, "config", FILES, 0600);
	write_file(fixture, "ca", "AUTHORITY\n", 0644);
	write_file(fixture, "crt", "CERT\n", 0644);
	write_file(fixture, "key", "KEY\n", 0600);
	write_file(fixture, "token", "first\n", 0644);
	assert_return_code(symlinkat("token", fixture->directory_fd, "link"), errno);
	assert_int_equal(read_config(fixture), 0);
}

static void test_files_are_read_again(void **state)
{
	struct fixture *fixture = *state;
	struct client_credentials before = { 0 };

	write_all_files(fixture);
	assert_int_equal(read_credentials(fixture), 0);
	assert_string_equal(fixture->credentials.authority, "AUTHORITY\n");
	assert_string_equal(fixture->credentials.certificate, "CERT\n");
	assert_string_equal(fixture->credentials.key, "KEY\n");
	assert_string_equal(fixture->credentials.token, "first");
	assert_int_equal(client_credentials_read(&fixture->config, &before, NULL), 0);
	assert_true(client_credentials_equal(&before, &fixture->credentials));
	write_file(fixture, "token", "other\n", 0644);
	assert_int_equal(read_credentials(fixture), 0);
	assert_string_equal(fixture->credentials.token, "other");
	assert_false(client_credentials_equal(&before, &fixture->credentials));
	client_credentials_done(&before);
}

static void test_files_that_others_could_write_are_refused(void **state)
{
	struct fixture *fixture = *state;

	write_all_files(fixture);
	write_file(fixture, "key", "KEY\n", 0644);
	assert_int_equal(read_credentials(fixture), -EPERM);
	assert_non_null(strstr(fixture->why.text, "key' can be read or written by others"));
	write_file(fixture, "key", "KEY\n", 0640);
	write_file(fixture, "token", "first\n", 0666);
	assert_int_equal(read_credentials(fixture), -EPERM);
	assert_non_null(strstr(fixture->why.text, "link' can be written by others"));
	assert_null(fixture->credentials.key);
	write_file(fixture, "config", FILES, 0644);
	assert_int_equal(read_config(fixture), -EPERM);
	assert_non_null(strstr(fixture->why.text, "can be read or written by others"));
}

static void test_a_token_is_one_word(void **state)
{
	struct fixture *fixture = *state;

	write_all_files(fixture);
	write_file(fixture, "token", "one\r\nX-Remote-User: admin\n", 0600);
	assert_int_equal(read_credentials(fixture), -EINVAL);
	assert_non_null(strstr(fixture->why.text, "has a blank or an unprintable byte"));
	write_file(fixture, "token", "\n\n", 0600);
	assert_int_equal(read_credentials(fixture), -EINVAL);
	assert_non_null(strstr(fixture->why.text, "the token is empty"));
	assert_return_code(unlinkat(fixture->directory_fd, "token", 0), errno);
	assert_int_equal(read_credentials(fixture), -ENOENT);
}

static int in_cluster(struct fixture *fixture, const char *host, const char *port)
{
	(void) (host ? setenv("KUBERNETES_SERVICE_HOST", host, 1)
		     : unsetenv("KUBERNETES_SERVICE_HOST"));
	(void) (port ? setenv("KUBERNETES_SERVICE_PORT", port, 1)
		     : unsetenv("KUBERNETES_SERVICE_PORT"));
	kubeconfig_done(&fixture->config);
	fixture->why = (struct failure){ 0 };
	return kubeconfig_in_cluster(fixture->directory, &fixture->config, &fixture->why);
}

static void test_files_of_a_container_of_the_cluster(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, "token", "first\n", 0644);
	assert_int_equal(in_cluster(fixture, "::1", "443"), 0);
	assert_string_equal(fixture->config.server, "https://[::1]:443");
	assert_int_equal(in_cluster(fixture, "127.0.0.1", "6443"), 0);
	assert_string_equal(fixture->config.server, "https://127.0.0.1:6443");
	assert_int_equal(
		client_credentials_read(&fixture->config, &fixture->credentials, &fixture->why),
		-ENOENT); /* without ca.crt it is not the system's authorities */
	assert_non_null(strstr(fixture->why.text, "/ca.crt'"));
	write_file(fixture, "ca", "pem", 0644);
	assert_int_equal(renameat(fixture->directory_fd, "ca", fixture->directory_fd, "ca.crt"), 0);
	assert_int_equal(
		client_credentials_read(&fixture->config, &fixture->credentials, &fixture->why), 0);
	assert_string_equal(fixture->credentials.token, "first");
	assert_string_equal(fixture->credentials.authority, "pem");
	assert_int_equal(unlinkat(fixture->directory_fd, "ca.crt", 0), 0);
}

static void test_outside_of_a_cluster(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(in_cluster(fixture, NULL, "443"), -EINVAL);
	assert_non_null(strstr(fixture->why.text, "not a container of a cluster"));
	assert_int_equal(in_cluster(fixture, "127.0.0.1", ""), -EINVAL);
	assert_int_equal(in_cluster(fixture, "127.0.0.1", "tcp://127.0.0.1:443"), -EINVAL);
	assert_non_null(strstr(fixture->why.text, "is not a port"));
	assert_int_equal(in_cluster(fixture, "a/b", "443"), -EINVAL);
	assert_non_null(strstr(fixture->why.text, "is not a host"));
}

static void test_a_credential_plugin(void **state)
{
	struct fixture *fixture = *state;
	const struct kubeconfig_exec *exec = &fixture->config.exec;

	assert_int_equal(
		parse(fixture,
		      SERVER ", extensions: [{name: client.authentication.k8s.io/exec, extension: "
			     "{audience: x}}]",
		      "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "
		      "bin/plugin, "
		      "args: [a, b], env: [{name: A, value: b}], installHint: hint, "
		      "provideClusterInfo: true}"),
		0);
	assert_string_equal(exec->command, "/etc/kubernetes/bin/plugin");
	assert_string_equal(exec->arguments[1], "b");
	assert_null(exec->arguments[2]);
	assert_string_equal(exec->environment[0], "A=b");
	assert_null(exec->environment[1]);
	assert_string_equal(exec->install_hint, "hint");
	assert_true(exec->provides_cluster);
	assert_string_equal(exec->cluster_config, "{\"audience\":\"x\"}");
	assert_int_equal(parse(fixture, SERVER, EXEC "command: aws, interactiveMode: Never}"), 0);
	assert_string_equal(exec->command, "aws");
	assert_false(exec->provides_cluster);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files_are_relative_to_the_kubeconfig, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_data_wins_over_a_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_not_supported_is_refused_by_field,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fields_that_are_off_refuse_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_names_must_lead_to_one_entry, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_files_are_read_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_that_others_could_write_are_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_token_is_one_word, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_of_a_container_of_the_cluster, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_outside_of_a_cluster, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_credential_plugin, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
