// SPDX-License-Identifier: Apache-2.0
// Mounts a pod, prints what to mount where in its containers, holds and releases it: over the unix socket.
// podvol.d.ts is made of podvold's own description; docs/api.md has the commands.
//   node hold.js SOCKET POD.json
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import { Agent } from "undici";
import type { components, paths } from "./podvol.js";

type Status = components["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.Status"];

const [socketPath, file] = process.argv.slice(2);
if (!socketPath || !file) {
	console.error("usage: node hold.js SOCKET POD.json");
	process.exit(1);
}
const dispatcher = new Agent({ connect: { socketPath } });
const client = createClient<paths>({ baseUrl: "http://podvol", requestInitExt: { dispatcher } });

function checked<T>(answer: { data?: T; error?: Status }): T {
	if (answer.data === undefined)
		throw new Error(answer.error?.message ?? "no answer");
	return answer.data;
}

const object = JSON.parse(readFileSync(file, "utf-8"));
checked(await client.POST("/podvol/v1/apply", { body: object }));

const pod = { namespace: object.metadata.namespace ?? "default", pod: object.metadata.name };
const query = { timeout: "30s" };
checked(await client.POST("/podvol/v1/pods/{namespace}/{pod}/mount", { params: { path: pod, query } }));
checked(await client.POST("/podvol/v1/pods/{namespace}/{pod}/wait", { params: { path: pod, query } }));
const mounts = checked(await client.POST("/podvol/v1/pods/{namespace}/{pod}/mounts", { params: { path: pod } }));
for (const container of mounts.containers)
	for (const mount of container.mounts)
		console.log(`${container.name}: ${mount.hostPath} on ${mount.containerPath}`);

const hold = checked(
	await client.POST("/podvol/v1/pods/{namespace}/{pod}/holds", {
		params: { path: pod },
		body: { container: mounts.containers[0].name, pid: process.pid },
	}),
);
console.log(`held by process ${hold.pid}`);
checked(
	await client.DELETE("/podvol/v1/pods/{namespace}/{pod}/holds/{hold}", {
		params: { path: { ...pod, hold: hold.id! } },
	}),
);
const holds = checked(await client.GET("/podvol/v1/pods/{namespace}/{pod}/holds", { params: { path: pod } }));
console.log(`${holds.items.length} holds left`);
checked(await client.POST("/podvol/v1/pods/{namespace}/{pod}/unmount", { params: { path: pod, query } }));
await dispatcher.close();
