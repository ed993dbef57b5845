/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_world - see docker_world.h
 */
#include "docker_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void docker_begin(struct world *world, enum api_method method, const char *uri, const char *body)
{
	world_prepare(world, method, uri, body);
	world->exchange.form = FORM_DOCKER;
	docker_volume_dispatch(&world->exchange);
}

int docker_request(struct world *world, enum api_method method, const char *uri, const char *body)
{
	docker_begin(world, method, uri, body);
	world_turn(world);
	assert_int_equal(world->answers, 1);
	return world->exchange.status;
}

int docker_call(struct world *world, const char *uri, const char *name)
{
	char body[512];

	(void) snprintf(body, sizeof(body), "{\"Name\":\"%s\"}\n", name);
	return docker_request(world, METHOD_POST, uri, body);
}

void docker_create(struct world *world, const char *name, const char *option, const char *value)
{
	char body[512];

	(void) snprintf(body, sizeof(body), "{\"Name\":\"%s\",\"Opts\":{\"%s\":\"%s\"}}\n", name,
			option, value);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Create", body), 200);
}

static void store_volume(struct world *world, const char *name, const char *more)
{
	char body[512];

	(void) snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"capacity\":{\"storage\":"
		"\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"fast\","
		"\"hostPath\":{\"path\":\"/data\"}%s}}",
		name, more);
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/persistentvolumes", body), 201);
}

static void store_claim(struct world *world, const char *name, const char *mode)
{
	char body[512];

	(void) snprintf(body, sizeof(body),
			"{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"accessModes\":"
			"[\"ReadWriteOnce\"],\"volumeMode\":\"%s\",\"storageClassName\":\"\","
			"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}",
			name, mode);
	assert_int_equal(world_request(world, METHOD_POST,
				       "/api/v1/namespaces/default/persistentvolumeclaims", body),
			 201);
}

void docker_store_volumes(struct world *world)
{
	store_volume(world, "disk", "");
	store_volume(world, "taken",
		     ",\"claimRef\":{\"namespace\":\"default\",\"name\":\"other\"}");
	store_volume(world, "device", ",\"volumeMode\":\"Block\"");
	store_claim(world, "shared", "Filesystem");
	store_claim(world, "device", "Block");
}

void docker_assert_going(struct world *world, enum object_kind kind, const char *name_space,
			 const char *name)
{
	const struct object *object = store_get(world->agent.store, kind, name_space, name);

	assert_true(!object || object->meta.deletes);
}
