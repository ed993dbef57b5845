/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml - the documents of a YAML stream as trees, one after another
 *
 * Only src/object/ uses it. Refused, with their line: anchors, aliases, merge keys, tags other than
 * the core ones, duplicate keys, keys that are no scalars, .inf and .nan, NUL, too deep nesting and
 * too many values. Such a document fails alone; a syntax error ends the stream.
 */
#pragma once

#include "object/json/json.h"

#include <stddef.h>

struct yaml_reader;

struct yaml_document {
	struct cJSON *tree; /* json_free() it; with a failure what was read until then, or NULL */
	unsigned int line;  /* where its content begins */
	struct failure failure; /* a rule was broken; error 0 when none was */
};

/* @text is borrowed; @first_line is what its first line is called. NULL: no memory. */
struct yaml_reader *yaml_reader_new(const char *text, size_t length, size_t depth,
				    unsigned int first_line);
/* At most so many values in all that is read from now on; without it JSON_NODES_MAX. */
void yaml_reader_bound(struct yaml_reader *reader, size_t nodes);
struct yaml_reader *yaml_reader_free(struct yaml_reader *reader);

/**
 * yaml_reader_next - the next document that is not empty
 * @ret: always written; @ret->failure holds the reason of a negative result too
 *
 * Return: 1 a document; 0 the end; -EINVAL the syntax is broken, or -ENOMEM: nothing more can be
 * read.
 */
int yaml_reader_next(struct yaml_reader *reader, struct yaml_document *ret);

/* ---- yaml_scalar.c: what a plain YAML scalar means, exactly as kubelet reads it ---- */

/* kubelet's reader (sigs.k8s.io/yaml over go-yaml v2) is YAML 1.1 with some of 1.2: yes, on, y
 * and True are booleans, ~ is null, 012, 0o14 and 0b1100 are 12 written differently, 1_000 is
 * a number, a date is a string. Reader and writer share this file, so that what we write reads
 * back the same. */

enum yaml_scalar_type {
	YAML_SCALAR_STRING,
	YAML_SCALAR_NULL,
	YAML_SCALAR_TRUE,
	YAML_SCALAR_FALSE,
	YAML_SCALAR_NUMBER,
	YAML_SCALAR_MERGE,      /* << */
	YAML_SCALAR_NOT_FINITE, /* .inf, .nan: JSON has no such number */
	YAML_SCALAR_TOO_BIG,    /* an integer beyond 64 bits that is not decimal */
};

enum { YAML_NUMBER_BYTES = 48 };

/**
 * yaml_scalar_type - resolve an untagged plain scalar
 * @text:   NUL-terminated, without NUL inside
 * @number: the JSON text of a YAML_SCALAR_NUMBER, as Go's encoder writes it; else untouched
 */
enum yaml_scalar_type yaml_scalar_type(const char *text, char number[YAML_NUMBER_BYTES]);
