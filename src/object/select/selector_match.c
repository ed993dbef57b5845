/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_match - see selector_match.h
 *
 * Most fields that people ask for are decoded; for the others an object's JSON is read again.
 */
#include "object/select/selector_match.h"

#include "base/cleanup.h"
#include "object/json/arena.h"
#include "object/json/json_tree.h"
#include "object/kinds/pod.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_BYTES_MAX = 63, PREFIX_BYTES_MAX = 253 };

struct field_term {
	const char *path, *value;
	bool equal; /* false: != */
};

struct selector_match {
	struct arena arena;
	struct selector_requirement *requirements;
	size_t requirement_count;
	struct field_term *terms;
	size_t term_count;
};

/* ---- labels ---- */

static int bad(const char *text, const char *what, struct failure *reterr)
{
	return failed_plain(reterr, -EINVAL, "unable to parse requirement: %s in '%.128s'", what,
			    text);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static size_t word_length(const char *at)
{
	return strcspn(at, " \t,!=<>()");
}

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What may be a label's value, or the part of its key behind the slash. */
static bool is_label_text(const char *text, size_t length)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	return length <= LABEL_BYTES_MAX && strspn(text, allowed) >= length &&
	       is_alphanumeric(text[0]) && is_alphanumeric(text[length - 1]);
}

static bool is_prefix(const char *text, size_t length)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

	return length > 0 && length <= PREFIX_BYTES_MAX && strspn(text, allowed) >= length &&
	       is_alphanumeric(text[0]) && is_alphanumeric(text[length - 1]);
}

static bool is_label_key(const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);
	size_t prefix = slash ? (size_t) (slash - text) : 0;

	if (slash && !is_prefix(text, prefix))
		return false;
	length -= slash ? prefix + 1 : 0;
	return length > 0 && is_label_text(slash ? slash + 1 : text, length);
}

static bool is_word(const char *at, const char *word)
{
	return word_length(at) == strlen(word) && strncmp(at, word, strlen(word)) == 0;
}

/* One value, which may be empty, into @values. */
static int read_value(struct selector_match *selector_match, const char **at, const char **values,
		      size_t *count, struct failure *reterr)
{
	const char *start = skip_blanks(*at);
	size_t length = word_length(start);

	if (length > 0 && !is_label_text(start, length))
		return bad(start, "this is not a value of a label", reterr);
	if (*count == SELECTOR_MATCH_VALUES_MAX)
		return bad(start, "there are too many values", reterr);
	values[(*count)++] = arena_string_length(&selector_match->arena, start, length);
	*at = skip_blanks(start + length);
	return 0;
}

/* "(a, b)" */
static int read_values(struct selector_match *selector_match, const char **at, const char **values,
		       size_t *count, struct failure *reterr)
{
	int r;

	*at = skip_blanks(*at);
	if (**at != '(')
		return bad(*at, "expected: '('", reterr);
	do {
		(*at)++;
		r = read_value(selector_match, at, values, count, reterr);
	} while (r == 0 && **at == ',');
	if (r == 0 && **at != ')')
		r = bad(*at, "expected: ',' or ')'", reterr);
	if (r == 0)
		(*at)++;
	return r;
}

/* Gt and Lt compare integers. */
static int check_number(const char *value, struct failure *reterr)
{
	char *end;

	errno = 0;
	(void) strtoll(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0')
		return bad(value, "'>' and '<' want an integer", reterr);
	return 0;
}

/* What stands behind the key; *@at is at it. */
static int read_condition(struct selector_match *selector_match, const char **at,
			  struct selector_requirement *one, const char **values,
			  struct failure *reterr)
{
	static const struct {
		const char *sign;
		enum selector_operator op;
	} signs[] = { { "==", OPERATOR_IN },
		      { "=", OPERATOR_IN },
		      { "!=", OPERATOR_NOT_IN },
		      { ">", OPERATOR_GT },
		      { "<", OPERATOR_LT } };
	int r;

	one->op = OPERATOR_EXISTS;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		size_t length = strlen(signs[i].sign);

		if (strncmp(*at, signs[i].sign, length) != 0)
			continue;
		one->op = signs[i].op;
		*at += length;
		r = read_value(selector_match, at, values, &one->value_count, reterr);
		if (r == 0 && (one->op == OPERATOR_GT || one->op == OPERATOR_LT))
			r = check_number(values[0], reterr);
		return r;
	}
	if (!is_word(*at, "in") && !is_word(*at, "notin"))
		return 0;
	one->op = is_word(*at, "in") ? OPERATOR_IN : OPERATOR_NOT_IN;
	*at += word_length(*at);
	return read_values(selector_match, at, values, &one->value_count, reterr);
}

static int read_requirement(struct selector_match *selector_match, const char **at,
			    struct failure *reterr)
{
	struct selector_requirement *one =
		&selector_match->requirements[selector_match->requirement_count];
	const char *values[SELECTOR_MATCH_VALUES_MAX], **copy;
	bool absent;
	size_t length;
	int r = 0;

