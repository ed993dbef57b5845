/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition - see status.h
 */
#include "status/status.h"

#include "base/log.h"
#include "controller/binding/binding.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A write under way. */
struct condition {
	const char *type;
	char text[];
};

static int edit_status(struct cJSON *tree, void *userdata)
{
	const struct condition *condition = userdata;
	const char *const own[] = { condition->type, NULL };

	claim_conditions_replace(json_ensure_object(tree, "status"), own,
				 *condition->text ? condition->type : NULL, condition->text);
	return 0;
}

static int edit(void *userdata, const struct object *present, const struct object **ret,
		struct failure *why)
{
	return object_edit(present, edit_status, userdata, ret, why);
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct condition *condition = userdata;

	if (error < 0 && error != -ENOENT && error != -ECANCELED)
		log_message(LOG_ERR, "condition '%s' is not written: %s", condition->type,
			    why->text);
	free(condition);
}

void condition_write(struct store *store, const struct object *about, const char *type,
		     const char *text)
{
	const struct store_precondition expected = {
		.uid = about->meta.uid,
		.resource_version = about->meta.resource_version,
	};
	size_t bytes = strlen(text) + 1;
	struct condition *condition = malloc(sizeof(*condition) + bytes);
	cleanup_object const struct object *changed = NULL;
	struct failure why = { .text = "out of memory" };
	int r = -ENOMEM;

	assert(store && *type);
	if (condition) {
		condition->type = type;
		memcpy(condition->text, text, bytes);
		r = edit(condition, about, &changed, &why);
	}
	if (r == 0)
		r = store_edit(store, changed, &expected, edit, on_written, condition);
	if (r == 0)
		return;
	log_message(LOG_ERR, "%s '%s/%s': condition '%s' is not written: %s",
		    kind_row(about->kind)->singular, about->meta.name_space, about->meta.name, type,
		    why.text);
	free(condition);
}
