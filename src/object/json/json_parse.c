/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_parse - JSON text into a tree of cJSON items, strictly
 *
 * cJSON's own parser turns 64-bit integers into doubles, cuts strings at \u0000 and takes bad
 * UTF-8; so this one builds cJSON's items itself. Refused beyond the grammar: NUL in any form, bad
 * UTF-8, half surrogate pairs, duplicate keys, too deep or too many values. One pass, linear;
 * recursion ends at the limit of depth.
 */
#include "object/json/json_tree.h"

#include "base/cleanup.h"
#include "object/json/json_run.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

struct parser {
	const unsigned char *text;
	size_t length, at;
	unsigned int line;
	size_t line_start; /* offset of the line's first byte */
	size_t depth, depth_max;
	size_t nodes, nodes_max;
	struct failure *reterr;
	const struct json_limits *noting; /* NULL: members are not noted */
	bool is_own;                      /* no key comes twice */
	int broken_rule;                  /* first rule broken that leaves the syntax readable */
};

static int syntax_error(struct parser *parser, const char *what)
{
	return failed_plain(parser->reterr, -EINVAL, "line %u, column %zu: %s", parser->line,
			    parser->at - parser->line_start + 1, what);
}

/* The first one counts; parsing goes on so that what follows in a stream can be read. */
static void rule_broken(struct parser *parser, unsigned int line, const char *what)
{
	if (parser->broken_rule != 0)
		return;
	parser->broken_rule = failed_plain(parser->reterr, -EINVAL, "line %u: %s", line, what);
}

static int no_memory(struct parser *parser)
{
	return failed(parser->reterr, -ENOMEM, "cannot read JSON");
}

static int peek(const struct parser *parser)
{
	return parser->at < parser->length ? parser->text[parser->at] : -1;
}

/* Every line of the text ends in here: strings cannot hold a raw one. */
static void skip_blanks_here(struct parser *parser)
{
	for (; parser->at < parser->length; parser->at++) {
		unsigned char byte = parser->text[parser->at];

		if (byte == '\n') {
			parser->line++;
			parser->line_start = parser->at + 1;
		} else if (byte != ' ' && byte != '\t' && byte != '\r') {
			return;
		}
	}
}

/* Printed text has none. */
static inline void skip_blanks(struct parser *parser)
{
	if (parser->at < parser->length && parser->text[parser->at] <= ' ')
		skip_blanks_here(parser);
}

/* Overlong forms, surrogates and what is beyond Unicode count as bad, as in Go. */
size_t utf8_sequence(const unsigned char *text, size_t length)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int code;
	size_t size;

	assert(length > 0);
	if (text[0] < 0x80)
		return 1;
	size = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4 || size > length)
		return 0;
	code = text[0] & (0x7fU >> size);
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return size;
}

/* @to has room for four bytes; @code is a scalar value, checked by the caller. */
static size_t utf8_write(unsigned int code, char *to)
{
	if (code < 0x80) {
		to[0] = (char) code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char) (0xc0 | code >> 6);
		to[1] = (char) (0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char) (0xe0 | code >> 12);
		to[1] = (char) (0x80 | (code >> 6 & 0x3f));
		to[2] = (char) (0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char) (0xf0 | code >> 18);
	to[1] = (char) (0x80 | (code >> 12 & 0x3f));
	to[2] = (char) (0x80 | (code >> 6 & 0x3f));
	to[3] = (char) (0x80 | (code & 0x3f));
	return 4;
}

static int hex_digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return -1;
}

/* Four hexadecimal digits at the present place; -1 when they are none. */
static int four_digits(struct parser *parser)
{
	int code = 0;

	for (int i = 0; i < 4; i++, parser->at++) {
		int digit = hex_digit(peek(parser));

		if (digit < 0)
			return -1;
		code = code << 4 | digit;
	}
	return code;
}

