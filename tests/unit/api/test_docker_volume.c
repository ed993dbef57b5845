/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_docker_volume - docker's volumes: what may be asked for, and which objects say so
 *
 * The store is a real one, the agent canned; mounts are in test_docker_mount.c.
 */
#include "docker_world.h"

#include "base/cleanup.h"
#include "object/kinds/persistent_volume.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- the protocol ---- */

static void test_every_path_and_method(void **state)
{
	static const struct {
		enum api_method method;
		const char *uri, *body;
		int status;
		const char *says; /* in the answer */
	} rows[] = {
		{ METHOD_POST, "/Plugin.Activate", NULL, 200,
		  "{\"Implements\":[\"VolumeDriver\"]}" },
		{ METHOD_POST, "/Plugin.Activate", "{}\n", 200, "VolumeDriver" },
		{ METHOD_POST, "/VolumeDriver.Capabilities", "{}\n", 200,
		  "{\"Capabilities\":{\"Scope\":\"local\"}}" },
		{ METHOD_POST, "/VolumeDriver.List", "{}\n", 200, "\"Volumes\":[]" },
		{ METHOD_GET, "/VolumeDriver.List", NULL, 405, "is a POST" },
		{ METHOD_POST, "/VolumeDriver.Other", "{}", 404, "serves docker" },
		{ METHOD_POST, "/api/v1/pods", "{}", 404, "serves docker" },
		{ METHOD_POST, "/", "{}", 404, "serves docker" },
		{ METHOD_POST, "/VolumeDriver.Get", NULL, 400, "\"Err\":" },
		{ METHOD_POST, "/VolumeDriver.Get", "[]", 400, "not a JSON object" },
		{ METHOD_POST, "/VolumeDriver.Get", "{\"Name\":\"a\"}x", 400, "\"Err\":" },
		{ METHOD_POST, "/VolumeDriver.Get", "{}", 400, "Name: must be" },
		{ METHOD_POST, "/VolumeDriver.Get", "{\"Name\":7}", 400, "Name: must be" },
		{ METHOD_POST, "/VolumeDriver.Get", "{\"Name\":\"a\"}", 500,
		  "volume 'a' not found" },
		{ METHOD_POST, "/VolumeDriver.Path", "{\"Name\":\"a\"}", 500,
		  "volume 'a' not found" },
		{ METHOD_POST, "/VolumeDriver.Remove", "{\"Name\":\"a\"}", 500,
		  "volume 'a' not found" },
		{ METHOD_POST, "/VolumeDriver.Mount", "{\"Name\":\"a\",\"ID\":\"1\"}", 500,
		  "volume 'a' not found" },
		{ METHOD_POST, "/VolumeDriver.Unmount", "{\"Name\":\"a\"}", 400, "ID: must be" },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(docker_request(world, rows[i].method, rows[i].uri, rows[i].body),
				 rows[i].status);
		assert_non_null(strstr(world_reply(world), rows[i].says));
		assert_string_equal(world->exchange.reply_type,
				    "application/vnd.docker.plugins.v1.2+json");
	}
}

static void test_long_names_and_deep_bodies(void **state)
{
	struct world *world = *state;
	char name[API_DOCKER_NAME_BYTES_MAX + 2], body[2 * sizeof(name)];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	(void) snprintf(body, sizeof(body), "{\"Name\":\"%s\"}", name);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Get", body), 400);
	(void) snprintf(body, sizeof(body), "{\"Name\":\"%s\"}", name + 1);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Get", body), 500);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Get",
					"{\"a\":[[[[[[[[[[]]]]]]]]]]}"),
			 400);
}

/* ---- create ---- */

