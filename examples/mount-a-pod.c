/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount-a-pod - stores what a file holds, waits for one pod, prints what its containers are given
 *
 *   mount-a-pod FILE NAMESPACE/NAME [SOCKET]
 *
 * Build it with: cc mount-a-pod.c -o mount-a-pod $(pkg-config --cflags --libs podvol)
 */
#include <podvol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, WAIT_MSEC = 30000 };

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, FILE_BYTES_MAX + 1);

	if (!file || !text || fread(text, 1, FILE_BYTES_MAX, file) == 0) {
		perror(path);
		exit(1);
	}
	(void) fclose(file);
	return text;
}

/* One line a mount: "main: /var/lib/kubelet/pods/... on /data". */
static void print(const struct podvol_table *table)
{
	size_t container, host, path;

	if (podvol_table_column(table, PODVOL_MOUNT_CONTAINER, &container) < 0 ||
	    podvol_table_column(table, PODVOL_MOUNT_HOST_PATH, &host) < 0 ||
	    podvol_table_column(table, PODVOL_MOUNT_CONTAINER_PATH, &path) < 0) {
		(void) fputs("this podvold lists other columns\n", stderr);
		return;
	}
	for (size_t row = 0; row < podvol_table_rows(table); row++)
		(void) printf("%s: %s on %s\n", podvol_table_cell(table, row, container),
			      podvol_table_cell(table, row, host),
			      podvol_table_cell(table, row, path));
}

int main(int argc, char **argv)
{
	struct podvol *podvol = NULL;
	struct podvol_table *mounts = NULL;
	char *manifest;
	int r;

	if (argc < 3 || argc > 4) {
		(void) fprintf(stderr, "usage: mount-a-pod FILE NAMESPACE/NAME [SOCKET]\n");
		return 2;
	}
	manifest = read_file(argv[1]);
	r = podvol_connect(argv[3], &podvol);
	if (r == 0)
		r = podvol_apply(podvol, manifest, strlen(manifest), NULL);
	if (r == 0)
		r = podvol_container_mounts(podvol, argv[2], NULL, WAIT_MSEC, &mounts);
	if (r == 0)
		print(mounts);
	else
		(void) fprintf(stderr, "%s\n", podvol ? podvol_error(podvol) : strerror(-r));

	podvol_table_free(mounts);
	podvol_free(podvol);
	free(manifest);
	return r == 0 ? 0 : 1;
}