/* Behind "\u". Returns the bytes written to @to or a negative errno. */
static int unicode_escape(struct parser *parser, char *to)
{
	int code = four_digits(parser), low;

	if (code < 0)
		return syntax_error(parser, "\\u wants four hexadecimal digits");
	if (code == 0)
		return syntax_error(parser, "\\u0000 is not allowed in a string");
	if (code >= 0xd800 && code <= 0xdbff) {
		if (parser->length - parser->at < 2 || parser->text[parser->at] != '\\' ||
		    parser->text[parser->at + 1] != 'u')
			return syntax_error(parser, "half of a surrogate pair in a string");
		parser->at += 2;
		low = four_digits(parser);
		if (low < 0xdc00 || low > 0xdfff)
			return syntax_error(parser, "half of a surrogate pair in a string");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code <= 0xdfff) {
		return syntax_error(parser, "half of a surrogate pair in a string");
	}
	return (int) utf8_write((unsigned int) code, to);
}

/* At a backslash. Returns the bytes written to @to or a negative errno. */
static int escape(struct parser *parser, char *to)
{
	static const char values[UCHAR_MAX + 1] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
	};
	int byte;

	parser->at++;
	byte = peek(parser);
	if (byte == 'u') {
		parser->at++;
		return unicode_escape(parser, to);
	}
	if (byte < 0 || values[byte] == '\0')
		return syntax_error(parser, "unknown escape in a string");
	parser->at++;
	*to = values[byte];
	return 1;
}

/* At a byte that is not ASCII. Returns the bytes written to @to or a negative errno. */
static int sequence(struct parser *parser, char *to)
{
	size_t size = utf8_sequence(parser->text + parser->at, parser->length - parser->at);

	if (size == 0)
		return syntax_error(parser, "bad UTF-8 in a string");
	memcpy(to, parser->text + parser->at, size);
	parser->at += size;
	return (int) size;
}

/* Bytes from here that stand for themselves. */
static size_t plain_run(const struct parser *parser)
{
	return json_plain_run((const char *) parser->text + parser->at, parser->length - parser->at,
			      true);
}

/* How far the string from here reaches, as an upper bound of its decoded size. */
static size_t string_extent(const struct parser *parser)
{
	size_t at = parser->at;

	while (at < parser->length && parser->text[at] != '"')
		at += parser->text[at] == '\\' ? 2 : 1;
	return (at > parser->length ? parser->length : at) - parser->at;
}

/* Behind the opening quote, up to and with the closing one. */
static int string_body(struct parser *parser, char *to)
{
	for (;;) {
		int byte = peek(parser), written;

		if (byte != '\\') {
			size_t run = plain_run(parser);

			memcpy(to, parser->text + parser->at, run);
			parser->at += run;
			to += run;
			byte = peek(parser);
		}
		if (byte == '"') {
			parser->at++;
			*to = '\0';
			return 0;
		}
		if (byte < 0x20)
			return syntax_error(parser, byte < 0 ? "a string does not end"
							     : "a control character in a string");
		written = byte == '\\' ? escape(parser, to) : sequence(parser, to);
		if (written < 0)
			return written;
		to += written;
	}
}

/* Most strings are plain: they stand in the text as they are. */
static bool take_plain_string(struct parser *parser, struct json_bytes *ret)
{
	const char *text = (const char *) parser->text + parser->at + 1;
	size_t left = parser->length - parser->at, run;

	if (peek(parser) != '"')
		return false;
	run = json_plain_run(text, left - 1, true);
	if (run + 1 >= left || text[run] != '"')
		return false;
	*ret = (struct json_bytes){ text, run };
	parser->at += run + 2;
	return true;
}

/* One that is not plain. */
static int parse_string(struct parser *parser, char **ret)
{
	char *text;
	int r;

	assert(peek(parser) == '"');
	parser->at++;
	text = cJSON_malloc(string_extent(parser) + 1);
	if (!text)
		return no_memory(parser);
	r = string_body(parser, text);
	if (r < 0) {
		cJSON_free(text);
		return r;
	}
	*ret = text;
	return 0;
}

static size_t digits(struct parser *parser)
{
	size_t count = 0;

	for (; peek(parser) >= '0' && peek(parser) <= '9'; parser->at++)
		count++;
	return count;
}

