/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml - libyaml's events into trees; see yaml.h
 *
 * A rule that a document breaks is kept in its failure, and its remaining events are only counted
 * until it ends, so that the documents behind it are still found. No recursion: the open containers
 * are a stack as deep as the limit.
 */
#include "object/json/yaml.h"

#include "base/cleanup.h"
#include "object/json/json_tree.h"
#include "object/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DIRECTIVES_MAX = 16 };

struct open_container {
	struct cJSON *container;
	char *key; /* of an object: read, its value is to come */
};

struct yaml_reader {
	yaml_parser_t parser;
	unsigned int excess_directive; /* line of the one too many; 0: there is none */
	unsigned int line_offset;      /* added to libyaml's, which count from 0 */
	bool too_large;                /* a limit was passed: reading on would only cost */
	size_t nodes, nodes_max;       /* of all documents */
	size_t open, depth_max;        /* containers open now, and how many may be */
	struct open_container stack[];
};

/*
 * libyaml compares each %TAG with all before it, so their number is limited before it sees them.
 * Line breaks are several in YAML: what follows a byte that could end one counts. Returns the line
 * of the one too many, or 0.
 */
static unsigned int excess_directive(const char *text, size_t length, unsigned int first_line)
{
	static const char directive[] = "%TAG";
	const char *end = text + length, *at = text;
	unsigned int line = first_line;
	size_t count = 0;

	while ((at = memmem(at, (size_t) (end - at), directive, strlen(directive)))) {
		unsigned char before = at > text ? (unsigned char) at[-1] : '\n';

		if (before == '\n' || before == '\r' || before >= 0x80)
			count++;
		if (count > DIRECTIVES_MAX)
			break;
		at += strlen(directive);
	}
	if (!at)
		return 0;
	for (; text < at; text++)
		line += *text == '\n' ? 1 : 0;
	return line;
}

struct yaml_reader *yaml_reader_new(const char *text, size_t length, size_t depth,
				    unsigned int first_line)
{
	struct yaml_reader *reader;

	assert(depth > 0);
	reader = calloc(1, sizeof(*reader) + depth * sizeof(reader->stack[0]));
	if (!reader)
		return NULL;
	if (!yaml_parser_initialize(&reader->parser)) {
		free(reader);
		return NULL;
	}
	reader->depth_max = depth;
	reader->nodes_max = JSON_NODES_MAX;
	reader->line_offset = first_line;
	reader->excess_directive = excess_directive(text, length, first_line);
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *) text, length);
	return reader;
}

void yaml_reader_bound(struct yaml_reader *reader, size_t nodes)
{
	reader->nodes_max = nodes;
}

/* What a broken-off document left on the stack. The containers belong to the tree. */
static void forget_open(struct yaml_reader *reader)
{
	for (; reader->open > 0; reader->open--)
		cJSON_free(TAKE_PTR(reader->stack[reader->open - 1].key));
}

struct yaml_reader *yaml_reader_free(struct yaml_reader *reader)
{
	if (reader) {
		forget_open(reader);
		yaml_parser_delete(&reader->parser);
		free(reader);
	}
	return NULL;
}

static unsigned int line_of(const struct yaml_reader *reader, yaml_mark_t mark)
{
	return (unsigned int) mark.line + reader->line_offset;
}

/* @which is of YAML itself: all readers see this, and both keys and values may be of a Secret. */
static int refuse(struct yaml_document *document, unsigned int line, const char *what,
		  const char *which)
{
	if (document->line == 0)
		document->line = line;
	return failed_plain(&document->failure, -EINVAL, "line %u: %s%s%.100s%s", line, what,
			    which ? " \"" : "", which ? which : "", which ? "\"" : "");
}

static int too_large(struct yaml_reader *reader, struct yaml_document *document, unsigned int line,
		     const char *what)
{
	reader->too_large = true;
	return refuse(document, line, what, NULL);
}

static int no_memory(struct yaml_document *document)
{
	return failed(&document->failure, -ENOMEM, "cannot read YAML");
}

/* ---- scalars ---- */

static const char core_tag[] = "tag:yaml.org,2002:";

