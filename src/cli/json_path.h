/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_path - kubectl's templates over JSON, as far as scripts use them
 *
 * Served: {.a.b}, {$.a}, {@.a}, {.a['x/y']}, [0], [-1], [*], {range PATH}...{end}, {"text\n"} and
 * text around them. Refused by name: filters [?()], recursive descent (..), slices and unions,
 * which kubectl has over the daemon's TLS address.
 */
#ifndef PODVOL_CLI_JSON_PATH_H
#define PODVOL_CLI_JSON_PATH_H

#include "object/json/json.h"

#include <stdio.h>

/**
 * json_path_print - a template, filled in
 * @out:      NULL: only see whether the template can be served
 * @template: "{.metadata.name}", or a bare ".metadata.name"
 * @root:     may be NULL, when nothing is found
 *
 * What is not there prints as nothing. Several matches have a blank between them; maps and lists
 * are printed as JSON.
 *
 * Return: 0; -EINVAL with the place; -EOPNOTSUPP with what is not served.
 */
int json_path_print(FILE *out, const char *template, const struct cJSON *root,
		    struct failure *reterr);

#endif
