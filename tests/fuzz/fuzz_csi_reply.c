/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_csi_reply - a driver's reply of any bytes: what unpacks prints as JSON, and the print reads
 * back the same
 *
 * The first byte says of which method it is.
 */
#include "fuzz.h"

#include "csi/csi_call.h"
#include "csi/csi_json.h"

#include <stdlib.h>
#include <string.h>

static const struct json_limits limits = { .bytes = 1 << 24, .depth = 64 };

/* Read as a message; and then written again, it is the same. */
static void check_back(const char *printed, const ProtobufCMessageDescriptor *descriptor)
{
	struct failure failure = { 0 };
	struct cJSON *tree = NULL, *again;
	ProtobufCMessage *message;
	char *twice;

	HOLDS(json_parse(printed, strlen(printed), &limits, &tree, NULL) == 0);
	if (csi_json_read(tree, descriptor, &message, &failure) < 0) {
		/* Times that no calendar has are printed as numbers. */
		HOLDS(strstr(failure.text, "is not a time like"));
		json_free(tree);
		return;
	}
	again = csi_json_write(message);
	twice = json_print(again);
	HOLDS(twice && strcmp(twice, printed) == 0);
	free(twice);
	json_free(again);
	json_free(tree);
	csi_message_free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const ProtobufCMessageDescriptor *descriptor;
	ProtobufCMessage *message;
	struct cJSON *tree;
	char *printed;

	if (size == 0)
		return 0;
	descriptor = csi_method_row((enum csi_method)(data[0] % CSI_METHOD_COUNT))->reply;
	message = protobuf_c_message_unpack(descriptor, NULL, size - 1, data + 1);
	if (!message)
		return 0;
	if (!csi_message_is_text(message)) {
		csi_message_free(message);
		return 0;
	}
	tree = csi_json_write(message);
	printed = json_print(tree);
	HOLDS(printed);
	check_back(printed, descriptor);
	free(printed);
	json_free(tree);
	csi_message_free(message);
	return 0;
}