/* The type that an explicit tag demands, as its short name; "" none, NULL one we do not know. */
static const char *wanted_type(const yaml_event_t *event)
{
	static const char *const known[] = { "str", "int", "float", "bool", "null", "timestamp" };
	const char *tag = (const char *) event->data.scalar.tag;

	if (!tag)
		return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? "" : "str";
	if (strcmp(tag, "!") == 0)
		return "str";
	if (strncmp(tag, core_tag, strlen(core_tag)) != 0)
		return NULL;
	tag += strlen(core_tag);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(tag, known[i]) == 0)
			return strcmp(tag, "timestamp") == 0 ? "str" : known[i];
	}
	return NULL;
}

static bool type_fits(const char *wanted, enum yaml_scalar_type type, const char *number)
{
	switch (type) {
	case YAML_SCALAR_NULL:
		return strcmp(wanted, "null") == 0;
	case YAML_SCALAR_TRUE:
	case YAML_SCALAR_FALSE:
		return strcmp(wanted, "bool") == 0;
	case YAML_SCALAR_NUMBER:
		return strcmp(wanted, "float") == 0 ||
		       (strcmp(wanted, "int") == 0 && !strpbrk(number, ".e"));
	default:
		return false;
	}
}

/* What a scalar is: its cJSON type and the text that goes with it. */
struct meaning {
	int type;
	const char *text; /* NULL: none */
	char number[YAML_NUMBER_BYTES];
};

static int scalar_meaning(const struct yaml_reader *reader, const yaml_event_t *event,
			  struct meaning *ret, struct yaml_document *document)
{
	static const int types[] = {
		[YAML_SCALAR_STRING] = cJSON_String, [YAML_SCALAR_NULL] = cJSON_NULL,
		[YAML_SCALAR_TRUE] = cJSON_True,     [YAML_SCALAR_FALSE] = cJSON_False,
		[YAML_SCALAR_NUMBER] = cJSON_Raw,    [YAML_SCALAR_MERGE] = cJSON_String,
	};
	const char *value = (const char *) event->data.scalar.value, *wanted = wanted_type(event);
	unsigned int line = line_of(reader, event->start_mark);
	enum yaml_scalar_type type;

	*ret = (struct meaning){ .type = cJSON_String, .text = value };
	if (!wanted)
		return refuse(document, line, "unknown tag: quote a text that begins with '!'",
			      NULL);
	if (memchr(value, '\0', event->data.scalar.length))
		return refuse(document, line, "NUL in a string", NULL);
	if (strcmp(wanted, "str") == 0)
		return 0;
	type = yaml_scalar_type(value, ret->number);
	if (type == YAML_SCALAR_NOT_FINITE)
		return refuse(document, line, "not a finite number", NULL);
	if (type == YAML_SCALAR_TOO_BIG)
		return refuse(document, line,
			      "a number of more than 64 bits: quote it if it is a text", NULL);
	if (wanted[0] != '\0' && !type_fits(wanted, type, ret->number))
		return refuse(document, line, "does not fit its tag", NULL);
	assert((size_t) type < ARRAY_SIZE(types));
	ret->type = types[type];
	if (ret->type != cJSON_String)
		ret->text = ret->type == cJSON_Raw ? ret->number : NULL;
	return 0;
}

/* ---- the tree ---- */

static struct open_container *innermost(struct yaml_reader *reader)
{
	return reader->open > 0 ? &reader->stack[reader->open - 1] : NULL;
}

static bool key_is_next(struct yaml_reader *reader)
{
	const struct open_container *top = innermost(reader);

	return top && json_has_type(cJSON_Object, top->container) && !top->key;
}

/* An item of @type with @text (NULL: none) at the place that is next, or NULL: no memory. */
static struct cJSON *place_item(struct yaml_reader *reader, int type, const char *text,
				unsigned int line, struct yaml_document *document)
{
	struct open_container *top = innermost(reader);
	struct cJSON *item =
		json_new_member(bytes_of(top ? top->key : NULL), type, bytes_of(text), line);

	if (!item)
		return NULL;
	if (top) {
		cJSON_free(TAKE_PTR(top->key));
		json_append(top->container, item);
	} else {
		assert(!document->tree);
		document->tree = item;
		document->line = line;
	}
	return item;
}

