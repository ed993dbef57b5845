/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_attacher - VolumeAttachments become calls, on a real store, with scripted
 * answers of the driver
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/csi/message_text.h"
#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/csi/csi_controller.h"
#include "controller/attach/csi_attacher_internal.h"
#include "csi/csi.pb-c.h"
#include "object/kinds/volume_attachment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINALIZER "external-attacher/d"
#define BASE      "ControllerPublishVolume{volume_id=h node_id=id-n "
#define RWO       "volume_capability={mount={} access_mode={mode=1}}"
#define PUBLISH   BASE RWO "}\n"
#define UNPUBLISH "ControllerUnpublishVolume{volume_id=h node_id=id-n}\n"

struct world {
	struct store_world store;
	struct controller *attacher;
	bool is_in_use;
};

/* ---- the driver ---- */

static struct csi_driver driver;
static struct csi_call_request pending;
static bool is_pending, is_there;
static unsigned int cancels;
static char diary[4096];

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr);
const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr)
{
	size_t used = strlen(diary);

	assert_false(is_pending);
	assert_string_equal(request->about, "kubernetes.io/csi/d^h");
	assert_string_equal(request->driver, "d");
	(void) snprintf(diary + used, sizeof(diary) - used, "%s",
			csi_method_row(request->method)->name);
	message_text(request->message, diary, sizeof(diary) - 1);
	(void) strncat(diary, "\n", 2);
	pending = *request;
	is_pending = true;
	*ret = (struct csi_call *) &pending;
	return 0;
}

const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name)
{
	return is_there && strcmp(name, "d") == 0 ? &driver : NULL;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	assert_ptr_equal(call, &pending);
	is_pending = false;
	cancels++;
	return NULL;
}

static void answer(enum grpc_code code, const ProtobufCMessage *message)
{
	struct csi_reply reply = {
		.status = { .code = code, .from_server = true, .was_sent = true },
		.message = message,
	};

	assert_true(is_pending);
	(void) snprintf(reply.status.text, sizeof(reply.status.text), "told so");
	is_pending = false;
	pending.done(pending.userdata, &reply);
}

/* ---- the world ---- */

static bool is_in_use(void *userdata, const struct persistent_volume *volume)
{
	return ((const struct world *) userdata)->is_in_use;
}

static bool is_complete(void *userdata)
{
	fail();
	return true;
}

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	fail();
}

static void start(struct world *world)
{
	const struct csi_controller_options options = {
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "n",
			    .event_fn = on_event,
			    .is_in_use = is_in_use,
			    .is_complete = is_complete,
			    .userdata = world },
		.drivers = (struct csi_drivers *) &driver,
	};

	assert_int_equal(csi_controller_new(&csi_attacher_class, &options, &world->attacher), 0);
}

static void restart(struct world *world)
{
	world->attacher = controller_free(world->attacher);
	start(world);
}

static void run(struct world *world)
{
	store_world_settle(&world->store);
}

static void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	world_put(&world->store, object);
	run(world);
}

static void put_volume(struct world *world, const char *spec, const char *csi)
{
	char text[1024];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv'},"
			"'spec':{'capacity':{'storage':'1Gi'},%s,'csi':{'driver':'d',"
			"'volumeHandle':'h'%s}}}",
			spec, csi);
	put(world, text);
}

static int edit_gone(struct cJSON *tree, void *userdata)
{
	json_remove(json_ensure_object(tree, "metadata"), "finalizers");
	return 0;
}

/* Its source cannot be changed: the one before goes, with its finalizers. */
static void replace_volume(struct world *world, const char *spec, const char *csi)
{
	cleanup_object const struct object *made = NULL;
	const struct object *present;

	(void) world_delete(&world->store, KIND_PERSISTENT_VOLUME, "", "pv");
	run(world);
	present = store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", "pv");
	if (present) {
		assert_int_equal(object_edit(present, edit_gone, NULL, &made, NULL), 0);
		assert_int_equal(world_update(&world->store, made), 0);
	}
	put_volume(world, spec, csi);
}

