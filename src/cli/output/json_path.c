/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_path - see get.h: read and evaluated in one pass, the body of a range once per match
 */
#include "cli/get.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 256, RANGE_DEPTH_MAX = 8 };

struct matches {
	const struct cJSON **items;
	size_t count, allocated;
};

struct reader {
	FILE *out; /* NULL: nothing is printed */
	const char *at;
	const struct cJSON *root;
	struct failure *reterr;
	unsigned int depth; /* of ranges */
};

static void matches_done(struct matches *matches)
{
	free(matches->items);
}

static int add_match(struct matches *matches, const struct cJSON *item)
{
	if (!item)
		return 0;
	if (ARRAY_ROOM(matches->items, matches->count, matches->allocated, 16) < 0)
		return -ENOMEM;
	matches->items[matches->count++] = item;
	return 0;
}

/* ---- steps of a path ---- */

/* One step from every match: a key, an index, or NULL and any element. */
struct path_step {
	char key[KEY_BYTES];
	long index;
	enum { STEP_KEY, STEP_INDEX, STEP_ALL } kind;
};

static int take_step(const struct path_step *step, const struct cJSON *from, struct matches *ret)
{
	const struct cJSON *item;
	int64_t index = step->index;
	int r = 0;

	switch (step->kind) {
	case STEP_KEY:
		return json_is_object(from) ? add_match(ret, json_get(from, step->key)) : 0;
	case STEP_INDEX:
		if (index < 0)
			index += (int64_t) json_count(from);
		return json_is_array(from) && index >= 0
			       ? add_match(ret, json_at(from, (size_t) index))
			       : 0;
	case STEP_ALL:
		for (item = json_first(from); item && r == 0; item = json_next(item))
			r = add_match(ret, item);
		return r;
	}
	return 0;
}

static int refuse(struct reader *reader, const char *what)
{
	return failed_plain(reader->reterr, -EOPNOTSUPP,
			    "jsonpath: %s is not served: kubectl has it, over the address of "
			    "--listen",
			    what);
}

static int mistake(struct reader *reader, const char *what)
{
	return failed_plain(reader->reterr, -EINVAL, "jsonpath: %s at '%.20s'", what, reader->at);
}

/* ".key", also with "\." in it. */
static int read_key(struct reader *reader, struct path_step *ret)
{
	size_t length = 0;

	ret->kind = STEP_KEY;
	if (*reader->at == '.')
		return refuse(reader, "'..'");
	if (*reader->at == '*') {
		ret->kind = STEP_ALL;
		reader->at++;
		return 0;
	}
	while (*reader->at && !strchr(".[]{} ,|", *reader->at) && length + 1 < KEY_BYTES) {
		if (*reader->at == '\\' && reader->at[1])
			reader->at++;
		ret->key[length++] = *reader->at++;
	}
	ret->key[length] = '\0';
	return length > 0 ? 0 : mistake(reader, "a name is missing");
}

/* "[0]", "[-1]", "[*]", "['a.b']"; behind the bracket. */
static int read_subscript(struct reader *reader, struct path_step *ret)
{
	char quote = *reader->at;
	char *end;

	if (quote == '?')
		return refuse(reader, "a filter '[?()]'");
	if (quote == '*') {
		ret->kind = STEP_ALL;
		reader->at++;
	} else if (quote == '\'' || quote == '"') {
		const char *close = strchr(reader->at + 1, quote);

		if (!close || close - reader->at > KEY_BYTES)
			return mistake(reader, "the quote does not end");
		ret->kind = STEP_KEY;
		(void) snprintf(ret->key, KEY_BYTES, "%.*s", (int) (close - reader->at - 1),
				reader->at + 1);
		reader->at = close + 1;
	} else {
		ret->kind = STEP_INDEX;
		ret->index = strtol(reader->at, &end, 10);
		if (end == reader->at)
			return mistake(reader, "an index is missing");
		reader->at = end;
	}
	if (*reader->at == ':' || *reader->at == ',')
		return refuse(reader, "a slice or union '[a:b]'");
	if (*reader->at != ']')
		return mistake(reader, "']' is missing");
	reader->at++;
	return 0;
}

/* ".a.b[0]" from @from. Ends at what is no part of a path. */
static int read_path(struct reader *reader, const struct cJSON *from, struct matches *ret)
{
	int r = 0;

	if (*reader->at == '$' || *reader->at == '@') {
		if (*reader->at == '$')
			from = reader->root;
		reader->at++;
	}
	r = add_match(ret, from);
	while (r == 0 && (*reader->at == '.' || *reader->at == '[')) {
		struct matches next = { 0 };
		struct path_step step = { 0 };
		bool is_key = *reader->at++ == '.';

		/* "{.}" is the thing itself. */
		if (is_key && (*reader->at == '}' || *reader->at == '\0'))
			break;
		r = is_key ? read_key(reader, &step) : read_subscript(reader, &step);
		for (size_t i = 0; r == 0 && i < ret->count; i++)
			r = take_step(&step, ret->items[i], &next);
		matches_done(ret);
		*ret = next;
	}
	return r;
}

