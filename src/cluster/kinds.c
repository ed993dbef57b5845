/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - kinds of objects that a node may watch as a whole: its own Node, CSIDrivers
 *
 * A Node that is deleted stays in the store: it says nothing of volumes. A CSIDriver leaves it by a
 * DELETED event, or when a list of the same cluster lacks it.
 */
#include "cluster/cluster_internal.h"
#include "cluster/followed.h"

#include "base/cleanup.h"

struct kinds {
	struct followed *node, *drivers;
};

int kinds_new(struct cluster *cluster)
{
	struct followed_options node = { .cluster = cluster, .kind = KIND_NODE, .stays = true };
	const struct followed_options drivers = { .cluster = cluster,
						  .kind = KIND_CSI_DRIVER,
						  .selector = "" };
	struct kinds *kinds = calloc(1, sizeof(*kinds));
	cleanup_free char *selector = NULL;
	int r;

	if (!kinds)
		return -ENOMEM;
	cluster->kinds = kinds;
	if (asprintf(&selector, "fieldSelector=metadata.name%%3D%s", cluster->options.node_name) <
	    0) {
		selector = NULL;
		return -ENOMEM;
	}
	node.selector = selector;
	r = followed_new(&node, &kinds->node);
	if (r >= 0)
		r = followed_new(&drivers, &kinds->drivers);
	if (r < 0)
		return r;
	followed_begin(kinds->node);
	followed_begin(kinds->drivers);
	return 0;
}

struct kinds *kinds_free(struct kinds *kinds)
{
	if (!kinds)
		return NULL;
	(void) followed_free(kinds->node);
	(void) followed_free(kinds->drivers);
	free(kinds);
	return NULL;
}
