/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_paths - does a pod make names of directories from a Secret? See authorize.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "api/auth/authorize.h"

#include "base/cleanup.h"
#include "base/hash_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct variable {
	const char *name; /* the tree's */
	bool is_secret;
	UT_hash_handle hh;
};

struct variables {
	struct variable *by_name;
	bool others_are_secret; /* those of envFrom may come from a Secret */
};

static void variables_done(struct variables *variables)
{
	struct variable *variable, *next;

	HASH_ITER (hh, variables->by_name, variable, next) {
		HASH_DEL(variables->by_name, variable);
		free(variable);
	}
}

static bool is_secret(const struct variables *variables, const char *name, size_t length)
{
	struct variable *variable;

	HASH_FIND(hh, variables->by_name, name, length, variable);
	return variable ? variable->is_secret : variables->others_are_secret;
}

/* The first "$(NAME)" in a text that is a Secret's; NULL: none. An escaped one counts, too. */
static const char *find_secret(const struct variables *variables, const char *text,
			       size_t *ret_length)
{
	while ((text = strstr(text, "$("))) {
		text += 2;
		*ret_length = strcspn(text, ")");
		if (text[*ret_length] == ')' && is_secret(variables, text, *ret_length))
			return text;
	}
	return NULL;
}

/* A ConfigMap that may be missing leaves what envFrom said. */
static bool comes_from_secret(const struct variables *variables, const struct cJSON *entry,
			      const char *name)
{
	const struct cJSON *from = json_get(entry, "valueFrom");
	size_t length;

	return json_get(from, "secretKeyRef") ||
	       (json_get(from, "configMapKeyRef") && is_secret(variables, name, strlen(name))) ||
	       find_secret(variables, json_text(entry, "value"), &length);
}

static int define(struct variables *variables, const struct cJSON *entry)
{
	const char *name = json_text(entry, "name");
	bool secret = comes_from_secret(variables, entry, name);
	struct variable *variable;

	HASH_FIND_STR(variables->by_name, name, variable);
	if (!variable) {
		variable = calloc(1, sizeof(*variable));
		if (!variable)
			return -ENOMEM;
		variable->name = name;
		HASH_ADD_KEYPTR(hh, variables->by_name, name, strlen(name), variable);
		if (!variable->hh.tbl) {
			free(variable);
			return -ENOMEM;
		}
	}
	variable->is_secret = secret;
	return 0;
}

static int define_all(struct variables *variables, const struct cJSON *container)
{
	const struct cJSON *at;
	int r = 0;

	for (at = json_first(json_get(container, "envFrom")); at; at = json_next(at))
		variables->others_are_secret |= json_get(at, "secretRef") != NULL;
	for (at = json_first(json_get(container, "env")); at && r == 0; at = json_next(at))
		r = define(variables, at);
	return r;
}

static int check_container(const struct cJSON *container, const char *list, size_t index,
			   struct failure *reterr)
{
	cleanup(variables_done) struct variables variables = { .by_name = NULL };
	const struct cJSON *at = json_first(json_get(container, "volumeMounts"));
	int r = define_all(&variables, container);

	for (size_t i = 0; at && r == 0; at = json_next(at), i++) {
		size_t length = 0;
		const char *name = find_secret(&variables, json_text(at, "subPathExpr"), &length);

		if (name)
			return failed_plain(
				reterr, -EACCES,
				"spec.%s[%zu].volumeMounts[%zu].subPathExpr: Forbidden: "
				"variable '%.*s' may come from a Secret, which this "
				"role may not read",
				list, index, i, length > 64 ? 64 : (int) length, name);
	}
	return r < 0 ? failed(reterr, r, "cannot inspect the variables of a container") : 0;
}

int secret_paths_check(const struct cJSON *spec, struct failure *reterr)
{
	static const char *const lists[] = { "initContainers", "containers",
					     "ephemeralContainers" };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct cJSON *at = json_first(json_get(spec, lists[i]));

		for (size_t index = 0; at && r == 0; at = json_next(at), index++)
			r = check_container(at, lists[i], index, reterr);
	}
	return r;
}