static void test_options(void **state)
{
	static const struct {
		const char *options, *says; /* NULL: it is made */
	} rows[] = {
		{ "null", "name one volume: " },
		{ "{}", "name one volume: " },
		{ "{\"pv\":\"\"}", "pv: '' is not the name" },
		{ "{\"pv\":3}", "pv: '' is not the name" },
		{ "{\"pv\":\"disk\",\"claim\":\"a/b\"}", "name one volume: " },
		{ "{\"claim\":\"b\"}", "claim: 'b' is not NAMESPACE/NAME" },
		{ "{\"claim\":\"/b\"}", "is not NAMESPACE/NAME" },
		{ "{\"claim\":\"a/\"}", "is not NAMESPACE/NAME" },
		{ "{\"pv\":\"disk\",\"size\":\"1G\"}", "class= and size= must be given together" },
		{ "{\"class\":\"fast\"}", "class= and size= must be given together" },
		{ "{\"class\":\"fast\",\"pv\":\"disk\",\"size\":\"1G\"}", "name one volume: " },
		{ "{\"class\":\"fast\",\"size\":\"1g\"}", "size: '1g' is not a quantity" },
		{ "{\"class\":\"fast\",\"size\":\"1G\"}",
		  "class 'fast': there is no such StorageClass" },
		{ "{\"pv\":\"disk\",\"o\":\"bind\"}", "'o' is not an option" },
		{ "{\"pv\":\"none\"}", "pv 'none': there is no such PersistentVolume" },
		{ "{\"pv\":\"taken\"}",
		  "pv 'taken': belongs to the claim 'default/other': say -o claim=default/other" },
		{ "{\"pv\":\"device\"}", "pv 'device': is a block device" },
		{ "{\"claim\":\"default/none\"}", "claim 'default/none': there is no such claim" },
		{ "{\"claim\":\"default/device\"}", "claim 'default/device': is a block device" },
		{ "{\"pv\":\"disk\"}", NULL },
	};
	struct world *world = *state;
	char body[256];

	docker_store_volumes(world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void) snprintf(body, sizeof(body), "{\"Name\":\"v\",\"Opts\":%s}",
				rows[i].options);
		assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Create", body),
				 rows[i].says ? 500 : 200);
		if (rows[i].says)
			assert_non_null(strstr(world_string(world, "Err"), rows[i].says));
		else
			assert_string_equal(world_reply(world), "{\"Err\":\"\"}");
	}
}

/* Whatever its name is, a volume has objects, and comes back under its name. */
static void test_names_become_objects(void **state)
{
	static const struct {
		const char *name, *object;
	} rows[] = {
		{ "data", "data-855b556730a34a05" },
		{ "My_Data.1", "my-data-1-" },
		{ "___", "" },
		{ "a name that is longer than what can be read of it",
		  "a-name-that-is-longer-th-" },
	};
	struct world *world = *state;
	char object[DOCKER_OBJECT_NAME_BYTES], pod[DOCKER_OBJECT_NAME_BYTES];

	docker_store_volumes(world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		docker_object_name(rows[i].name, object);
		assert_memory_equal(object, rows[i].object, strlen(rows[i].object));
		docker_pod_name(rows[i].name, "some id", pod);
		assert_true(strlen(pod) < DOCKER_OBJECT_NAME_BYTES - 1);
		assert_memory_equal(pod, object, strlen(object));
		docker_create(world, rows[i].name, "claim", "default/shared");
		assert_int_equal(docker_call(world, "/VolumeDriver.Get", rows[i].name), 200);
		assert_string_equal(world_string(world, "Volume.Name"), rows[i].name);
		assert_string_equal(world_string(world, "Volume.Status.claim"), "default/shared");
	}
}

static void test_volume_is_reserved_from_both_sides(void **state)
{
	struct world *world = *state;
	const struct object *pv, *claim;
	struct docker_volume volume;

	docker_store_volumes(world);
	docker_create(world, "data", "pv", "disk");
	assert_true(docker_volume_find(world->agent.store, "data", &volume));
	assert_string_equal(volume.pv, "disk");
	assert_string_equal(volume.name_space, DOCKER_NAMESPACE);
	pv = store_get(world->agent.store, KIND_PERSISTENT_VOLUME, "", "disk");
	assert_string_equal(pv->persistent_volume->claim_namespace, DOCKER_NAMESPACE);
	assert_string_equal(pv->persistent_volume->claim_name, volume.claim);
	assert_string_equal(pv->persistent_volume->claim_uid, "");
	claim = store_get(world->agent.store, KIND_PERSISTENT_VOLUME_CLAIM, DOCKER_NAMESPACE,
			  volume.claim);
	assert_non_null(claim);
	assert_string_equal(claim->claim->volume_name, "disk");
	assert_string_equal(claim->claim->storage_class, "fast");
	assert_int_equal(claim->claim->access_modes, ACCESS_READ_WRITE_ONCE);
	assert_int_equal(quantity_value(&claim->claim->request), 1 << 30);
	assert_false(docker_volume_find(world->agent.store, "DATA", &volume));
}

