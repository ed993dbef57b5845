/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan_openebs - openebs.io/local: settings in the annotation cas.openebs.io/config
 *
 * A YAML list of names with a value, a list or data. The claim's settings come before the class's,
 * those before the built-in ones. But the author of a claim may not choose a directory of the
 * host, nor switch a limit off: a BasePath of the claim that is not the class's is refused, and a
 * quota counts no matter which enables it. Quotas are checked as there. Their limit is the volume's
 * size: what a limit's grace allows beyond it is more than was asked for, and is not given.
 */
#include "controller/local/local_flavour.h"

#include "base/cleanup.h"

#include <string.h>

#define CONFIG_ANNOTATION "cas.openebs.io/config"
#define HOSTNAME_LABEL    "kubernetes.io/hostname"
#define DEFAULT_BASE_PATH "/var/openebs/local"

enum { CLAIM, CLASS, SETTERS };

struct settings {
	struct cJSON *lists[SETTERS];
};

static void settings_done(struct settings *settings)
{
	json_free(settings->lists[CLAIM]);
	json_free(settings->lists[CLASS]);
}

static int read_list(const struct cJSON *object, const char *of, struct cJSON **ret,
		     struct failure *reterr)
{
	const char *text = local_annotation(object, CONFIG_ANNOTATION);
	int r = text[0] ? json_parse_yaml(text, strlen(text), ret, reterr) : 0;

	if (r < 0)
		(void) failure_prefix(reterr, "annotation %s of the %s", CONFIG_ANNOTATION, of);
	else if (*ret && !json_is_array(*ret))
		r = failed_plain(reterr, -EINVAL, "annotation %s of the %s is not a list",
				 CONFIG_ANNOTATION, of);
	return r;
}

static const struct cJSON *find_setting(const struct settings *settings, const char *name)
{
	const struct cJSON *item = json_find(settings->lists[CLAIM], "name", name);

	return item ? item : json_find(settings->lists[CLASS], "name", name);
}

static const char *setting_value(const struct settings *settings, const char *name,
				 const char *fallback)
{
	const struct cJSON *value = json_get(find_setting(settings, name), "value");

	return json_string(value, fallback);
}

/* ---- quotas ---- */

/* "50%" as 50, at most 100; "" is none. */
static int read_grace(const struct cJSON *quota, const char *key, int *ret, struct failure *reterr)
{
	const char *text = json_text(json_get(quota, "data"), key);
	char *end = NULL;
	long number = strtol(text, &end, 10);

	*ret = -1;
	if (!text[0])
		return 0;
	if (end == text || strcmp(end, "%") != 0 || number < 0)
		return failed_plain(reterr, -EINVAL, "%s '%s' is not a number with '%%'", key,
				    text);
	*ret = number > 100 ? 100 : (int) number;
	return 0;
}

static int read_quota(const struct cJSON *list, const char *name, struct local_plan *plan,
		      struct failure *reterr)
{
	const struct cJSON *quota = json_find(list, "name", name);
	const struct cJSON *enabled = json_get(quota, "enabled");
	int soft = -1, hard = -1, r;

	if (strcmp(json_string(enabled, ""), "true") != 0 && !json_bool(enabled, false))
		return 0;
	r = read_grace(quota, "softLimitGrace", &soft, reterr);
	if (r == 0)
		r = read_grace(quota, "hardLimitGrace", &hard, reterr);
	if (r < 0)
		return r;
	/* One alone leaves the other without a limit. */
	if (soft >= 0 && hard >= 0 && hard < soft)
		return failed_plain(reterr, -EINVAL,
				    "%s: the hard limit (%d%%) is below the soft limit (%d%%)",
				    name, hard, soft);
	return local_set_capacity(plan, "quota", reterr);
}

