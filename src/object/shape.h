/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape - which JSON type each field we know has
 *
 * OpenAPI and merge patches are made from it too. Checked before anything else, so that whoever
 * fills defaults, validates or decodes meets each known field with its type or not at all. Fields
 * that no shape names stay as they are: newer and foreign fields survive.
 */
#ifndef PODVOL_OBJECT_SHAPE_H
#define PODVOL_OBJECT_SHAPE_H

#include "object/field.h"
#include "object/object.h"

enum shape_type {
	SHAPE_STRING,
	SHAPE_BYTES,         /* a string of base64 */
	SHAPE_TIME,          /* a string of RFC 3339 */
	SHAPE_MICRO_TIME,    /* the same with microseconds */
	SHAPE_INT_OR_STRING, /* as of a port: 80 or "http" */
	SHAPE_BOOL,
	SHAPE_INTEGER,      /* of 64 bits */
	SHAPE_QUANTITY,     /* a string, or a number that becomes one */
	SHAPE_STRINGS,      /* a list of strings */
	SHAPE_INTEGERS,     /* a list of integers */
	SHAPE_STRING_MAP,   /* string values */
	SHAPE_BYTES_MAP,    /* base64 values */
	SHAPE_QUANTITY_MAP, /* quantity values */
	SHAPE_OBJECT,       /* of a shape */
	SHAPE_OBJECTS,      /* a list of objects of a shape */
};

struct shape;

enum shape_flags {
	REQUIRED = 1,    /* kubectl says so; validation is the kind's own */
	RETAIN_KEYS = 2, /* a patch of an element keeps only the members it names: volumes */
};

struct shape_field {
	enum shape_type type;
	const struct shape *of; /* SHAPE_OBJECT, SHAPE_OBJECTS; NULL: any members */
	/* Of a list that a strategic merge patch merges: the member that tells its elements apart
	 * ("name"), "" for a list of plain values. NULL: the list is replaced. */
	const char *merge_key;
	/* The arguments of the rows below, in this order. */
	const char *name;
	unsigned int flags;
	const char *description; /* for kubectl explain; NULL: none */
};

struct shape {
	const char *name; /* "PodSpec": its name in OpenAPI; NULL: written out where it is used */
	const char *package;         /* before that name; NULL: "io.k8s.api.core.v1", as most are */
	const char *description;     /* NULL: none; that of a kind stands in its row */
	struct shape_field fields[]; /* ended by a NULL name, which must be there */
};

/**
 * shape_apply - check the known fields of an object, drop those that are null
 * @object: an object; changed: null members of known fields go, quantities become strings
 * @field:  its own place; NULL for the outermost
 *
 * Return: 0; -EINVAL with the first field that has another type.
 */
int shape_apply(const struct shape *shape, struct cJSON *object, const struct field *field,
		struct violations *found);

/* Told of at most so many unknown fields of one object. */
enum { UNKNOWN_FIELDS_MAX = 64 };

/**
 * object_unknown_fields - the fields that no shape names, for fieldValidation=Strict and Warn
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

#endif
