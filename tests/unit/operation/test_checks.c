/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_checks - node affinity, mount options and ReadWriteOncePod, before anything is mounted
 *
 * Persistent volumes come from JSON, so that the rules are tested from the field to the verdict.
 */
#include "operation/checks.h"

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "object/object.h"
#include "state/actual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct label node_label_list[] = { { "kubernetes.io/hostname", "this" },
						{ "disk", "fast" } };
static const struct labels node_labels = { node_label_list, ARRAY_SIZE(node_label_list) };

static const struct volume_plugin plain_plugin = { .name = "example.com/plain" };
static const struct volume_plugin rich_plugin = { .name = "example.com/rich",
						  .supports_mount_options = true };

/* @spec_rest: further members of spec, each followed by a comma. */
static const struct object *make_pv(const char *spec_rest)
{
	const struct object *pv = NULL;
	struct failure why = { 0 };
	char json[2048];

	(void) snprintf(json, sizeof(json),
			"{\"apiVersion\": \"v1\", \"kind\": \"PersistentVolume\", "
			"\"metadata\": {\"name\": \"pv\"}, \"spec\": {%s"
			"\"capacity\": {\"storage\": \"1Gi\"}, \"volumeMode\": \"Filesystem\", "
			"\"hostPath\": {\"path\": \"/srv\"}}}",
			spec_rest);
	if (object_parse_json(json, strlen(json), &pv, &why) < 0)
		fail_msg("%s: %s", why.text, json);
	return pv;
}

#define RWO "\"accessModes\": [\"ReadWriteOnce\"], "

static int affinity_of(const char *terms)
{
	char rest[1024];
	const struct object *pv cleanup_object;
	struct volume_spec spec = { .name = "pv" };
	struct failure why = { 0 };
	int r;

	(void) snprintf(rest, sizeof(rest),
			RWO "\"nodeAffinity\": {\"required\": {\"nodeSelectorTerms\": [%s]}}, ",
			terms);
	pv = make_pv(rest);
	spec.pv = pv;
	r = check_node_affinity(&spec, &node_labels, &why);
	assert_int_equal(why.error, r);
	if (r < 0)
		assert_non_null(strstr(why.text, "'pv'"));
	return r;
}

#define EXPRESSION(key, value)                                                                     \
	"{\"key\": \"" key "\", \"operator\": \"In\", \"values\": [\"" value "\"]}"
#define TERM(expressions) "{\"matchExpressions\": [" expressions "]}"

static void affinity_to_another_host_fails(void **state)
{
	(void) state; /* case 341 */
	assert_int_equal(affinity_of(TERM(EXPRESSION("kubernetes.io/hostname", "other"))), -ENXIO);
	assert_int_equal(affinity_of(TERM(EXPRESSION("kubernetes.io/hostname", "this"))), 0);
}

/* Validation refuses an empty list in a manifest; a cluster may still hold one. */
static void affinity_without_terms_matches_nothing(void **state)
{
	const struct node_selector none = { 0 };
	struct persistent_volume pv = { .node_affinity = &none };
	const struct object object = { .kind = KIND_PERSISTENT_VOLUME, .persistent_volume = &pv };
	struct volume_spec spec = { .name = "pv", .pv = &object };

	(void) state; /* case 342 */
	assert_int_equal(check_node_affinity(&spec, &node_labels, NULL), -ENXIO);
}

static void one_matching_term_is_enough(void **state)
{
	(void) state; /* case 343 */
	assert_int_equal(
		affinity_of(TERM(EXPRESSION("disk", "slow")) ", " TERM(EXPRESSION("disk", "fast"))),
		0);
}

static void fields_are_ignored(void **state)
{
	(void) state; /* case 344 */
	assert_int_equal(
		affinity_of("{\"matchFields\": [" EXPRESSION("metadata.name", "another") "]}"), 0);
}

static void all_expressions_of_a_term_must_match(void **state)
{
	(void) state; /* case 345 */
	assert_int_equal(affinity_of(TERM(EXPRESSION("disk", "fast") ", " EXPRESSION("zone", "a"))),
			 -ENXIO);
}

static void volumes_without_affinity_fit_everywhere(void **state)
{
	const struct object *pv cleanup_object = make_pv(RWO);
	struct volume_spec spec = { .name = "pv", .pv = pv }, inlined = { .name = "data" };

	assert_int_equal(check_node_affinity(&spec, &node_labels, NULL), 0);
	assert_int_equal(check_node_affinity(&inlined, &node_labels, NULL), 0);
}

static void mount_options_need_a_plugin_that_has_them(void **state)
{
	const struct object *with cleanup_object = make_pv(RWO "\"mountOptions\": [\"noatime\"], ");
	const struct object *without cleanup_object = make_pv(RWO);
	struct volume_spec spec = { .name = "pv", .pv = with };
	struct failure why = { 0 };

	assert_int_equal(check_mount_options(&spec, &plain_plugin, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "mount options are not supported for this volume type"));
	assert_int_equal(check_mount_options(&spec, &rich_plugin, NULL), 0);
	spec.block = true;
	assert_int_equal(check_mount_options(&spec, &plain_plugin, NULL), 0);
	spec = (struct volume_spec){ .name = "pv", .pv = without };
	assert_int_equal(check_mount_options(&spec, &plain_plugin, NULL), 0);
	spec.pv = NULL;
	assert_int_equal(check_mount_options(&spec, &plain_plugin, NULL), 0);
}

/* ---- ReadWriteOncePod ---- */

struct table {
	struct dirty_set *dirty;
	struct actual *actual;
};

