/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unused - warns of a pod's volumes that no container uses, before a wait for them
 *
 * They are never mounted, and no wait waits for them: mostly a volumeMount is missing.
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <string.h>

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
	cleanup_free char *path = cli_pod_path(pod, "/volumes");
	struct podvol_table *volumes = NULL;
	bool warned;

	if (!path || podvol_table_get(cli->podvol, path, &volumes) < 0)
		return false; /* the wait itself says why */
	warned = warn(cli, volumes);
	podvol_table_free(volumes);
	return warned;
}
