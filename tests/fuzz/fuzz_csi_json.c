/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_csi_json - a request of any JSON: refused with words, or packed, unpacked and printed the
 * same
 *
 * The first byte says of which method it is.
 */
#include "fuzz.h"

#include "csi/csi_call.h"
#include "csi/csi_json.h"

#include <stdlib.h>
#include <string.h>

static const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };

static char *print(const ProtobufCMessage *message)
{
	struct cJSON *tree = csi_json_write(message);
	char *printed = json_print(tree);

	HOLDS(printed);
	json_free(tree);
	return printed;
}

static void check_wire(const ProtobufCMessage *message)
{
	size_t length = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = malloc(length + 1);
	ProtobufCMessage *received;
	char *before = print(message), *after;

	HOLDS(bytes && protobuf_c_message_pack(message, bytes) == length);
	received = protobuf_c_message_unpack(message->descriptor, NULL, length, bytes);
	HOLDS(received);
	after = print(received);
	HOLDS(strcmp(before, after) == 0);
	free(before);
	free(after);
	free(bytes);
	csi_message_free(received);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = { 0 };
	struct cJSON *tree = NULL;
	ProtobufCMessage *message;
	const struct csi_method_row *row;

	if (size == 0 || json_parse((const char *) data + 1, size - 1, &limits, &tree, NULL) < 0)
		return 0;
	row = csi_method_row((enum csi_method)(data[0] % CSI_METHOD_COUNT));
	if (csi_json_read(tree, row->request, &message, &failure) < 0) {
		HOLDS(failure.error < 0 && failure.text[0]);
	} else {
		check_wire(message);
		csi_message_free(message);
	}
	json_free(tree);
	return 0;
}
