/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment - the variables of a container; see environment.h
 *
 * All of them are made, in order, because each may name those before it; a table by name keeps what
 * wins. What could not be found out is kept with its reason. A ConfigMap or Secret is read once,
 * however many variables name it, and a budget bounds what is read in all: the caller may be a loop
 * that others wait for.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "object/kinds/environment.h"

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/text.h"
#include "object/json/base64.h"
#include "object/json/json.h"
#include "object/json/text_buffer.h"
#include "object/kinds/pod_field.h"

#include <assert.h>
#include <string.h>

/* In all; Linux itself takes no more for a new program (a quarter of its stack, at most 6 MiB). */
enum { ENVIRONMENT_BYTES_MAX = 6 * 1024 * 1024 };

struct variable {
	char *value; /* NULL: it could not be found out */
	char *why;   /* then the reason */
	UT_hash_handle hh;
	char name[];
};

/* A ConfigMap or Secret that was read. */
struct source {
	struct cJSON *tree;
	size_t length;
	UT_hash_handle hh;
	char key[]; /* kind/name */
};

struct environment {
	const struct environment_sources *sources;
	const char *name_space;
	const struct cJSON *pod, *container;
	struct variable *variables;
	struct source *opened;
	size_t bytes;
	char *lost; /* a whole source of envFrom is missing: the reason; NULL: none is */
};

static void environment_done(struct environment *environment)
{
	struct variable *variable, *next;
	struct source *source, *next_source;

	HASH_ITER (hh, environment->opened, source, next_source) {
		HASH_DEL(environment->opened, source);
		json_free(source->tree);
		free(source);
	}
	HASH_ITER (hh, environment->variables, variable, next) {
		HASH_DEL(environment->variables, variable);
		free(variable->value);
		free(variable->why);
		free(variable);
	}
	free(environment->lost);
}

/* Of all variables, or of one text: a few references may name what is long. */
static int count_bytes(size_t *bytes, const char *value, struct failure *reterr)
{
	*bytes += strlen(value);
	if (*bytes <= ENVIRONMENT_BYTES_MAX)
		return 0;
	return failed_plain(reterr, -E2BIG,
			    "the variables of the container take more than %d bytes",
			    ENVIRONMENT_BYTES_MAX);
}

/* ---- the table ---- */

static struct variable *find(const struct environment *environment, const char *name, size_t length)
{
	struct variable *variable;

	HASH_FIND(hh, environment->variables, name, length, variable);
	return variable;
}

static struct variable *find_or_make(struct environment *environment, const char *name)
{
	size_t length = strlen(name);
	struct variable *variable = find(environment, name, length);

	if (variable)
		return variable;
	variable = calloc(1, sizeof(*variable) + length + 1);
	if (!variable)
		return NULL;
	memcpy(variable->name, name, length);
	HASH_ADD_KEYPTR(hh, environment->variables, variable->name, length, variable);
	if (!variable->hh.tbl) {
		free(variable);
		return NULL;
	}
	return variable;
}

/* Takes @value, also on failure; NULL with a reason in @why. */
static int set(struct environment *environment, const char *name, char *value,
	       const struct failure *why, struct failure *reterr)
{
	cleanup_free char *owned = value;
	struct variable *variable = find_or_make(environment, name);

	if (!variable)
		return failed(reterr, -ENOMEM, "cannot keep variable '%s'", name);
	free(variable->value);
	free(variable->why);
	variable->why = NULL;
	variable->value = TAKE_PTR(owned);
	environment->bytes += strlen(name);
	if (variable->value)
		return count_bytes(&environment->bytes, variable->value, reterr);
	variable->why = strdup(why->text);
	return variable->why ? 0 : failed(reterr, -ENOMEM, "cannot keep variable '%s'", name);
}

/* ---- ConfigMaps and Secrets ---- */

static const char *kind_word(enum object_kind kind)
{
	return kind == KIND_SECRET ? "secret" : "configmap";
}

static int spend(const struct environment_sources *sources, size_t bytes, struct failure *reterr)
{
	size_t *budget = sources->budget;

	if (!budget)
		return 0;
	if (bytes > *budget) {
		*budget = 0; /* what comes after need not try */
		return failed_plain(reterr, -E2BIG,
				    "too much is to be read for the variables of this pod's "
				    "containers: fewer subPathExpr, or smaller ConfigMaps and "
				    "Secrets");
	}
	*budget -= bytes;
	return 0;
}

