/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_provision_plan - from class, claim and driver to a request, and from a reply to a volume
 */
#include "controller/csi/csi_provision_plan.h"
#include "controller/controller.h"

#include "base/cleanup.h"
#include "controller/csi/csi_provision_item.h"
#include "csi/csi_json.h"
#include "object/json/json.h"
#include "tests/unit/store/store_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CAN(name) (UINT32_C(1) << CSI_CAN_##name)

static const struct csi_topology_segment segments[] = { { "zone", "a" }, { "rack", "1" } };

struct fixture {
	const struct object *claim, *storage_class, *attributes_class;
	struct csi_driver driver;
	struct csi_content content;
	struct csi_provision_plan plan;
	struct failure why;
};

static struct fixture fixture;

/* Members of spec and of the class, with ' for ". */
static void given(const char *spec, const char *class)
{
	char text[1500];

	(void) object_unref(fixture.claim);
	(void) object_unref(fixture.storage_class);
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
			"'namespace':'shop','uid':'1-2','annotations':{"
			"'volume.kubernetes.io/storage-provisioner':'d.example.com'}},'spec':{"
			"'storageClassName':'fast','resources':{'requests':{'storage':'1Gi'}}%s}}",
			*spec ? spec : ",'accessModes':['ReadWriteOnce']");
	fixture.claim = object_of(text);
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
			"'metadata':{'name':'fast'},'provisioner':'d.example.com'%s}",
			class);
	fixture.storage_class = object_of(text);
}

static int make(void)
{
	const struct csi_provision_request request = {
		.claim = fixture.claim->claim,
		.storage_class = fixture.storage_class->storage_class,
		.driver = &fixture.driver,
		.node_name = "n1",
		.attributes_class = fixture.attributes_class,
		.content = fixture.content,
	};

	csi_provision_plan_done(&fixture.plan);
	return csi_provision_plan_make(&request, &fixture.plan, &fixture.why);
}

/* The request as JSON. */
static char *request_text(void)
{
	struct csi_create_message message;
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	cleanup_json struct cJSON *tree = NULL;

	assert_int_equal(make(), 0);
	assert_int_equal(csi_map_set(&secrets, "user", "me"), 0);
	assert_int_equal(csi_create_message_fill(&message, &fixture.plan, &secrets), 0);
	tree = csi_json_write(&message.request.base);
	return json_print(tree);
}

static void expect_request(const char *wanted)
{
	cleanup_free char *text = request_text();

	assert_string_equal(text, wanted);
}

static void expect_refused(int error, const char *text)
{
	assert_int_equal(make(), error);
	if (!strstr(fixture.why.text, text))
		fail_msg("'%s'", fixture.why.text);
}

static int set_up(void **state)
{
	memset(&fixture, 0, sizeof(fixture));
	fixture.driver = (struct csi_driver){
		.name = "d.example.com",
		.segments = segments,
		.segment_count = ARRAY_SIZE(segments),
		.capabilities_known = true,
		.has_controller = true,
		.controller_capabilities = CAN(CREATE_DELETE_VOLUME),
	};
	given("", "");
	return 0;
}

static int tear_down(void **state)
{
	csi_provision_plan_done(&fixture.plan);
	(void) object_unref(fixture.claim);
	(void) object_unref(fixture.storage_class);
	(void) object_unref(fixture.attributes_class);
	return 0;
}

/* ---- who provisions ---- */

static bool should(const char *node, bool waits)
{
	char text[300];

	(void) snprintf(text, sizeof(text), ",'volumeBindingMode':'%s'",
			waits ? "WaitForFirstConsumer" : "Immediate");
	given("", text);
	return csi_should_provision(fixture.claim->claim, fixture.storage_class->storage_class,
				    node);
}

static void test_who_provisions(void **state)
{
	assert_true(should("n1", false));
	assert_false(should("n1", true)); /* no node is selected yet */
	given(",'accessModes':['ReadWriteOnce'],'volumeName':'v'", "");
	assert_false(csi_should_provision(fixture.claim->claim,
					  fixture.storage_class->storage_class, "n1"));
	assert_false(csi_should_provision(fixture.claim->claim, NULL, "n1"));
}

/* ---- requests ---- */

static void test_plain_request(void **state)
{
	expect_request("{\"name\":\"pvc-1-2\",\"capacityRange\":{\"requiredBytes\":\"1073741824\"},"
		       "\"volumeCapabilities\":[{\"mount\":{},\"accessMode\":{\"mode\":"
		       "\"SINGLE_NODE_WRITER\"}}],\"secrets\":{\"user\":\"me\"}}");
}

