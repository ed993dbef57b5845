/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher_edit - what the attacher changes in objects; see csi_attacher_internal.h
 */
#include "controller/attach/csi_attacher_internal.h"

#include "controller/controller.h"
#include "csi/csi.pb-c.h"
#include "object/timestamp.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *attacher_finalizer(const char *driver, char ret[ATTACHER_FINALIZER_BYTES])
{
	static const char prefix[] = "external-attacher/";
	size_t length;

	assert(driver && ret);
	length = (size_t) snprintf(ret, ATTACHER_FINALIZER_BYTES, "%s%s", prefix, driver);
	if (length > ATTACHER_FINALIZER_BYTES - 2)
		length = ATTACHER_FINALIZER_BYTES - 2;
	for (size_t i = strlen(prefix); i < length; i++)
		if (!isalnum((unsigned char) ret[i]))
			ret[i] = '-';
	if (ret[length - 1] == '-') /* a finalizer ends with a letter */
		(void) snprintf(ret + length, 2, "X");
	return ret;
}

int attacher_edit_begun(struct cJSON *tree, void *userdata)
{
	const struct attacher_edit *edit = userdata;

	(void) metadata_set_annotation(tree, ANNOTATION_NODE_ID, edit->node_id);
	return metadata_add_finalizer(tree, (void *) edit->finalizer);
}

int attacher_edit_attached(struct cJSON *tree, void *userdata)
{
	const struct attacher_edit *edit = userdata;
	const Csi__V1__ControllerPublishVolumeResponse *reply =
		(const Csi__V1__ControllerPublishVolumeResponse *) edit->reply;
	struct cJSON *status = json_ensure_object(tree, "status"), *context = NULL;

	(void) json_set_bool(status, "attached", true);
	json_remove(status, "attachError");
	json_remove(status, "attachmentMetadata");
	if (reply && reply->n_publish_context > 0)
		context = json_add_object(status, "attachmentMetadata");
	for (size_t i = 0; context && i < reply->n_publish_context; i++)
		(void) json_set_string(context, reply->publish_context[i]->key,
				       reply->publish_context[i]->value);
	return status ? 0 : -ENOMEM;
}

int attacher_edit_detached(struct cJSON *tree, void *userdata)
{
	struct cJSON *status = json_ensure_object(tree, "status");

	(void) json_set_bool(status, "attached", false);
	json_remove(status, "detachError");
	json_remove(status, "attachmentMetadata");
	return metadata_remove_finalizer(
		tree, (void *) ((const struct attacher_edit *) userdata)->finalizer);
}

static int set_error(struct cJSON *tree, const char *key, const struct attacher_edit *edit)
{
	struct cJSON *status = json_ensure_object(tree, "status"), *error;
	char time[TIMESTAMP_BYTES];

	timestamp_print(edit->now_usec, time);
	if (!json_is_bool(json_get(status, "attached")))
		(void) json_set_bool(status, "attached", false);
	json_remove(status, key);
	error = json_add_object(status, key);
	(void) json_set_string(error, "message", edit->text);
	return json_set_string(error, "time", time);
}

int attacher_edit_attach_error(struct cJSON *tree, void *userdata)
{
	return set_error(tree, "attachError", userdata);
}

int attacher_edit_detach_error(struct cJSON *tree, void *userdata)
{
	return set_error(tree, "detachError", userdata);
}