static void test_create_again(void **state)
{
	struct world *world = *state;
	uint64_t version;

	docker_store_volumes(world);
	docker_create(world, "data", "pv", "disk");
	version = store_resource_version(world->agent.store);
	docker_create(world, "data", "pv", "disk");
	assert_int_equal(store_resource_version(world->agent.store), version);

	assert_int_equal(
		docker_request(world, METHOD_POST, "/VolumeDriver.Create",
			       "{\"Name\":\"data\",\"Opts\":{\"claim\":\"default/shared\"}}"),
		500);
	assert_string_equal(world_string(world, "Err"),
			    "the volume 'data' already exists with other options");
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Create",
					"{\"Name\":\"second\",\"Opts\":{\"pv\":\"disk\"}}"),
			 500);
	assert_string_equal(world_string(world, "Err"), "pv 'disk' is the volume 'data' already");
	/* A claim may have any number of names. */
	docker_create(world, "one", "claim", "default/shared");
	docker_create(world, "two", "claim", "default/shared");
}

static int label(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "labels"), "a", "b");
}

/* As the binder may, when the volume's last claim goes. */
static void test_somebody_writes_in_between(void **state)
{
	struct world *world = *state;
	cleanup_object const struct object *changed = NULL;
	const struct object *pv;
	struct failure why;

	docker_store_volumes(world);
	pv = store_get(world->agent.store, KIND_PERSISTENT_VOLUME, "", "disk");
	assert_int_equal(object_edit(pv, label, NULL, &changed, &why), 0);
	assert_int_equal(store_update(world->agent.store, changed, NULL, NULL, NULL), 0);
	docker_create(world, "data", "pv", "disk");
	pv = store_get(world->agent.store, KIND_PERSISTENT_VOLUME, "", "disk");
	assert_int_equal(pv->meta.labels.count, 1);
	assert_string_equal(pv->persistent_volume->claim_namespace, DOCKER_NAMESPACE);
}

/* podman does not wait for the answer. */
static void test_client_leaves_a_create(void **state)
{
	struct world *world = *state;
	struct docker_volume volume;

	docker_store_volumes(world);
	docker_begin(world, METHOD_POST, "/VolumeDriver.Create",
		     "{\"Name\":\"data\",\"Opts\":{\"pv\":\"disk\"}}");
	assert_int_equal(world->answers, 0);
	world_leave(world);
	for (int i = 0; i < 100 && !docker_volume_find(world->agent.store, "data", &volume); i++)
		assert_true(sd_event_run(world->event, 10000) >= 0);
	assert_true(docker_volume_find(world->agent.store, "data", &volume));
	assert_int_equal(world->answers, 0);
}

static void test_volumes_are_bounded(void **state)
{
	struct world *world = *state;
	char name[16];

	docker_store_volumes(world);
	for (int i = 0; i < API_DOCKER_VOLUMES_MAX; i++) {
		struct docker_volume volume = { .name_space = "default", .claim = "shared" };
		cleanup_object const struct object *record = NULL;
		struct failure why;

		(void) snprintf(volume.name, sizeof(volume.name), "v%d", i);
		docker_object_name(volume.name, volume.object_name);
		assert_int_equal(docker_record_new(&volume, &record, &why), 0);
		assert_int_equal(store_create(world->agent.store, record, NULL, NULL), 0);
	}
	(void) snprintf(name, sizeof(name), "v%d", API_DOCKER_VOLUMES_MAX - 1);
	for (int i = 0; i < 1000 && docker_call(world, "/VolumeDriver.Get", name) != 200; i++)
		assert_true(sd_event_run(world->event, 10000) >= 0);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Create",
					"{\"Name\":\"data\",\"Opts\":{\"pv\":\"disk\"}}"),
			 500);
	assert_string_equal(world_string(world, "Err"), "there are 1000 volumes already");
}

/* ---- remove ---- */

