/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror - what the kube-apiserver says of an object, written into the store
 *
 * Nothing is repeated here: an object that could not be stored comes again with the next list.
 */
#include "cluster/cluster_internal.h"
#include "cluster/provisioning.h"

#include "base/log.h"
#include "object/json/json.h"
#include "store/mirror.h"

#include <errno.h>

static void on_stored(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	if (error < 0 && error != -ENOENT && error != -ESTALE && error != -ECANCELED)
		log_message(LOG_ERR, "an object of the kube-apiserver is not stored: %s",
			    why->text);
}

void mirror_put(struct cluster *cluster, const struct object *object)
{
	if (provisioning_holds_back(cluster, object))
		return;
	if (store_mirror(cluster->options.store, object, on_stored, NULL) < 0)
		log_message(LOG_ERR, "out of memory: %s '%s/%s' is not stored",
			    kind_row(object->kind)->singular, object->meta.name_space,
			    object->meta.name);
}

void mirror_remove(struct cluster *cluster, enum object_kind kind, const char *name_space,
		   const char *name, const char *uid)
{
	const struct store_key key = { kind, name_space, name };

	if (store_mirror_delete(cluster->options.store, &key, uid, on_stored, NULL) < 0)
		log_message(LOG_ERR, "out of memory: %s '%s/%s' stays in the store",
			    kind_row(kind)->singular, name_space, name);
}

/* There is no such object, so the write fails. */
int mirror_after(struct cluster *cluster, store_done_fn *done, void *userdata)
{
	const struct store_key none = { KIND_CONFIG_MAP, IDENTITY_NAMESPACE, "none" };

	return store_mirror_delete(cluster->options.store, &none, "", done, userdata);
}

/* A node may not read them, and needs their name alone: the server issues their tokens. */
void mirror_account(struct cluster *cluster, const char *name_space, const char *name)
{
	cleanup_json struct cJSON *tree = json_new_object();
	cleanup_object const struct object *object = NULL;
	struct cJSON *metadata = json_add_object(tree, "metadata");
	struct failure why = { 0 };

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "ServiceAccount");
	(void) json_set_string(metadata, "namespace", name_space);
	(void) json_set_string(metadata, "name", name);
	if (object_from_json(tree, &object, &why) == 0)
		mirror_put(cluster, object);
	else
		log_message(LOG_ERR, "service account '%s/%s' is not stored: %s", name_space, name,
			    *why.text ? why.text : "out of memory");
}