static int count_node(struct yaml_reader *reader, unsigned int line, struct yaml_document *document)
{
	if (++reader->nodes <= reader->nodes_max)
		return 0;
	reader->too_large = true;
	if (document->line == 0)
		document->line = line;
	return failed_plain(&document->failure, -E2BIG, "line %u: there are more than %zu values",
			    line, reader->nodes_max);
}

static int take_key(struct yaml_reader *reader, const yaml_event_t *event,
		    struct yaml_document *document)
{
	struct meaning meaning;
	const char *text;
	int r;

	if (strcmp((const char *) event->data.scalar.value, "<<") == 0 &&
	    event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return refuse(document, line_of(reader, event->start_mark),
			      "merge keys are not supported:", "<<");
	r = scalar_meaning(reader, event, &meaning, document);
	if (r < 0)
		return r;
	if (meaning.type == cJSON_NULL)
		return refuse(document, line_of(reader, event->start_mark),
			      "a key must not be null", NULL);
	text = meaning.text;
	if (!text) /* the API has string keys only: a bare yes is "true" there */
		text = meaning.type == cJSON_True ? "true" : "false";
	innermost(reader)->key = json_copy_text(text, strlen(text));
	return innermost(reader)->key ? 0 : no_memory(document);
}

static int take_scalar(struct yaml_reader *reader, const yaml_event_t *event,
		       struct yaml_document *document)
{
	unsigned int line = line_of(reader, event->start_mark);
	struct meaning meaning;
	int r;

	if (event->data.scalar.anchor)
		return refuse(document, line,
			      "anchors are not supported: quote a text that begins with '&'", NULL);
	if (key_is_next(reader))
		return take_key(reader, event, document);
	r = count_node(reader, line, document);
	if (r == 0)
		r = scalar_meaning(reader, event, &meaning, document);
	if (r < 0)
		return r;
	return place_item(reader, meaning.type, meaning.text, line, document) ? 0
									      : no_memory(document);
}

struct opening {
	int type;
	const char *anchor, *tag, *core;
	unsigned int line;
};

static int open_container(struct yaml_reader *reader, const struct opening *opening,
			  struct yaml_document *document)
{
	struct cJSON *item;
	int r;

	if (opening->anchor)
		return refuse(document, opening->line,
			      "anchors are not supported: quote a text that begins with '&'", NULL);
	if (opening->tag && (strncmp(opening->tag, core_tag, strlen(core_tag)) != 0 ||
			     strcmp(opening->tag + strlen(core_tag), opening->core) != 0))
		return refuse(document, opening->line,
			      "unknown tag: quote a text that begins with '!'", NULL);
	if (key_is_next(reader))
		return refuse(document, opening->line, "a key must be a scalar", NULL);
	if (reader->open == reader->depth_max)
		return too_large(reader, document, opening->line, "values are nested too deeply");
	r = count_node(reader, opening->line, document);
	if (r < 0)
		return r;
	item = place_item(reader, opening->type, NULL, opening->line, document);
	if (!item)
		return no_memory(document);
	reader->stack[reader->open++] = (struct open_container){ .container = item };
	return 0;
}

static int close_container(struct yaml_reader *reader, struct yaml_document *document)
{
	const struct open_container *top = innermost(reader);
	const struct cJSON *duplicate = NULL;
	int r = 0;

	assert(top && !top->key);
	if (json_has_type(cJSON_Object, top->container))
		duplicate = json_find_duplicate(top->container, &r);
	reader->open--;
	if (r < 0)
		return no_memory(document);
	if (duplicate)
		return refuse(document, json_line(duplicate), "duplicate key", NULL);
	return 0;
}

static int take_event(struct yaml_reader *reader, const yaml_event_t *event,
		      struct yaml_document *document)
{
	struct opening opening = { .line = line_of(reader, event->start_mark) };

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(reader, event, document);
	case YAML_ALIAS_EVENT:
		return refuse(document, opening.line,
			      "aliases are not supported: quote a text that begins with '*'", NULL);
	case YAML_MAPPING_START_EVENT:
		opening.type = cJSON_Object;
		opening.anchor = (const char *) event->data.mapping_start.anchor;
		opening.tag = (const char *) event->data.mapping_start.tag;
		opening.core = "map";
		return open_container(reader, &opening, document);
	case YAML_SEQUENCE_START_EVENT:
		opening.type = cJSON_Array;
		opening.anchor = (const char *) event->data.sequence_start.anchor;
		opening.tag = (const char *) event->data.sequence_start.tag;
		opening.core = "seq";
		return open_container(reader, &opening, document);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return close_container(reader, document);
	default:
		return 0;
	}
}