	*at = skip_blanks(*at);
	absent = **at == '!';
	if (absent)
		*at = skip_blanks(*at + 1);
	length = word_length(*at);
	if (!is_label_key(*at, length))
		return bad(*at,
			   length == 0 ? "expected: identifier" : "this is not a key of a label",
			   reterr);
	one->key = arena_string_length(&selector_match->arena, *at, length);
	*at = skip_blanks(*at + length);
	if (absent)
		one->op = OPERATOR_DOES_NOT_EXIST;
	else
		r = read_condition(selector_match, at, one, values, reterr);
	if (r < 0)
		return r;
	copy = arena_array(&selector_match->arena, one->value_count, sizeof(*copy));
	if (copy)
		memcpy(copy, values, one->value_count * sizeof(*copy));
	else
		one->value_count = 0;
	one->values = copy;
	selector_match->requirement_count++;
	*at = skip_blanks(*at);
	return 0;
}

/* A comma separates; how many there are bounds the requirements. */
static size_t count_commas(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

static int read_labels(struct selector_match *selector_match, const char *labels,
		       struct failure *reterr)
{
	const char *at = labels;
	int r;

	selector_match->requirements = arena_array(&selector_match->arena, count_commas(labels) + 1,
						   sizeof(*selector_match->requirements));
	if (!selector_match->requirements)
		return -ENOMEM;
	for (;;) {
		r = read_requirement(selector_match, &at, reterr);
		if (r < 0 || *at == '\0')
			return r;
		if (*at != ',')
			return bad(at, "expected: ',' or the end", reterr);
		at++;
	}
}

/* ---- fields ---- */

static const struct known_field {
	enum object_kind kind; /* KIND_COUNT: every kind */
	const char *path;
} known_fields[] = {
	{ KIND_COUNT, "metadata.name" },
	{ KIND_COUNT, "metadata.namespace" },
	{ KIND_POD, "spec.nodeName" },
	{ KIND_POD, "spec.restartPolicy" },
	{ KIND_POD, "spec.schedulerName" },
	{ KIND_POD, "spec.serviceAccountName" },
	{ KIND_POD, "spec.hostNetwork" },
	{ KIND_POD, "status.phase" },
	{ KIND_POD, "status.podIP" },
	{ KIND_POD, "status.nominatedNodeName" },
	{ KIND_NODE, "spec.unschedulable" },
	{ KIND_NAMESPACE, "status.phase" },
	{ KIND_SECRET, "type" },
	{ KIND_EVENT, "involvedObject.kind" },
	{ KIND_EVENT, "involvedObject.namespace" },
	{ KIND_EVENT, "involvedObject.name" },
	{ KIND_EVENT, "involvedObject.uid" },
	{ KIND_EVENT, "involvedObject.apiVersion" },
	{ KIND_EVENT, "involvedObject.resourceVersion" },
	{ KIND_EVENT, "involvedObject.fieldPath" },
	{ KIND_EVENT, "reason" },
	{ KIND_EVENT, "reportingComponent" },
	{ KIND_EVENT, "source" },
	{ KIND_EVENT, "type" },
};

static const char *known_path(const struct kind_row *row, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_fields); i++)
		if ((known_fields[i].kind == KIND_COUNT || known_fields[i].kind == row->kind) &&
		    strcmp(known_fields[i].path, path) == 0)
			return known_fields[i].path;
	return NULL;
}

/* Up to one of @ends that no backslash stands before; the backslashes go. */
static int read_field_word(const char **at, const char *ends,
			   char text[SELECTOR_MATCH_WORD_BYTES_MAX], struct failure *reterr)
{
	size_t length = 0;

	for (; **at && !strchr(ends, **at); (*at)++) {
		if (**at == '\\' && (*at)[1])
			(*at)++;
		if (length + 1 == SELECTOR_MATCH_WORD_BYTES_MAX)
			return failed_plain(reterr, -EINVAL, "a field selector is too long");
		text[length++] = **at;
	}
	text[length] = '\0';
	return 0;
}

static int read_term(const struct kind_row *row, struct selector_match *selector_match,
		     const char **at, struct failure *reterr)
{
	struct field_term *term = &selector_match->terms[selector_match->term_count];
	char path[SELECTOR_MATCH_WORD_BYTES_MAX], value[SELECTOR_MATCH_WORD_BYTES_MAX];
	const char *start = *at;
	int r = read_field_word(at, "=!,", path, reterr);

	if (r < 0)
		return r;
	if (strncmp(*at, "!=", 2) != 0 && **at != '=')
		return failed_plain(reterr, -EINVAL,
				    "invalid field selector: '%.128s'; can't understand '%.64s'",
				    start, path);
	term->equal = **at == '=';
	*at += **at == '!' || (*at)[1] == '=' ? 2 : 1;
	r = read_field_word(at, ",", value, reterr);
	if (r < 0)
		return r;
	term->path = known_path(row, path);
	if (!term->path)
		return failed_plain(reterr, -EINVAL, "field label not supported: %.128s", path);
	term->value = arena_string(&selector_match->arena, value);
	selector_match->term_count++;
	return 0;
}

