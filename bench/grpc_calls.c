/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_calls SOCKET CALLS OUTSTANDING - what a gRPC call costs us
 *
 * GetPluginInfo so many times, so many at a time, each on a connection of its own as always. Prints
 * wall and processor time per call, memory and threads. See bench_grpc.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "grpc/grpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static struct {
	sd_event *event;
	struct grpc_request request;
	unsigned long left, begun, done;
} bench;

static void begin(void)
{
	struct failure failure = { 0 };
	struct grpc_call *call;

	if (grpc_call(bench.event, &bench.request, &call, &failure) < 0) {
		(void) fprintf(stderr, "grpc_calls: %s\n", failure.text);
		exit(1);
	}
	bench.begun++;
}

static void on_done(void *userdata, const struct grpc_result *result)
{
	if (result->code != GRPC_OK) {
		(void) fprintf(stderr, "grpc_calls: %s: %s\n", grpc_code_name(result->code),
			       result->text);
		exit(1);
	}
	if (++bench.done == bench.left)
		(void) sd_event_exit(bench.event, 0);
	else if (bench.begun < bench.left)
		begin();
}

/* Not ru_maxrss: that one includes the parent's. */
static long peak_kib(void)
{
	cleanup_fclose FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "VmHWM: %ld", &kib) != 1)
		;
	return kib;
}

int main(int argc, char **argv)
{
	unsigned long outstanding = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	struct rusage usage;
	uint64_t began;

	bench.left = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	if (bench.left == 0 || outstanding == 0 || outstanding > GRPC_CALLS_MAX ||
	    sd_event_new(&bench.event) < 0) {
		(void) fprintf(stderr, "usage: grpc_calls SOCKET CALLS OUTSTANDING\n");
		return 2;
	}
	bench.request = (struct grpc_request){
		.socket_path = argv[1],
		.method = "/csi.v1.Identity/GetPluginInfo",
		.timeout_usec = 600 * USEC_PER_SEC,
		.done = on_done,
	};
	began = monotonic_usec();
	while (bench.begun < bench.left && bench.begun < outstanding)
		begin();
	if (sd_event_loop(bench.event) < 0 || getrusage(RUSAGE_SELF, &usage) < 0)
		return 1;
	(void) printf("%.1f %.1f %ld\n", (double) (monotonic_usec() - began) / (double) bench.left,
		      ((double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
		       (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) /
			      (double) bench.left,
		      peak_kib());
	(void) sd_event_unref(bench.event);
	return 0;
}