/* Takes @tree, also on failure. */
static int keep_source(struct environment *environment, const char *key, struct cJSON *tree,
		       size_t length, struct source **ret)
{
	struct source *source = calloc(1, sizeof(*source) + strlen(key) + 1);

	if (source) {
		memcpy(source->key, key, strlen(key));
		source->tree = tree;
		source->length = length;
		HASH_ADD_STR(environment->opened, key, source);
	}
	if (!source || !source->hh.tbl) {
		json_free(tree);
		free(source);
		return -ENOMEM;
	}
	*ret = source;
	return 0;
}

static int tree_of(const struct object *object, struct cJSON **ret, struct failure *reterr)
{
	*ret = object_tree(object);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot read an object");
}

static int read_source(struct environment *environment, enum object_kind kind, const char *name,
		       const char *key, struct source **ret, struct failure *reterr)
{
	const struct environment_sources *sources = environment->sources;
	const struct object *object =
		sources->find(sources->userdata, kind, environment->name_space, name);
	struct cJSON *tree;
	int r;

	if (!object)
		return 0;
	r = spend(sources, object->json_length, reterr);
	if (r == 0)
		r = tree_of(object, &tree, reterr);
	return r < 0 ? r : keep_source(environment, key, tree, object->json_length, ret);
}

/* Return: 0 with *ret NULL when there is none; -ENOMEM, -EINVAL, -E2BIG. @ret is borrowed. */
static int open_source(struct environment *environment, enum object_kind kind, const char *name,
		       const struct cJSON **ret, struct failure *reterr)
{
	/* To look a key up costs, too: a part of what reading costs. */
	enum { LOOK_UP_PART = 16 };
	cleanup_free char *key = NULL;
	struct source *source = NULL;
	int r = 0;

	*ret = NULL;
	key = new_text("%s/%s", kind_word(kind), name);
	if (!key)
		return failed(reterr, -ENOMEM, "cannot keep a variable");
	HASH_FIND_STR(environment->opened, key, source);
	if (source)
		r = spend(environment->sources, source->length / LOOK_UP_PART, reterr);
	else
		r = read_source(environment, kind, name, key, &source, reterr);
	if (r == 0 && source)
		*ret = source->tree;
	return r;
}

/* A Secret's data is base64; what is no text cannot be a variable. */
static int decode_value(enum object_kind kind, const char *text, char **ret, struct failure *reterr)
{
	int r = 0;

	if (kind == KIND_SECRET)
		r = base64_decode_text(text, ret);
	else
		*ret = strdup(text);
	if (r >= 0 && !*ret)
		r = -ENOMEM;
	return r < 0 ? failed(reterr, r, "cannot use it as a variable") : 0;
}

/* Kubernetes 1.30 and later: printable ASCII but '='. */
static bool is_variable_name(const char *name)
{
	if (*name == '\0')
		return false;
	for (; *name; name++)
		if (*name < 0x20 || *name > 0x7e || *name == '=')
			return false;
	return true;
}

static int add_data(struct environment *environment, enum object_kind kind, const char *prefix,
		    const struct cJSON *data, struct failure *reterr)
{
	int r = 0;

	for (const struct cJSON *item = json_first(data); item && r >= 0; item = json_next(item)) {
		cleanup_free char *name = NULL;
		struct failure why = { .error = 0 };
		char *value = NULL;

		name = new_text("%s%s", prefix, json_key(item));
		if (!name)
			return failed(reterr, -ENOMEM, "cannot keep a variable");
		if (!is_variable_name(name))
			continue; /* kubelet passes it over, too */
		(void) decode_value(kind, json_string(item, ""), &value, &why);
		r = set(environment, name, value, &why, reterr);
	}
	return r;
}

static int note_lost(struct environment *environment, const char *text, struct failure *reterr)
{
	if (environment->lost)
		return 0;
	environment->lost = strdup(text);
	return environment->lost ? 0 : failed(reterr, -ENOMEM, "cannot keep a reason");
}

