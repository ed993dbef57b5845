/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_filter - see view_table.h
 *
 * Labels are refused: no row of a view has any.
 */
#include "api/view_table.h"

#include "base/cleanup.h"
#include "base/failure.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { MEMBER_TEXT_BYTES = 1024 /* that are compared; no member by which rows differ is longer */ };

static bool has_member(const struct view_columns *columns, const char *key)
{
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->columns[i].key, key) == 0)
			return true;
	return false;
}

static int check_member(const struct view_columns *columns, const char *parameter, const char *key,
			struct failure *reterr)
{
	char known[1024] = "";
	size_t used = 0;

	if (*key && has_member(columns, key))
		return 0;
	for (size_t i = 0; i < columns->count && used < sizeof(known); i++)
		if (*columns->columns[i].key && columns->columns[i].priority != VIEW_DETAIL)
			used += (size_t) snprintf(known + used, sizeof(known) - used, "%s%s",
						  used > 0 ? ", " : "", columns->columns[i].key);
	return failed_plain(reterr, -EINVAL,
			    "%s: '%s' is not a member of this view; it has %s and more", parameter,
			    key, known);
}

static const char *member_text(const struct cJSON *item, const char *key,
			       char buffer[MEMBER_TEXT_BYTES])
{
	const struct cJSON *member = json_get(item, key);
	int64_t number;

	if (json_is_bool(member))
		return json_bool(member, false) ? "true" : "false";
	if (!json_int64(member, &number))
		return json_string(member, "");
	(void) snprintf(buffer, MEMBER_TEXT_BYTES, "%" PRId64, number);
	return buffer;
}

/* ---- which rows ---- */

typedef bool keep_fn(const struct cJSON *item, const void *what);

static int keep_items(struct cJSON **tree, keep_fn *keep, const void *what)
{
	struct cJSON *kept = json_new_array();

	JSON_FOREACH (item, json_get(*tree, "items"))
		if (keep(item, what))
			(void) json_set(kept, NULL, json_copy(item));
	return kept ? json_set(*tree, "items", kept) : -ENOMEM;
}

/* Rows are of a pod, "namespace/name", or name a namespace themselves. */
static bool is_in_namespace(const struct cJSON *item, const void *what)
{
	const char *name_space = what, *pod = json_text(item, "pod");
	size_t length = strlen(name_space);

	return json_text_is(item, "namespace", name_space) ||
	       (strncmp(pod, name_space, length) == 0 && pod[length] == '/');
}

struct field_term {
	const char *key, *value;
	bool differs; /* != */
};

static bool fits_term(const struct cJSON *item, const void *what)
{
	const struct field_term *term = what;
	char buffer[MEMBER_TEXT_BYTES];

	return (strcmp(member_text(item, term->key, buffer), term->value) != 0) == term->differs;
}

/* "state!=mounted", "pod=default/web", "pod==default/web"; taken apart in place. */
static int parse_term(char *text, struct field_term *ret, struct failure *reterr)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return failed_plain(reterr, -EINVAL,
				    "fieldSelector: '%s' is not MEMBER=VALUE or MEMBER!=VALUE",
				    text);
	*ret = (struct field_term){ .key = text, .value = equals + 1 + (equals[1] == '=') };
	ret->differs = equals[-1] == '!';
	equals[ret->differs ? -1 : 0] = '\0';
	return 0;
}

static int select_fields(const char *selector, const struct view_columns *columns,
			 struct cJSON **tree, struct failure *reterr)
{
	cleanup_free char *copy = strdup(selector);
	char *rest = copy, *text;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (text = strsep(&rest, ","))) {
		struct field_term term;

		r = parse_term(text, &term, reterr);
		if (r == 0)
			r = check_member(columns, "fieldSelector", term.key, reterr);
		if (r == 0)
			r = keep_items(tree, fits_term, &term);
	}
	return r;
}

/* ---- in which order ---- */

struct placed {
	const struct cJSON *item, *member;
	size_t place; /* before: equal ones stay in order */
};

static int compare(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	int64_t x = INT64_MIN, y = INT64_MIN;
	bool numbers[2] = { json_int64(a->member, &x), json_int64(b->member, &y) };
	int order;

	if (numbers[0] || numbers[1])
		order = (x > y) - (x < y);
	else
		order = strverscmp(json_string(a->member, ""), json_string(b->member, ""));
	if (order != 0)
		return order;
	return a->place < b->place ? -1 : 1;
}

static int sort_items(const char *key, struct cJSON **tree)
{
	const struct cJSON *items = json_get(*tree, "items"), *item;
	size_t count = json_count(items), done = 0;
	cleanup_free struct placed *all = calloc(count + 1, sizeof(*all));
	struct cJSON *sorted;

	if (!all)
		return -ENOMEM;
	for (item = json_first(items); item; item = json_next(item), done++)
		all[done] = (struct placed){ item, json_get(item, key), done };
	qsort(all, count, sizeof(*all), compare);
	sorted = json_new_array();
	for (size_t i = 0; i < count; i++)
		(void) json_set(sorted, NULL, json_copy(all[i].item));
	return sorted ? json_set(*tree, "items", sorted) : -ENOMEM;
}

int view_filter(const struct api_path *path, const struct view_columns *columns,
		struct cJSON **tree, struct failure *reterr)
{
	const char *name_space = api_path_parameter(path, "namespace");
	const char *fields = api_path_parameter(path, "fieldSelector");
	const char *key = api_path_parameter(path, "sortBy");
	const struct field_term of_pod = { "pod", api_path_parameter(path, "pod"), false };
	int r = 0;

	assert(columns && tree && *tree && reterr);
	if (api_path_parameter(path, "labelSelector"))
		return failed_plain(reterr, -EINVAL, "labelSelector: rows of views have no labels");
	if (name_space && !has_member(columns, "pod") && !has_member(columns, "namespace"))
		return failed_plain(reterr, -EINVAL,
				    "namespace: rows of this view are in no namespace");
	if (key)
		r = check_member(columns, "sortBy", key, reterr);
	if (r == 0 && of_pod.value && has_member(columns, "pod"))
		r = keep_items(tree, fits_term, &of_pod);
	if (r == 0 && name_space)
		r = keep_items(tree, is_in_namespace, name_space);
	if (r == 0 && fields)
		r = select_fields(fields, columns, tree, reterr);
	if (r == 0 && key)
		r = sort_items(key, tree);
	return r;
}
