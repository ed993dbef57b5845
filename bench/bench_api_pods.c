/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api_pods - the pods of the benchmark of the node's API: as long as real ones, on another
 * node
 */
#include "bench/bench_api.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 100 }; /* pods of one apply */

char *pod_json(const char *prefix, unsigned int index)
{
	static const char format[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s-%05u\","
		"\"namespace\":\"default\",\"labels\":{\"app\":\"web\",\"tier\":\"t%u\"},"
		"\"annotations\":{\"example.com/owner\":\"team-%u\"}},"
		"\"spec\":{\"nodeName\":\"elsewhere\",\"restartPolicy\":\"Always\","
		"\"securityContext\":{\"fsGroup\":2000},\"initContainers\":[{\"name\":\"prepare\","
		"\"image\":\"busybox:1.36\",\"command\":[\"sh\",\"-c\",\"touch /data/ready\"],"
		"\"volumeMounts\":[{\"name\":\"data\",\"mountPath\":\"/data\"}]}],"
		"\"containers\":[{\"name\":\"web\",\"image\":\"nginx:1.25\",\"resources\":{"
		"\"limits\":{\"memory\":\"128Mi\"}},\"volumeMounts\":[{\"name\":\"data\","
		"\"mountPath\":\"/usr/share/nginx/html\",\"subPath\":\"html\",\"readOnly\":true},"
		"{\"name\":\"cache\",\"mountPath\":\"/var/cache/nginx\"}]}],\"volumes\":[{"
		"\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"claim-%05u\"}},"
		"{\"name\":\"cache\",\"emptyDir\":{\"sizeLimit\":\"64Mi\"}}]}}";
	char *text = NULL;

	if (asprintf(&text, format, prefix, index, index % 10, index % 100, index) < 0)
		api_bench_fail("no memory");
	return text;
}

void pods_store(int fd, unsigned int pod_count)
{
	for (unsigned int first = 0; first < pod_count; first += BATCH) {
		char *text = NULL;
		size_t length;
		FILE *file = open_memstream(&text, &length);

		for (unsigned int i = first; file && i < first + BATCH && i < pod_count; i++) {
			cleanup_free char *pod = pod_json("pod", i);

			(void) fprintf(file, "---\n%s\n", pod);
		}
		if (!file || fclose(file) != 0)
			api_bench_fail("no memory");
		client_send(fd, &(struct client_request){ "POST", "/podvol/v1/apply",
							  "application/yaml", text });
		(void) client_receive(fd, NULL);
		free(text);
	}
}