/* {"prefix", "configMapRef": {"name", "optional"}} or the same with secretRef. */
static int add_env_from(struct environment *environment, const struct cJSON *from,
			struct failure *reterr)
{
	const struct cJSON *reference = json_get(from, "configMapRef");
	enum object_kind kind = reference ? KIND_CONFIG_MAP : KIND_SECRET;
	const struct cJSON *source = NULL;
	struct failure why = { .error = 0 };
	const char *name;

	if (!reference)
		reference = json_get(from, "secretRef");
	if (!reference)
		return 0;
	name = json_text(reference, "name");
	if (open_source(environment, kind, name, &source, &why) < 0)
		return note_lost(environment, why.text, reterr);
	if (source)
		return add_data(environment, kind, json_text(from, "prefix"),
				json_get(source, "data"), reterr);
	if (json_bool(json_get(reference, "optional"), false))
		return 0;
	(void) failed_plain(&why, -EINVAL, "%s \"%s\" not found", kind_word(kind), name);
	return note_lost(environment, why.text, reterr);
}

/* Return: 1 found, 0 not there and that is fine; negative errno. */
static int read_key(struct environment *environment, enum object_kind kind,
		    const struct cJSON *reference, char **ret, struct failure *reterr)
{
	const char *name = json_text(reference, "name");
	const char *key = json_text(reference, "key");
	bool is_optional = json_bool(json_get(reference, "optional"), false);
	const struct cJSON *source = NULL;
	const struct cJSON *value;
	int r = open_source(environment, kind, name, &source, reterr);

	if (r < 0)
		return r;
	value = json_get(json_get(source, "data"), key);
	if (value) {
		r = decode_value(kind, json_string(value, ""), ret, reterr);
		return r < 0 ? r : 1;
	}
	if (is_optional)
		return 0;
	if (!source)
		return failed_plain(reterr, -EINVAL, "%s \"%s\" not found", kind_word(kind), name);
	return failed_plain(reterr, -EINVAL, "couldn't find key %s in %s %s/%s", key,
			    kind == KIND_SECRET ? "Secret" : "ConfigMap", environment->name_space,
			    name);
}

/* ---- values ---- */

/* Return: as read_key(). */
static int read_value_from(struct environment *environment, const struct cJSON *from, char **ret,
			   struct failure *reterr)
{
	const struct cJSON *reference;
	int r;

	if ((reference = json_get(from, "configMapKeyRef")))
		return read_key(environment, KIND_CONFIG_MAP, reference, ret, reterr);
	if ((reference = json_get(from, "secretKeyRef")))
		return read_key(environment, KIND_SECRET, reference, ret, reterr);
	if ((reference = json_get(from, "fieldRef")))
		r = pod_field_value(environment->pod, json_text(reference, "fieldPath"), ret,
				    reterr);
	else if ((reference = json_get(from, "resourceFieldRef")))
		r = pod_resource_value(environment->pod, environment->container, reference, NULL,
				       ret, reterr);
	else
		r = failed_plain(reterr, -EINVAL, "its source is unknown");
	return r < 0 ? r : 1;
}

struct use {
	const struct environment *environment;
	size_t bytes;
	struct text_buffer text; /* what map_value() gives when a reference stays as it is */
	struct failure why;      /* a variable that is named could not be found out */
};

/* In a value, a reference to nothing stays as it is. */
static const char *map_value(void *userdata, const char *name, size_t length)
{
	struct use *use = userdata;
	const struct variable *variable = find(use->environment, name, length);

	if (variable && variable->value)
		return count_bytes(&use->bytes, variable->value, &use->why) < 0 ? ""
										: variable->value;
	if (variable && use->why.error == 0)
		(void) failed_plain(&use->why, -EINVAL, "%s", variable->why);
	use->text.used = 0;
	text_buffer_put(&use->text, "$(", 2);
	if (length > 0)
		text_buffer_put(&use->text, name, length);
	text_buffer_put(&use->text, ")", 2);
	return use->text.failed ? "" : use->text.bytes;
}

/* Return: as read_key(). */
static int make_value(struct environment *environment, const struct cJSON *variable, char **ret,
		      struct failure *reterr)
{
	const char *text = json_text(variable, "value");
	const struct cJSON *from = json_get(variable, "valueFrom");
	struct use use = { .environment = environment };
	bool no_memory;

