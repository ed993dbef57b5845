/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_secret - names of Secrets from templates of a class; see csi_secret.h
 */
#include "controller/csi/csi_secret.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_NAME      CSI_PARAMETER_PREFIX "secret-name"
#define DEFAULT_NAMESPACE CSI_PARAMETER_PREFIX "secret-namespace"

static const struct {
	const char *name, *name_space, *member;
} uses[] = {
#define USE(word, member_)                                                                         \
	{                                                                                          \
		CSI_PARAMETER_PREFIX word "-secret-name",                                          \
			CSI_PARAMETER_PREFIX word "-secret-namespace", member_                     \
	}
	[CSI_SECRET_PROVISIONER] = USE("provisioner", NULL),
	[CSI_SECRET_CONTROLLER_PUBLISH] = USE("controller-publish", "controllerPublishSecretRef"),
	[CSI_SECRET_NODE_STAGE] = USE("node-stage", "nodeStageSecretRef"),
	[CSI_SECRET_NODE_PUBLISH] = USE("node-publish", "nodePublishSecretRef"),
	[CSI_SECRET_CONTROLLER_EXPAND] = USE("controller-expand", "controllerExpandSecretRef"),
	[CSI_SECRET_NODE_EXPAND] = USE("node-expand", "nodeExpandSecretRef"),
};
static_assert(ARRAY_SIZE(uses) == CSI_SECRET_USE_COUNT, "name every use");

bool csi_secret_is_parameter(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (strcmp(key, uses[i].name) == 0 || strcmp(key, uses[i].name_space) == 0)
			return true;
	return strcmp(key, DEFAULT_NAME) == 0 || strcmp(key, DEFAULT_NAMESPACE) == 0;
}

const char *csi_secret_member(enum csi_secret_use use)
{
	return uses[use].member;
}

/* ---- variables ---- */

/* What "pvc.annotations['KEY']" stands for; NULL: nothing. */
static const char *find_annotation(const struct cJSON *claim, const char *name, size_t length)
{
	static const char before[] = "pvc.annotations['", after[] = "']";
	const size_t ends = strlen(before) + strlen(after);
	char key[320];

	if (length <= ends || length - ends >= sizeof(key) ||
	    strncmp(name, before, strlen(before)) != 0 ||
	    strncmp(name + length - strlen(after), after, strlen(after)) != 0)
		return NULL;
	(void) snprintf(key, sizeof(key), "%.*s", (int) (length - ends), name + strlen(before));
	return json_string(json_get(json_get_path(claim, "metadata.annotations"), key), NULL);
}

static bool is_word(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(name, word, length) == 0;
}

static const char *find_variable(const struct csi_secret_query *question, bool is_namespace,
				 const char *name, size_t length)
{
	const struct cJSON *claim = question->claim;

	if (is_word(name, length, "pv.name"))
		return question->volume_name;
	if (is_word(name, length, "pvc.namespace"))
		return json_string(json_get_path(claim, "metadata.namespace"), NULL);
	if (is_namespace)
		return NULL;
	if (is_word(name, length, "pvc.name"))
		return json_string(json_get_path(claim, "metadata.name"), NULL);
	return find_annotation(claim, name, length);
}

/* ---- templates ---- */

struct filling {
	char *text;
	size_t used, size;
};

static bool put(struct filling *filling, const char *text, size_t length)
{
	if (length >= filling->size - filling->used)
		return false;
	memcpy(filling->text + filling->used, text, length);
	filling->used += length;
	filling->text[filling->used] = '\0';
	return true;
}

static int fill(const struct csi_secret_query *question, const char *template, bool is_namespace,
		struct filling *filling, struct failure *reterr)
{
	const char *at = template;

	while (*at) {
		size_t plain = strcspn(at, "$");
		const char *end = at[plain] ? strchr(at + plain, '}') : NULL, *value = NULL;

		if (end && at[plain + 1] == '{')
			value = find_variable(question, is_namespace, at + plain + 2,
					      (size_t) (end - at) - plain - 2);
		if (at[plain] && !value)
			return failed_plain(reterr, -EINVAL,
					    "unknown variable in secret template '%s'", template);
		if (!put(filling, at, plain) || (value && !put(filling, value, strlen(value))))
			return failed_plain(reterr, -EINVAL, "becomes too long: '%.100s'",
					    template);
		at = value ? end + 1 : at + plain;
	}
	return 0;
}

/* A subdomain, or a label where dots are not allowed. */
static bool is_name(const char *text, bool may_have_dots)
{
	const char *allowed = may_have_dots ? "abcdefghijklmnopqrstuvwxyz0123456789-."
					    : "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t length = strlen(text);

	return length > 0 && strspn(text, allowed) == length && !strchr("-.", text[0]) &&
	       !strchr("-.", text[length - 1]) && !strstr(text, "..") && !strstr(text, ".-") &&
	       !strstr(text, "-.");
}

static int resolve(const struct csi_secret_query *question, const char *template, bool is_namespace,
		   struct filling *filling, struct failure *reterr)
{
	int r = fill(question, template, is_namespace, filling, reterr);

	if (r < 0)
		return r;
	if (!is_name(filling->text, !is_namespace))
		return failed_plain(reterr, -EINVAL,
				    "'%s' becomes '%s', which is not a name of a %s", template,
				    filling->text, is_namespace ? "namespace" : "secret");
	return 0;
}

int csi_secret_resolve(const struct csi_secret_query *question, enum csi_secret_use use,
		       struct csi_secret_name *ret, struct failure *reterr)
{
	const struct cJSON *parameters = question->parameters;
	const char *name = json_text(parameters, uses[use].name);
	const char *space = json_text(parameters, uses[use].name_space);
	struct filling name_filling = { ret->name, 0, sizeof(ret->name) };
	struct filling space_filling = { ret->name_space, 0, sizeof(ret->name_space) };
	int r;

	assert(question->volume_name && ret);
	*ret = (struct csi_secret_name){ .name = "" };
	if (!*name && !*space) {
		name = json_text(parameters, DEFAULT_NAME);
		space = json_text(parameters, DEFAULT_NAMESPACE);
	}
	if (!*name && !*space)
		return 0;
	if (!*name || !*space)
		return failed_plain(reterr, -EINVAL, "parameters %s and %s must be given together",
				    uses[use].name, uses[use].name_space);
	r = resolve(question, name, false, &name_filling, reterr);
	return r < 0 ? r : resolve(question, space, true, &space_filling, reterr);
}
