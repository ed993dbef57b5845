/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_call - typed calls: what arrives, what is remembered, and what a code says of the world
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_call.h"
#include "csi/csi_log.h"
#include "tests/unit/grpc/grpc_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct grpc_world world;
static struct csi_log *call_log;

static int begin(void **state)
{
	grpc_world_begin(&world, "csi.sock");
	grpc_world_listen(&world, 16);
	grpc_world_accept(&world);
	return csi_log_new(&call_log);
}

static int end(void **state)
{
	call_log = csi_log_free(call_log);
	grpc_world_end(&world);
	return 0;
}

struct ended {
	unsigned int done;
	struct grpc_result status;
	bool has_message;
};

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct ended *ended = userdata;

	ended->done++;
	ended->status = reply->status;
	ended->has_message = reply->message;
	assert_null(reply->status.reply);
}

static struct csi_call *ask(enum csi_method method, const ProtobufCMessage *message,
			    struct ended *ended)
{
	const struct csi_call_request request = {
		.driver = "csi.example.com",
		.socket_path = world.path,
		.method = method,
		.message = message,
		.timeout_usec = 600 * USEC_PER_SEC,
		.about = "v1",
		.done = on_done,
		.userdata = ended,
	};
	struct failure failure = { 0 };
	struct csi_call *call;

	if (csi_call_start(world.event, call_log, &request, &call, &failure) < 0)
		fail_msg("%s", failure.text);
	return call;
}

static struct csi_call *stage(struct ended *ended)
{
	Csi__V1__NodeStageVolumeRequest message = CSI__V1__NODE_STAGE_VOLUME_REQUEST__INIT;
	struct csi_call *call;

	message.volume_id = "vol";
	call = ask(CSI_NODE_STAGE_VOLUME, &message.base, ended);
	/* Packed by now: what it was made of may go. */
	message.volume_id = NULL;
	return call;
}

struct last {
	struct csi_log_entry entry;
	unsigned int count;
};

static int take(const struct csi_log_entry *entry, void *userdata)
{
	struct last *last = userdata;

	if (last->count++ == 0)
		last->entry = *entry;
	return 0;
}

static struct last last_call(void)
{
	struct last last = { 0 };

	assert_int_equal(csi_log_walk(call_log, "csi.example.com", "v1", take, &last), 0);
	return last;
}

static void test_a_reply(void **state)
{
	struct ended ended = { 0 };
	struct last last;

	(void) stage(&ended);
	assert_true(last_call().entry.running);
	grpc_world_until(&world, &ended.done, 1);
	assert_int_equal(ended.status.code, GRPC_OK);
	assert_true(ended.has_message);
	assert_int_equal(world.request_bytes, 5 + 5); /* prefix; tag, length and "vol" */
	last = last_call();
	assert_int_equal(last.count, 1);
	assert_false(last.entry.running);
	assert_int_equal(last.entry.method, CSI_NODE_STAGE_VOLUME);
}

static void test_an_error(void **state)
{
	struct ended ended = { 0 };

	world.answer = ANSWER_STATUS;
	world.status = "9";
	world.text = "staged elsewhere";
	(void) stage(&ended);
	grpc_world_until(&world, &ended.done, 1);
	assert_int_equal(ended.status.code, GRPC_FAILED_PRECONDITION);
	assert_false(ended.has_message);
	assert_int_equal(last_call().entry.code, GRPC_FAILED_PRECONDITION);
	assert_string_equal(last_call().entry.text, "staged elsewhere");
}

/* 'r' is the tag of a group, which no proto3 has. */
static void test_a_reply_of_another_type(void **state)
{
	struct ended ended = { 0 };

	world.reply_bytes = 9;
	(void) stage(&ended);
	grpc_world_until(&world, &ended.done, 1);
	assert_int_equal(ended.status.code, GRPC_INTERNAL);
	assert_false(ended.status.from_server);
	assert_string_equal(ended.status.text, "the reply is not a csi.v1.NodeStageVolumeResponse");
	assert_int_equal(last_call().entry.code, GRPC_INTERNAL);
	assert_int_equal(csi_classify(&ended.status), CSI_UNCERTAIN);
}

/* Bytes that are no UTF-8 are no strings of proto3, whatever protobuf-c thinks of them. */
static void test_a_reply_that_is_no_text(void **state)
{
	Csi__V1__GetPluginInfoRequest message = CSI__V1__GET_PLUGIN_INFO_REQUEST__INIT;
	struct ended ended = { 0 };
	const struct csi_call_request request = {
		.driver = "csi.example.com",
		.socket_path = world.path,
		.method = CSI_GET_PLUGIN_INFO,
		.message = &message.base,
		.timeout_usec = 600 * USEC_PER_SEC,
		.done = on_done,
		.userdata = &ended,
	};
	struct csi_call *call;

	world.reply = "\x0a\2\xff\xfe";
	world.reply_bytes = 4;
	assert_int_equal(csi_call_start(world.event, call_log, &request, &call, NULL), 0);
	grpc_world_until(&world, &ended.done, 1);
	assert_int_equal(ended.status.code, GRPC_INTERNAL);
	assert_string_equal(ended.status.text, "the reply is not a csi.v1.GetPluginInfoResponse");
	assert_false(ended.has_message);
}