	if (*text == '\0' && from)
		return read_value_from(environment, from, ret, reterr);
	*ret = expansion_expand(text, map_value, &use);
	no_memory = !*ret || use.text.failed;
	free(use.text.bytes);
	if (!no_memory && use.why.error == 0)
		return 1;
	free(TAKE_PTR(*ret));
	return no_memory ? failed(reterr, -ENOMEM, "cannot keep a variable")
			 : failed_plain(reterr, use.why.error, "%s", use.why.text);
}

static int add_env(struct environment *environment, const struct cJSON *variable,
		   struct failure *reterr)
{
	const char *name = json_text(variable, "name");
	struct failure why = { .error = 0 };
	char *value = NULL;
	int r = make_value(environment, variable, &value, &why);

	if (r == 0)
		return 0; /* optional, and not there */
	if (r == -ENOMEM || r == -E2BIG) {
		if (reterr)
			*reterr = why;
		return r;
	}
	return set(environment, name, value, &why, reterr);
}

static int make_variables(struct environment *environment, struct failure *reterr)
{
	const struct cJSON *item;
	int r = 0;

	for (item = json_first(json_get(environment->container, "envFrom")); item && r >= 0;
	     item = json_next(item))
		r = add_env_from(environment, item, reterr);
	for (item = json_first(json_get(environment->container, "env")); item && r >= 0;
	     item = json_next(item))
		r = add_env(environment, item, reterr);
	return r;
}

/* ---- the text ---- */

struct expression {
	const struct environment *environment;
	size_t bytes;
	struct text_buffer missing; /* "A, B" */
	unsigned int missing_count;
	struct failure why;
};

/* Unlike in a value, what has none is an error, and so is what is empty. */
static const char *map_expression(void *userdata, const char *name, size_t length)
{
	struct expression *expression = userdata;
	const struct variable *variable = find(expression->environment, name, length);

	if (variable && variable->value && *variable->value)
		return count_bytes(&expression->bytes, variable->value, &expression->why) < 0
			       ? ""
			       : variable->value;
	if (variable && !variable->value && expression->why.error == 0)
		(void) failed_plain(&expression->why, -EINVAL, "variable '%s': %s", variable->name,
				    variable->why);
	if (expression->missing_count++ > 0)
		text_buffer_put(&expression->missing, ", ", 2);
	if (length > 0)
		text_buffer_put(&expression->missing, name, length);
	return "";
}

static int expand_text(const struct environment *environment, const char *text, char **ret,
		       struct failure *reterr)
{
	struct expression expression = { .environment = environment };
	cleanup_free char *expanded = expansion_expand(text, map_expression, &expression);
	cleanup_free char *missing = text_buffer_take(&expression.missing);

	if (!expanded || !missing)
		return failed(reterr, -ENOMEM, "cannot expand a subPathExpr");
	if (expression.why.error < 0)
		return failed_plain(reterr, expression.why.error, "%s", expression.why.text);
	if (expression.missing_count > 0 && environment->lost)
		return failed_plain(reterr, -EINVAL, "missing value for %s: %s", missing,
				    environment->lost);
	if (expression.missing_count > 0)
		return failed_plain(reterr, -EINVAL, "missing value for %s", missing);
	*ret = TAKE_PTR(expanded);
	return 0;
}

int environment_expand(const char *text, const struct object *pod, const char *container,
		       const struct environment_sources *sources, char **ret,
		       struct failure *reterr)
{
	cleanup(environment_done) struct environment environment = { .sources = sources };
	cleanup_json struct cJSON *tree = NULL;
	int r;

	assert(text && pod && pod->kind == KIND_POD && container && sources && ret);
	r = spend(sources, pod->json_length, reterr);
	if (r == 0)
		r = tree_of(pod, &tree, reterr);
	if (r < 0)
		return r;
	environment.name_space = pod->meta.name_space;
	environment.pod = tree;
	environment.container = pod_find_container(tree, container);
	r = make_variables(&environment, reterr);
	return r < 0 ? r : expand_text(&environment, text, ret, reterr);
}
