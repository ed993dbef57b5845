/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_secret - which Secret a class wants, template by template
 */
#include "controller/csi/csi_secret.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char claim_text[] =
	"{\"metadata\":{\"name\":\"data\",\"namespace\":\"shop\",\"annotations\":{"
	"\"example.com/team\":\"blue\",\"odd\":\"Not A Name\"}}}";

static struct cJSON *parse(const char *text)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 16 };
	struct cJSON *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	return tree;
}

/* "NAMESPACE/NAME", "" none, or the failure's text. */
static const char *resolve(const char *name, const char *space, bool has_claim)
{
	static char text[700];
	cleanup_json struct cJSON *parameters = json_new_object();
	cleanup_json struct cJSON *claim = parse(claim_text);
	const struct csi_secret_query question = { parameters, "pvc-1", has_claim ? claim : NULL };
	struct csi_secret_name found;
	struct failure why;

	if (name)
		(void) json_set_string(parameters, CSI_PARAMETER_PREFIX "node-stage-secret-name",
				       name);
	if (space)
		(void) json_set_string(parameters,
				       CSI_PARAMETER_PREFIX "node-stage-secret-namespace", space);
	if (csi_secret_resolve(&question, CSI_SECRET_NODE_STAGE, &found, &why) < 0)
		(void) snprintf(text, sizeof(text), "%.699s", why.text);
	else
		(void) snprintf(text, sizeof(text), "%s%s%s", found.name_space,
				found.name[0] ? "/" : "", found.name);
	return text;
}

static void test_templates(void **state)
{
	assert_string_equal(resolve(NULL, NULL, true), "");
	assert_string_equal(resolve("key", "default", true), "default/key");
	assert_string_equal(resolve("${pvc.name}-${pv.name}", "${pvc.namespace}", true),
			    "shop/data-pvc-1");
	assert_string_equal(
		resolve("${pvc.annotations['example.com/team']}", "ns-${pv.name}", true),
		"ns-pvc-1/blue");
	/* Deleting, when the claim is gone. */
	assert_string_equal(resolve("${pv.name}", "default", false), "default/pvc-1");
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *name, *space;
		bool has_claim;
	} rows[] = {
		{ "key", NULL, true },
		{ NULL, "default", true },
		{ "${pvc.name", "default", true },
		{ "$pvc.name", "default", true },
		{ "${pvc.uid}", "default", true },
		{ "${pvc.annotations['none']}", "default", true },
		{ "${pvc.annotations['odd']}", "default", true },
		{ "Key", "default", true },
		{ "key-", "default", true },
		{ "a..b", "default", true },
		{ "key", "a.b", true },
		/* What the claim's owner chooses must not choose the namespace. */
		{ "key", "${pvc.name}", true },
		{ "key", "${pvc.annotations['example.com/team']}", true },
		{ "${pvc.name}", "default", false },
		{ "key", "${pvc.namespace}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strchr(resolve(rows[i].name, rows[i].space, rows[i].has_claim), ' '))
			fail_msg("row %zu: '%s'", i,
				 resolve(rows[i].name, rows[i].space, rows[i].has_claim));
}

/* What a template becomes fits, or is refused: one byte more and one less than the room. */
static void test_length(void **state)
{
	char name[600], expected[700];

	memset(name, 'a', sizeof(name));
	name[253] = '\0';
	(void) snprintf(expected, sizeof(expected), "default/%s", name);
	assert_string_equal(resolve(name, "default", true), expected);
	memset(name, 'a', sizeof(name));
	name[254] = '\0';
	assert_non_null(strstr(resolve(name, "default", true), "too long"));
	name[sizeof(name) - 1] = '\0';
	assert_non_null(strstr(resolve("key", name, true), "too long"));
}

static void test_default_pair(void **state)
{
	cleanup_json struct cJSON *parameters =
		parse("{\"csi.storage.k8s.io/secret-name\":\"all\","
		      "\"csi.storage.k8s.io/secret-namespace\":\"ns\","
		      "\"csi.storage.k8s.io/node-expand-secret-name\":\"own\","
		      "\"csi.storage.k8s.io/node-expand-secret-namespace\":\"ns\"}");
	const struct csi_secret_query question = { parameters, "pvc-1", NULL };
	struct csi_secret_name found;

	assert_int_equal(csi_secret_resolve(&question, CSI_SECRET_PROVISIONER, &found, NULL), 0);
	assert_string_equal(found.name, "all");
	assert_int_equal(csi_secret_resolve(&question, CSI_SECRET_NODE_EXPAND, &found, NULL), 0);
	assert_string_equal(found.name, "own");
	for (const struct cJSON *i = json_first(parameters); i; i = json_next(i))
		assert_true(csi_secret_is_parameter(json_key(i)));
	assert_false(csi_secret_is_parameter("csi.storage.k8s.io/fstype"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_default_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