/* Kept as text: the reader of a number says which kind. */
static int parse_number(struct parser *parser, struct cJSON *item)
{
	size_t start = parser->at;

	if (peek(parser) == '-')
		parser->at++;
	if (peek(parser) == '0')
		parser->at++;
	else if (digits(parser) == 0)
		return syntax_error(parser, "a value is expected");
	if (peek(parser) == '.') {
		parser->at++;
		if (digits(parser) == 0)
			return syntax_error(parser, "a digit is expected");
	}
	if (peek(parser) == 'e' || peek(parser) == 'E') {
		parser->at++;
		if (peek(parser) == '+' || peek(parser) == '-')
			parser->at++;
		if (digits(parser) == 0)
			return syntax_error(parser, "a digit is expected");
	}
	json_set_type(item, cJSON_Raw);
	item->valuestring = json_copy_text((const char *) parser->text + start, parser->at - start);
	return item->valuestring ? 0 : no_memory(parser);
}

/* What is no word must be a number; that is where the error is reported. */
static int parse_word(struct parser *parser, struct cJSON *item)
{
	static const struct {
		const char *word;
		int type;
	} words[] = { { "null", cJSON_NULL }, { "true", cJSON_True }, { "false", cJSON_False } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t size = strlen(words[i].word);

		if (parser->length - parser->at >= size &&
		    memcmp(parser->text + parser->at, words[i].word, size) == 0) {
			parser->at += size;
			json_set_type(item, words[i].type);
			return 0;
		}
	}
	return parse_number(parser, item);
}

static int parse_value(struct parser *parser, struct cJSON *parent, struct json_bytes key);

/* ',' goes on (1), @end is over (0). */
static int after_element(struct parser *parser, int end)
{
	skip_blanks(parser);
	if (peek(parser) == ',') {
		parser->at++;
		return 1;
	}
	if (peek(parser) != end)
		return syntax_error(parser, end == '}' ? "',' or '}' is expected"
						       : "',' or ']' is expected");
	parser->at++;
	return 0;
}

static int parse_array(struct parser *parser, struct cJSON *array)
{
	int more = 1;

	skip_blanks(parser);
	if (peek(parser) == ']') {
		parser->at++;
		return 0;
	}
	while (more > 0) {
		int r = parse_value(parser, array, NO_BYTES);

		if (r < 0)
			return r;
		more = after_element(parser, ']');
	}
	return more;
}

/* The member is the last one of the object then, and has the key with its end. */
static int parse_noted(struct parser *parser, struct cJSON *object, struct json_bytes key)
{
	const struct json_limits *noting = parser->noting;
	size_t start;
	int r;

	skip_blanks(parser);
	start = parser->at;
	r = parse_value(parser, object, key);
	if (r == 0)
		noting->note(json_key(object->child->prev), start, parser->at - start,
			     noting->userdata);
	return r;
}

/* Behind a key. */
static int parse_member_value(struct parser *parser, struct cJSON *object, struct json_bytes key)
{
	skip_blanks(parser);
	if (peek(parser) != ':')
		return syntax_error(parser, "':' is expected");
	parser->at++;
	if (parser->noting && parser->depth == 1)
		return parse_noted(parser, object, key);
	return parse_value(parser, object, key);
}

static int parse_member(struct parser *parser, struct cJSON *object)
{
	struct json_bytes key;
	char *decoded;
	int r;

	skip_blanks(parser);
	if (peek(parser) != '"')
		return syntax_error(parser, "a key in quotes is expected");
	if (take_plain_string(parser, &key))
		return parse_member_value(parser, object, key);
	r = parse_string(parser, &decoded);
	if (r < 0)
		return r;
	r = parse_member_value(parser, object, (struct json_bytes){ decoded, strlen(decoded) });
	cJSON_free(decoded);
	return r;
}

/* When the object is whole, in one pass: cheaper than a look at each member. */
static int refuse_duplicates(struct parser *parser, const struct cJSON *object)
{
	const struct cJSON *duplicate;
	int r = 0;

	if (parser->is_own)
		return 0;
	duplicate = json_find_duplicate(object, &r);
	if (r < 0)
		return no_memory(parser);
	if (duplicate)
		rule_broken(parser, json_line(duplicate), "duplicate key");
	return 0;
}