static void test_parameters(void **state)
{
	given("", ",'mountOptions':['noatime'],'parameters':{'tier':'gold',"
		  "'csi.storage.k8s.io/fstype':'xfs',"
		  "'csi.storage.k8s.io/provisioner-secret-name':'k',"
		  "'csi.storage.k8s.io/provisioner-secret-namespace':'ns'}");
	assert_int_equal(make(), 0);
	assert_int_equal(fixture.plan.parameters.count, 1);
	assert_string_equal(fixture.plan.parameters.pairs[0].key, "tier");
	assert_string_equal(fixture.plan.fs_type, "xfs");
	assert_string_equal(fixture.plan.mount_flags[0], "noatime");
	assert_string_equal(fixture.plan.secrets[CSI_SECRET_PROVISIONER].name, "k");
	given("", ",'parameters':{'fsType':'ext4'}"); /* the old name stays the driver's, too */
	assert_int_equal(make(), 0);
	assert_string_equal(fixture.plan.fs_type, "ext4");
	assert_int_equal(fixture.plan.parameters.count, 1);
}

#define GOLD ",'accessModes':['ReadWriteOnce'],'volumeAttributesClassName':'gold'"

static void given_attributes(const char *driver)
{
	char text[300];

	(void) object_unref(fixture.attributes_class);
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass',"
			"'metadata':{'name':'gold'},'driverName':'%s','parameters':{"
			"'csi.storage.k8s.io/x':'y','iops':'3000'}}",
			driver);
	fixture.attributes_class = object_of(text);
}

static void test_mutable_parameters(void **state)
{
	given(GOLD, "");
	given_attributes("d.example.com");
	expect_refused(-EOPNOTSUPP, "no MODIFY_VOLUME");
	fixture.driver.controller_capabilities |= CAN(MODIFY_VOLUME);
	expect_request("{\"name\":\"pvc-1-2\",\"capacityRange\":{\"requiredBytes\":\"1073741824\"},"
		       "\"volumeCapabilities\":[{\"mount\":{},\"accessMode\":{\"mode\":"
		       "\"SINGLE_NODE_WRITER\"}}],\"secrets\":{\"user\":\"me\"},"
		       "\"mutableParameters\":{\"csi.storage.k8s.io/x\":\"y\",\"iops\":\"3000\"}}");
	assert_int_equal(fixture.plan.parameters.count, 0);
	given_attributes("e.example.com");
	expect_refused(-EINVAL, "VolumeAttributesClass 'gold' is of driver 'e.example.com'");
}

static void test_access_modes(void **state)
{
	fixture.driver.controller_capabilities |= CAN(SINGLE_NODE_MULTI_WRITER);
	given(",'accessModes':['ReadWriteOnce','ReadOnlyMany','ReadWriteMany']", "");
	assert_int_equal(make(), 0);
	assert_int_equal(fixture.plan.mode_count, 3);
	assert_int_equal(fixture.plan.modes[0], 7);
	assert_int_equal(fixture.plan.modes[1], 3);
	assert_int_equal(fixture.plan.modes[2], 5);
	assert_false(fixture.plan.is_read_only);
	given(",'accessModes':['ReadOnlyMany']", "");
	assert_int_equal(make(), 0);
	assert_false(fixture.plan.is_read_only);
	fixture.driver.controller_capabilities |= CAN(PUBLISH_READONLY);
	assert_int_equal(make(), 0);
	assert_true(fixture.plan.is_read_only);
}

static void test_block_and_content(void **state)
{
	cleanup_free char *text = NULL;

	fixture.content = (struct csi_content){ DATA_SOURCE_SNAPSHOT, "snap-1" };
	given(",'accessModes':['ReadWriteOnce'],'volumeMode':'Block'", "");
	text = request_text();
	assert_non_null(strstr(text, "\"block\":{}"));
	assert_non_null(strstr(text, "\"volumeContentSource\":{\"snapshot\":{\"snapshotId\":"
				     "\"snap-1\"}}"));
}

static void test_topology(void **state)
{
	cleanup_free char *text = NULL;

	assert_int_equal(make(), 0);
	assert_int_equal(fixture.plan.segments.count, 0); /* the driver knows of no places */
	fixture.driver.plugin_capabilities = CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS;
	text = request_text();
	assert_non_null(strstr(text, "\"requisite\":[{\"segments\":{\"zone\":\"a\",\"rack\":\"1\"}}"
				     "]"));
	given("", ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['b',"
		  "'a']}]}]");
	assert_int_equal(make(), 0);
	assert_int_equal(fixture.plan.segments.count, 2);
	given("",
	      ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['b']}]}]");
	expect_refused(-ENODEV, "leave out");
}

static void test_what_is_refused(void **state)
{
	given("", ",'parameters':{'fstype':'ext4','csi.storage.k8s.io/fstype':'xfs'}");
	expect_refused(-EINVAL, "more than one of the parameters");
	given("", ",'parameters':{'csi.storage.k8s.io/odd':'x'}");
	expect_refused(-EINVAL, "'csi.storage.k8s.io/odd' is unknown");
	given("", ",'parameters':{'csi.storage.k8s.io/node-stage-secret-name':'k'}");
	expect_refused(-EINVAL, "must be given together");
	given(",'accessModes':['ReadWriteOnce'],'selector':{'matchLabels':{'a':'b'}}", "");
	expect_refused(-EINVAL, "selector");
	given("", "");
	fixture.driver.controller_capabilities = 0;
	expect_refused(-EOPNOTSUPP, "cannot create volumes");
}

