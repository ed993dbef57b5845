/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_selector_match - labelSelector and fieldSelector: what they mean and what they refuse
 */
#include "object/select/selector_match.h"

#include "base/cleanup.h"
#include "object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char pod_text[] =
	"apiVersion: v1\n"
	"kind: Pod\n"
	"metadata: {name: web, namespace: shop, labels: {app: web, tier: front, num: '5', "
	"x.io/part: a}}\n"
	"spec: {nodeName: node1, containers: [{name: c, image: i}], restartPolicy: Never}\n"
	"status: {phase: Running}\n";

static bool matches(const char *labels, const char *fields)
{
	cleanup_object const struct object *pod = object_of(pod_text);
	struct selector_match *selector_match = NULL;
	struct failure why = { 0 };
	bool result;

	if (selector_match_parse(kind_row(KIND_POD), labels, fields, &selector_match, &why) < 0)
		fail_msg("%s: %s", labels ? labels : fields, why.text);
	result = selector_match_matches(selector_match, pod);
	(void) selector_match_free(selector_match);
	return result;
}

static void test_labels(void **state)
{
	static const struct {
		const char *selector;
		bool matches;
	} cases[] = {
		{ "", true },
		{ " ", true },
		{ "app=web", true },
		{ "app==web", true },
		{ "app = web", true },
		{ "app=db", false },
		{ "app=", false },
		{ "absent=", false },
		{ "app!=db", true },
		{ "app!=web", false },
		{ "absent!=x", true },
		{ "app", true },
		{ "absent", false },
		{ "!app", false },
		{ "! absent", true },
		{ "app in (web, db)", true },
		{ "app in (db)", false },
		{ "app notin (db,cache)", true },
		{ "app notin (web)", false },
		{ "absent notin (a)", true },
		{ "absent in ()", false },
		{ "num>4", true },
		{ "num>5", false },
		{ "num<6", true },
		{ "app>4", false },
		{ "x.io/part=a", true },
		{ "app=web,tier=front", true },
		{ "app=web,tier=back", false },
		{ "app in (web),!absent,num<9", true },
		{ "in=x", false }, /* a key may be called so */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (matches(cases[i].selector, NULL) != cases[i].matches)
			fail_msg("'%s'", cases[i].selector);
}

static void test_fields(void **state)
{
	static const struct {
		const char *selector;
		bool matches;
	} cases[] = {
		{ "metadata.name=web", true },
		{ "metadata.name==web", true },
		{ "metadata.name=db", false },
		{ "metadata.name!=db", true },
		{ "metadata.namespace=shop", true },
		{ "spec.nodeName=node1", true },
		{ "spec.nodeName=", false },
		{ "status.phase!=Running", false },
		{ "status.phase=Running,metadata.name=web", true },
		{ "status.phase=Running,metadata.name=db", false },
		{ "spec.restartPolicy=Never", true },
		{ "spec.restartPolicy!=Never", false },
		{ "spec.hostNetwork=false", true },
		{ "spec.hostNetwork=true", false },
		{ "metadata.name=a\\,b", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (matches(NULL, cases[i].selector) != cases[i].matches)
			fail_msg("'%s'", cases[i].selector);
}

static void test_both_must_hold(void **state)
{
	assert_true(matches("app=web", "metadata.name=web"));
	assert_false(matches("app=db", "metadata.name=web"));
	assert_false(matches("app=web", "metadata.name=db"));
}

static void assert_bad(enum object_kind kind, const char *labels, const char *fields,
		       const char *text)
{
	struct selector_match *selector_match = NULL;
	struct failure why = { 0 };

	assert_int_equal(
		selector_match_parse(kind_row(kind), labels, fields, &selector_match, &why),
		-EINVAL);
	assert_null(selector_match);
	if (!strstr(why.text, text))
		fail_msg("'%s' instead of '%s'", why.text, text);
}

static void test_refusals(void **state)
{
	static const char *const bad_labels[] = {
		"=",       ",",
		"a,",      "a=b=c",
		"a b",     "a in b",
		"a in (b", "a in (b c)",
		"a=b c",   "-a",
		"a=-b",    "a/b/c=d",
		"/a=b",    "A_/b=c",
		"a>x",     "!",
		"a=b)",    "a notin",
		"(a)",     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=b",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad_labels); i++)
		assert_bad(KIND_POD, bad_labels[i], NULL, "unable to parse requirement: ");
	assert_bad(KIND_POD, NULL, "spec.volumes=x", "field label not supported: spec.volumes");
	assert_bad(KIND_PERSISTENT_VOLUME, NULL, "spec.nodeName=x", "field label not supported");
	assert_bad(KIND_POD, NULL, "metadata.name", "invalid field selector");
	assert_bad(KIND_POD, NULL, "metadata.name=x,", "invalid field selector");
	assert_bad(KIND_POD, NULL, "metadata.name!x", "invalid field selector");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_both_must_hold),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
