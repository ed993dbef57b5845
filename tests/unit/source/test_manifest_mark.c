/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_mark - what an object keeps, takes and loses when its manifest is applied
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "source/manifest_mark.h"
#include "source/source.h"

#include <string.h>

static const struct manifest_origin origin = { "a.yaml", 0xabcdef, "this-node" };

#define POD(meta, spec, status)                                                                    \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'ns'" meta             \
	"},'spec':{'containers':[{'name':'c','image':'i'}]" spec "}" status "}"
#define CLAIM(meta, spec, status)                                                                  \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'p','namespace':"    \
	"'ns'" meta "},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage'" \
	":'1Gi'}}" spec "}" status "}"
#define VOLUME(meta, spec, status)                                                                 \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'p'" meta                 \
	"},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{"      \
	"'path':'/d'}" spec "}" status "}"

/* What is made is whole: read again, nothing is added to it or refused. */
static void assert_whole(const struct object *object)
{
	cleanup_object const struct object *again = NULL;

	assert_int_equal(object_parse_json(object->json, object->json_length, &again, NULL), 0);
	assert_string_equal(again->json, object->json);
}

static const struct object *made(const char *document)
{
	cleanup_object const struct object *object = object_of(document);
	const struct object *result = NULL;

	assert_int_equal(manifest_object_new(object, &origin, NULL, &result, NULL), 0);
	assert_whole(result);
	return result;
}

static const struct object *updated(const char *document, const char *before)
{
	cleanup_object const struct object *object = object_of(document);
	cleanup_object const struct object *old = object_of(before);
	const struct object *result = NULL;

	assert_int_equal(manifest_object_update(object, old, &origin, &result, NULL), 0);
	return result;
}

static void assert_has(const struct object *object, const char *text, bool has)
{
	if ((strstr(object->json, text) != NULL) != has)
		fail_msg("%s %s '%s'", object->json, has ? "lacks" : "has", text);
}

/* Printed with escapes; its state and the hash stand behind it. */
static void strange_file_names_are_read_back(void **state)
{
	static const struct manifest_origin strange = { "a\"b\\.\n\303\244.yaml", 7, "this-node" };
	cleanup_object const struct object *plain = object_of(POD("", "", ""));
	cleanup_object const struct object *object = NULL;
	struct manifest_mark mark;

	assert_int_equal(manifest_object_new(plain, &strange, NULL, &object, NULL), 0);
	assert_int_equal(manifest_mark_read(object, &mark), 0);
	assert_true(mark.is_marked && !mark.is_gone);
	assert_string_equal(mark.file, strange.file);
	assert_int_equal(mark.hash, 7);
}

static void marks_are_read_back(void **state)
{
	cleanup_object const struct object *plain = object_of(POD("", "", ""));
	cleanup_object const struct object *object = made(POD("", "", ""));
	cleanup_object const struct object *gone = NULL;
	struct manifest_mark mark;

	assert_int_equal(manifest_mark_read(plain, &mark), 0);
	assert_false(mark.is_marked);
	assert_int_equal(manifest_mark_read(object, &mark), 0);
	assert_true(mark.is_marked);
	assert_false(mark.is_gone);
	assert_string_equal(mark.file, "a.yaml");
	assert_int_equal(mark.hash, 0xabcdef);

	assert_int_equal(manifest_object_gone(object, &gone, NULL), 0);
	assert_int_equal(manifest_mark_read(gone, &mark), 0);
	assert_true(mark.is_marked && mark.is_gone);
	assert_int_equal(mark.hash, 0xabcdef);
}

/* A document may have annotations up to their limit; the marks are too many then. */
static void marks_count_among_annotations(void **state)
{
	enum { LIMIT = 256 * 1024 };
	char *text = malloc(LIMIT + 256);
	const struct object *result = NULL;
	const struct object *object;
	struct failure why;

	assert_non_null(text);
	(void) snprintf(text, LIMIT + 256, POD(",'annotations':{'a':'%0*d'}", "", ""), LIMIT - 1,
			0);
	object = object_of(text);
	assert_int_equal(manifest_object_new(object, &origin, NULL, &result, &why), -EINVAL);
	assert_non_null(strstr(why.text, "metadata.annotations"));
	assert_null(result);
	(void) object_unref(object);
	free(text);
}

static void kinds_are_made_whole(void **state)
{
	cleanup_object const struct object *claim =
		made(CLAIM(",'labels':{'a':'b'}", ",'volumeName':'v'", ""));
	cleanup_object const struct object *volume =
		made(VOLUME("", ",'mountOptions':['ro']", ",'status':{'phase':'Bound'}"));

	assert_has(claim, "volumeName", true);
	assert_has(volume, "Bound", false);
}

static void word_elsewhere_is_no_mark(void **state)
{
	cleanup_object const struct object *object =
		object_of(POD(",'annotations':{'note':'podvol.io/manifest'}", "", ""));
	struct manifest_mark mark;

	assert_int_equal(manifest_mark_read(object, &mark), 0);
	assert_false(mark.is_marked);
}

