/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_answer - what a call came to, as a tree for people who debug a driver
 */
#include "csi/csi_call.h"

#include "csi/csi_json.h"

#include <assert.h>

struct cJSON *csi_answer(enum csi_method method, const struct csi_reply *reply)
{
	struct cJSON *tree = json_new_object();
	const struct grpc_result *status = &reply->status;

	assert(reply);

	(void) json_set_string(tree, "method", csi_method_row(method)->name);
	(void) json_set_int(tree, "code", status->code);
	(void) json_set_string(tree, "codeName", grpc_code_name(status->code));
	(void) json_set_string(tree, "message", status->text);
	(void) json_set_bool(tree, "fromDriver", status->from_server);
	(void) json_set_bool(tree, "sent", status->was_sent);
	(void) json_set_int(tree, "tookMicroseconds", (int64_t) status->took_usec);
	if (tree && reply->message)
		(void) json_set(tree, "reply", csi_json_write(reply->message));
	return tree;
}