/* ---- printing ---- */

static void print_value(FILE *out, const struct cJSON *value)
{
	cleanup_free char *text = NULL;

	if (json_is_string(value)) {
		(void) fputs(json_string(value, ""), out);
		return;
	}
	text = json_print(value);
	(void) fputs(text ? text : "", out);
}

static void print_matches(FILE *out, const struct matches *matches)
{
	for (size_t i = 0; out && i < matches->count; i++) {
		if (i > 0)
			(void) fputc(' ', out);
		print_value(out, matches->items[i]);
	}
}

/* {"text\n\t"} */
static int read_quoted(struct reader *reader)
{
	char quote = *reader->at++;

	while (*reader->at && *reader->at != quote) {
		char c = *reader->at++;

		if (c == '\\' && *reader->at) {
			c = *reader->at++;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		if (reader->out)
			(void) fputc(c, reader->out);
	}
	if (*reader->at == '\0')
		return mistake(reader, "the quote does not end");
	reader->at++;
	return 0;
}

/* ---- templates ---- */

static int read_template(struct reader *reader, const struct cJSON *current);

/* Behind "range ": the body is read once per match, and once in silence when there is none. */
static int read_range(struct reader *reader, const struct cJSON *current)
{
	cleanup(matches_done) struct matches matches = { 0 };
	FILE *out = reader->out;
	const char *body;
	int r;

	if (++reader->depth > RANGE_DEPTH_MAX)
		return mistake(reader, "too many ranges in each other");
	reader->at += strspn(reader->at, " ");
	r = read_path(reader, current, &matches);
	if (r < 0)
		return r;
	if (*reader->at != '}')
		return mistake(reader, "'}' is missing");
	body = ++reader->at;
	if (matches.count == 0) {
		reader->out = NULL;
		r = read_template(reader, NULL);
		reader->out = out;
	}
	for (size_t i = 0; r == 0 && i < matches.count; i++) {
		reader->at = body;
		r = read_template(reader, matches.items[i]);
	}
	reader->depth--;
	return r;
}

/* Behind "{"; up to behind "}". Return: 1 it was {end}. */
static int read_braces(struct reader *reader, const struct cJSON *current)
{
	cleanup(matches_done) struct matches matches = { 0 };
	int r;

	reader->at += strspn(reader->at, " ");
	if (strncmp(reader->at, "range ", 6) == 0) {
		reader->at += 6;
		return read_range(reader, current);
	}
	if (strncmp(reader->at, "end}", 4) == 0) {
		if (reader->depth == 0)
			return mistake(reader, "there is no range to end");
		reader->at += 4;
		return 1;
	}
	if (*reader->at == '"' || *reader->at == '\'')
		r = read_quoted(reader);
	else if (strchr(".[$@", *reader->at) && *reader->at)
		r = read_path(reader, current, &matches);
	else
		r = mistake(reader, "no path begins");
	if (r < 0)
		return r;
	print_matches(reader->out, &matches);
	reader->at += strspn(reader->at, " ");
	if (*reader->at != '}')
		return mistake(reader, "'}' is missing");
	reader->at++;
	return 0;
}

/* Up to the end of the text, or behind the {end} of a range. */
static int read_template(struct reader *reader, const struct cJSON *current)
{
	int r = 0;

	while (r == 0 && *reader->at) {
		char c = *reader->at++;

		if (c == '{') {
			r = read_braces(reader, current);
			continue;
		}
		if (reader->out)
			(void) fputc(c, reader->out);
	}
	if (r == 0 && reader->depth > 0)
		return mistake(reader, "{end} is missing");
	return r < 0 ? r : 0;
}

int json_path_print(FILE *out, const char *template, const struct cJSON *root,
		    struct failure *reterr)
{
	cleanup(matches_done) struct matches matches = { 0 };
	struct reader reader = { .out = out, .at = template, .root = root, .reterr = reterr };
	int r;

	assert(template && reterr);
	if (strchr(template, '{'))
		return read_template(&reader, root);
	r = read_path(&reader, root, &matches);
	if (r == 0 && *reader.at)
		r = mistake(&reader, "no path goes on");
	if (r == 0)
		print_matches(out, &matches);
	return r;
}