static void document_does_not_bring_what_a_server_writes(void **state)
{
	cleanup_object const struct object *object =
		made(POD(",'uid':'u-1','resourceVersion':'77','generation':9,'creationTimestamp':"
			 "'2020-01-01T00:00:00Z','annotations':{'podvol.io/manifest-state':'gone'}",
			 "", ",'status':{'phase':'Succeeded'}"));

	assert_string_equal(object->meta.uid, "u-1");
	assert_int_equal(object->meta.resource_version, 0);
	assert_has(object, "2020-01-01", false);
	assert_has(object, "\"gone\"", false);
	assert_string_equal(object->pod->phase, "");
}

static void node_name_is_filled_in_only_where_it_is_missing(void **state)
{
	cleanup_object const struct object *ours = made(POD("", "", ""));
	cleanup_object const struct object *other = made(POD("", ",'nodeName':'other'", ""));

	assert_string_equal(ours->pod->node_name, "this-node");
	assert_string_equal(other->pod->node_name, "other");
}

static void used_uid_is_not_used_again(void **state)
{
	cleanup_object const struct object *document = object_of(POD(",'uid':'u-1'", "", ""));
	cleanup_object const struct object *same = NULL, *other = NULL;

	assert_int_equal(manifest_object_new(document, &origin, "u-1", &same, NULL), 0);
	assert_string_equal(same->meta.uid, "");
	assert_int_equal(manifest_object_new(document, &origin, "u-0", &other, NULL), 0);
	assert_string_equal(other->meta.uid, "u-1");
}

static void binding_of_a_claim_survives_its_manifest(void **state)
{
	cleanup_object const struct object *claim = updated(
		CLAIM(",'annotations':{'mine':'new'}", "", ""),
		CLAIM(",'uid':'u','finalizers':['kubernetes.io/pvc-protection'],'annotations':{"
		      "'pv.kubernetes.io/bind-completed':'yes','mine':'old','dropped':'x',"
		      "'notkubernetes.io/x':'y'}",
		      ",'volumeName':'v','storageClassName':'default'",
		      ",'status':{'phase':'Bound'}"));

	assert_string_equal(claim->claim->volume_name, "v");
	assert_string_equal(claim->claim->storage_class, "default");
	assert_true(claim->claim->bind_completed);
	assert_true(claim->claim->has_protection_finalizer);
	assert_int_equal(claim->claim->phase, CLAIM_BOUND);
	assert_has(claim, "\"mine\":\"new\"", true);
	assert_has(claim, "dropped", false);
	assert_has(claim, "notkubernetes", false);
}

static void manifest_may_name_another_volume(void **state)
{
	cleanup_object const struct object *claim =
		updated(CLAIM("", ",'volumeName':'w'", ""), CLAIM("", ",'volumeName':'v'", ""));

	assert_string_equal(claim->claim->volume_name, "w");
}

#define REF(name, uid) ",'claimRef':{'namespace':'ns','name':'" name "'" uid "}"

static void binding_of_a_volume_survives_its_manifest(void **state)
{
	static const char bound[] =
		VOLUME("", REF("c", ",'uid':'u'"), ",'status':{'phase':'Bound'}");
	cleanup_object const struct object *silent = updated(VOLUME("", "", ""), bound);
	cleanup_object const struct object *same = updated(VOLUME("", REF("c", ""), ""), bound);
	cleanup_object const struct object *other = updated(VOLUME("", REF("d", ""), ""), bound);

	assert_string_equal(silent->persistent_volume->claim_uid, "u");
	assert_int_equal(silent->persistent_volume->phase, VOLUME_BOUND);
	assert_string_equal(same->persistent_volume->claim_uid, "u");
	assert_string_equal(other->persistent_volume->claim_name, "d");
	assert_string_equal(other->persistent_volume->claim_uid, "");
}

static void finalizers_of_both_are_kept(void **state)
{
	cleanup_object const struct object *claim =
		updated(CLAIM(",'finalizers':['a.io/mine','b.io/both']", "", ""),
			CLAIM(",'finalizers':['b.io/both','c.io/theirs']", "", ""));

	assert_has(claim, "[\"b.io/both\",\"c.io/theirs\",\"a.io/mine\"]", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_read_back),
		cmocka_unit_test(strange_file_names_are_read_back),
		cmocka_unit_test(marks_count_among_annotations),
		cmocka_unit_test(kinds_are_made_whole),
		cmocka_unit_test(word_elsewhere_is_no_mark),
		cmocka_unit_test(document_does_not_bring_what_a_server_writes),
		cmocka_unit_test(node_name_is_filled_in_only_where_it_is_missing),
		cmocka_unit_test(used_uid_is_not_used_again),
		cmocka_unit_test(binding_of_a_claim_survives_its_manifest),
		cmocka_unit_test(manifest_may_name_another_volume),
		cmocka_unit_test(binding_of_a_volume_survives_its_manifest),
		cmocka_unit_test(finalizers_of_both_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