static void put_csi_node(struct world *world)
{
	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n'},"
		   "'spec':{'drivers':[{'name':'d','nodeID':'id-n'}]}}");
}

static void put_attachment(struct world *world)
{
	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'name':"
		   "'a'},'spec':{'attacher':'d','nodeName':'n','source':{'persistentVolumeName':"
		   "'pv'}}}");
}

static void put_node(struct world *world, const char *status)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'status':{%s}}",
			status);
	put(world, text);
}

static const struct volume_attachment *attachment(struct world *world)
{
	const struct object *object =
		store_get(world->store.store, KIND_VOLUME_ATTACHMENT, "", "a");

	return object ? object->volume_attachment : NULL;
}

static bool says(struct world *world, const char *text)
{
	return strstr(attachment(world)->object->json, text) != NULL;
}

static void delete_attachment(struct world *world)
{
	assert_int_equal(world_delete(&world->store, KIND_VOLUME_ATTACHMENT, "", "a"), 0);
	run(world);
}

static void answer_and_run(struct world *world, enum grpc_code code)
{
	answer(code, NULL);
	run(world);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	diary[0] = '\0';
	is_pending = false;
	is_there = true;
	cancels = 0;
	driver = (struct csi_driver){
		.name = "d",
		.capabilities_known = true,
		.has_controller = true,
		.controller_capabilities = 1 << CSI_CAN_PUBLISH_UNPUBLISH_VOLUME,
	};
	put_csi_node(world);
	put_volume(world, "'accessModes':['ReadWriteOnce']", "");
	start(world);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	world->attacher = controller_free(world->attacher);
	store_world_close(&world->store);
	free(world);
	return 0;
}

/* ---- tests ---- */