static int syntax_error(const struct yaml_reader *reader, struct yaml_document *document)
{
	const yaml_parser_t *parser = &reader->parser;
	unsigned int line = line_of(reader, parser->problem_mark);
	const char *problem = parser->problem ? parser->problem : "cannot be read";

	if (document->line == 0)
		document->line = line;
	if (parser->error == YAML_MEMORY_ERROR)
		return no_memory(document);
	if (parser->error == YAML_READER_ERROR) /* it knows the offset only, the parser the line */
		return failed_plain(&document->failure, -EINVAL, "line %u: %s (byte %zu)",
				    line_of(reader, parser->mark), problem, parser->problem_offset);
	if (parser->context)
		return failed_plain(&document->failure, -EINVAL,
				    "line %u, column %zu: %s, %s that began on line %u", line,
				    parser->problem_mark.column + 1, problem, parser->context,
				    line_of(reader, parser->context_mark));
	return failed_plain(&document->failure, -EINVAL, "line %u, column %zu: %s", line,
			    parser->problem_mark.column + 1, problem);
}

/* Up to the end of one document. 1 a document, 0 the end of the stream, negative: broken. */
static int read_document(struct yaml_reader *reader, struct yaml_document *document)
{
	yaml_event_t event;

	if (reader->excess_directive > 0)
		return refuse(document, reader->excess_directive, "there are too many directives",
			      NULL);
	for (;;) {
		yaml_event_type_t type;

		if (!yaml_parser_parse(&reader->parser, &event))
			return syntax_error(reader, document);
		type = event.type;
		if (document->failure.error == 0)
			(void) take_event(reader, &event, document); /* kept in the failure */
		yaml_event_delete(&event);
		if (document->failure.error == -ENOMEM || reader->too_large)
			return document->failure.error;
		if (type == YAML_DOCUMENT_END_EVENT)
			return 1;
		if (type == YAML_STREAM_END_EVENT)
			return 0;
	}
}

int yaml_reader_next(struct yaml_reader *reader, struct yaml_document *ret)
{
	int r;

	assert(reader && ret);
	do {
		ret->tree = NULL;
		ret->line = 0;
		ret->failure.error = 0;
		ret->failure.text[0] = '\0'; /* which is not cleared further: it is long */
		r = read_document(reader, ret);
		forget_open(reader);
		if (r == 1 && ret->failure.error == 0 && json_is_null(ret->tree))
			json_free(TAKE_PTR(ret->tree)); /* "---" with nothing but comments */
	} while (r == 1 && !ret->tree && ret->failure.error == 0);
	return r;
}

int json_parse_yaml(const char *text, size_t length, struct cJSON **ret, struct failure *reterr)
{
	struct yaml_reader *reader = yaml_reader_new(text, length, OBJECT_DEPTH_MAX, 1);
	struct yaml_document document = { .tree = NULL };
	int r = reader ? yaml_reader_next(reader, &document) : -ENOMEM;

	(void) yaml_reader_free(reader);
	if (r > 0 && document.failure.error == 0) {
		*ret = document.tree;
		return 0;
	}
	json_free(document.tree);
	if (r == 0)
		return failed_plain(reterr, -EINVAL, "it is empty");
	return failed_plain(reterr, r < 0 ? r : document.failure.error, "%s",
			    document.failure.text);
}
