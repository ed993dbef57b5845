/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_source - volume sources that become files: configMap, secret, downwardAPI, projected
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/json/arena.h"
#include "object/kinds/pod.h"
#include "object/schema/field.h"

/* defaultMode 0644. */
int file_source_set_mode(struct cJSON *source);
int downward_api_source_set_defaults(struct cJSON *source);
int projected_source_set_defaults(struct cJSON *source);

bool config_map_source_validate(const struct field *source);
bool secret_source_validate(const struct field *source);
bool downward_api_source_validate(const struct field *source);
bool projected_source_validate(const struct field *source);

/* Which objects the files come from; volumes with nothing of the kind stay as they are. */
void config_map_source_decode(const struct cJSON *source, struct arena *arena,
			      struct pod_volume *volume);
void secret_source_decode(const struct cJSON *source, struct arena *arena,
			  struct pod_volume *volume);
void downward_api_source_decode(const struct cJSON *source, struct arena *arena,
				struct pod_volume *volume);
void projected_source_decode(const struct cJSON *source, struct arena *arena,
			     struct pod_volume *volume);