static void test_life(void **state)
{
	struct world *world = *state;
	Csi__V1__ControllerPublishVolumeResponse reply =
		CSI__V1__CONTROLLER_PUBLISH_VOLUME_RESPONSE__INIT;
	Csi__V1__ControllerPublishVolumeResponse__PublishContextEntry entry =
		CSI__V1__CONTROLLER_PUBLISH_VOLUME_RESPONSE__PUBLISH_CONTEXT_ENTRY__INIT;
	Csi__V1__ControllerPublishVolumeResponse__PublishContextEntry *entries[] = { &entry };

	put_attachment(world);
	assert_string_equal(diary, PUBLISH);
	assert_true(says(world, "\"finalizers\":[\"" FINALIZER "\"]"));
	assert_true(says(world, "\"csi.alpha.kubernetes.io/node-id\":\"id-n\""));
	assert_false(attachment(world)->attached);
	entry.key = "device";
	entry.value = "/dev/x";
	reply.publish_context = entries;
	reply.n_publish_context = 1;
	answer(GRPC_OK, &reply.base);
	run(world);
	assert_true(says(world, "\"status\":{\"attached\":true,\"attachmentMetadata\":{\"device\":"
				"\"/dev/x\"}}"));
	/* The volume stays while it is attached. */
	assert_int_equal(world_delete(&world->store, KIND_PERSISTENT_VOLUME, "", "pv"), 0);
	run(world);
	assert_non_null(strstr(
		store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", "pv")->json, FINALIZER));
	diary[0] = '\0';
	delete_attachment(world);
	assert_string_equal(diary, UNPUBLISH);
	assert_non_null(attachment(world));
	answer_and_run(world, GRPC_OK);
	assert_null(attachment(world));
	assert_null(strstr(store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", "pv")->json,
			   FINALIZER));
}

/* The author of an object may choose its uid: the answer is still this one's. */
static void test_a_long_uid(void **state)
{
	struct world *world = *state;
	char text[512], uid[OBJECT_UID_BYTES_MAX + 1] = "";

	memset(uid, 'a', OBJECT_UID_BYTES_MAX);
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{"
			"'name':'a','uid':'%s'},'spec':{'attacher':'d','nodeName':'n','source':{"
			"'persistentVolumeName':'pv'}}}",
			uid);
	put(world, text);
	answer_and_run(world, GRPC_OK);
	assert_true(attachment(world)->attached);
	assert_string_equal(diary, PUBLISH);
}

/* Each call is broken off once, as by a kill, and made again by who comes next. */
static void test_kills(void **state)
{
	struct world *world = *state;

	put_attachment(world);
	restart(world);
	run(world);
	assert_int_equal(cancels, 1);
	assert_string_equal(diary, PUBLISH PUBLISH);
	answer(GRPC_OK, NULL); /* answered, and not yet written */
	restart(world);
	run(world);
	if (is_pending)
		answer_and_run(world, GRPC_OK);
	assert_true(attachment(world)->attached);
	diary[0] = '\0';
	delete_attachment(world);
	restart(world);
	run(world);
	assert_string_equal(diary, UNPUBLISH UNPUBLISH);
	answer_and_run(world, GRPC_OK);
	assert_null(attachment(world));
}

static void test_deleted_while_attaching(void **state)
{
	struct world *world = *state;

	put_attachment(world);
	delete_attachment(world);
	diary[0] = '\0';
	answer_and_run(world, GRPC_OK);
	assert_string_equal(diary, UNPUBLISH);
	answer_and_run(world, GRPC_OK);
	assert_null(attachment(world));
}

static void test_errors(void **state)
{
	struct world *world = *state;

	put_attachment(world);
	answer_and_run(world, GRPC_INTERNAL);
	assert_string_equal(attachment(world)->attach_error,
			    "rpc error: code = Internal desc = told so");
	assert_true(says(world, "\"time\":\"20"));
	assert_false(is_pending); /* it backs off */
	csi_controller_driver_changed(world->attacher, "d");
	assert_false(is_pending);
	/* A deletion does not wait for that, and asks the driver: it may have attached it. */
	delete_attachment(world);
	assert_string_equal(diary, PUBLISH UNPUBLISH);
	answer_and_run(world, GRPC_UNAVAILABLE);
	assert_string_equal(attachment(world)->detach_error,
			    "rpc error: code = Unavailable desc = told so");
	assert_non_null(attachment(world));
}

static void test_in_use(void **state)
{
	struct world *world = *state;

	put_attachment(world);
	answer_and_run(world, GRPC_OK);
	put_node(world, "'volumesInUse':['kubernetes.io/csi/d^h']");
	delete_attachment(world);
	assert_false(is_pending);
	assert_string_equal(attachment(world)->detach_error, "node 'n' still uses it");
	world->is_in_use = true;
	put_node(world, "'volumesInUse':[]");
	assert_false(is_pending);
	world->is_in_use = false;
	csi_controller_resync(world->attacher);
	run(world);
	assert_true(is_pending);
}

static void test_forced(void **state)
{
	struct world *world = *state;

	put(world,
	    "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'name':"
	    "'a','annotations':{'podvol.io/forced-detach':'timeout'}},'spec':{'attacher':'d',"
	    "'nodeName':'n','source':{'persistentVolumeName':'pv'}}}");
	answer_and_run(world, GRPC_OK);
	put_node(world, "'volumesInUse':['kubernetes.io/csi/d^h']");
	delete_attachment(world);
	assert_string_equal(diary, PUBLISH UNPUBLISH);
}

static void test_trivial(void **state)
{
	struct world *world = *state;

	driver.controller_capabilities = 0;
	put_attachment(world);
	assert_true(attachment(world)->attached);
	assert_false(says(world, "finalizers"));
	delete_attachment(world);
	assert_null(attachment(world));
	assert_string_equal(diary, "");
}

/* Until its capabilities are known, so is not whether it attaches. */
static void test_driver_comes_late(void **state)
{
	struct world *world = *state;

	is_there = driver.capabilities_known = false;
	put_attachment(world);
	is_there = true;
	csi_controller_driver_changed(world->attacher, "d");
	run(world);
	assert_false(attachment(world)->attached);
	driver.capabilities_known = true;
	csi_controller_driver_changed(world->attacher, "d");
	run(world);
	assert_string_equal(diary, PUBLISH);
}

static void test_what_is_missing(void **state)
{
	struct world *world = *state;

	replace_volume(world, "'accessModes':['ReadWriteOnce']",
		       ",'controllerPublishSecretRef':{'namespace':'ns','name':'s'}");
	assert_int_equal(world_delete(&world->store, KIND_CSI_NODE, "", "n"), 0);
	put_attachment(world);
	assert_string_equal(attachment(world)->attach_error, "CSINode n does not contain driver d");
	put_csi_node(world);
	assert_string_equal(attachment(world)->attach_error, "secret 'ns/s' not found");
	put(world, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'ns'},"
		   "'stringData':{'user':'u'}}");
	assert_string_equal(diary, BASE RWO " secrets=[{key=user value=u}]}\n");
	answer_and_run(world, GRPC_OK);
	assert_false(attachment(world)->has_attach_error);
}

static void test_what_is_asked_for(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *spec, *csi;
		uint32_t can;
		const char *request;
	} rows[] = {
		{ "'accessModes':['ReadWriteMany','ReadWriteOnce']", "", 0,
		  BASE "volume_capability={mount={} access_mode={mode=5}}}\n" },
		{ "'accessModes':['ReadOnlyMany']", "", 0,
		  BASE "volume_capability={mount={} access_mode={mode=3}}}\n" },
		{ "'accessModes':['ReadWriteOnce']", "", 1 << CSI_CAN_SINGLE_NODE_MULTI_WRITER,
		  BASE "volume_capability={mount={} access_mode={mode=7}}}\n" },
		{ "'accessModes':['ReadWriteOncePod']", "", 1 << CSI_CAN_SINGLE_NODE_MULTI_WRITER,
		  BASE "volume_capability={mount={} access_mode={mode=6}}}\n" },
		{ "'accessModes':['ReadWriteOnce']", ",'readOnly':true", 0, PUBLISH },
		{ "'accessModes':['ReadWriteOnce']", ",'readOnly':true",
		  1 << CSI_CAN_PUBLISH_READONLY, BASE RWO " readonly=1}\n" },
		{ "'accessModes':['ReadWriteOnce'],'mountOptions':['ro']",
		  ",'fsType':'ext4','volumeAttributes':{'k':'v'}", 0,
		  BASE "volume_capability={mount={fs_type=ext4 mount_flags=[ro]} access_mode="
		       "{mode=1}} volume_context=[{key=k value=v}]}\n" },
		{ "'accessModes':['ReadWriteOnce'],'volumeMode':'Block'", "", 0,
		  BASE "volume_capability={block={} access_mode={mode=1}}}\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world->attacher = controller_free(world->attacher);
		replace_volume(world, rows[i].spec, rows[i].csi);
		driver.controller_capabilities =
			rows[i].can | 1 << CSI_CAN_PUBLISH_UNPUBLISH_VOLUME;
		diary[0] = '\0';
		start(world);
		put_attachment(world);
		assert_string_equal(diary, rows[i].request);
		delete_attachment(world);
		answer_and_run(world, GRPC_OK);
		answer_and_run(world, GRPC_OK);
		assert_null(attachment(world));
	}
}

static void test_finalizers(void **state)
{
	char text[ATTACHER_FINALIZER_BYTES], driver_name[200];

	assert_string_equal(attacher_finalizer("csi.example.com", text),
			    "external-attacher/csi-example-com");
	assert_string_equal(attacher_finalizer("a.", text), "external-attacher/a-X");
	memset(driver_name, '.', sizeof(driver_name) - 1);
	driver_name[sizeof(driver_name) - 1] = '\0';
	assert_int_equal(strlen(attacher_finalizer(driver_name, text)),
			 ATTACHER_FINALIZER_BYTES - 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_a_long_uid),
		TEST(test_kills),
		TEST(test_deleted_while_attaching),
		TEST(test_errors),
		TEST(test_in_use),
		TEST(test_forced),
		TEST(test_trivial),
		TEST(test_driver_comes_late),
		TEST(test_what_is_missing),
		TEST(test_what_is_asked_for),
		cmocka_unit_test(test_finalizers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
