/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_conditions - who goes and who comes; see binding.h
 */
#include "controller/binding/binding.h"

#include "base/clock.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <string.h>

static bool is_one_of(const char *const *types, const char *type)
{
	for (; *types; types++)
		if (strcmp(*types, type) == 0)
			return true;
	return false;
}

static void add(struct cJSON *list, const struct cJSON *old, const char *type, const char *text)
{
	char now[TIMESTAMP_BYTES];
	struct cJSON *condition;

	JSON_FOREACH (i, old)
		if (json_text_is(i, "type", type) && json_text_is(i, "message", text)) {
			(void) json_set(list, NULL, json_copy(i));
			return;
		}
	timestamp_print(realtime_usec(), now);
	condition = json_add_object(list, NULL);
	(void) json_set_string(condition, "type", type);
	(void) json_set_string(condition, "status", "True");
	(void) json_set_string(condition, "lastTransitionTime", now);
	if (*text)
		(void) json_set_string(condition, "message", text);
}

void claim_conditions_replace(struct cJSON *status, const char *const *types, const char *type,
			      const char *text)
{
	const struct cJSON *old = json_get(status, "conditions");
	struct cJSON *list = json_new_array();

	JSON_FOREACH (i, old)
		if (!is_one_of(types, json_text(i, "type")))
			(void) json_set(list, NULL, json_copy(i));
	if (type)
		add(list, old, type, text);
	json_remove(status, "conditions");
	if (json_count(list) > 0)
		(void) json_set(status, "conditions", list);
	else
		json_free(list);
}
