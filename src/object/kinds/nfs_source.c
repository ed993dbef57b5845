/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nfs_source - see volume_source.h
 */
#include "object/kinds/volume_source.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/json/arena.h"
#include "object/json/json.h"

#include <string.h>

const struct nfs_source *nfs_source_decode(const struct cJSON *source, struct arena *arena)
{
	struct nfs_source *nfs = arena_array(arena, 1, sizeof(*nfs));
	cleanup_free char *text = NULL;
	bool is_address;

	if (!nfs)
		return NULL;
	nfs->server = arena_text(arena, source, "server");
	nfs->path = arena_text(arena, source, "path");
	nfs->read_only = json_bool(json_get(source, "readOnly"), false);
	is_address = nfs->server && strchr(nfs->server, ':') && nfs->server[0] != '[';
	text = new_text(is_address ? "[%s]:%s" : "%s:%s", nfs->server ?: "", nfs->path ?: "");
	nfs->export = arena_string(arena, text);
	return text ? nfs : NULL;
}
