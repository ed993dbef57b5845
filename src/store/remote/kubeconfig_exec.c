/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_exec - the credential plugin of a kubeconfig's user: what is to be run, checked
 *
 * Refuses versions that client-go 1.24 no longer has, a plugin that wants a terminal, and
 * arguments and variables that are no texts. Runs nothing; see exec_plugin.h.
 */
#include "store/remote/kubeconfig.h"

#include "base/secret_file.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_version(const struct kubeconfig_exec *exec, const char *mode,
			 struct failure *reterr)
{
	static const char v1[] = "client.authentication.k8s.io/v1";
	static const char v1beta1[] = "client.authentication.k8s.io/v1beta1";

	if (!exec->api_version ||
	    (strcmp(exec->api_version, v1) != 0 && strcmp(exec->api_version, v1beta1) != 0))
		return failed_plain(reterr, -EINVAL, "apiVersion: '%s' is neither %s nor %s",
				    exec->api_version ? exec->api_version : "", v1, v1beta1);
	if (*mode == '\0' && strcmp(exec->api_version, v1) == 0)
		return failed_plain(reterr, -EINVAL, "interactiveMode: %s needs one", v1);
	if (strcmp(mode, "Always") == 0)
		return failed_plain(reterr, -EINVAL,
				    "interactiveMode: Always, and podvold has no terminal");
	if (*mode && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		return failed_plain(reterr, -EINVAL,
				    "interactiveMode: '%s' is not Never, IfAvailable or Always",
				    mode);
	return 0;
}

/* A bare name is looked for later, in fixed directories; with a slash it begins at @directory. */
static int take_command(const struct cJSON *tree, const char *directory,
			struct kubeconfig_exec *ret, struct failure *reterr)
{
	const char *command = json_text(tree, "command");

	if (*command == '\0')
		return failed_plain(reterr, -EINVAL, "command: not set");
	if (strchr(command, '/'))
		return kubeconfig_take_path(tree, "command", directory, &ret->command, reterr);
	return kubeconfig_take_text(tree, "command", &ret->command, reterr);
}

/* An array of as many texts and a NULL behind them. */
static int new_texts(const struct cJSON *list, const char *field, char ***ret,
		     struct failure *reterr)
{
	if (json_count(list) > KUBECONFIG_EXEC_TEXTS_MAX)
		return failed_plain(reterr, -EINVAL, "%s: more than %d", field,
				    KUBECONFIG_EXEC_TEXTS_MAX);
	*ret = calloc(json_count(list) + 1, sizeof(**ret));
	return *ret ? 0 : failed(reterr, -ENOMEM, "%s", field);
}

static int take_arguments(const struct cJSON *tree, struct kubeconfig_exec *ret,
			  struct failure *reterr)
{
	const struct cJSON *list = json_get(tree, "args"), *item;
	int r = new_texts(list, "args", &ret->arguments, reterr);
	size_t n = 0;

	for (item = json_first(list); r == 0 && item; item = json_next(item)) {
		if (!json_is_string(item))
			return failed_plain(reterr, -EINVAL, "args: not strings");
		ret->arguments[n] = strdup(json_string(item, ""));
		if (!ret->arguments[n++])
			r = failed(reterr, -ENOMEM, "args");
	}
	return r;
}

static int take_environment(const struct cJSON *tree, struct kubeconfig_exec *ret,
			    struct failure *reterr)
{
	const struct cJSON *list = json_get(tree, "env"), *item;
	int r = new_texts(list, "env", &ret->environment, reterr);
	size_t n = 0;

	for (item = json_first(list); r == 0 && item; item = json_next(item)) {
		const char *name = json_text(item, "name");

		if (*name == '\0' || strchr(name, '='))
			return failed_plain(reterr, -EINVAL,
					    "env: '%s' is not the name of a variable", name);
		if (asprintf(&ret->environment[n], "%s=%s", name, json_text(item, "value")) < 0) {
			ret->environment[n] = NULL;
			r = failed(reterr, -ENOMEM, "env");
		}
		n++;
	}
	return r;
}

int kubeconfig_exec_take(const struct cJSON *tree, const char *directory,
			 struct kubeconfig_exec *ret, struct failure *reterr)
{
	const char *mode = json_text(tree, "interactiveMode");
	int r = kubeconfig_take_text(tree, "apiVersion", &ret->api_version, reterr);

	if (r == 0)
		r = check_version(ret, mode, reterr);
	if (r == 0)
		r = take_command(tree, directory, ret, reterr);
	if (r == 0)
		r = take_arguments(tree, ret, reterr);
	if (r == 0)
		r = take_environment(tree, ret, reterr);
	if (r == 0)
		r = kubeconfig_take_text(tree, "installHint", &ret->install_hint, reterr);
	ret->provides_cluster = json_bool(json_get(tree, "provideClusterInfo"), false);
	if (r < 0)
		(void) failure_prefix(reterr, "exec");
	return r;
}

int kubeconfig_exec_take_cluster(const struct cJSON *cluster, struct kubeconfig_exec *ret,
				 struct failure *reterr)
{
	JSON_FOREACH (item, json_get(cluster, "extensions")) {
		if (!json_text_is(item, "name", "client.authentication.k8s.io/exec"))
			continue;
		ret->cluster_config = json_print(json_get(item, "extension"));
		return ret->cluster_config ? 0 : failed(reterr, -ENOMEM, "extensions");
	}
	return 0;
}

static void texts_done(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		texts[i] = secret_text_free(texts[i]);
	free(texts);
}

void kubeconfig_exec_done(struct kubeconfig_exec *exec)
{
	free(exec->api_version);
	free(exec->command);
	free(exec->install_hint);
	free(exec->cluster_config);
	texts_done(exec->arguments);
	texts_done(exec->environment);
	*exec = (struct kubeconfig_exec){ 0 };
}