static int parse_object(struct parser *parser, struct cJSON *object)
{
	int more = 1;

	skip_blanks(parser);
	if (peek(parser) == '}') {
		parser->at++;
		return 0;
	}
	while (more > 0) {
		int r = parse_member(parser, object);

		if (r < 0)
			return r;
		more = after_element(parser, '}');
	}
	return more < 0 ? more : refuse_duplicates(parser, object);
}

/* The one place that recurses, so the one that counts the depth. */
static int parse_container(struct parser *parser, struct cJSON *item)
{
	bool is_object = peek(parser) == '{';
	int r;

	if (++parser->depth > parser->depth_max)
		return syntax_error(parser, "values are nested too deeply");
	parser->at++;
	json_set_type(item, is_object ? cJSON_Object : cJSON_Array);
	r = is_object ? parse_object(parser, item) : parse_array(parser, item);
	parser->depth--;
	return r;
}

static int refuse_more(const struct parser *parser)
{
	return failed_plain(parser->reterr, -E2BIG,
			    "line %u, column %zu: there are more than %zu values", parser->line,
			    parser->at - parser->line_start + 1, parser->nodes_max);
}

/* The item is in its parent before it is filled, so that a tree broken off can be asked for its
 * kind and name. */
static int parse_value(struct parser *parser, struct cJSON *parent, struct json_bytes key)
{
	unsigned int line;
	struct json_bytes text = NO_BYTES;
	struct cJSON *item;
	bool is_whole;

	skip_blanks(parser);
	line = parser->line;
	if (++parser->nodes > parser->nodes_max)
		return refuse_more(parser);
	is_whole = take_plain_string(parser, &text);
	item = json_new_member(key, is_whole ? cJSON_String : cJSON_NULL, text, line);
	if (!item)
		return no_memory(parser);
	json_append(parent, item);
	if (is_whole)
		return 0;
	switch (peek(parser)) {
	case '{':
	case '[':
		return parse_container(parser, item);
	case '"':
		json_set_type(item, cJSON_String);
		return parse_string(parser, &item->valuestring);
	default:
		return parse_word(parser, item);
	}
}

int json_parse_piece(const char *text, size_t length, const struct json_limits *limits,
		     unsigned int first_line, struct json_piece *ret, struct failure *reterr)
{
	struct parser parser = {
		.text = (const unsigned char *) text,
		.length = length,
		.line = first_line,
		.depth_max = limits->depth,
		.noting = limits->note ? limits : NULL,
		.is_own = limits->is_own,
		.nodes_max = limits->nodes ? limits->nodes : JSON_NODES_MAX,
		.reterr = reterr,
	};
	cleanup_json struct cJSON *holder = json_new_item(cJSON_Array, first_line);
	int r;

	assert(text || length == 0);
	*ret = (struct json_piece){ .line = first_line };
	if (!holder)
		return no_memory(&parser);
	r = parse_value(&parser, holder, NO_BYTES);
	ret->tree = cJSON_DetachItemViaPointer(holder, holder->child);
	ret->used = parser.at;
	ret->nodes = parser.nodes;
	ret->line = parser.line;
	ret->complete = r == 0;
	return r < 0 ? r : parser.broken_rule;
}

int json_parse(const char *text, size_t length, const struct json_limits *limits,
	       struct cJSON **ret, struct failure *reterr)
{
	struct json_piece piece;
	struct parser rest;
	int r;

	assert(limits);
	if (length > limits->bytes)
		return failed_plain(reterr, -E2BIG,
				    "%zu bytes of JSON are more than the %zu allowed", length,
				    limits->bytes);
	r = json_parse_piece(text, length, limits, 1, &piece, reterr);
	if (r == 0) {
		rest = (struct parser){ .text = (const unsigned char *) text,
					.length = length,
					.at = piece.used,
					.line = piece.line,
					.reterr = reterr };
		skip_blanks(&rest);
		if (rest.at < length)
			r = failed_plain(reterr, -EINVAL,
					 "line %u: something follows the end of the JSON value",
					 rest.line);
	}
	if (r < 0) {
		json_free(piece.tree);
		return r;
	}
	*ret = piece.tree;
	return 0;
}
