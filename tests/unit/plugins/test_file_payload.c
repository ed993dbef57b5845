/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_payload - what the files of configMap, secret, downwardAPI and projected volumes hold,
 * and that what many pods show alike is made once
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"
#include "plugins/payload_cache.h"

#include <string.h>

#define CONF                                                                                       \
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: default}\n"            \
	"data: {one: '1', two: '2'}\nbinaryData: {bytes: AAEC}\n"
#define KEYS                                                                                       \
	"apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: default}\n"               \
	"data: {password: aHVudGVyMg==, one: c2VjcmV0}\n"

enum { OBJECTS_MAX = 4 };

/* A pod with one volume, and what there is of its objects, by name. */
struct world {
	const struct object *pod, *conf, *keys;
	const struct object *objects[OBJECTS_MAX];
	struct file_inputs inputs;
	struct payload payload;
	struct failure failure;
};

static void make(struct world *world, const char *source)
{
	char yaml[2048];

	*world = (struct world){ .conf = object_of(CONF), .keys = object_of(KEYS) };
	(void) snprintf(
		yaml, sizeof(yaml),
		"apiVersion: v1\nkind: Pod\n"
		"metadata: {name: web, namespace: default, uid: u-1, labels: {b: x, a: 'q\"'}}\n"
		"spec:\n"
		"  containers: [{name: c, image: i, resources: {limits: {memory: 100Mi}},"
		" volumeMounts: [{name: v, mountPath: /v}]}]\n"
		"  volumes: [{name: v, %s}]\n",
		source);
	world->pod = object_of(yaml);
	world->inputs = (struct file_inputs){
		.pod = world->pod,
		.source = &world->pod->pod->volumes[0],
		.objects = world->objects,
		.allocatable = { .cpu_millis = 2500, .memory_bytes = 1 << 30 },
	};
	for (size_t i = 0; i < world->inputs.source->object_count; i++) {
		const struct pod_volume_object *named = &world->inputs.source->objects[i];

		if (strcmp(named->name, "missing") != 0)
			world->objects[i] = named->kind == KIND_SECRET ? world->keys : world->conf;
	}
}

static void done(struct world *world)
{
	payload_done(&world->payload);
	object_unref(world->pod);
	object_unref(world->conf);
	object_unref(world->keys);
}

/* "path=data(mode) " of each file; or the failure. */
static void expect(const char *source, const char *wanted)
{
	struct world world;
	char text[1024] = "";

	make(&world, source);
	if (file_payload_build(&world.inputs, &world.payload, &world.failure) < 0)
		(void) snprintf(text, sizeof(text), "%.1023s", world.failure.text);
	for (size_t i = 0; i < world.payload.count; i++) {
		const struct payload_file *file = &world.payload.files[i];
		size_t length = strlen(text);

		(void) snprintf(text + length, sizeof(text) - length, "%s=%.*s(%o) ", file->path,
				(int) file->length, file->data, file->mode);
	}
	assert_string_equal(text, wanted);
	done(&world);
}

/* case 135, case 136, case 137, case 138, case 139 */
static void test_config_maps(void **state)
{
	struct world world;

	expect("configMap: {name: conf, items: [{key: one, path: path/to/foo.txt}]}",
	       "path/to/foo.txt=1(644) ");
	expect("configMap: {name: conf, items: [{key: none, path: x}]}",
	       "configmap references non-existent config key: none");
	expect("configMap: {name: conf, optional: true, items: [{key: none, path: x},"
	       " {key: two, path: why}]}",
	       "why=2(644) ");
	expect("configMap: {name: conf, items: [{key: one, path: a, mode: 256},"
	       " {key: two, path: b}]}",
	       "a=1(400) b=2(644) ");

	make(&world, "configMap: {name: conf, defaultMode: 288}");
	assert_int_equal(file_payload_build(&world.inputs, &world.payload, NULL), 0);
	assert_int_equal(world.payload.count, 3);
	assert_string_equal(world.payload.files[0].path, "bytes");
	assert_int_equal(world.payload.files[0].length, 3);
	assert_memory_equal(world.payload.files[0].data, "\0\1\2", 3);
	assert_int_equal(world.payload.files[0].mode, 0440);
	done(&world);
}