static void test_remove_takes_what_create_made(void **state)
{
	struct world *world = *state;
	struct docker_volume volume;

	docker_store_volumes(world);
	docker_create(world, "data", "pv", "disk");
	docker_create(world, "shared", "claim", "default/shared");
	assert_true(docker_volume_find(world->agent.store, "data", &volume));
	assert_int_equal(docker_call(world, "/VolumeDriver.Remove", "data"), 200);
	assert_int_equal(docker_call(world, "/VolumeDriver.Remove", "shared"), 200);
	assert_int_equal(docker_call(world, "/VolumeDriver.Remove", "shared"), 500);
	docker_assert_going(world, KIND_PERSISTENT_VOLUME_CLAIM, DOCKER_NAMESPACE, volume.claim);
	assert_non_null(
		store_get(world->agent.store, KIND_PERSISTENT_VOLUME_CLAIM, "default", "shared"));
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.List", NULL), 200);
	assert_string_equal(world_string(world, "Volumes.0.Name"), "");

	/* It is reserved for a claim of podvold's that belongs to none: for any name. */
	docker_create(world, "other", "pv", "disk");
}

static void test_mounted_volume_is_not_removed(void **state)
{
	static const struct {
		const char *volumes;
		int status;
	} rows[] = {
		{ "{\"items\":[{\"pod\":\"podvol-docker/data-855b556730a34a05-0123\"}]}", 500 },
		{ "{\"items\":[{\"pod\":\"podvol-docker/data-855b556730a34a05\"},"
		  "{\"pod\":\"default/data-855b55-a\"},{\"pod\":\"\"}]}",
		  200 },
	};
	struct world *world = *state;

	docker_store_volumes(world);
	docker_create(world, "data", "pv", "disk");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world->agent.volumes = rows[i].volumes;
		assert_int_equal(docker_call(world, "/VolumeDriver.Remove", "data"),
				 rows[i].status);
	}
}

/* ---- views ---- */

static void test_list_and_get_name_all(void **state)
{
	struct world *world = *state;

	docker_store_volumes(world);
	docker_create(world, "b", "pv", "disk");
	docker_create(world, "a", "claim", "default/shared");
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.List", "{}\n"), 200);
	assert_string_equal(world_string(world, "Volumes.0.Name"), "a");
	assert_string_equal(world_string(world, "Volumes.1.Name"), "b");
	assert_int_equal(docker_call(world, "/VolumeDriver.Get", "b"), 200);
	assert_string_equal(world_string(world, "Volume.Status.pv"), "disk");
	assert_string_equal(world_string(world, "Volume.Mountpoint"), "");
	assert_int_equal(strlen(world_string(world, "Volume.CreatedAt")),
			 strlen("2026-01-01T00:00:00Z"));
	assert_int_equal(docker_call(world, "/VolumeDriver.Path", "b"), 200);
	assert_string_equal(world_reply(world), "{\"Mountpoint\":\"\",\"Err\":\"\"}");
}

/* ConfigMaps of other people in that namespace are no volumes. */
static void test_foreign_volumes_are_passed_over(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST,
				       "/api/v1/namespaces/podvol-docker/configmaps",
				       "{\"metadata\":{\"name\":\"data-855b556730a34a05\"},"
				       "\"data\":{\"volume\":\"data\",\"claim\":\"c\","
				       "\"claimNamespace\":\"n\"}}"),
			 201);
	assert_int_equal(docker_call(world, "/VolumeDriver.Get", "data"), 500);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.List", NULL), 200);
	assert_string_equal(world_string(world, "Volumes.0.Name"), "");
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		WORLD(test_every_path_and_method),
		WORLD(test_long_names_and_deep_bodies),
		WORLD(test_options),
		WORLD(test_names_become_objects),
		WORLD(test_volume_is_reserved_from_both_sides),
		WORLD(test_create_again),
		WORLD(test_somebody_writes_in_between),
		WORLD(test_client_leaves_a_create),
		WORLD(test_volumes_are_bounded),
		WORLD(test_remove_takes_what_create_made),
		WORLD(test_mounted_volume_is_not_removed),
		WORLD(test_list_and_get_name_all),
		WORLD(test_foreign_volumes_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
