/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod_validate - the rules for pods, each with the words that people will read
 */
#include "object/kinds/pod.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LABEL_RULE                                                                                 \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
#define SUBDOMAIN_RULE                                                                             \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "  \
	"or '.'"

struct rule {
	const char *yaml, *why;
};

/* @format gets each rule's text in place of its %s. */
static void assert_rules(const char *format, const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char yaml[2000];

		(void) snprintf(yaml, sizeof(yaml), format, rules[i].yaml);
		assert_refused(yaml, rules[i].why);
	}
}

static void test_metadata(void **state)
{
	static const struct rule rules[] = {
		{ "{}", "metadata.name: Required value: name is required" },
		{ "~", "metadata.name: Required value: name is required" },
		{ "{name: ''}", "metadata.name: Required value: name is required" },
		{ "{name: Web}", "metadata.name: Invalid value: \"Web\": " SUBDOMAIN_RULE },
		{ "{name: a..b}", "metadata.name: Invalid value: \"a..b\": " SUBDOMAIN_RULE },
		{ "{name: -a}", "metadata.name: Invalid value: \"-a\": " SUBDOMAIN_RULE },
		{ "{name: a/b}", "metadata.name: Invalid value: \"a/b\": " SUBDOMAIN_RULE },
		{ "{name: 12}", "metadata.name: Invalid value: must be a string, not a "
				"number" },
		{ "{name: yes}", "metadata.name: Invalid value: must be a string, not a "
				 "boolean" },
		{ "{name: a, namespace: a.b}",
		  "metadata.namespace: Invalid value: \"a.b\": " LABEL_RULE },
		{ "{name: a, uid: ../../etc}",
		  "metadata.uid: Invalid value: \"../../etc\": must be at most 128 of the "
		  "characters "
		  "A-Z, a-z, 0-9, '-', '_' and '.', not beginning with '.'" },
		{ "{name: a, uid: .x}",
		  "metadata.uid: Invalid value: \".x\": must be at most 128 of the characters A-Z, "
		  "a-z, 0-9, '-', '_' and '.', not beginning with '.'" },
		{ "{name: a, resourceVersion: '-1'}",
		  "metadata.resourceVersion: Invalid value: \"-1\": must be a number" },
		{ "{name: a, resourceVersion: '18446744073709551616'}",
		  "metadata.resourceVersion: Invalid value: \"18446744073709551616\": must be a "
		  "number" },
		{ "{name: a, labels: {x: yes}}",
		  "metadata.labels[x]: Invalid value: must be a string, not a boolean" },
		{ "{name: a, annotations: [x]}",
		  "metadata.annotations: Invalid value: must be a map, not a list" },
		{ "[x]", "metadata: Invalid value: must be a map, not a list" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: %s\nspec: {containers: [{name: c}]}\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_names_have_a_length(void **state)
{
	char name[260], yaml[500], why[500];
	const struct object *object;

	memset(name, 'a', sizeof(name));
	name[253] = '\0';
	(void) snprintf(yaml, sizeof(yaml),
			"apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"
			"spec: {containers: [{name: c}]}\n",
			name);
	object = object_of(yaml);
	assert_int_equal(strlen(object->meta.name), 253);
	(void) object_unref(object);
	name[253] = 'a';
	name[254] = '\0';
	(void) snprintf(yaml, sizeof(yaml),
			"apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"
			"spec: {containers: [{name: c}]}\n",
			name);
	(void) snprintf(
		why, sizeof(why),
		"metadata.name: Invalid value: \"%.80s\": must be no more than 253 characters",
		name);
	assert_refused(yaml, why);
}

static void test_annotations_have_a_size(void **state)
{
	static char yaml[300 * 1024] =
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {k: ";
	size_t used = strlen(yaml);

	memset(yaml + used, 'x', 262144);
	(void) snprintf(yaml + used + 262144, 100, "}}\nspec: {containers: [{name: c}]}\n");
	assert_refused(yaml,
		       "metadata.annotations: Invalid value: \"\": may not be more than 262144 "
		       "bytes");
}

static void test_volumes(void **state)
{
	static const struct rule rules[] = {
		{ "{emptyDir: {}}", "spec.volumes[0].name: Required value" },
		{ "{name: A}", "spec.volumes[0].name: Invalid value: \"A\": " LABEL_RULE },
		{ "{name: a.b}", "spec.volumes[0].name: Invalid value: \"a.b\": " LABEL_RULE },
		{ "{name: a}, {name: b}, {name: a}",
		  "spec.volumes[2].name: Duplicate value: \"a\"" },
		{ "{name: a, emptyDir: {}, hostPath: {path: /}}",
		  "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type" },
		{ "{name: a, emptydir: {}}",
		  "spec.volumes[0]: Invalid value: \"emptydir\": unknown field; did you mean "
		  "\"emptyDir\"?" },
		{ "{name: a, emptyDir: []}",
		  "spec.volumes[0].emptyDir: Invalid value: must be a map, not a list" },
		{ "x", "spec.volumes[0]: Invalid value: \"x\": must be a map, not a string" },
		{ "~", "spec.volumes[0]: Invalid value: must be a map, not null" },
		{ "{name: a, emptyDir: {medium: Disk}}",
		  "spec.volumes[0].emptyDir.medium: Unsupported value: \"Disk\": supported values: "
		  "\"\", \"HugePages\", \"HugePages-<size>\", \"Memory\"" },
		{ "{name: a, emptyDir: {medium: HugePages-x}}",
		  "spec.volumes[0].emptyDir.medium: Unsupported value: \"HugePages-x\": supported "
		  "values: \"\", \"HugePages\", \"HugePages-<size>\", \"Memory\"" },
		{ "{name: a, emptyDir: {sizeLimit: -1}}",
		  "spec.volumes[0].emptyDir.sizeLimit: Invalid value: \"-1\": must be greater than "
		  "or "
		  "equal to 0" },
		{ "{name: a}, {name: b}, {name: c, hostPath: {path: /, type: Dir}}",
		  "spec.volumes[2].hostPath.type: Unsupported value: \"Dir\": supported values: "
		  "\"\", "
		  "\"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", "
		  "\"File\", "
		  "\"FileOrCreate\", \"Socket\"" },
		{ "{name: a, hostPath: {type: ''}}",
		  "spec.volumes[0].hostPath.path: Required value" },
		{ "{name: a, hostPath: {path: /x/..}}", "spec.volumes[0].hostPath.path: Invalid "
							"value: \"/x/..\": must not contain '..'" },
		{ "{name: a, hostPath: {path: 1}}",
		  "spec.volumes[0].hostPath.path: Invalid value: must be a string, not a "
		  "number" },
		{ "{name: a, persistentVolumeClaim: {}}",
		  "spec.volumes[0].persistentVolumeClaim.claimName: Required value" },
		{ "{name: a, persistentVolumeClaim: {claimName: A}}",
		  "spec.volumes[0].persistentVolumeClaim.claimName: Invalid value: "
		  "\"A\": " SUBDOMAIN_RULE },
		{ "{name: a, ephemeral: {}}",
		  "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value" },
		{ "{name: a, ephemeral: {volumeClaimTemplate: {}}}",
		  "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: "
		  "at "
		  "least 1 access mode is required" },
		{ "{name: a, csi: {}}", "spec.volumes[0].csi.driver: Required value" },
		{ "{name: a, nfs: {server: s}}", "spec.volumes[0].nfs.path: Required value" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
		     "spec:\n  containers: [{name: c}]\n  volumes: [%s]\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_trust_bundles(void **state)
{
	static const struct rule rules[] = {
		{ "projected: {sources: [{clusterTrustBundle: {path: p}}]}",
		  "spec.volumes[0].projected.sources[0].clusterTrustBundle: Required value: "
		  "either name or signerName must be specified" },
		{ "projected: {sources: [{clusterTrustBundle: {path: p, name: ca, signerName: "
		  "a/b}}]}",
		  "spec.volumes[0].projected.sources[0].clusterTrustBundle: Invalid value: \"ca\": "
		  "only one of name and signerName may be used" },
		{ "projected: {sources: [{clusterTrustBundle: {path: p, name: ca, labelSelector: "
		  "{}}}]}",
		  "spec.volumes[0].projected.sources[0].clusterTrustBundle.labelSelector: Invalid "
		  "value: \"\": labelSelector must be unset if name is specified" },
		{ "projected: {sources: [{clusterTrustBundle: {name: ca}}]}",
		  "spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Required value" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
		     "spec:\n  containers: [{name: c}]\n  volumes: [{name: v, %s}]\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_volumes_that_become_files(void **state)
{
	static const struct rule rules[] = {
		{ "configMap: {}", "spec.volumes[0].configMap.name: Required value" },
		{ "secret: {name: x}", "spec.volumes[0].secret.secretName: Required value" },
		{ "configMap: {name: x, defaultMode: 01000}",
		  "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number "
		  "between 0 and 0777 (octal), both inclusive" },
		{ "secret: {secretName: x, items: [{key: k, path: p, mode: -1}]}",
		  "spec.volumes[0].secret.items[0].mode: Invalid value: -1: must be a number "
		  "between "
		  "0 and 0777 (octal), both inclusive" },
		{ "configMap: {name: x, items: [{path: p}]}",
		  "spec.volumes[0].configMap.items[0].key: Required value" },
		{ "configMap: {name: x, items: [{key: k, path: p}, {key: k}]}",
		  "spec.volumes[0].configMap.items[1].path: Required value" },
		{ "configMap: {name: x, items: [{key: k, path: /p}]}",
		  "spec.volumes[0].configMap.items[0].path: Invalid value: \"/p\": must be a "
		  "relative "
		  "path" },
		{ "configMap: {name: x, items: [{key: k, path: a/../b}]}",
		  "spec.volumes[0].configMap.items[0].path: Invalid value: \"a/../b\": must not "
		  "contain '..'" },
		{ "configMap: {name: x, items: [{key: k, path: ..b}]}",
		  "spec.volumes[0].configMap.items[0].path: Invalid value: \"..b\": must not start "
		  "with '..'" },
		{ "downwardAPI: {items: [{path: p}]}",
		  "spec.volumes[0].downwardAPI.items[0]: Required value: one of fieldRef and "
		  "resourceFieldRef is required" },
		{ "downwardAPI: {items: [{path: p, fieldRef: {}}]}",
		  "spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: Required value" },
		{ "downwardAPI: {items: [{path: p, resourceFieldRef: {}}]}",
		  "spec.volumes[0].downwardAPI.items[0].resourceFieldRef.resource: Required "
		  "value" },
		{ "downwardAPI: {items: [{path: p, fieldRef: {fieldPath: x}, resourceFieldRef: "
		  "{}}]}",
		  "spec.volumes[0].downwardAPI.items[0]: Invalid value: \"resource\": fieldRef and "
		  "resourceFieldRef can not be specified simultaneously" },
		{ "projected: {sources: [{}]}", "spec.volumes[0].projected.sources[0]: Required "
						"value: must specify a volume type" },
		{ "projected: {sources: [{secret: {name: x}, configMap: {name: x}}]}",
		  "spec.volumes[0].projected.sources[0].secret: Forbidden: may not specify more "
		  "than "
		  "1 volume type" },
		{ "projected: {sources: [{secret: {}}]}",
		  "spec.volumes[0].projected.sources[0].secret.name: Required value" },
		{ "projected: {sources: [{serviceAccountToken: {}}]}",
		  "spec.volumes[0].projected.sources[0].serviceAccountToken.path: Required value" },
		{ "projected: {sources: [{serviceAccountToken: {path: p, expirationSeconds: "
		  "599}}]}",
		  "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: "
		  "Invalid value: 599: may not specify a duration less than 10 minutes" },
		{ "projected: {defaultMode: 512}",
		  "spec.volumes[0].projected.defaultMode: Invalid value: 512: must be a number "
		  "between 0 and 0777 (octal), both inclusive" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
		     "spec:\n  containers: [{name: c}]\n  volumes: [{name: v, %s}]\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_containers(void **state)
{
	static const struct rule rules[] = {
		{ "containers: []", "spec.containers: Required value" },
		{ "initContainers: [{name: a}]", "spec.containers: Required value" },
		{ "containers: [{image: x}]", "spec.containers[0].name: Required value" },
		{ "containers: [{name: A}]",
		  "spec.containers[0].name: Invalid value: \"A\": " LABEL_RULE },
		{ "containers: [{name: a}, {name: b}, {name: a}]",
		  "spec.containers[2].name: Duplicate value: \"a\"" },
		{ "initContainers: [{name: a}, {name: b}], containers: [{name: c}, {name: b}]",
		  "spec.containers[1].name: Duplicate value: \"b\"" },
		{ "initContainers: [{name: a}], containers: [{name: c}], "
		  "ephemeralContainers: [{name: d}, {name: a}]",
		  "spec.ephemeralContainers[1].name: Duplicate value: \"a\"" },
		{ "containers: [{name: a, resources: {limits: {memory: 1X}}}]",
		  "spec.containers[0].resources.limits[memory]: Invalid value: \"1X\": quantities "
		  "are "
		  "numbers with a suffix, such as \"10Gi\" or \"1500m\"" },
		{ "containers: [{name: a, resources: {requests: {memory: -1}}}]",
		  "spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": must be "
		  "greater than or equal to 0" },
		{ "containers: [{name: a, securityContext: {runAsUser: -1}}]",
		  "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be "
		  "between 0 "
		  "and 2147483647, inclusive" },
		{ "containers: [{name: a}], securityContext: {fsGroup: 2147483648}",
		  "spec.securityContext.fsGroup: Invalid value: 2147483648: must be between 0 and "
		  "2147483647, inclusive" },
		{ "containers: [{name: a}], securityContext: {fsGroup: 1.5}",
		  "spec.securityContext.fsGroup: Invalid value: must be an integer, not a "
		  "number" },
		{ "containers: [{name: a}], securityContext: {supplementalGroups: [1, -2]}",
		  "spec.securityContext.supplementalGroups[1]: Invalid value: -2: must be between "
		  "0 "
		  "and 2147483647, inclusive" },
		{ "containers: [{name: a}], securityContext: {fsGroupChangePolicy: Never}",
		  "spec.securityContext.fsGroupChangePolicy: Unsupported value: \"Never\": "
		  "supported "
		  "values: \"Always\", \"OnRootMismatch\"" },
		{ "containers: [{name: a}], restartPolicy: Sometimes",
		  "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: "
		  "\"Always\", \"Never\", \"OnFailure\"" },
		{ "containers: [{name: a}], nodeName: N1",
		  "spec.nodeName: Invalid value: \"N1\": " SUBDOMAIN_RULE },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {%s}\n", rules,
		     ARRAY_SIZE(rules));
}

static void test_annotations(void **state)
{
	static const struct rule rules[] = {
		{ "{podvol.io/fs-group-change-policy: idmap}",
		  "metadata.annotations[podvol.io/fs-group-change-policy]: Unsupported value: "
		  "\"idmap\": supported values: \"Idmap\"" },
		{ "{podvol.io/fs-group-change-policy: OnRootMismatch}",
		  "metadata.annotations[podvol.io/fs-group-change-policy]: Unsupported value: "
		  "\"OnRootMismatch\": supported values: \"Idmap\"" },
		{ "{podvol.io/fs-group-change-policy: ''}",
		  "metadata.annotations[podvol.io/fs-group-change-policy]: Required value" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web, annotations: %s}\n"
		     "spec: {containers: [{name: a}]}\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_mounts(void **state)
{
	static const struct rule rules[] = {
		{ "{mountPath: /x}", "spec.containers[0].volumeMounts[0].name: Required value" },
		{ "{name: nix, mountPath: /x}",
		  "spec.containers[0].volumeMounts[0].name: Not found: \"nix\"" },
		{ "{name: e}", "spec.containers[0].volumeMounts[0].mountPath: Required value" },
		{ "{name: e, mountPath: /x}, {name: p, mountPath: /x}",
		  "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be "
		  "unique" },
		{ "{name: e, mountPath: /x, subPath: /a}",
		  "spec.containers[0].volumeMounts[0].subPath: Invalid value: \"/a\": must be a "
		  "relative path" },
		{ "{name: e, mountPath: /x, subPath: a/..}",
		  "spec.containers[0].volumeMounts[0].subPath: Invalid value: \"a/..\": must not "
		  "contain '..'" },
		{ "{name: e, mountPath: /x, subPathExpr: ../a}",
		  "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"../a\": must "
		  "not "
		  "contain '..'" },
		{ "{name: e, mountPath: /x, subPath: a, subPathExpr: b}",
		  "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"b\": "
		  "subPathExpr "
		  "and subPath are mutually exclusive" },
		{ "{name: e, mountPath: /x, mountPropagation: Both}",
		  "spec.containers[0].volumeMounts[0].mountPropagation: Unsupported value: "
		  "\"Both\": "
		  "supported values: \"Bidirectional\", \"HostToContainer\", \"None\"" },
		{ "{name: e, mountPath: /x, mountPropagation: Bidirectional}",
		  "spec.containers[0].volumeMounts[0].mountPropagation: Forbidden: Bidirectional "
		  "mount propagation is available only to privileged containers" },
		{ "{name: e, mountPath: /x, recursiveReadOnly: Yes}",
		  "spec.containers[0].volumeMounts[0].recursiveReadOnly: Invalid value: "
		  "must be a string, not a boolean" },
		{ "{name: e, mountPath: /x, recursiveReadOnly: Always}",
		  "spec.containers[0].volumeMounts[0].recursiveReadOnly: Unsupported value: "
		  "\"Always\": supported values: \"Disabled\", \"Enabled\", \"IfPossible\"" },
		{ "{name: e, mountPath: /x, recursiveReadOnly: Enabled}",
		  "spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: may only be "
		  "specified when readOnly is true" },
		{ "{name: e, mountPath: /x, readOnly: true, recursiveReadOnly: IfPossible, "
		  "mountPropagation: HostToContainer}",
		  "spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: may only be "
		  "specified when mountPropagation is None or not specified" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
		     "  volumes: [{name: e}, {name: p, persistentVolumeClaim: {claimName: c}}]\n"
		     "  containers: [{name: c, volumeMounts: [%s]}]\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_devices(void **state)
{
	static const struct rule rules[] = {
		{ "volumeDevices: [{devicePath: /x}]",
		  "spec.containers[0].volumeDevices[0].name: Required value" },
		{ "volumeDevices: [{name: nix, devicePath: /x}]",
		  "spec.containers[0].volumeDevices[0].name: Not found: \"nix\"" },
		{ "volumeDevices: [{name: e, devicePath: /x}]",
		  "spec.containers[0].volumeDevices[0].name: Invalid value: \"e\": can only use "
		  "volume source type of PersistentVolumeClaim or Ephemeral for block mode" },
		{ "volumeDevices: [{name: p}]",
		  "spec.containers[0].volumeDevices[0].devicePath: Required value" },
		{ "volumeDevices: [{name: p, devicePath: /dev/../x}]",
		  "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/dev/../x\": "
		  "must "
		  "not contain '..'" },
		{ "volumeDevices: [{name: p, devicePath: /x}, {name: p, devicePath: /y}]",
		  "spec.containers[0].volumeDevices[1].name: Invalid value: \"p\": must be "
		  "unique" },
		{ "volumeDevices: [{name: p, devicePath: /x}, {name: q, devicePath: /x}]",
		  "spec.containers[0].volumeDevices[1].devicePath: Invalid value: \"/x\": must be "
		  "unique" },
		{ "volumeMounts: [{name: p, mountPath: /m}], volumeDevices: [{name: p, devicePath: "
		  "/x}]",
		  "spec.containers[0].volumeDevices[0].name: Invalid value: \"p\": must not "
		  "already "
		  "exist in volumeMounts" },
		{ "volumeMounts: [{name: e, mountPath: /x}], volumeDevices: [{name: p, devicePath: "
		  "/x}]",
		  "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/x\": must not "
		  "already exist as a path in volumeMounts" },
	};

	assert_rules("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
		     "  volumes: [{name: e}, {name: p, persistentVolumeClaim: {claimName: c}},\n"
		     "    {name: q, persistentVolumeClaim: {claimName: c}}]\n"
		     "  containers: [{name: c, %s}]\n",
		     rules, ARRAY_SIZE(rules));
}

static void test_a_claim_of_a_template_has_a_name(void **state)
{
	char yaml[1000], pod[251], why[1000];

	memset(pod, 'p', sizeof(pod) - 1);
	pod[250] = '\0';
	(void) snprintf(yaml, sizeof(yaml),
			"apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n"
			"  containers: [{name: c}]\n  volumes: [{name: data, ephemeral: "
			"{volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: "
			"{requests: {storage: 1Gi}}}}}}]\n",
			pod);
	(void) snprintf(
		why, sizeof(why),
		"spec.volumes[0].name: Invalid value: \"%.80s\": the claim's name, made of the "
		"pod's and the volume's, must be a lowercase RFC 1123 subdomain",
		pod);
	assert_refused(yaml, why);
}

/* Kubernetes wants an image; podvold starts no container. */
static void test_no_image_is_needed(void **state)
{
	(void) object_unref(object_of("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
				      "spec: {containers: [{name: c}]}\n"));
}

static void test_resources_have_a_number(void **state)
{
	char yaml[4000];
	size_t used;

	used = (size_t) snprintf(
		yaml, sizeof(yaml),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: "
		"[{name: c, resources: {limits: {r0: 1");
	for (int i = 1; i <= 128; i++)
		used += (size_t) snprintf(yaml + used, sizeof(yaml) - used, ", r%d: 1", i);
	(void) snprintf(yaml + used, sizeof(yaml) - used, "}}}]}\n");
	assert_refused(yaml,
		       "spec.containers[0].resources.limits: Invalid value: must have at most "
		       "128 entries");
}

/* Each container has its status at the other end of the list. */
static void test_many_statuses(void **state)
{
	enum { MANY = 15000 };
	static char text[MANY * 80];
	cleanup_object const struct object *object = NULL;
	size_t used;

	used = (size_t) snprintf(text, sizeof(text),
				 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
				 "\"a\"},\"spec\":{\"containers\":[");
	for (int i = 0; i < MANY; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used, "%s{\"name\":\"c%d\"}",
					  i ? "," : "", i);
	used += (size_t) snprintf(text + used, sizeof(text) - used,
				  "]},\"status\":{\"containerStatuses\":[");
	for (int i = MANY - 1; i >= 0; i--)
		used += (size_t) snprintf(text + used, sizeof(text) - used,
					  "{\"name\":\"c%d\",\"state\":{\"terminated\":{}}}%s", i,
					  i ? "," : "");
	used += (size_t) snprintf(text + used, sizeof(text) - used, "]}}");
	assert_int_equal(object_parse_json(text, used, &object, NULL), 0);
	assert_true(object->pod->containers_terminated);
}

/* Long lists cost n log n: this would take minutes if each mount looked through all volumes. */
static void test_many_volumes(void **state)
{
	enum { MANY = 20000 };
	static char text[MANY * 60];
	cleanup_object const struct object *object = NULL;
	size_t used;

	used = (size_t) snprintf(text, sizeof(text),
				 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
				 "\"metadata\":{\"name\":\"a\"},\"spec\":{\"volumes\":[");
	for (int i = 0; i < MANY; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used, "%s{\"name\":\"v%d\"}",
					  i ? "," : "", i);
	used += (size_t) snprintf(text + used, sizeof(text) - used,
				  "],\"containers\":[{\"name\":\"c\",\"volumeMounts\":[");
	for (int i = 0; i < MANY; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used,
					  "%s{\"name\":\"v%d\",\"mountPath\":\"/%d\"}",
					  i ? "," : "", MANY - 1 - i, i);
	used += (size_t) snprintf(text + used, sizeof(text) - used, "]}]}}");
	assert_int_equal(object_parse_json(text, used, &object, NULL), 0);
	assert_int_equal(object->pod->volume_count, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_names_have_a_length),
		cmocka_unit_test(test_annotations_have_a_size),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_trust_bundles),
		cmocka_unit_test(test_volumes_that_become_files),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_a_claim_of_a_template_has_a_name),
		cmocka_unit_test(test_no_image_is_needed),
		cmocka_unit_test(test_resources_have_a_number),
		cmocka_unit_test(test_many_statuses),
		cmocka_unit_test(test_many_volumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
