/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_authorize - each role against each kind of access, and what an object may hold
 */
#include "api/auth/authorize.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Which of view, edit, operator and admin may: a letter each, '-' for those that may not. */
static const struct row {
	struct access access;
	const char *may;
} rows[] = {
	{ { .verb = "get", .resource = "pods" }, "veoa" },
	{ { .verb = "watch", .resource = "persistentvolumes" }, "veoa" },
	{ { .verb = "list", .group = "storage.k8s.io", .resource = "storageclasses" }, "veoa" },
	{ { .verb = "get", .resource = "secrets" }, "---a" },
	{ { .verb = "list", .resource = "secrets" }, "---a" },
	{ { .verb = "create", .resource = "secrets" }, "---a" },
	{ { .verb = "create", .resource = "pods" }, "-eoa" },
	{ { .verb = "patch", .resource = "pods", .subresource = "status" }, "-eoa" },
	{ { .verb = "delete", .resource = "persistentvolumeclaims" }, "-eoa" },
	{ { .verb = "update", .resource = "persistentvolumes" }, "-eoa" },
	{ { .verb = "update", .resource = "persistentvolumes", .subresource = "status" }, "--oa" },
	{ { .verb = "delete", .resource = "persistentvolumes" }, "--oa" },
	{ { .verb = "deletecollection", .resource = "persistentvolumes" }, "--oa" },
	{ { .verb = "create", .resource = "namespaces" }, "--oa" },
	{ { .verb = "update",
	    .resource = "configmaps",
	    .name_space = "local-path-storage",
	    .name = "local-path-config" },
	  "--oa" },
	{ { .verb = "get",
	    .resource = "configmaps",
	    .name_space = "local-path-storage",
	    .name = "local-path-config" },
	  "veoa" },
	{ { .verb = "update",
	    .resource = "configmaps",
	    .name_space = "default",
	    .name = "local-path-config" },
	  "-eoa" },
	{ { .verb = "create", .resource = "configmaps" }, "-eoa" },
	{ { .verb = "create", .group = "storage.k8s.io", .resource = "storageclasses" }, "--oa" },
	{ { .verb = "create", .resource = "serviceaccounts" }, "-eoa" },
	{ { .verb = "create", .resource = "serviceaccounts", .subresource = "token" }, "---a" },
	{ { .verb = "create", .group = "authentication.k8s.io", .resource = "tokenreviews" },
	  "-eoa" },
	{ { .verb = "create", .group = "authentication.k8s.io", .resource = "selfsubjectreviews" },
	  "veoa" },
	{ { .verb = "create",
	    .group = "authorization.k8s.io",
	    .resource = "selfsubjectaccessreviews" },
	  "veoa" },
	/* What is not served is allowed to no one. */
	{ { .verb = "create", .group = "apps", .resource = "deployments" }, "----" },
	{ { .verb = "get", .resource = "pods", .subresource = "log" }, "----" },
	{ { .verb = "impersonate", .resource = "pods" }, "----" },
	{ { .verb = "*", .resource = "pods" }, "---a" },
	{ { .verb = "*", .resource = "*" }, "---a" },
	{ { .verb = "get", .resource = "*" }, "---a" },
	{ { .verb = "get", .path = "podvol/v1/volumes" }, "veoa" },
	{ { .verb = "post", .path = "podvol/v1/apply" }, "-eoa" },
	{ { .verb = "get", .path = "podvol/v1/keys" }, "veoa" },
	{ { .verb = "post", .path = "podvol/v1/keys" }, "---a" },
	{ { .verb = "get", .path = "podvol/v1/kubeconfig" }, "---a" },
	{ { .verb = "get", .path = "podvol/v1/tokens" }, "---a" },
	{ { .verb = "delete", .path = "podvol/v1/tokens/x" }, "---a" },
	{ { .verb = "delete", .path = "podvol/v1/certificates/x" }, "---a" },
	{ { .verb = "post", .path = "podvol/v1/drivers/a/call" }, "---a" },
	{ { .verb = "post", .path = "podvol/v1/volumes/a/force" }, "---a" },
	{ { .verb = "get", .path = "podvol/v1/drivers/a" }, "veoa" },
};

static const char *const role_list[] = { "view", "edit", "operator", "admin" };

static void test_the_table(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct access *access = &rows[i].access;
		char may[5] = "----";
		const char *why;

		for (size_t role = 0; role < ARRAY_SIZE(role_list); role++)
			if (authorize(role_rights(role_list[role]), access, &why))
				may[role] = role_list[role][0];
		if (strcmp(may, rows[i].may) != 0)
			fail_msg("%s %s/%s %s: '%s', not '%s'", access->verb,
				 access->resource ? access->resource : "",
				 access->subresource ? access->subresource : "",
				 access->path ? access->path : "", may, rows[i].may);
		assert_false(authorize(0, access, &why));
	}
}

static void test_names(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(role_list); i++)
		assert_string_equal(role_name(role_rights(role_list[i])), role_list[i]);
	assert_int_equal(role_rights("root"), 0);
	assert_int_equal(role_rights(""), 0);
	assert_string_equal(role_name(0), "none");
}

