/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_flavour - what the three local provisioners have of their own; only local_plan*.c use it
 */
#pragma once

#include "controller/local/local_plan.h"
#include "object/json/json.h"

/* What a plan is made of, parsed. */
struct local_sources {
	const struct local_request *request;
	const struct cJSON *claim, *storage_class;
	const char *volume_name;
};

/* Fills base paths, name, source kind, labels and affinity. Return: 0, -EINVAL, -ENODEV, -ENOMEM.
 */
typedef int local_read_fn(const struct local_sources *sources, struct local_plan *plan,
			  struct failure *reterr);

local_read_fn local_read_openebs, local_read_rancher;
/* Of a class with the parameter plugin, in place of base paths. */
local_read_fn local_read_plugin;

/* An annotation, or a parameter of the class; "" none. */
const char *local_annotation(const struct cJSON *tree, const char *key);
const char *local_parameter(const struct local_sources *sources, const char *key);

/* Refuses what does not lie below "/", is not absolute or has "..". */
int local_add_base_path(struct local_plan *plan, const char *path, struct failure *reterr);
/* Must be relative, without ".." and empty parts. */
int local_set_name(struct local_plan *plan, const char *name, struct failure *reterr);

/* The value of a label of the node; "" none. */
const char *local_node_label(const struct local_request *request, const char *key);
/* One more expression of the volume's one term. */
void local_add_affinity(struct local_plan *plan, const char *key, const char *value);
void local_set_label(struct local_plan *plan, const char *key, const char *value);
void local_set_annotation(struct local_plan *plan, const char *key, const char *value);

/* How the size is enforced: "none", "quota", "image", "auto". Nothing is unless the class says so:
 * directories could always grow. Return: 0; -EINVAL no such word, or nothing that can be made. */
int local_set_capacity(struct local_plan *plan, const char *word, struct failure *reterr);
/* The same as parameter capacity of the class says, with its fsType. */
int local_read_capacity(const struct local_sources *sources, struct local_plan *plan,
			struct failure *reterr);

/* Only these access modes; what is common to all is refused before. */
int local_check_modes(const struct local_sources *sources, unsigned int modes,
		      struct failure *reterr);
