/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror - what the kube-apiserver says of an object, written into the store
 *
 * Nothing is repeated here: an object that could not be stored comes again with the next list.
 */
#include "cluster/cluster_internal.h"

#include "base/log.h"
#include "store/mirror.h"

#include <errno.h>

static void on_stored(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	(void) userdata;
	(void) result;
	if (error < 0 && error != -ENOENT && error != -ESTALE && error != -ECANCELED)
		log_message(LOG_ERR, "an object of the kube-apiserver is not stored: %s",
			    why->text);
}

void mirror_put(struct cluster *cluster, const struct object *object)
{
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
