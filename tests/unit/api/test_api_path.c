/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_path - paths and queries taken apart, and what is refused of them
 */
#include "api/exchange.h"
#include "api/path.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct api_path path;
static struct failure why;

static void test_segments(void **state)
{
	assert_int_equal(api_path_parse("/api/v1/pods", &path, &why), 0);
	assert_int_equal(path.segment_count, 3);
	assert_string_equal(path.segments[0], "api");
	assert_string_equal(path.segments[2], "pods");

	assert_int_equal(api_path_parse("/api/v1/pods/", &path, &why), 0);
	assert_int_equal(path.segment_count, 3);

	assert_int_equal(api_path_parse("/", &path, &why), 0);
	assert_int_equal(path.segment_count, 0);
	assert_int_equal(path.parameter_count, 0);
}

static void test_escapes_stay_in_their_segment(void **state)
{
	assert_int_equal(
		api_path_parse("/volumes/kubernetes.io%2Flocal-volume%2fpv%20a", &path, &why), 0);
	assert_int_equal(path.segment_count, 2);
	assert_string_equal(path.segments[1], "kubernetes.io/local-volume/pv a");
	/* A plus is a plus in a path and a blank in a query. */
	assert_int_equal(api_path_parse("/a+b?c=d+e", &path, &why), 0);
	assert_string_equal(path.segments[0], "a+b");
	assert_string_equal(path.parameters[0].value, "d e");
}

static void test_query(void **state)
{
	assert_int_equal(
		api_path_parse("/w?timeout=30s&for=mounted&&flag&x=%26%3D&x=2", &path, &why), 0);
	assert_int_equal(path.parameter_count, 5);
	assert_string_equal(api_path_parameter(&path, "timeout"), "30s");
	assert_string_equal(api_path_parameter(&path, "for"), "mounted");
	assert_string_equal(api_path_parameter(&path, "flag"), "");
	assert_string_equal(api_path_parameter(&path, "x"), "&=");
	assert_null(api_path_parameter(&path, "time"));
	assert_int_equal(api_path_parse("/w?", &path, &why), 0);
	assert_int_equal(path.parameter_count, 0);
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
		"",           "pods",           "//pods",     "/api//pods",    "/api/../pods",
		"/api/.",     "/%2e%2e/x",      "/a%",        "/a%2",          "/a%zz",
		"/a%00b",     "/a%0ab",         "/a%7f",      "/a%ff",         "/a%c0%af",
		"/%ed%a0%80", "/%f4%90%80%80",  "/%e0%80%af", "/%f0%80%80%af", "/a?b=%00",
		"/a?%gg=1",   "/a?b=%0d%0aX:1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		why.text[0] = '\0';
		assert_int_equal(api_path_parse(rows[i], &path, &why), -EINVAL);
		assert_true(why.text[0] != '\0');
	}
	/* The edges of UTF-8 that are good. */
	assert_int_equal(api_path_parse("/%c2%80/%ed%9f%bf/%f4%8f%bf%bf/%e2%82%ac", &path, &why),
			 0);
	assert_string_equal(path.segments[3], "\xe2\x82\xac");
}

static void test_limits(void **state)
{
	char text[API_URI_BYTES_MAX + 2];
	size_t length = 0;

	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[API_URI_BYTES_MAX] = '\0';
	assert_int_equal(api_path_parse(text, &path, &why), 0);
	assert_int_equal(strlen(path.segments[0]), API_URI_BYTES_MAX - 1);
	text[API_URI_BYTES_MAX] = 'a';
	text[API_URI_BYTES_MAX + 1] = '\0';
	assert_int_equal(api_path_parse(text, &path, &why), -ENAMETOOLONG);

	for (int i = 0; i <= API_SEGMENTS_MAX; i++)
		length += (size_t) snprintf(text + length, sizeof(text) - length, "/s");
	assert_int_equal(api_path_parse(text, &path, &why), -E2BIG);
	text[length - 2] = '\0';
	assert_int_equal(api_path_parse(text, &path, &why), 0);

	length = (size_t) snprintf(text, sizeof(text), "/a?");
	for (int i = 0; i <= API_PARAMETERS_MAX; i++)
		length += (size_t) snprintf(text + length, sizeof(text) - length, "p&");
	assert_int_equal(api_path_parse(text, &path, &why), -E2BIG);
	text[length - 2] = '\0';
	assert_int_equal(api_path_parse(text, &path, &why), 0);
}