/* case 141: what is optional may be missing; nothing else may */
static void test_missing_objects(void **state)
{
	expect("configMap: {name: missing}", "configmap \"missing\" not found");
	expect("secret: {secretName: missing}", "secret \"missing\" not found");
	expect("configMap: {name: missing, optional: true}", "");
	expect("secret: {secretName: missing, optional: true}", "");
}

static void test_secrets(void **state)
{
	expect("secret: {secretName: keys}", "one=secret(644) password=hunter2(644) ");
	expect("secret: {secretName: keys, items: [{key: none, path: x}]}",
	       "secret references non-existent secret key: none");
}

/* case 143, case 144 */
static void test_projected(void **state)
{
	expect("projected: {sources: [{configMap: {name: conf}}, {secret: {name: keys}}]}",
	       "bytes=(644) one=secret(644) password=hunter2(644) two=2(644) ");
	expect("projected: {sources: [{secret: {name: missing}}, {configMap: {name: conf}},"
	       " {configMap: {name: missing}}]}",
	       "secret \"missing\" not found, configmap \"missing\" not found");
	expect("projected: {defaultMode: 256, sources: []}", "");
	expect("projected: {sources: [{configMap: {name: conf, items: [{key: one, path: a}]}},"
	       " {secret: {name: keys, items: [{key: one, path: a/b}]}}]}",
	       "path 'a/b' leads through 'a', which is a file, too");
}

/* case 148 */
static void test_fields_of_the_pod(void **state)
{
	expect("downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}},"
	       " {path: l, fieldRef: {fieldPath: metadata.labels}},"
	       " {path: a, fieldRef: {fieldPath: \"metadata.labels['b']\"}}]}",
	       "a=x(644) l=a=\"q\\\"\"\nb=\"x\"(644) name=web(644) ");
	expect("downwardAPI: {items: ["
	       "{path: m, resourceFieldRef: {containerName: c, resource: limits.memory,"
	       " divisor: 1Mi}},"
	       "{path: c, resourceFieldRef: {containerName: c, resource: limits.cpu}},"
	       "{path: r, resourceFieldRef: {containerName: c, resource: requests.cpu}}]}",
	       "c=3(644) m=100(644) r=0(644) ");
	expect("downwardAPI: {items: ["
	       "{path: m, resourceFieldRef: {containerName: none, resource: limits.memory}},"
	       "{path: x, resourceFieldRef: {containerName: c, resource: limits.bananas}},"
	       "{path: f, fieldRef: {fieldPath: spec.no}}]}",
	       "container 'none' not found, resource 'limits.bananas' of container 'c': it is not "
	       "set, unsupported fieldPath: spec.no");
}

/* case 140: the API's default is always there, so only what goes around it sees this */
static void test_no_default_mode(void **state)
{
	struct world world;
	struct object bare;

	make(&world, "configMap: {name: conf}");
	bare = *world.pod;
	bare.json = "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"conf\"}}]}}";
	bare.json_length = strlen(bare.json);
	bare.spec.at = (uint32_t) strlen("{\"spec\":");
	bare.spec.length = (uint32_t) (bare.json_length - bare.spec.at - 1);
	world.inputs.pod = &bare;
	assert_int_equal(file_payload_build(&world.inputs, &world.payload, &world.failure),
			 -EINVAL);
	assert_string_equal(world.failure.text, "there is no defaultMode");
	done(&world);
}

/* ---- made once ---- */

static unsigned int builds;
int __real_payload_finish(struct payload *payload, struct failure *reterr);
int __wrap_payload_finish(struct payload *payload, struct failure *reterr);