#define POD(volume)                                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","                    \
	"\"namespace\":\"default\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"  \
	"\"volumes\":[{\"name\":\"e\",\"emptyDir\":{}},{\"name\":\"v\"," volume "}]}}"
#define VOLUME(source) ANNOTATED("", source)
#define ANNOTATED(key, source)                                                                     \
	"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"a\","       \
	"\"annotations\":{" key "}},"                                                              \
	"\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"]," source \
	"}}"

#define DELETION_SECRET "\"volume.kubernetes.io/provisioner-deletion-secret-"
#define CSI             "\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"h\"}"

#define CONFIG_MAP(space, name)                                                                    \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name             \
	"\",\"namespace\":\"" space "\"}}"

#define MOVED(to)                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"        \
	"\"c\",\"namespace\":\"n\",\"annotations\":{\"podvol.io/move-to\":\"" to                   \
	"\"}},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{"         \
	"\"storage\":\"1Gi\"}}}}"

#define TEMPLATE(to)                                                                               \
	POD("\"ephemeral\":{\"volumeClaimTemplate\":{\"metadata\":{\"annotations\":{"              \
	    "\"podvol.io/move-to\":\"" to "\"}},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"    \
	    "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}}")

static void test_contents(void **state)
{
	static const struct {
		const char *text, *refused; /* NULL: not */
	} objects[] = {
		{ POD("\"emptyDir\":{}"), NULL },
		{ POD("\"secret\":{\"secretName\":\"s\"}"), NULL },
		{ POD("\"hostPath\":{\"path\":\"/etc\"}"), "spec.volumes[1].hostPath" },
		{ POD("\"nfs\":{\"server\":\"s\",\"path\":\"/\"}"), "spec.volumes[1].nfs" },
		{ POD("\"flexVolume\":{\"driver\":\"podvol.io/x\"}"),
		  "spec.volumes[1].flexVolume" },
		{ VOLUME("\"hostPath\":{\"path\":\"/etc\"}"), "spec.hostPath" },
		{ VOLUME("\"nfs\":{\"server\":\"s\",\"path\":\"/\"}"), "spec.nfs" },
		{ VOLUME("\"flexVolume\":{\"driver\":\"podvol.io/x\"}"), "spec.flexVolume" },
		{ VOLUME("\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"h\"}"), NULL },
		{ CONFIG_MAP("local-path-storage", "local-path-config"),
		  "configmap 'local-path-storage/local-path-config': role edit may" },
		{ CONFIG_MAP("local-path-storage", "other"), NULL },
		{ CONFIG_MAP("default", "local-path-config"), NULL },
		{ VOLUME("\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"h\","
			 "\"nodeStageSecretRef\":{\"name\":\"s\",\"namespace\":\"kube-system\"}}"),
		  "spec.csi.nodeStageSecretRef" },
		{ ANNOTATED(DELETION_SECRET "name\":\"s\"", CSI),
		  "metadata.annotations.volume.kubernetes.io/provisioner-deletion-secret-name" },
		{ ANNOTATED(DELETION_SECRET "namespace\":\"kube-system\"", CSI),
		  "metadata.annotations.volume.kubernetes.io/provisioner-deletion-secret-namesp" },
		{ ANNOTATED("\"a\":\"b\"", CSI), NULL },
		{ MOVED("fast"), NULL },
		{ MOVED("/etc"), "metadata.annotations.podvol.io/move-to" },
		{ TEMPLATE("fast"), NULL },
		{ TEMPLATE("/etc"), "spec.volumes[1].ephemeral.volumeClaimTemplate.metadata" },
	};
	const struct json_limits limits = { .bytes = 4096, .depth = 16 };

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		cleanup_object const struct object *object = NULL;
		cleanup_json struct cJSON *tree = NULL;
		struct failure why = { .error = 0 };

		assert_int_equal(
			json_parse(objects[i].text, strlen(objects[i].text), &limits, &tree, &why),
			0);
		if (object_from_json(tree, &object, &why) < 0)
			fail_msg("%zu: %s", i, why.text);
		assert_int_equal(authorize_object(role_rights("operator"), object, &why), 0);
		assert_int_equal(authorize_object(role_rights("edit"), object, &why),
				 objects[i].refused ? -EACCES : 0);
		if (objects[i].refused)
			assert_int_equal(
				strncmp(why.text, objects[i].refused, strlen(objects[i].refused)),
				0);
	}
}

static int write_volume(unsigned int rights, const char *source)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 16 };
	cleanup_object const struct object *object = NULL;
	cleanup_json struct cJSON *tree = NULL;
	char text[1024];

	(void) snprintf(
		text, sizeof(text),
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":"
		"\"v\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":["
		"\"ReadWriteOnce\"],%s,\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
		"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}]}}}}",
		source);
	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	assert_int_equal(object_from_json(tree, &object, NULL), 0);
	return authorize_object(rights, object, NULL);
}

