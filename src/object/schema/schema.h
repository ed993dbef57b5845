/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema - which JSON type each field we know has
 *
 * OpenAPI and merge patches are made from it too. Checked before anything else, so that what
 * fills defaults, validates or decodes meets each known field with its type or not at all. Fields
 * that no schema names stay as they are: newer and foreign fields survive.
 */
#pragma once

#include "object/object.h"
#include "object/schema/field.h"

enum schema_type {
	SCHEMA_STRING,
	SCHEMA_BYTES,         /* a string of base64 */
	SCHEMA_TIME,          /* a string of RFC 3339 */
	SCHEMA_MICRO_TIME,    /* the same with microseconds */
	SCHEMA_INT_OR_STRING, /* as of a port: 80 or "http" */
	SCHEMA_BOOL,
	SCHEMA_INTEGER,      /* of 64 bits */
	SCHEMA_QUANTITY,     /* a string, or a number that becomes one */
	SCHEMA_STRINGS,      /* a list of strings */
	SCHEMA_INTEGERS,     /* a list of integers */
	SCHEMA_STRING_MAP,   /* string values */
	SCHEMA_BYTES_MAP,    /* base64 values */
	SCHEMA_QUANTITY_MAP, /* quantity values */
	SCHEMA_OBJECT,       /* of a schema */
	SCHEMA_OBJECTS,      /* a list of objects of a schema */
};

struct schema;

enum schema_flags {
	REQUIRED = 1,    /* kubectl says so; validation is the kind's own */
	RETAIN_KEYS = 2, /* a patch of an element keeps only the members it names: volumes */
	BY_SCHEMA = 4,   /* an inline source: its schema is all that is checked and decoded */
};

struct schema_field {
	enum schema_type type;
	const struct schema *of; /* SCHEMA_OBJECT, SCHEMA_OBJECTS; NULL: any members */
	/* Of a list that a strategic merge patch merges: the member that tells its elements apart
	 * ("name"), "" for a list of plain values. NULL: the list is replaced. */
	const char *merge_key;
	/* The arguments of the rows below, in this order. */
	const char *name;
	unsigned int flags;
	const char *description; /* for kubectl explain; NULL: none */
};

struct schema {
	const char *name; /* "PodSpec": its name in OpenAPI; NULL: written out where it is used */
	const char *package;     /* before that name; NULL: "io.k8s.api.core.v1", as most are */
	const char *description; /* NULL: none; that of a kind stands in its row */
	struct schema_field fields[]; /* ended by a NULL name, which must be there */
};

/**
 * schema_apply - check the known fields of an object, drop those that are null
 * @field: holds an object; changed: null members of known fields go, quantities become strings
 *
 * Return: as in field.h; a field of another type is a violation.
 */
bool schema_apply(const struct schema *schema, const struct field *field);

/* Unknown fields reported of one object at most. */
enum { UNKNOWN_FIELDS_MAX = 64 };

/**
 * object_unknown_fields - the fields that no schema names, for fieldValidation=Strict and Warn
 * @tree:  an object of this kind as its writer sent it
 * @visit: called for each with its path, "spec.containers[0].imge"; a value other than 0 ends the
 *         walk and is returned
 *
 * Pure. Members of maps that are free by nature (labels, parameters) are no fields. After
 * UNKNOWN_FIELDS_MAX of them the walk ends.
 *
 * Return: 0, or what @visit returned.
 */
int object_unknown_fields(const struct cJSON *tree, enum object_kind kind,
			  int (*visit)(const char *path, void *userdata), void *userdata);
