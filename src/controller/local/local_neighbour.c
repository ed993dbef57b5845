/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_neighbour - other volumes whose paths lie in, above or at a volume's; see local_item.h
 *
 * Paths of stored objects are compared; no directory is looked at.
 */
#include "controller/local/local_item.h"

#include "controller/local/local_reclaim.h"

#include <string.h>

struct neighbour_search {
	const struct persistent_volume *volume; /* that is none itself; may be NULL */
	const char *path;
	bool (*counts)(const struct persistent_volume *other,
		       const struct persistent_volume *volume); /* NULL: all do */
	const struct object *found;
};

static int take_neighbour(const struct object *object, void *userdata)
{
	struct neighbour_search *search = userdata;
	const struct persistent_volume *other = object->persistent_volume;
	const char *path = local_path_of(other);

	if (other == search->volume || !path || !local_paths_touch(path, search->path) ||
	    (search->counts && !search->counts(other, search->volume)))
		return 0;
	search->found = object;
	return 1;
}

/* Whose path lies in, above or at the path; NULL: no volume's. */
static const struct object *find_neighbour(struct local_provisioner *provisioner,
					   struct neighbour_search *search)
{
	/* The index of paths is that of the store then. */
	reflector_catch_up(provisioner->base.reflector);
	if (reflector_is_behind(provisioner->base.reflector) || !search->volume ||
	    !path_index_is_alone(&provisioner->paths, search->path))
		(void) store_list(provisioner->options.common.store, KIND_PERSISTENT_VOLUME, NULL,
				  take_neighbour, search);
	return search->found;
}

/* Made for a claim, and before this one, which is unfinished and was not written since. A volume
 * that a user wrote, say of all base paths, for a backup, is no claim's. */
static bool is_elder(const struct persistent_volume *other, const struct persistent_volume *volume)
{
	return other->origin.provisioned_by[0] &&
	       (!other->origin.is_unfinished ||
		other->object->meta.resource_version < volume->object->meta.resource_version);
}

/* Two claims whose names, by a pattern or their base paths, lead into one another: the second would
 * read and write what is the first one's. */
int local_item_check_apart(struct item *item, const struct persistent_volume *volume,
			   struct failure *reterr)
{
	struct neighbour_search search = { .volume = volume,
					   .path = local_path_of(volume),
					   .counts = is_elder };

	if (!local_path_of(volume) ||
	    !find_neighbour(work_queue_userdata(item->work.queue), &search))
		return 0;
	item->must_go = true;
	return failed_plain(reterr, -EEXIST,
			    "'%s' would lie in the directory of volume \"%s\", or hold it",
			    local_path_of(volume), search.found->meta.name);
}

const struct object *local_neighbour_of(struct local_provisioner *provisioner,
					const struct persistent_volume *volume)
{
	return local_neighbour_at(provisioner, local_path_of(volume), volume);
}

const struct object *local_neighbour_at(struct local_provisioner *provisioner, const char *path,
					const struct persistent_volume *volume)
{
	struct neighbour_search search = { .volume = volume, .path = path };

	return find_neighbour(provisioner, &search);
}
