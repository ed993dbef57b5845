/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form - the two headers that say in which form things come and go: Accept and Content-Type
 *
 * The first media range that the path offers is taken; weights (q=) are passed over, as clients of
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

/* One form is one row: its media type, and the parameters by which Kubernetes tells apart what has
 * the same type. The first row of a form is what an answer calls itself. */
static const struct form_row {
	enum api_form form;
	const char *media, *as, *group, *version; /* NULL: no such parameter */
	const char *type;
} form_rows[] = {
	{ FORM_JSON, "application/json", NULL, NULL, NULL, "application/json" },
	{ FORM_TABLE, "application/json", "Table", "meta.k8s.io", "v1",
	  "application/json;as=Table;v=v1;g=meta.k8s.io" },
	{ FORM_YAML, "application/yaml", NULL, NULL, NULL, "application/yaml" },
	{ FORM_GROUPS, "application/json", "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2",
	  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" },
	{ FORM_GROUPS_BETA, "application/json", "APIGroupDiscoveryList", "apidiscovery.k8s.io",
	  "v2beta1", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList" },
	/* An @ may not stand in a media type, but older clients ask with one. */
	{ FORM_OPENAPI, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", NULL, NULL,
	  NULL, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" },
	{ FORM_OPENAPI, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", NULL, NULL,
	  NULL, NULL },
	{ FORM_DOCKER, "application/vnd.docker.plugins.v1.2+json", NULL, NULL, NULL,
	  "application/vnd.docker.plugins.v1.2+json" },
};

struct word {
	const char *text;
	size_t length;
};

/* "application/json;as=Table;v=v1;g=meta.k8s.io"; other parameters are passed over. */
struct media_range {
	struct word media, as, group, version;
};

static void read_parameter(const char **at, struct media_range *range)
{
	const struct {
		const char *name;
		struct word *value;
	} known[] = { { "as=", &range->as }, { "g=", &range->group }, { "v=", &range->version } };
	struct word word;

	word.text = next_word(at, ";,", &word.length);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t length = strlen(known[i].name);

		if (word.length >= length && strncasecmp(word.text, known[i].name, length) == 0)
			*known[i].value = (struct word){ word.text + length, word.length - length };
	}
}

static struct media_range read_range(const char **at)
{
	struct media_range range = { 0 };

	range.media.text = next_word(at, ";,", &range.media.length);
	while (**at == ';') {
		(*at)++;
		read_parameter(at, &range);
	}
	if (**at == ',')
		(*at)++;
	return range;
}

/* "as" changes what comes, so it must be the row's; group and version only say it more exactly. */
static bool parameter_fits(const struct word *word, const char *value, bool must_be_there)
{
	if (!word->text)
		return !must_be_there || !value;
	return value && word_is(word->text, word->length, value);
}

static bool range_fits(const struct media_range *range, const struct form_row *row)
{
	const struct word *media = &range->media;

	if (!word_is(media->text, media->length, row->media) &&
	    !word_is(media->text, media->length, "*/*") &&
	    !(word_is(media->text, media->length, "application/*") &&
	      strncmp(row->media, "application/", strlen("application/")) == 0))
		return false;
	return parameter_fits(&range->as, row->as, true) &&
	       (!row->as || (parameter_fits(&range->group, row->group, false) &&
			     parameter_fits(&range->version, row->version, false)));
}

int api_form_parse(const char *accept, unsigned int offered, enum api_form *ret)
{
	const char *at = accept;

	assert(offered != 0 && ret);
	if (!accept || *accept == '\0')
		at = "*/*";
	while (*at) {
		struct media_range range = read_range(&at);

		for (size_t i = 0; i < ARRAY_SIZE(form_rows); i++) {
			if ((offered & FORM_BIT(form_rows[i].form)) == 0 ||
			    !range_fits(&range, &form_rows[i]))
				continue;
			*ret = form_rows[i].form;
			return 0;
		}
	}
	return -ENOENT;
}

const char *api_form_type(enum api_form form)
{
	for (size_t i = 0; i < ARRAY_SIZE(form_rows); i++)
		if (form_rows[i].form == form)
			return form_rows[i].type;
	assert(!"every form has a row");
	return "";
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
		{ "application/vnd.kubernetes.protobuf", CONTENT_PROTOBUF },
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
