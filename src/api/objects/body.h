/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body - the one object of a create, an update or a patch, as its sender made it
 *
 * Only the handlers of objects use it.
 */
#pragma once

#include "api/exchange.h"

/* The one object of a request body; its namespace becomes @name_space where it names none.
 * generateName gives it a name, fieldValidation may refuse it or warn. Replies and returns a
 * negative errno when there is no such object; 1: its name was made here and may be made again. */
int body_object(struct exchange *exchange, const struct kind_row *row, const char *name_space,
		const struct object **ret);

/* fieldValidation for a tree as its writer made it: an unknown field is refused or warned
 * of. Replies and returns a negative errno when it is refused. */
int body_check_fields(struct exchange *exchange, const struct kind_row *row,
		      const struct cJSON *tree);
/* Replies to a body or the result of a patch that is no object: @error and @why are what
 * object_from_json() gave for @tree. */
void body_refuse_object(struct exchange *exchange, const struct kind_row *row,
			const struct cJSON *tree, int error, const struct failure *why);
/* "@base" and five characters at random, as the API machinery makes them. Return: 0 or a negative
 * errno. */
enum { BODY_NAME_BYTES = 254 };
int body_make_name(const char *base, char name[BODY_NAME_BYTES]);