static void test_cancel(void **state)
{
	struct ended ended = { 0 };

	world.answer = ANSWER_NEVER;
	assert_null(csi_call_cancel(stage(&ended)));
	assert_int_equal(last_call().entry.code, GRPC_CANCELLED);
	assert_false(last_call().entry.running);
	assert_null(csi_call_cancel(NULL));
	assert_int_equal(ended.done, 0);
}

static struct csi_call *ask_capabilities(struct ended *ended)
{
	const Csi__V1__NodeGetCapabilitiesRequest message =
		CSI__V1__NODE_GET_CAPABILITIES_REQUEST__INIT;

	return ask(CSI_NODE_GET_CAPABILITIES, &message.base, ended);
}

static void test_who_asks_the_same_at_once_shares_an_rpc(void **state)
{
	struct ended ended[4] = { 0 };
	struct csi_call *second, *sent;

	(void) ask_capabilities(&ended[0]);
	second = ask_capabilities(&ended[1]);
	(void) ask_capabilities(&ended[2]);
	assert_null(csi_call_cancel(second));
	grpc_world_until(&world, &ended[2].done, 1);
	assert_int_equal(ended[0].done, 1);
	assert_int_equal(ended[1].done, 0);
	assert_true(ended[0].has_message && ended[2].has_message);
	assert_int_equal(world.requests, 1);
	assert_int_equal(last_call().count, 3);
	assert_false(last_call().entry.running);

	/* What was sent may be answered by what the driver knew before. */
	world.answer = ANSWER_NEVER;
	sent = ask_capabilities(&ended[3]);
	grpc_world_until(&world, &world.requests, 2);
	world.answer = ANSWER_OK;
	(void) ask_capabilities(&ended[1]);
	grpc_world_until(&world, &ended[1].done, 1);
	assert_int_equal(world.requests, 3);
	assert_int_equal(ended[3].done, 0);
	assert_null(csi_call_cancel(sent));
}

static void test_what_differs_or_acts_is_not_shared(void **state)
{
	const Csi__V1__GetPluginInfoRequest info = CSI__V1__GET_PLUGIN_INFO_REQUEST__INIT;
	struct ended ended[4] = { 0 };

	(void) ask_capabilities(&ended[0]);
	(void) ask(CSI_GET_PLUGIN_INFO, &info.base, &ended[1]);
	(void) stage(&ended[2]);
	(void) stage(&ended[3]);
	for (size_t i = 0; i < ARRAY_SIZE(ended); i++)
		grpc_world_until(&world, &ended[i].done, 1);
	assert_int_equal(world.requests, 4);
}

static void test_the_last_who_leaves_takes_the_rpc_along(void **state)
{
	struct ended ended[2] = { 0 };
	struct csi_call *calls[2];

	world.answer = ANSWER_NEVER;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = ask_capabilities(&ended[i]);
	grpc_world_until(&world, &world.requests, 1);
	assert_null(csi_call_cancel(calls[0]));
	assert_int_equal(world.resets, 0);
	assert_null(csi_call_cancel(calls[1]));
	grpc_world_until(&world, &world.closed, 1);
	assert_int_equal(ended[0].done + ended[1].done, 0);
}

static void test_too_large(void **state)
{
	Csi__V1__NodeStageVolumeRequest message = CSI__V1__NODE_STAGE_VOLUME_REQUEST__INIT;
	cleanup_free char *text = malloc(GRPC_MESSAGE_BYTES_MAX + 1);
	const struct csi_call_request request = {
		.driver = "csi.example.com",
		.socket_path = world.path,
		.method = CSI_NODE_STAGE_VOLUME,
		.message = &message.base,
		.timeout_usec = 1,
		.done = on_done,
	};
	struct csi_call *call;
	struct failure failure;

	assert_non_null(text);
	memset(text, 'x', GRPC_MESSAGE_BYTES_MAX);
	text[GRPC_MESSAGE_BYTES_MAX] = '\0';
	message.volume_id = text;
	assert_int_equal(csi_call_start(world.event, call_log, &request, &call, &failure), -E2BIG);
	assert_int_equal(last_call().count, 0);
}

/* Spec: CSI, 2: what the other side said of itself is final, but for five codes. */
static void test_classes(void **state)
{
	for (enum grpc_code code = 0; code < GRPC_CODE_COUNT; code++) {
		struct grpc_result result = { .code = code, .from_server = true };
		enum csi_class wanted = CSI_FINAL;

		if (code == GRPC_OK)
			wanted = CSI_DONE;
		else if (code == GRPC_CANCELLED || code == GRPC_DEADLINE_EXCEEDED ||
			 code == GRPC_RESOURCE_EXHAUSTED || code == GRPC_ABORTED ||
			 code == GRPC_UNAVAILABLE)
			wanted = CSI_UNCERTAIN;
		assert_int_equal(csi_classify(&result), wanted);
		result.from_server = false;
		assert_int_equal(csi_classify(&result), code == GRPC_OK ? CSI_DONE : CSI_UNCERTAIN);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_reply),
		TEST(test_an_error),
		TEST(test_a_reply_of_another_type),
		TEST(test_a_reply_that_is_no_text),
		TEST(test_cancel),
		TEST(test_who_asks_the_same_at_once_shares_an_rpc),
		TEST(test_what_differs_or_acts_is_not_shared),
		TEST(test_the_last_who_leaves_takes_the_rpc_along),
		TEST(test_too_large),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
