/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_trust - see file_trust.h
 */
#include "plugins/file_trust.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/certificates.h"
#include "plugins/file_tokens.h"

#include <assert.h>
#include <string.h>

/* ---- gathering ---- */

struct gathering {
	struct file_trust *trust;
	const struct pod_trust_bundle *wanted;
};

static int take(struct file_trust *trust, const struct object *bundle)
{
	if (ARRAY_ROOM(trust->bundles, trust->count, trust->capacity, 4) < 0)
		return -ENOMEM;
	trust->bundles[trust->count++] = object_ref(bundle);
	return 0;
}

/* A selector that is absent matches nothing, an empty one everything, as in Kubernetes. */
static int take_of_signer(const struct object *bundle, void *userdata)
{
	const struct gathering *gathering = userdata;
	const struct pod_trust_bundle *wanted = gathering->wanted;

	if (strcmp(bundle->cluster_trust_bundle->signer_name, wanted->signer_name) != 0 ||
	    !wanted->selector || !label_selector_matches(wanted->selector, &bundle->meta.labels))
		return 0;
	return take(gathering->trust, bundle);
}

static int gather(const struct pod_trust_bundle *wanted, const struct object_finder *objects,
		  struct file_trust *trust)
{
	const struct object_reference named = { KIND_CLUSTER_TRUST_BUNDLE, "", wanted->name };
	struct gathering gathering = { trust, wanted };
	const struct object *bundle;

	if (*wanted->name == '\0')
		return objects->each(objects->userdata, KIND_CLUSTER_TRUST_BUNDLE, take_of_signer,
				     &gathering);
	bundle = objects->find(objects->userdata, &named);
	return bundle ? take(trust, bundle) : 0;
}

int file_trust_gather(const struct pod_volume *source, const struct object_finder *objects,
		      struct file_trust **ret)
{
	struct file_trust *trust = calloc(source->trust_bundle_count + 1, sizeof(*trust));
	int r = trust ? 0 : -ENOMEM;

	assert(ret && (source->trust_bundle_count == 0 || objects));
	for (size_t i = 0; i < source->trust_bundle_count && r == 0; i++)
		r = gather(&source->trust_bundles[i], objects, &trust[i]);
	if (r < 0)
		(void) file_trust_free(trust, source);
	else
		*ret = trust;
	return r;
}

struct file_trust *file_trust_free(struct file_trust *trust, const struct pod_volume *source)
{
	for (size_t i = 0; trust && i < source->trust_bundle_count; i++) {
		for (size_t j = 0; j < trust[i].count; j++)
			(void) object_unref(trust[i].bundles[j]);
		free(trust[i].bundles);
	}
	free(trust);
	return NULL;
}

/* ---- the file ---- */

static int fail_missing(const struct cJSON *item, struct failure *reterr)
{
	const char *name = json_text(item, "name");

	if (*name)
		return failed_plain(reterr, -ENOENT, "clustertrustbundle \"%s\" not found", name);
	return failed_plain(reterr, -ENOENT,
			    "no clustertrustbundle of signer \"%s\" has these labels",
			    json_text(item, "signerName"));
}

static int print(const struct file_trust *trust, char **ret, struct failure *reterr)
{
	struct certificate_list list = { .certificates = NULL };
	int r = 0;

	for (size_t i = 0; i < trust->count && r == 0; i++) {
		const struct object *bundle = trust->bundles[i];

		r = certificates_add(&list, bundle->cluster_trust_bundle->trust_bundle, reterr);
		if (r < 0)
			(void) failure_prefix(reterr, "clustertrustbundle \"%s\"",
					      bundle->meta.name);
	}
	certificates_sort(&list);
	*ret = r == 0 ? certificates_print(&list) : NULL;
	certificates_done(&list);
	if (r == 0 && !*ret)
		r = failed(reterr, -ENOMEM, "cannot write certificates");
	return r;
}

int file_trust_add(const struct file_trust *trust, const struct object *pod,
		   const struct cJSON *item, mode_t default_mode, struct payload *payload,
		   struct failure *reterr)
{
	struct payload_file file = { .path = (char *) json_text(item, "path") };
	cleanup_free char *text = NULL;
	int r;

	assert(trust && pod && payload);
	if (trust->count == 0 && !json_bool(json_get(item, "optional"), false))
		return fail_missing(item, reterr);
	r = print(trust, &text, reterr);
	if (r < 0)
		return r;
	file_tokens_rights(pod, default_mode, &file);
	file.data = text;
	file.length = strlen(text);
	return payload_add(payload, &file, reterr);
}
