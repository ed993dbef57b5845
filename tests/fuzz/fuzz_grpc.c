/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_grpc - whatever a server sends, a call ends once, with a code and clean words
 *
 * The first byte says in which pieces the rest arrives.
 */
#include "fuzz.h"

#include "grpc/session.h"

#include <stdlib.h>
#include <string.h>

static const struct grpc_request request = {
	.socket_path = "/nowhere",
	.method = "/csi.v1.Node/NodeGetInfo",
	.message = (const uint8_t *) "",
	.timeout_usec = 1000000,
};

static void drain(struct grpc_session *session)
{
	const uint8_t *bytes;

	while (grpc_session_next(session, &bytes) > 0)
		;
}

static void check(const struct grpc_result *result)
{
	uint8_t sum = 0;

	HOLDS(result->code < GRPC_CODE_COUNT);
	HOLDS(memchr(result->text, '\0', sizeof(result->text)));
	for (const char *at = result->text; *at; at++)
		HOLDS((unsigned char) *at >= 0x20 && *at != 0x7f);
	HOLDS(result->code != GRPC_OK || result->from_server);
	HOLDS(result->code == GRPC_OK || result->reply_length == 0);
	for (size_t i = 0; i < result->reply_length; i++)
		sum = (uint8_t) (sum + result->reply[i]); /* all of it can be read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grpc_session *session;
	const struct grpc_result *result;
	struct grpc_result first;
	size_t step;

	if (size == 0 || grpc_session_new(&request, &session) < 0)
		return 0;
	drain(session);
	step = data[0] ? data[0] : size;
	for (size_t at = 1; at < size; at += step) {
		grpc_session_receive(session, data + at, size - at < step ? size - at : step);
		drain(session);
	}
	grpc_session_closed(session, 0);
	HOLDS(grpc_session_result(session, &result));
	check(result);
	first = *result;
	/* What is over stays as it is. */
	grpc_session_receive(session, data, size);
	grpc_session_cancel(session, GRPC_CANCELLED, "late");
	drain(session);
	HOLDS(grpc_session_result(session, &result));
	HOLDS(result->code == first.code && strcmp(result->text, first.text) == 0);
	(void) grpc_session_free(session);
	return 0;
}
