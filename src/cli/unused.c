/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unused - warns of a pod's volumes that no container uses, before a wait for them
 *
 * They are never mounted, and no wait waits for them: mostly a volumeMount is missing.
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <string.h>

static char *volumes_path(const char *pod)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *name_space = strndup(pod, slash ? (size_t) (slash - pod) : 0);
	cleanup_free char *space = name_space ? podvol_escape(name_space) : NULL;
	cleanup_free char *name = podvol_escape(slash ? slash + 1 : pod);
	char *path;

	if (!space || !name ||
	    asprintf(&path, "/podvol/v1/pods/%s%s%s/volumes", space, slash ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static bool warn(struct cli *cli, const struct podvol_table *volumes)
{
	static const char unused[] = "no container uses ";
	size_t error = podvol_table_find(volumes, "Error");
	bool warned = false;

	for (size_t row = 0; row < podvol_table_rows(volumes); row++) {
		const char *text = podvol_table_cell(volumes, row, error);

		if (strncmp(text, unused, strlen(unused)) != 0)
			continue;
		cli_complain(cli, "warning: %s", text);
		warned = true;
	}
	return warned;
}

bool cli_warn_of_unused(struct cli *cli, const char *pod)
{
	cleanup_free char *path = volumes_path(pod);
	struct podvol_table *volumes = NULL;
	bool warned;

	if (!path || podvol_table_get(cli->podvol, path, &volumes) < 0)
		return false; /* the wait itself says why */
	warned = warn(cli, volumes);
	podvol_table_free(volumes);
	return warned;
}
