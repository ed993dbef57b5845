/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_scalar - what a plain YAML scalar means, exactly as kubelet reads it
 *
 * kubelet's reader (sigs.k8s.io/yaml over go-yaml v2) is YAML 1.1 with some of 1.2: yes, on, y and
 * True are booleans, ~ is null, 012, 0o14 and 0b1100 are 12 written differently, 1_000 is a number,
 * a date is a string. Reader and writer share this file, so that what we write reads back the same.
 */
#ifndef PODVOL_OBJECT_YAML_SCALAR_H
#define PODVOL_OBJECT_YAML_SCALAR_H

#include <stddef.h>

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

#endif