int __wrap_payload_finish(struct payload *payload, struct failure *reterr)
{
	builds++;
	return __real_payload_finish(payload, reterr);
}

static void test_alike_is_made_once(void **state)
{
	struct shared_payload *first = NULL, *second = NULL, *third = NULL;
	struct payload_cache *cache = NULL;
	const struct object *newer = object_of(CONF);
	struct world a, b, c;

	builds = 0;
	make(&a, "configMap: {name: conf}");
	make(&b, "configMap: {name: conf}");
	make(&c, "configMap: {name: conf, defaultMode: 256}");
	b.objects[0] = c.objects[0] = a.conf; /* one store */
	assert_int_equal(payload_cache_new(&cache), 0);
	assert_int_equal(payload_cache_get(cache, &a.inputs, &first, NULL), 0);
	assert_int_equal(payload_cache_get(cache, &b.inputs, &second, NULL), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(builds, 1);
	assert_int_equal(payload_cache_get(cache, &c.inputs, &third, NULL), 0);
	assert_ptr_not_equal(first, third);
	shared_payload_unref(third);
	shared_payload_unref(second);

	b.objects[0] = newer;
	assert_int_equal(payload_cache_get(cache, &b.inputs, &second, NULL), 0);
	assert_ptr_not_equal(first, second);
	assert_int_equal(builds, 3);
	assert_null(payload_cache_free(cache));
	assert_int_equal(shared_payload_files(first)->count, 3); /* lives on */
	shared_payload_unref(first);
	shared_payload_unref(second);
	object_unref(newer);
	done(&a);
	done(&b);
	done(&c);
}

static void test_what_shows_the_pod_is_its_own(void **state)
{
	struct shared_payload *first = NULL, *second = NULL;
	struct payload_cache *cache = NULL;
	struct world a;

	make(&a, "downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}");
	assert_int_equal(payload_cache_new(&cache), 0);
	assert_int_equal(payload_cache_get(cache, &a.inputs, &first, NULL), 0);
	assert_int_equal(payload_cache_get(cache, &a.inputs, &second, NULL), 0);
	assert_ptr_not_equal(first, second);
	shared_payload_unref(first);
	shared_payload_unref(second);
	assert_null(payload_cache_free(cache));
	done(&a);
}

/* Failures are not kept, and old entries make room. */
static void test_the_cache_is_bounded(void **state)
{
	struct payload_cache *cache = NULL;
	struct shared_payload *shared = NULL;
	struct world worlds[PAYLOADS_KEPT_MAX + 1], bad;

	assert_int_equal(payload_cache_new(&cache), 0);
	make(&bad, "configMap: {name: missing}");
	assert_int_equal(payload_cache_get(cache, &bad.inputs, &shared, &bad.failure), -ENOENT);
	assert_int_equal(payload_cache_get(cache, &bad.inputs, &shared, &bad.failure), -ENOENT);
	done(&bad);

	builds = 0;
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < ARRAY_SIZE(worlds); i++) {
			if (round == 0)
				make(&worlds[i], "configMap: {name: conf}");
			assert_int_equal(payload_cache_get(cache, &worlds[i].inputs, &shared, NULL),
					 0);
			shared_payload_unref(shared);
		}
	assert_int_equal(builds, 2 * ARRAY_SIZE(worlds)); /* each pushed out the one after it */
	assert_null(payload_cache_free(cache));
	for (size_t i = 0; i < ARRAY_SIZE(worlds); i++)
		done(&worlds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_maps),
		cmocka_unit_test(test_missing_objects),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_projected),
		cmocka_unit_test(test_fields_of_the_pod),
		cmocka_unit_test(test_no_default_mode),
		cmocka_unit_test(test_alike_is_made_once),
		cmocka_unit_test(test_what_shows_the_pod_is_its_own),
		cmocka_unit_test(test_the_cache_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