static void test_patterns(void **state)
{
	static const struct {
		const char *uri, *pattern;
		bool matches;
	} rows[] = {
		{ "/a/b", "a/b", true }, { "/a/b", "a", false },      { "/a", "a/b", false },
		{ "/a/b", "a/*", true }, { "/a/b/c", "a/*", false },  { "/a", "a/*", false },
		{ "/ab", "a", false },   { "/a", "ab", false },       { "/", "", true },
		{ "/a", "", false },     { "/a/b/c", "a/*/c", true }, { "/a/%2A", "a/b", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(api_path_parse(rows[i].uri, &path, &why), 0);
		assert_int_equal(api_path_matches(&path, rows[i].pattern), rows[i].matches);
	}
}

static void test_accept(void **state)
{
	static const struct {
		const char *accept;
		int result;
		enum api_form form;
	} rows[] = {
		{ NULL, 0, FORM_JSON },
		{ "", 0, FORM_JSON },
		{ "*/*", 0, FORM_JSON },
		{ "application/json", 0, FORM_JSON },
		{ "Application/JSON; charset=utf-8", 0, FORM_JSON },
		{ "application/yaml", 0, FORM_YAML },
		{ "text/html, application/yaml;q=0.5", 0, FORM_YAML },
		{ "application/json;as=Table;v=v1;g=meta.k8s.io", 0, FORM_TABLE },
		{ "application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json", 0,
		  FORM_JSON },
		{ "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,*/*", 0,
		  FORM_JSON },
		{ "application/vnd.kubernetes.protobuf,application/json", 0, FORM_JSON },
		{ "text/html", -ENOENT, FORM_JSON },
		{ "application/vnd.kubernetes.protobuf", -ENOENT, FORM_JSON },
		{ ";;,,;", -ENOENT, FORM_JSON },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum api_form form = FORM_JSON;

		assert_int_equal(api_form_parse(rows[i].accept, FORMS_COMMON, &form),
				 rows[i].result);
		assert_int_equal(form, rows[i].form);
	}
}

/* What kubectl asks for, of paths that offer more than objects do. */
static void test_accept_of_other_paths(void **state)
{
	static const char kubectl_groups[] =
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
		"application/json";
	static const struct {
		const char *accept;
		unsigned int offered;
		int result;
		enum api_form form;
	} rows[] = {
		{ kubectl_groups, FORMS_DISCOVERY, 0, FORM_GROUPS },
		{ "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io",
		  FORMS_DISCOVERY, 0, FORM_GROUPS_BETA },
		{ kubectl_groups, FORMS_COMMON, 0, FORM_JSON },
		{ "application/json;as=APIGroupDiscoveryList;v=v3;g=apidiscovery.k8s.io",
		  FORMS_DISCOVERY, -ENOENT, FORM_JSON },
		{ "application/json;as=Table", FORMS_DISCOVERY, -ENOENT, FORM_JSON },
		{ "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", FORMS_OPENAPI, 0,
		  FORM_OPENAPI },
		{ "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", FORMS_OPENAPI, 0,
		  FORM_OPENAPI },
		{ "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", FORMS_COMMON,
		  -ENOENT, FORM_JSON },
		{ "application/*", FORMS_OPENAPI, 0, FORM_JSON },
		{ "application/json", FORM_BIT(FORM_GROUPS), -ENOENT, FORM_JSON },
		{ NULL, FORMS_OPENAPI, 0, FORM_JSON },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum api_form form = FORM_JSON;

		assert_int_equal(api_form_parse(rows[i].accept, rows[i].offered, &form),
				 rows[i].result);
		assert_int_equal(form, rows[i].form);
	}
	for (unsigned int form = 0; form < FORM_COUNT; form++) {
		enum api_form found;

		assert_int_equal(
			api_form_parse(api_form_type((enum api_form) form), FORM_BIT(form), &found),
			0);
	}
}

static void test_content_type(void **state)
{
	assert_int_equal(api_content_parse(NULL), CONTENT_JSON);
	assert_int_equal(api_content_parse("application/json; charset=utf-8"), CONTENT_JSON);
	assert_int_equal(api_content_parse("application/yaml"), CONTENT_YAML);
	assert_int_equal(api_content_parse("text/plain"), CONTENT_OTHER);
	assert_int_equal(api_content_parse("application/jsonp"), CONTENT_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_escapes_stay_in_their_segment),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_accept_of_other_paths),
		cmocka_unit_test(test_content_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