/* ---- what the driver made ---- */

struct made {
	Csi__V1__Volume volume;
	Csi__V1__VolumeContentSource content;
	Csi__V1__Topology topology;
	Csi__V1__Topology *topologies[1];
	Csi__V1__Topology__SegmentsEntry segment;
	Csi__V1__Topology__SegmentsEntry *segments[1];
};

static void fill(struct made *made, int64_t bytes, const char *zone)
{
	csi__v1__volume__init(&made->volume);
	csi__v1__volume_content_source__init(&made->content);
	csi__v1__topology__init(&made->topology);
	csi__v1__topology__segments_entry__init(&made->segment);
	made->volume.volume_id = "vol-1";
	made->volume.capacity_bytes = bytes;
	made->segment.key = "zone";
	made->segment.value = (char *) zone;
	made->segments[0] = &made->segment;
	made->topology.segments = made->segments;
	made->topology.n_segments = 1;
	made->topologies[0] = &made->topology;
	if (!zone)
		return;
	made->volume.accessible_topology = made->topologies;
	made->volume.n_accessible_topology = 1;
}

static int check(struct made *made)
{
	return csi_provision_plan_check(&fixture.plan, &made->volume, &fixture.why);
}

static void test_is_it_what_was_asked_for(void **state)
{
	struct made made = { 0 };

	fixture.driver.plugin_capabilities = CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS;
	assert_int_equal(make(), 0);
	fill(&made, 0, NULL); /* 0: the driver does not say */
	assert_int_equal(check(&made), 0);
	fill(&made, (INT64_C(1) << 30) - 1, NULL);
	assert_int_equal(check(&made), -EPROTO);
	fill(&made, INT64_C(1) << 30, "a");
	assert_int_equal(check(&made), 0);
	fill(&made, INT64_C(1) << 30, "b");
	assert_int_equal(check(&made), -EPROTO);
	fixture.content = (struct csi_content){ DATA_SOURCE_CLAIM, "vol-0" };
	assert_int_equal(make(), 0);
	fill(&made, INT64_C(1) << 30, "a");
	assert_int_equal(check(&made), -EPROTO); /* not said to be a copy */
	made.volume.content_source = &made.content;
	assert_int_equal(check(&made), 0);
}

static void test_volume(void **state)
{
	cleanup_object const struct object *object = NULL;
	const struct persistent_volume *volume;
	cleanup_json struct cJSON *tree = NULL;
	struct made made = { 0 };

	fixture.driver.controller_capabilities |= CAN(MODIFY_VOLUME);
	given_attributes("d.example.com");
	given(GOLD, ",'reclaimPolicy':'Delete','mountOptions':['noatime'],'parameters':{"
		    "'csi.storage.k8s.io/fstype':'xfs',"
		    "'csi.storage.k8s.io/provisioner-secret-name':'k',"
		    "'csi.storage.k8s.io/provisioner-secret-namespace':'ns',"
		    "'csi.storage.k8s.io/controller-expand-secret-name':'e',"
		    "'csi.storage.k8s.io/controller-expand-secret-namespace':'ns'}");
	assert_int_equal(make(), 0);
	fill(&made, INT64_C(3) << 29, "a");
	assert_int_equal(
		csi_provision_plan_volume(&fixture.plan, &made.volume, &object, &fixture.why), 0);
	volume = object->persistent_volume;
	assert_string_equal(object->meta.name, "pvc-1-2");
	assert_string_equal(volume->csi->volume_handle, "vol-1");
	assert_string_equal(volume->csi->fs_type, "xfs");
	assert_string_equal(volume->csi->controller_expand_secret.name, "e");
	assert_string_equal(volume->claim_uid, "1-2");
	assert_string_equal(volume->origin.provisioned_by, "d.example.com");
	assert_string_equal(volume->storage_class, "fast");
	assert_string_equal(volume->attributes_class, "gold");
	assert_int_equal(volume->reclaim_policy, RECLAIM_DELETE);
	assert_int_equal(volume->mount_option_count, 1);
	tree = object_tree(object);
	assert_string_equal(json_string(json_get_path(tree, "spec.capacity.storage"), ""),
			    "1536Mi");
	assert_string_equal(json_string(json_at(json_get_path(tree, "metadata.finalizers"), 0), ""),
			    FINALIZER_PROVISIONER);
	assert_string_equal(json_string(json_get(json_get_path(tree, "metadata.annotations"),
						 ANNOTATION_DELETION_SECRET_NAME),
					""),
			    "k");
	assert_int_equal(json_count(json_get_path(tree, "spec.nodeAffinity.required."
							"nodeSelectorTerms")),
			 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_who_provisions),
		TEST(test_plain_request),
		TEST(test_parameters),
		TEST(test_mutable_parameters),
		TEST(test_access_modes),
		TEST(test_block_and_content),
		TEST(test_topology),
		TEST(test_what_is_refused),
		TEST(test_is_it_what_was_asked_for),
		TEST(test_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
