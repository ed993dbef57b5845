// SPDX-License-Identifier: Apache-2.0
// One run of @kubernetes/client-node for test_client_node: what it gets is printed, one JSON a line.
//
//   client.mjs MODULE KUBECONFIG calls            typed calls, a line with the result of each
//   client.mjs MODULE KUBECONFIG informer LABELS  its informer on ConfigMaps, until it is killed
//   client.mjs MODULE KUBECONFIG watch QUERY      its Watch on ConfigMaps, until the server ends it
//
// Nothing is judged here; the test compares.

const [directory, kubeconfig, verb, argument] = process.argv.slice(2);
const k8s = await import(`${directory}/dist/index.js`);
const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = 'default';
const RETRY_MILLISECONDS = 50;

function say(...words) {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

// The result of a call, or the code and reason of its Status.
async function tell(name, promise, pick = (result) => result.metadata.name) {
  try {
    const result = await promise;
    say(name, pick(result));
    return result;
  } catch (error) {
    let status = {};
    try {
      status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body ?? {};
    } catch {
      // then the code has to do
    }
    say(name, error.code ?? String(error), status.reason ?? '');
    return undefined;
  }
}

// podvold keeps one ConfigMap in every namespace.
const isWritten = (object) => object.metadata?.name !== 'kube-root-ca.crt';
const names = (list) => list.items.filter(isWritten).map((item) => item.metadata.name);
const map = (name, text, labels = {}) => ({ metadata: { name, labels }, data: { text } });
const patchAs = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

async function writes() {
  const one = await tell('create', core.createNamespacedConfigMap({ namespace, body: map('one', '1', { part: 'a' }) }));
  await tell('create again', core.createNamespacedConfigMap({ namespace, body: map('one', '1') }));
  await tell('create wrong', core.createNamespacedConfigMap({ namespace, body: map('No Name', '1') }));
  await tell('dry run', core.createNamespacedConfigMap({ namespace, dryRun: 'All', body: map('dry', '1') }));
  await tell('read dry', core.readNamespacedConfigMap({ namespace, name: 'dry' }));
  const generated = { metadata: { generateName: 'made-', labels: { part: 'b' } } };
  await tell('generate', core.createNamespacedConfigMap({ namespace, body: generated }),
    (made) => /^made-[a-z0-9]{5}$/.test(made.metadata.name));
  one.data.text = '2';
  await tell('replace', core.replaceNamespacedConfigMap({ namespace, name: 'one', body: one }), (r) => r.data.text);
  await tell('conflict', core.replaceNamespacedConfigMap({ namespace, name: 'one', body: { ...one, data: { text: '3' } } }));
  await tell('strategic', core.patchNamespacedConfigMap(
    { namespace, name: 'one', body: { data: { more: 's' } } }, patchAs(k8s.PatchStrategy.StrategicMergePatch)), (r) => r.data);
  await tell('merge', core.patchNamespacedConfigMap(
    { namespace, name: 'one', body: { data: { more: null, less: 'm' } } }, patchAs(k8s.PatchStrategy.MergePatch)), (r) => r.data);
  await tell('json', core.patchNamespacedConfigMap(
    { namespace, name: 'one', body: [{ op: 'test', path: '/data/text', value: '2' },
      { op: 'move', from: '/data/less', path: '/data/last' }] },
    patchAs(k8s.PatchStrategy.JsonPatch)), (r) => r.data);
  await tell('server side', core.patchNamespacedConfigMap(
    { namespace, name: 'one', fieldManager: 'me', body: {} }, patchAs(k8s.PatchStrategy.ServerSideApply)));
}

async function reads() {
  for (const [name, part] of [['two', 'a'], ['three', 'b']]) {
    await core.createNamespacedConfigMap({ namespace, body: map(name, name, { part }) });
  }
  await tell('by label', core.listNamespacedConfigMap({ namespace, labelSelector: 'part in (a),part' }), names);
  await tell('by field', core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=three' }), names);
  await tell('bad label', core.listNamespacedConfigMap({ namespace, labelSelector: 'a in' }));
  const page = await tell('page', core.listNamespacedConfigMap({ namespace, labelSelector: 'part=a', limit: 1 }), names);
  await tell('next page', core.listNamespacedConfigMap(
    { namespace, labelSelector: 'part=a', limit: 1, _continue: page.metadata._continue }), names);
  await tell('all namespaces', core.listConfigMapForAllNamespaces({ labelSelector: 'part=a' }), names);
}

async function kinds() {
  const storage = config.makeApiClient(k8s.StorageV1Api);
  const leases = config.makeApiClient(k8s.CoordinationV1Api);
  const quantity = { requests: { storage: '1Gi' } };
  const pod = { metadata: { name: 'web' }, spec: { nodeName: 'elsewhere', containers: [{ name: 'c', image: 'none' }] } };
  await tell('pod', core.createNamespacedPod({ namespace, body: pod }), (r) => [r.kind, r.status?.phase]);
  await tell('pod status', core.patchNamespacedPodStatus({ namespace, name: 'web', body: { status: { message: 'hello' } } },
    patchAs(k8s.PatchStrategy.StrategicMergePatch)), (r) => r.status.message);
  await tell('claim', core.createNamespacedPersistentVolumeClaim({ namespace, body: { metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: quantity } } }), (r) => r.status.phase);
  await tell('volume', core.createPersistentVolume({ body: { metadata: { name: 'disk' }, spec: { capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'], hostPath: { path: '/nonexistent/disk' } } } }), (r) => r.spec.capacity.storage);
  await tell('secret', core.createNamespacedSecret({ namespace, body: { metadata: { name: 'key' },
    stringData: { word: 'open' } } }), (r) => r.data.word);
  await tell('class', storage.createStorageClass({ body: { metadata: { name: 'slow' }, provisioner: 'example.com/slow' } }),
    (r) => r.reclaimPolicy);
  await tell('driver', storage.createCSIDriver({ body: { metadata: { name: 'csi.example.com' }, spec: {} } }));
  const renewTime = new k8s.V1MicroTime();
  await tell('lease', leases.createNamespacedLease({ namespace, body: { metadata: { name: 'leader' },
    spec: { holderIdentity: 'me', renewTime } } }), (r) => new Date(r.spec.renewTime).getTime() === renewTime.getTime());
  await tell('nodes', core.listNode(), names);
  await tell('namespaces', core.listNamespace(), names);
  await tell('version', config.makeApiClient(k8s.VersionApi).getCode(), (r) => r.major);
  await tell('groups', config.makeApiClient(k8s.ApisApi).getAPIVersions(), (r) => r.groups.length > 2);
  const generic = k8s.KubernetesObjectApi.makeApiClient(config);
  await tell('generic', generic.create({ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshotClass',
    metadata: { name: 'snap' }, driver: 'csi.example.com', deletionPolicy: 'Delete' }));
  await tell('generic read', generic.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace } }));
}

async function removals() {
  const wrong = { preconditions: { uid: 'another' } };
  await tell('delete other', core.deleteNamespacedConfigMap({ namespace, name: 'one', body: wrong }));
  await tell('delete', core.deleteNamespacedConfigMap({ namespace, name: 'one' }), (r) => r.status);
  await tell('read deleted', core.readNamespacedConfigMap({ namespace, name: 'one' }));
  await tell('delete pod', core.deleteNamespacedPod({ namespace, name: 'web', gracePeriodSeconds: 0 }));
  await tell('collection', core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'part=b' }), () => 'done');
  await tell('left', core.listNamespacedConfigMap({ namespace }), names);
}

// Used as its documentation shows: an error starts it again a little later.
async function informer(labels) {
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: labels });
  const watching = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, labels);
  for (const event of ['add', 'update', 'delete']) {
    watching.on(event, (object) => isWritten(object) && say(event, object.metadata.name, object.data?.text ?? ''));
  }
  watching.on('connect', () => say('connect'));
  watching.on('error', (error) => {
    say('error', String(error?.code ?? error));
    setTimeout(() => watching.start(), RETRY_MILLISECONDS);
  });
  await watching.start();
}

async function watch(query) {
  await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, JSON.parse(query),
    (type, object) => isWritten(object) && say(type, object.metadata?.name ?? '', object),
    (error) => say('end', error?.statusCode ?? (error ? String(error) : null)));
}

if (verb === 'calls') {
  await writes();
  await reads();
  await kinds();
  await removals();
} else if (verb === 'informer') {
  await informer(argument || undefined);
} else {
  await watch(argument);
}
