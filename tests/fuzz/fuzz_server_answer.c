/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_server_answer - a list and a watch event of any origin
 *
 * What is handed on has a name, and either an object of the kind or a reason; what is refused has a
 * reason, and nothing of it is handed on.
 */
#include "fuzz.h"

#include "store/remote/server_answer.h"

#include "base/cleanup.h"

#include <string.h>

static void take(void *userdata, const struct server_object *object)
{
	unsigned int *taken = userdata;

	(*taken)++;
	HOLDS(*object->name != '\0');
	HOLDS(object->object ? object->object->kind == KIND_POD : object->why->text[0] != '\0');
}

static void take_event(void *userdata, const struct server_event *event)
{
	unsigned int *taken = userdata;

	if (event->type == SERVER_ERROR) {
		HOLDS(event->code >= 100 && event->code < 600 && event->message);
		(*taken)++;
		return;
	}
	HOLDS(*event->version != '\0');
	if (event->type == SERVER_BOOKMARK)
		(*taken)++;
	else
		take(userdata, &event->object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kind_row *kind = kind_row(KIND_POD);
	struct server_list list;
	unsigned int taken = 0;
	const struct server_taker taker = { .object = take,
					    .event = take_event,
					    .userdata = &taken };
	struct failure why = { 0 };
	int r = server_list_read(kind, (const char *) data, size, &taker, &list, &why);

	if (r == 0)
		HOLDS(*list.version != '\0');
	else
		HOLDS(why.error == r && why.text[0] != '\0' && taken == 0);
	taken = 0;
	why = (struct failure){ 0 };
	r = server_event_read(kind, (const char *) data, size, &taker, &why);
	HOLDS(r == 0 ? taken == 1 : taken == 0 && why.text[0] != '\0');
	return 0;
}
