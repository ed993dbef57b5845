/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_json - messages as JSON and back, and what is refused with which words
 */
#include "base/cleanup.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_call.h"
#include "csi/csi_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct json_limits limits = { .bytes = 1 << 20, .depth = 64 };

static struct cJSON *parse(const char *text)
{
	struct failure failure = { 0 };
	struct cJSON *json;

	if (json_parse(text, strlen(text), &limits, &json, &failure) < 0)
		fail_msg("%s", failure.text);
	return json;
}

static ProtobufCMessage *read_text(const char *text, const ProtobufCMessageDescriptor *descriptor)
{
	cleanup_json struct cJSON *json = parse(text);
	struct failure failure = { 0 };
	ProtobufCMessage *message;

	if (csi_json_read(json, descriptor, &message, &failure) < 0)
		fail_msg("%s", failure.text);
	return message;
}

static void refused(const char *text, const ProtobufCMessageDescriptor *descriptor,
		    const char *words)
{
	cleanup_json struct cJSON *json = parse(text);
	struct failure failure = { 0 };
	ProtobufCMessage *message = (ProtobufCMessage *) 1;

	assert_int_equal(csi_json_read(json, descriptor, &message, &failure), -EINVAL);
	assert_string_equal(failure.text, words);
	assert_ptr_equal(message, (ProtobufCMessage *) 1);
}

/* Through the bytes of the wire, so that what was read is what a driver gets. */
static char *round_trip(const char *text, const ProtobufCMessageDescriptor *descriptor)
{
	ProtobufCMessage *message = read_text(text, descriptor), *received;
	size_t length = protobuf_c_message_get_packed_size(message);
	cleanup_free uint8_t *bytes = malloc(length + 1);
	struct cJSON *json;
	char *printed;

	assert_non_null(bytes);
	assert_int_equal(protobuf_c_message_pack(message, bytes), length);
	csi_message_free(message);
	received = protobuf_c_message_unpack(descriptor, NULL, length, bytes);
	assert_non_null(received);
	json = csi_json_write(received);
	csi_message_free(received);
	printed = json_print(json);
	json_free(json);
	assert_non_null(printed);
	return printed;
}

static void same(const char *text, const ProtobufCMessageDescriptor *descriptor)
{
	cleanup_free char *printed = round_trip(text, descriptor);

	assert_string_equal(printed, text);
}

static void becomes(const char *text, const ProtobufCMessageDescriptor *descriptor,
		    const char *other)
{
	cleanup_free char *printed = round_trip(text, descriptor);

	assert_string_equal(printed, other);
}

static void test_a_whole_request(void **state)
{
	static const char text[] =
		"{\"volumeId\":\"v1\",\"publishContext\":{\"devicePath\":\"/dev/sdb\"},"
		"\"stagingTargetPath\":\"/staging\",\"volumeCapability\":{\"mount\":{\"fsType\":"
		"\"ext4\",\"mountFlags\":[\"noatime\",\"discard\"],\"volumeMountGroup\":\"1000\"},"
		"\"accessMode\":{\"mode\":\"SINGLE_NODE_WRITER\"}},"
		"\"secrets\":{\"password\":\"geheim\",\"user\":\"\"},"
		"\"volumeContext\":{\"a\":\"1\"}}";
	ProtobufCMessage *message =
		read_text(text, &csi__v1__node_stage_volume_request__descriptor);
	const Csi__V1__NodeStageVolumeRequest *request = (const void *) message;

	assert_string_equal(request->volume_id, "v1");
	assert_int_equal(request->volume_capability->access_type_case,
			 CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT);
	assert_int_equal(request->volume_capability->mount->n_mount_flags, 2);
	assert_int_equal(request->volume_capability->access_mode->mode, 1);
	assert_int_equal(request->n_secrets, 2);
	assert_string_equal(request->secrets[0]->key, "password");
	csi_message_free(message);
	same(text, &csi__v1__node_stage_volume_request__descriptor);
}

static void test_names_of_the_proto(void **state)
{
	becomes("{\"volume_id\":\"v\",\"volume_capability\":{\"access_mode\":{\"mode\":5},"
		"\"block\":{}}}",
		&csi__v1__node_stage_volume_request__descriptor,
		"{\"volumeId\":\"v\",\"volumeCapability\":{\"block\":{},"
		"\"accessMode\":{\"mode\":\"MULTI_NODE_MULTI_WRITER\"}}}");
}