static int read_fields(const struct kind_row *row, struct selector_match *selector_match,
		       const char *fields, struct failure *reterr)
{
	const char *at = fields;
	int r;

	selector_match->terms = arena_array(&selector_match->arena, count_commas(fields) + 1,
					    sizeof(*selector_match->terms));
	if (!selector_match->terms)
		return -ENOMEM;
	for (;;) {
		r = read_term(row, selector_match, &at, reterr);
		if (r < 0 || *at == '\0')
			return r;
		at++;
	}
}

/* ---- matching ---- */

/* Of a member at @path; false as Kubernetes prints it: a flag that is absent is false. */
static const char *text_at(const struct cJSON *tree, const char *path)
{
	char key[64];

	while (*path) {
		size_t length = strcspn(path, ".");

		(void) snprintf(key, sizeof(key), "%.*s", (int) length, path);
		tree = json_get(tree, key);
		path += length + (path[length] == '.');
	}
	if (json_is_bool(tree))
		return json_bool(tree, false) ? "true" : "false";
	return json_is_number(tree) ? tree->valuestring : json_string(tree, "");
}

/* NULL: its JSON must be read. */
static const char *decoded_text(const struct object *object, const char *path)
{
	if (strcmp(path, "metadata.name") == 0)
		return object->meta.name;
	if (strcmp(path, "metadata.namespace") == 0)
		return object->meta.name_space;
	if (object->kind == KIND_POD && strcmp(path, "spec.nodeName") == 0)
		return object->pod->node_name;
	if (object->kind == KIND_POD && strcmp(path, "status.phase") == 0)
		return object->pod->phase;
	return NULL;
}

static bool is_flag(const char *path)
{
	return strcmp(path, "spec.hostNetwork") == 0 || strcmp(path, "spec.unschedulable") == 0;
}

static bool term_holds(const struct field_term *term, const struct object *object,
		       const char *phase, struct cJSON **tree)
{
	const char *path = strcmp(term->path, "source") == 0 ? "source.component" : term->path;
	const char *text = decoded_text(object, path);

	if (phase && strcmp(path, "status.phase") == 0)
		text = phase;
	if (!text && !*tree)
		*tree = object_tree(object);
	if (!text && !*tree)
		return false;
	if (!text)
		text = text_at(*tree, path);
	if (*text == '\0' && is_flag(path))
		text = "false";
	return (strcmp(text, term->value) == 0) == term->equal;
}

bool selector_match_has_field(const struct selector_match *selector_match, const char *path)
{
	for (size_t i = 0; selector_match && i < selector_match->term_count; i++)
		if (strcmp(selector_match->terms[i].path, path) == 0)
			return true;
	return false;
}

static struct label_selector labels_of(const struct selector_match *selector_match)
{
	return (struct label_selector){ selector_match->requirements,
					selector_match->requirement_count };
}

uint64_t selector_match_bits(const struct selector_match *selector_match)
{
	const struct label_selector labels =
		selector_match ? labels_of(selector_match) : (struct label_selector){ 0 };

	return label_selector_bits(&labels);
}

bool selector_match_matches(const struct selector_match *selector_match,
			    const struct object *object)
{
	return selector_match_shown(selector_match, object, NULL);
}

bool selector_match_shown(const struct selector_match *selector_match, const struct object *object,
			  const char *phase)
{
	cleanup_json struct cJSON *tree = NULL;
	struct label_selector labels;

	assert(object);
	if (!selector_match)
		return true;
	labels = labels_of(selector_match);
	if (!label_selector_matches(&labels, &object->meta.labels))
		return false;
	for (size_t i = 0; i < selector_match->term_count; i++)
		if (!term_holds(&selector_match->terms[i], object, phase, &tree))
			return false;
	return true;
}

/* ---- both ---- */

struct selector_match *selector_match_free(struct selector_match *selector_match)
{
	if (!selector_match)
		return NULL;
	arena_done(&selector_match->arena);
	free(selector_match);
	return NULL;
}

int selector_match_parse(const struct kind_row *row, const char *labels, const char *fields,
			 struct selector_match **ret, struct failure *reterr)
{
	struct selector_match *selector_match;
	int r = 0;

	assert(row && ret);
	*ret = NULL;
	if ((!labels || !*labels) && (!fields || !*fields))
		return 0;
	selector_match = calloc(1, sizeof(*selector_match));
	if (!selector_match)
		return failed(reterr, -ENOMEM, "cannot read the selectors");
	arena_init(&selector_match->arena);
	if (labels && *skip_blanks(labels))
		r = read_labels(selector_match, labels, reterr);
	if (r == 0 && fields && *fields)
		r = read_fields(row, selector_match, fields, reterr);
	if (r == -ENOMEM || (r == 0 && arena_exhausted(&selector_match->arena)))
		r = failed(reterr, -ENOMEM, "cannot read the selectors");
	if (r < 0) {
		(void) selector_match_free(selector_match);
		return r;
	}
	*ret = selector_match;
	return 0;
}