/* Of no role: where volume-paths says what a local volume can name. */
static void bounded_local_volumes_are_for_edit(void **state)
{
	static const char local[] = "\"local\":{\"path\":\"/a\"}";
	const unsigned int edit = role_rights("edit"), bounded = edit | RIGHT_BOUNDED_LOCAL;

	assert_int_equal(write_volume(edit, local), -EACCES);
	assert_int_equal(write_volume(bounded, local), 0);
	assert_int_equal(write_volume(bounded, "\"hostPath\":{\"path\":\"/a\"}"), -EACCES);
	assert_string_equal(role_name(bounded), "edit");
}

#define CONTAINER(env, expression)                                                                 \
	"{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"," env ",\"volumeMounts\":["             \
	"{\"name\":\"v\",\"mountPath\":\"/a\"},{\"name\":\"v\",\"mountPath\":\"/"                  \
	"b\",\"subPathExpr\":"                                                                     \
	"\"" expression "\"}]}]}"
#define OF_SECRET(name)                                                                            \
	"{\"name\":\"" name "\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}"
#define OF_POD(name)                                                                               \
	"{\"name\":\"" name "\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}"
#define OF_MAP(name)                                                                               \
	"{\"name\":\"" name "\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"m\",\"key\":\"k\"," \
	"\"optional\":true}}}"
#define VALUE(name, value) "{\"name\":\"" name "\",\"value\":\"" value "\"}"
#define ENV(list)          "\"env\":[" list "]"
#define ALL_OF_SECRET      "\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]"

/* A difference from Kubernetes: who may not read Secrets makes no path from one. */
static void test_no_path_from_a_secret(void **state)
{
	static const struct {
		const char *spec, *variable; /* NULL: not refused */
	} cases[] = {
		{ CONTAINER(ENV(OF_SECRET("S")), "a/$(S)"), "'S'" },
		{ CONTAINER(ENV(OF_SECRET("S") "," OF_POD("P")), "$(P)"), NULL },
		{ CONTAINER(ENV(OF_SECRET("S") "," VALUE("V", "x$(S)")), "$(V)"), "'V'" },
		{ CONTAINER(ENV(OF_SECRET("S") "," VALUE("V", "$(S)") "," VALUE("W", "$(V)")),
			    "$(W)"),
		  "'W'" },
		{ CONTAINER(ENV(OF_SECRET("S") "," VALUE("S", "plain")), "$(S)"), NULL },
		{ CONTAINER(ENV(VALUE("S", "plain") "," OF_SECRET("S")), "$(S)"), "'S'" },
		{ CONTAINER(ENV(OF_MAP("M")), "$(M)"), NULL },
		{ CONTAINER(ENV(OF_SECRET("M") "," OF_MAP("M")), "$(M)"), "'M'" },
		{ CONTAINER(ALL_OF_SECRET, "$(ANY)"), "'ANY'" },
		{ CONTAINER(ALL_OF_SECRET "," ENV(OF_POD("P")), "$(P)"), NULL },
		{ CONTAINER(ALL_OF_SECRET "," ENV(OF_MAP("M")), "$(M)"), "'M'" },
		{ CONTAINER(ALL_OF_SECRET "," ENV(VALUE("V", "$(ANY)")), "$(V)"), "'V'" },
		{ CONTAINER(ALL_OF_SECRET, "plain"), NULL },
	};
	static const char field[] =
		"spec.containers[1].volumeMounts[1].subPathExpr: Forbidden: variable ";
	const struct json_limits limits = { .bytes = 4096, .depth = 16 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_json struct cJSON *tree = NULL;
		struct failure why = { .error = 0 };

		print_message("# %s\n", cases[i].spec);
		assert_int_equal(
			json_parse(cases[i].spec, strlen(cases[i].spec), &limits, &tree, &why), 0);
		assert_int_equal(secret_paths_check(tree, &why), cases[i].variable ? -EACCES : 0);
		if (cases[i].variable) {
			assert_memory_equal(why.text, field, strlen(field));
			assert_non_null(strstr(why.text, cases[i].variable));
		}
	}
}

static void test_roles_that_may_not_read_secrets(void **state)
{
	static const struct {
		const char *role;
		int result;
	} cases[] = { { "edit", -EACCES }, { "operator", -EACCES }, { "admin", 0 } };
	static const char text[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
		"\"namespace\":\"default\"},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"image\":\"i\"," ENV(
			OF_SECRET("S")) ",\"volumeMounts\":[{\"name\":\"e\","
					"\"mountPath\":\"/e\",\"subPathExpr\":\"$(S)\"}]}],"
					"\"volumes\":[{\"name\":\"e\",\"emptyDir\":{}}]}}";
	const struct json_limits limits = { .bytes = 4096, .depth = 16 };
	cleanup_object const struct object *object = NULL;
	cleanup_json struct cJSON *tree = NULL;
	struct failure why = { .error = 0 };

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, &why), 0);
	if (object_from_json(tree, &object, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(authorize_object(role_rights(cases[i].role), object, &why),
				 cases[i].result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table),
		cmocka_unit_test(bounded_local_volumes_are_for_edit),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_no_path_from_a_secret),
		cmocka_unit_test(test_roles_that_may_not_read_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
