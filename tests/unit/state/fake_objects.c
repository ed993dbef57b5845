/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_objects - objects and a plugin made by hand; see fake_objects.h
 *
 * Only what the tables look at is filled in.
 */
#include "fake_objects.h"

long fake_references;

const struct object *__wrap_object_ref(const struct object *object);
const struct object *__wrap_object_unref(const struct object *object);

const struct object *__wrap_object_ref(const struct object *object)
{
	fake_references += object != NULL;
	return object;
}

const struct object *__wrap_object_unref(const struct object *object)
{
	fake_references -= object != NULL;
	return NULL;
}

void fake_pod_init(struct fake_pod *fake, const char *name, const char *uid)
{
	*fake = (struct fake_pod){
		.object = { .kind = KIND_POD,
			    .meta = { .name_space = "default",
				      .name = name,
				      .uid = uid,
				      .deletion_timestamp = "" } },
		.volume = { .name = "data", .source = SOURCE_EMPTY_DIR, .source_key = "emptyDir" },
	};
	fake->pod = (struct pod){ .object = &fake->object,
				  .node_name = "",
				  .phase = "",
				  .volumes = &fake->volume,
				  .volume_count = 1 };
	fake->object.pod = &fake->pod;
}

void fake_pv_init(struct fake_pv *fake, const char *name, unsigned int access_modes)
{
	*fake = (struct fake_pv){
		.object = { .kind = KIND_PERSISTENT_VOLUME,
			    .meta = { .name_space = "",
				      .name = name,
				      .uid = name,
				      .deletion_timestamp = "" } },
		.pv = { .access_modes = access_modes },
	};
	fake->pv.object = &fake->object;
	fake->object.persistent_volume = &fake->pv;
}

static bool always(const struct volume_spec *spec, const struct object_finder *objects)
{
	return spec != NULL;
}

const struct volume_plugin fake_plugin = { .name = "example.com/fake" };

const struct volume_plugin fake_remount_plugin = { .name = "example.com/remount",
						   .requires_remount = always };

const struct volume_plugin fake_device_plugin = { .name = "example.com/device",
						  .traits = VOLUME_STAGES_DEVICE };
