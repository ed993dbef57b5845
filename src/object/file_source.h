/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_source - volume sources that become files: configMap, secret, downwardAPI, projected
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_FILE_SOURCE_H
#define PODVOL_OBJECT_FILE_SOURCE_H

#include "object/field.h"

/* defaultMode 0644. */
int file_source_set_mode(struct cJSON *source);
int downward_api_source_set_defaults(struct cJSON *source);
int projected_source_set_defaults(struct cJSON *source);

int config_map_source_validate(const struct cJSON *source, const struct field *field,
			       struct violations *found);
int secret_source_validate(const struct cJSON *source, const struct field *field,
			   struct violations *found);
int downward_api_source_validate(const struct cJSON *source, const struct field *field,
				 struct violations *found);
int projected_source_validate(const struct cJSON *source, const struct field *field,
			      struct violations *found);

#endif