static int set_up(void **state)
{
	struct table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	assert_int_equal(dirty_set_new(NULL, NULL, &table->dirty), 0);
	assert_int_equal(actual_new(table->dirty, &table->actual), 0);
	*state = table;
	return 0;
}

static int tear_down(void **state)
{
	struct table *table = *state;

	(void) actual_free(table->actual);
	(void) dirty_set_free(table->dirty);
	free(table);
	return 0;
}

static void publish(struct table *table, const char *pod_uid, int error,
		    enum error_class error_class)
{
	struct actual_entry entry = { .unique_name = "v",
				      .plugin_name = plain_plugin.name,
				      .spec_name = "pv",
				      .plugin = &plain_plugin,
				      .device_mountable = true,
				      .pod_uid = pod_uid,
				      .pod_key = "default/first",
				      .outer_name = "data",
				      .path = "/p" };
	struct step_result result = { .kind = STEP_PUBLISH,
				      .unique_name = "v",
				      .pod_uid = pod_uid,
				      .error = error,
				      .error_class = error_class,
				      .touched = true };

	assert_int_equal(actual_begin(table->actual, &entry), 0);
	actual_apply(table->actual, &result);
}

#define RWOP "\"accessModes\": [\"ReadWriteOncePod\"], "

static void the_second_pod_is_refused(void **state)
{
	const struct object *pv cleanup_object = make_pv(RWOP);
	struct volume_spec spec = { .name = "pv", .pv = pv };
	struct failure why = { 0 };
	struct table *table = *state;

	/* case 328, the first is mounted */
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), 0);
	publish(table, "first", 0, ERROR_FINAL);
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, &why), -EBUSY);
	assert_non_null(strstr(why.text, "ReadWriteOncePod"));
	assert_non_null(strstr(why.text, "'default/first'"));
	assert_int_equal(check_single_pod(table->actual, "v", "first", &spec, NULL), 0);
	assert_int_equal(check_single_pod(table->actual, "other", "second", &spec, NULL), 0);
}

static void an_uncertain_first_pod_counts(void **state)
{
	const struct object *pv cleanup_object = make_pv(RWOP);
	struct volume_spec spec = { .name = "pv", .pv = pv };
	struct table *table = *state;

	/* case 328, the first is uncertain */
	publish(table, "first", -ETIMEDOUT, ERROR_UNCERTAIN);
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), -EBUSY);
}

static void a_first_pod_that_failed_does_not_count(void **state)
{
	const struct object *pv cleanup_object = make_pv(RWOP);
	struct volume_spec spec = { .name = "pv", .pv = pv };
	struct table *table = *state;

	publish(table, "first", -ENOENT, ERROR_FINAL);
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), 0);
}

static void other_access_modes_serve_many_pods(void **state)
{
	struct persistent_volume two_modes = { .access_modes = ACCESS_READ_WRITE_ONCE_POD |
							       ACCESS_READ_WRITE_ONCE };
	const struct object object = { .kind = KIND_PERSISTENT_VOLUME,
				       .persistent_volume = &two_modes };
	struct volume_spec spec = { .name = "pv", .pv = &object };
	struct table *table = *state;

	/* case 329, [RWOP, RWO] is no exclusive volume */
	publish(table, "first", 0, ERROR_FINAL);
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), 0);
	two_modes.access_modes = ACCESS_READ_WRITE_ONCE;
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), 0);
	spec.pv = NULL;
	assert_int_equal(check_single_pod(table->actual, "v", "second", &spec, NULL), 0);
}

/* ---- which step passes what ---- */

static void each_kind_of_step_has_its_checks(void **state)
{
	const struct object *pv cleanup_object = make_pv(RWOP "\"mountOptions\": [\"noatime\"], ");
	struct desired_volume want = { .unique_name = "v", .plugin = &rich_plugin };
	struct desired_pod want_pod = { .pod_uid = "second", .spec = { .name = "pv", .pv = pv } };
	struct step step = { .kind = STEP_PUBLISH,
			     .unique_name = "v",
			     .pod_uid = "second",
			     .want = &want,
			     .want_pod = &want_pod };
	struct table *table = *state;

	publish(table, "first", 0, ERROR_FINAL);
	assert_int_equal(check_step(&step, &node_labels, table->actual, NULL), -EBUSY);
	step.kind = STEP_STAGE;
	assert_int_equal(check_step(&step, &node_labels, table->actual, NULL), 0);
	want.plugin = &plain_plugin;
	assert_int_equal(check_step(&step, &node_labels, table->actual, NULL), -EOPNOTSUPP);
	step = (struct step){ .kind = STEP_UNPUBLISH, .unique_name = "v", .pod_uid = "first" };
	assert_int_equal(check_step(&step, &node_labels, table->actual, NULL), 0);
}

#define TABLE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(affinity_to_another_host_fails),
		cmocka_unit_test(affinity_without_terms_matches_nothing),
		cmocka_unit_test(one_matching_term_is_enough),
		cmocka_unit_test(fields_are_ignored),
		cmocka_unit_test(all_expressions_of_a_term_must_match),
		cmocka_unit_test(volumes_without_affinity_fit_everywhere),
		cmocka_unit_test(mount_options_need_a_plugin_that_has_them),
		TABLE(the_second_pod_is_refused),
		TABLE(an_uncertain_first_pod_counts),
		TABLE(a_first_pod_that_failed_does_not_count),
		TABLE(other_access_modes_serve_many_pods),
		TABLE(each_kind_of_step_has_its_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