static void test_numbers(void **state)
{
	same("{\"capacityBytes\":\"9223372036854775807\"}",
	     &csi__v1__node_expand_volume_response__descriptor);
	same("{\"capacityBytes\":\"-9223372036854775808\"}",
	     &csi__v1__node_expand_volume_response__descriptor);
	becomes("{\"capacityBytes\":9007199254740993}",
		&csi__v1__node_expand_volume_response__descriptor,
		"{\"capacityBytes\":\"9007199254740993\"}");
	same("{\"maxEntries\":-7}", &csi__v1__list_volumes_request__descriptor);
	becomes("{\"max_entries\":\"12\"}", &csi__v1__list_volumes_request__descriptor,
		"{\"maxEntries\":12}");
}

static void test_what_is_left_out(void **state)
{
	becomes("{}", &csi__v1__node_get_info_response__descriptor, "{}");
	becomes("{\"nodeId\":\"\",\"maxVolumesPerNode\":0,\"accessibleTopology\":null}",
		&csi__v1__node_get_info_response__descriptor, "{}");
	becomes("{\"capabilities\":[]}", &csi__v1__node_get_capabilities_response__descriptor,
		"{}");
}

/* An empty message that is there is something else than none. */
static void test_presence(void **state)
{
	same("{\"accessibleTopology\":{}}", &csi__v1__node_get_info_response__descriptor);
	same("{\"ready\":false}", &csi__v1__probe_response__descriptor);
	same("{\"ready\":true}", &csi__v1__probe_response__descriptor);
	same("{\"maximumVolumeSize\":\"0\",\"minimumVolumeSize\":\"4096\"}",
	     &csi__v1__get_capacity_response__descriptor);
}

static void test_enums(void **state)
{
	same("{\"capabilities\":[{\"rpc\":{\"type\":\"STAGE_UNSTAGE_VOLUME\"}},"
	     "{\"rpc\":{}},{}]}",
	     &csi__v1__node_get_capabilities_response__descriptor);
	/* Of a newer driver: the number. */
	same("{\"capabilities\":[{\"rpc\":{\"type\":99}}]}",
	     &csi__v1__node_get_capabilities_response__descriptor);
}

static void test_times(void **state)
{
	same("{\"snapshot\":{\"creationTime\":\"2024-02-29T23:59:59Z\"}}",
	     &csi__v1__create_snapshot_response__descriptor);
	same("{\"snapshot\":{\"creationTime\":\"1969-12-31T23:59:59.5Z\"}}",
	     &csi__v1__create_snapshot_response__descriptor);
	becomes("{\"snapshot\":{\"creationTime\":\"2024-02-29T00:00:00.000000100Z\"}}",
		&csi__v1__create_snapshot_response__descriptor,
		"{\"snapshot\":{\"creationTime\":\"2024-02-29T00:00:00.0000001Z\"}}");
}

static void test_refused(void **state)
{
	const ProtobufCMessageDescriptor *stage = &csi__v1__node_stage_volume_request__descriptor;
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "[]", "the message is not an object" },
		{ "{\"volumeID\":\"v\"}", "volumeID: NodeStageVolumeRequest has no such field" },
		{ "{\"volumeId\":1}", "volumeId is not a string" },
		{ "{\"volumeId\":\"a\",\"volume_id\":\"b\"}", "volumeId is given twice" },
		{ "{\"secrets\":[]}", "secrets is not an object" },
		{ "{\"secrets\":{\"a\":1}}", "secrets.a is not a string" },
		{ "{\"volumeCapability\":{\"mount\":{\"mountFlags\":\"ro\"}}}",
		  "volumeCapability.mount.mountFlags is not a list" },
		{ "{\"volumeCapability\":{\"mount\":{\"mountFlags\":[\"ro\",null]}}}",
		  "volumeCapability.mount.mountFlags[1] is not a string" },
		{ "{\"volumeCapability\":{\"mount\":{},\"block\":{}}}",
		  "volumeCapability.block cannot be combined with another member that is given" },
		{ "{\"volumeCapability\":{\"accessMode\":{\"mode\":\"RWX\"}}}",
		  "volumeCapability.accessMode.mode: 'RWX' is not a "
		  "csi.v1.VolumeCapability.AccessMode.Mode" },
		{ "{\"volumeCapability\":{\"accessMode\":{\"mode\":[]}}}",
		  "volumeCapability.accessMode.mode is neither a name nor a number" },
		{ "{\"volumeCapability\":{\"mount\":{\"fsType\":\"x\"},\"more\":1}}",
		  "volumeCapability.more: VolumeCapability has no such field" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		refused(rows[i].text, stage, rows[i].words);
}

