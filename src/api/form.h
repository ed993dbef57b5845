/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form - media types: the form of a response and of a request body
 */
#pragma once

/* The form of a response; form.c has the media type of each. */
enum api_form {
	FORM_JSON,
	FORM_TABLE,
	FORM_YAML,
	FORM_GROUPS,      /* aggregated discovery, apidiscovery.k8s.io/v2 */
	FORM_GROUPS_BETA, /* the same as v2beta1 */
	FORM_OPENAPI,     /* OpenAPI v2 as protocol buffers */
	FORM_DOCKER,      /* docker's: refusals are {"Err": "..."} */
	FORM_COUNT
};

/* Sets of forms that a path offers. */
#define FORM_BIT(form) (1U << (form))
#define FORMS_COMMON   (FORM_BIT(FORM_JSON) | FORM_BIT(FORM_TABLE) | FORM_BIT(FORM_YAML))
#define FORMS_DISCOVERY                                                                            \
	(FORM_BIT(FORM_JSON) | FORM_BIT(FORM_YAML) | FORM_BIT(FORM_GROUPS) |                       \
	 FORM_BIT(FORM_GROUPS_BETA))
#define FORMS_OPENAPI (FORM_BIT(FORM_JSON) | FORM_BIT(FORM_OPENAPI))
#define FORMS_ANY     0U /* one form only, whatever Accept says */

enum api_content {
	CONTENT_JSON,
	CONTENT_YAML,
	CONTENT_JSON_PATCH,      /* application/json-patch+json */
	CONTENT_MERGE_PATCH,     /* application/merge-patch+json */
	CONTENT_STRATEGIC_PATCH, /* application/strategic-merge-patch+json */
	CONTENT_APPLY_PATCH,     /* application/apply-patch+yaml: server-side apply */
	CONTENT_PROTOBUF,        /* application/vnd.kubernetes.protobuf */
	CONTENT_OTHER,
};

/**
 * api_form_parse - the form that an Accept header asks for, among those that a path offers
 * @accept:  NULL or "": JSON
 * @offered: set of FORM_BIT()s, not empty
 *
 * Return: 0; -ENOENT none of the media ranges is one of @offered.
 */
int api_form_parse(const char *accept, unsigned int offered, enum api_form *ret);
/* The media type of this form; static. */
const char *api_form_type(enum api_form form);

/* NULL: JSON. */
enum api_content api_content_parse(const char *content_type);
