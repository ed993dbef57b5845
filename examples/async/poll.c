/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll - waits for the volumes of several pods at once, on a loop of poll(2), and says as each is
 * there
 *
 *   poll SECONDS NAMESPACE/NAME...
 *
 * Build it with: cc poll.c -o poll $(pkg-config --cflags --libs podvol)
 */
#include <podvol.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct podvol *podvol;
static int failures;

static void mounted(void *userdata, int result, struct podvol_reply *reply)
{
	struct podvol_table *volumes = NULL;

	if (result == 0)
		result = podvol_table_parse(reply->body, reply->length, &volumes);
	if (result == 0)
		(void) printf("%s: %zu volumes are mounted\n", (const char *) userdata,
			      podvol_table_rows(volumes));
	else
		(void) printf("%s: %s\n", (const char *) userdata, podvol_error(podvol));
	(void) fflush(stdout);
	failures += result < 0;
	podvol_table_free(volumes);
}

static int start(char *pod, unsigned int timeout_msec)
{
	struct podvol_request *request = NULL;
	int r = podvol_pod_mount_request(podvol, pod, timeout_msec, &request);

	if (r == 0)
		r = podvol_call(podvol, request, mounted, pod, NULL);
	podvol_request_free(request);
	return r;
}

int main(int argc, char **argv)
{
	struct pollfd pollfd = { .events = POLLIN };
	int r;

	if (argc < 3) {
		(void) fprintf(stderr, "usage: poll SECONDS NAMESPACE/NAME...\n");
		return 2;
	}
	r = podvol_connect(NULL, &podvol);
	for (int i = 2; r == 0 && i < argc; i++)
		r = start(argv[i], (unsigned int) atoi(argv[1]) * 1000);
	if (r == 0)
		r = pollfd.fd = podvol_fd(podvol);
	/* A program of its own would poll its other descriptors here, too. */
	while (r >= 0 && (r = podvol_process(podvol)) > 0)
		(void) poll(&pollfd, 1, -1);
	if (r < 0)
		(void) fprintf(stderr, "%s\n", podvol ? podvol_error(podvol) : strerror(-r));
	podvol_free(podvol);
	return r < 0 || failures > 0;
}
