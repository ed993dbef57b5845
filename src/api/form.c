/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form - the two headers that say in which form things come and go: Accept and Content-Type
 *
 * The first media range that we speak is taken; weights (q=) are passed over, as clients of
 * Kubernetes write their ranges in the order of their wishes. Pure.
 */
#include "api/exchange.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* The next word up to one of @ends, without blanks around it. */
static const char *next_word(const char **at, const char *ends, size_t *ret_length)
{
	const char *word = *at + strspn(*at, " \t");
	size_t length = strcspn(word, ends);

	*at = word + length;
	while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t'))
		length--;
	*ret_length = length;
	return word;
}

static bool word_is(const char *word, size_t length, const char *expected)
{
	return strlen(expected) == length && strncasecmp(word, expected, length) == 0;
}

/* One media range: "application/json;as=Table;v=v1;g=meta.k8s.io". Other parameters are passed
 * over, but a form of "as" that we do not speak makes the whole range one that we do not speak. */
static int read_range(const char **at, enum api_form *ret)
{
	size_t length;
	const char *type = next_word(at, ";,", &length);
	bool yaml = word_is(type, length, "application/yaml");
	bool json = word_is(type, length, "application/json") || word_is(type, length, "*/*") ||
		    word_is(type, length, "application/*");
	bool table = false, known = json || yaml;

	while (**at == ';') {
		const char *parameter;

		(*at)++;
		parameter = next_word(at, ";,", &length);
		if (word_is(parameter, length, "as=Table"))
			table = true;
		else if (length >= 3 && strncasecmp(parameter, "as=", 3) == 0)
			known = false;
		else if (length >= 2 && strncasecmp(parameter, "v=", 2) == 0)
			known = known && word_is(parameter, length, "v=v1");
	}
	if (**at == ',')
		(*at)++;
	if (!known || (table && yaml))
		return -ENOENT;
	*ret = table ? FORM_TABLE : yaml ? FORM_YAML : FORM_JSON;
	return 0;
}

int api_form_parse(const char *accept, enum api_form *ret)
{
	const char *at = accept;

	assert(ret);
	if (!accept || *accept == '\0') {
		*ret = FORM_JSON;
		return 0;
	}
	while (*at)
		if (read_range(&at, ret) == 0)
			return 0;
	return -ENOENT;
}

enum api_content api_content_parse(const char *content_type)
{
	static const struct {
		const char *type;
		enum api_content content;
	} types[] = {
		{ "application/json", CONTENT_JSON },
		{ "application/yaml", CONTENT_YAML },
		{ "text/yaml", CONTENT_YAML },
		{ "application/x-yaml", CONTENT_YAML },
		{ "application/json-patch+json", CONTENT_JSON_PATCH },
		{ "application/merge-patch+json", CONTENT_MERGE_PATCH },
		{ "application/strategic-merge-patch+json", CONTENT_STRATEGIC_PATCH },
		{ "application/apply-patch+yaml", CONTENT_APPLY_PATCH },
	};
	const char *at = content_type;
	size_t length;
	const char *type;

	if (!content_type)
		return CONTENT_JSON;
	type = next_word(&at, ";", &length);
	if (length == 0)
		return CONTENT_JSON;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (word_is(type, length, types[i].type))
			return types[i].content;
	return CONTENT_OTHER;
}
