/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format - a plan in the words of one container runtime
 *
 * One file and one row of the table in format.c per runtime. What a runtime has no words for is
 * refused, with a sentence that says so, and never left out: a container that starts without its
 * read-only flag is worse than one that does not start. docs/container-mounts.md says what each
 * setting turns into.
 */
#pragma once

#include "base/failure.h"
#include "container/container_plan.h"

struct cJSON;
struct words; /* words.h */

/* One of the two functions is there. */
struct container_format {
	const char *name; /* "oci" */
	const char *help; /* one line for people */
	/* Words of one container; else of all that are in the plan. */
	bool of_one;
	/* JSON; the caller's, freed with json_free(). NULL: no memory. @container NULL unless
	 * of_one. */
	struct cJSON *(*tree)(const struct container_plan *plan,
			      const struct planned_container *container);
	/* Command line words. Return: 0; -EOPNOTSUPP the runtime cannot do that. */
	int (*words)(const struct container_plan *plan, const struct planned_container *container,
		     struct words *words, struct failure *reterr);
	bool refuses_images;    /* no word for a mount with an image */
	bool refuses_devices;   /* nor for a block device */
	bool refuses_colons;    /* a colon in a path of the container cannot be written */
	bool refuses_recursive; /* no word for recursiveReadOnly Enabled */
	/* Why it cannot express an idmapped mount (hostUsers: false); NULL: it has. */
	const char *no_idmap;
	bool takes_id_range; /* it has one where the plan's user_namespace is known */
};

/* Ended by a NULL name. The first is the default. */
extern const struct container_format container_formats[];

/* NULL: there is none of that name. */
const struct container_format *container_format_find(const char *name);

/**
 * container_format_choose - can a plan be written in a format, and which container is it about?
 * @ret: NULL for a format of all containers
 *
 * Return: 0; -EINVAL the plan has several where the format is of one, the text names them;
 * -EOPNOTSUPP it has what the format cannot express.
 */
int container_format_choose(const struct container_format *format,
			    const struct container_plan *plan, const struct planned_container **ret,
			    struct failure *reterr);

/**
 * container_format_print - all of the plan, or its one container, as text
 * @ret: freed with free(); JSON, or a word on each line
 *
 * Return: 0; -EINVAL several containers where one is meant; -EOPNOTSUPP; -ENOMEM.
 */
int container_format_print(const struct container_format *format, const struct container_plan *plan,
			   char **ret, struct failure *reterr);

/* ---- the rows ---- */

/* json.c: "idmap", "noexec" and the like, which this mount has beside its access */
void json_format_add_options(struct cJSON *options, const struct planned_mount *mount);
/* {"pod", "podUID", "supplementalGroups", "containers": [...]} */
struct cJSON *json_format_tree(const struct container_plan *plan,
			       const struct planned_container *container);
/* table.c: {"items": [...]}, a row for each mount and device */
struct cJSON *table_format_tree(const struct container_plan *plan,
				const struct planned_container *container);
/* kube.c: a Pod with host paths in place of its volumes */
struct cJSON *kube_format_tree(const struct container_plan *plan,
			       const struct planned_container *container);
/* oci.c: the part of a config.json that volumes make */
struct cJSON *oci_format_tree(const struct container_plan *plan,
			      const struct planned_container *container);
/* cri.c: the part of a ContainerConfig */
struct cJSON *cri_format_tree(const struct container_plan *plan,
			      const struct planned_container *container);
int podman_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr);
int docker_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr);
int nspawn_format_words(const struct container_plan *plan,
			const struct planned_container *container, struct words *words,
			struct failure *reterr);