static int read_quotas(const struct settings *settings, struct local_plan *plan,
		       struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < SETTERS && r == 0; i++) {
		r = read_quota(settings->lists[i], "XFSQuota", plan, reterr);
		if (r == 0)
			r = read_quota(settings->lists[i], "EXT4Quota", plan, reterr);
	}
	return r;
}

/* ---- where ---- */

static int add_base_path(const struct settings *settings, struct local_plan *plan,
			 struct failure *reterr)
{
	const struct cJSON *of_class = json_find(settings->lists[CLASS], "name", "BasePath");
	const struct cJSON *of_claim = json_find(settings->lists[CLAIM], "name", "BasePath");
	const char *base = json_string(json_get(of_class, "value"), DEFAULT_BASE_PATH);
	const char *wish = json_string(json_get(of_claim, "value"), base);

	if (strcmp(wish, base) != 0)
		return failed_plain(reterr, -EINVAL,
				    "annotation %s of the claim: BasePath '%s' is not the class's "
				    "('%s'), and a claim may not choose a directory of the host",
				    CONFIG_ANNOTATION, wish, base);
	if (!base[0])
		return failed_plain(reterr, -EINVAL, "BasePath is empty");
	return local_add_base_path(plan, base, reterr);
}

static int add_affinity(const struct settings *settings, const struct local_sources *sources,
			struct local_plan *plan, struct failure *reterr)
{
	const struct cJSON *keys = json_get(find_setting(settings, "NodeAffinityLabels"), "list");
	bool found = false;

	JSON_FOREACH (key, keys) {
		const char *value = local_node_label(sources->request, json_string(key, ""));

		if (value[0])
			local_add_affinity(plan, json_string(key, ""), value);
		found |= value[0] != '\0';
	}
	if (!found && json_count(keys) > 0)
		return failed_plain(reterr, -EINVAL,
				    "node '%s' has none of the labels of NodeAffinityLabels",
				    sources->request->node->meta.name);
	if (json_count(keys) > 0)
		return 0;
	if (!local_node_label(sources->request, HOSTNAME_LABEL)[0])
		return failed_plain(reterr, -EINVAL, "node '%s' has no label '%s'",
				    sources->request->node->meta.name, HOSTNAME_LABEL);
	local_add_affinity(plan, HOSTNAME_LABEL,
			   local_node_label(sources->request, HOSTNAME_LABEL));
	return 0;
}

static int read_settings(const struct settings *settings, const struct local_sources *sources,
			 struct local_plan *plan, struct failure *reterr)
{
	const char *type = setting_value(settings, "StorageType", "hostpath");
	int r;

	if (strcmp(type, "hostpath") != 0)
		return failed_plain(reterr, -EINVAL,
				    "StorageType '%s' is not provided: only 'hostpath' is", type);
	r = read_quotas(settings, plan, reterr);
	if (r == 0)
		r = add_base_path(settings, plan, reterr);
	if (r == 0)
		r = local_set_name(plan, sources->volume_name, reterr);
	return r < 0 ? r : add_affinity(settings, sources, plan, reterr);
}

int local_read_openebs(const struct local_sources *sources, struct local_plan *plan,
		       struct failure *reterr)
{
	cleanup(settings_done) struct settings settings = { .lists = { NULL } };
	int r = local_check_modes(sources, ACCESS_READ_WRITE_ONCE, reterr);

	if (r == 0 && !sources->request->claim->selected_node[0])
		r = failed_plain(reterr, -ENODEV,
				 "no node was selected: the class should have the "
				 "volumeBindingMode WaitForFirstConsumer");
	if (r == 0)
		r = read_list(sources->claim, "claim", &settings.lists[CLAIM], reterr);
	if (r == 0)
		r = read_list(sources->storage_class, "class", &settings.lists[CLASS], reterr);
	if (r == 0)
		r = read_settings(&settings, sources, plan, reterr);
	if (r == 0)
		local_set_label(plan, "openebs.io/cas-type", "local-hostpath");
	return r;
}