static void test_refused_numbers(void **state)
{
	static const char *const wide[] = { "1.5",    "\"\"", "\"1x\"",
					    "\" 1\"", "true", "\"9223372036854775808\"",
					    "[]" };
	static const char *const narrow[] = { "2147483648", "\"-2147483649\"" };

	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		char text[64];

		(void) snprintf(text, sizeof(text), "{\"capacityBytes\":%s}", wide[i]);
		refused(text, &csi__v1__node_expand_volume_response__descriptor,
			"capacityBytes is not an integer of its size");
	}
	for (size_t i = 0; i < ARRAY_SIZE(narrow); i++) {
		char text[64];

		(void) snprintf(text, sizeof(text), "{\"maxEntries\":%s}", narrow[i]);
		refused(text, &csi__v1__list_volumes_request__descriptor,
			"maxEntries is not an integer of its size");
	}
	refused("{\"readonly\":1}", &csi__v1__node_publish_volume_request__descriptor,
		"readonly is neither true nor false");
	refused("{\"ready\":\"yes\"}", &csi__v1__probe_response__descriptor,
		"ready is neither true nor false");
}

static void test_refused_times(void **state)
{
	static const char *const rows[] = { "1",
					    "\"yesterday\"",
					    "\"2024-02-29T00:00:00\"",
					    "\"2024-02-29T00:00:00.Z\"",
					    "\"2024-02-29T00:00:00.0000000001Z\"",
					    "\"2024-02-29T00:00:00Zx\"" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[96];

		(void) snprintf(text, sizeof(text), "{\"snapshot\":{\"creationTime\":%s}}",
				rows[i]);
		refused(text, &csi__v1__create_snapshot_response__descriptor,
			"snapshot.creationTime is not a time like 2024-02-29T12:00:00Z");
	}
}

/* Long names are cut, nothing else happens. */
static void test_a_long_path(void **state)
{
	cleanup_free char *text = malloc(9000);
	struct failure failure = { 0 };
	ProtobufCMessage *message;
	struct cJSON *json;

	assert_non_null(text);
	(void) snprintf(text, 9000, "{\"secrets\":{\"%08000d\":1}}", 0);
	json = parse(text);
	assert_int_equal(csi_json_read(json, &csi__v1__node_stage_volume_request__descriptor,
				       &message, &failure),
			 -EINVAL);
	assert_non_null(strstr(failure.text, "secrets.0000"));
	json_free(json);
}

static bool text_of(const char *bytes, size_t length)
{
	ProtobufCMessage *message =
		protobuf_c_message_unpack(&csi__v1__node_get_info_response__descriptor, NULL,
					  length, (const uint8_t *) bytes);
	bool is_text;

	assert_non_null(message);
	is_text = csi_message_is_text(message);
	csi_message_free(message);
	return is_text;
}

/* Names, values and keys of maps; control characters are text. */
static void test_what_is_text(void **state)
{
	assert_true(text_of("\x0a\2n\n", 4));
	assert_true(text_of("\x0a\2\xc3\xb6", 4));
	assert_false(text_of("\x0a\2n\xc3", 4));
	assert_true(text_of("\x1a\x08\x0a\6\x0a\1z\x12\1v", 10));
	assert_false(text_of("\x1a\x08\x0a\6\x0a\1\xca\x12\1v", 10));
	assert_false(text_of("\x1a\x08\x0a\6\x0a\1z\x12\1\x80", 10));
}

/* Every type of message that we know survives, empty. */
static void test_all_messages(void **state)
{
	for (enum csi_method method = 0; method < CSI_METHOD_COUNT; method++) {
		ProtobufCMessage *message;

		same("{}", csi_method_row(method)->request);
		same("{}", csi_method_row(method)->reply);
		assert_int_equal(
			csi_json_read(NULL, csi_method_row(method)->request, &message, NULL), 0);
		assert_int_equal(protobuf_c_message_get_packed_size(message), 0);
		csi_message_free(message);
	}
	csi_message_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_request), cmocka_unit_test(test_names_of_the_proto),
		cmocka_unit_test(test_numbers),         cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_presence),        cmocka_unit_test(test_enums),
		cmocka_unit_test(test_times),           cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_numbers), cmocka_unit_test(test_refused_times),
		cmocka_unit_test(test_a_long_path),     cmocka_unit_test(test_what_is_text),
		cmocka_unit_test(test_all_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
