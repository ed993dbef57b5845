/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_selector_match - label and field selectors of any origin, asked about one pod
 *
 * The input is a label selector, a line break and a field selector. A refusal has a text. A pod
 * that both select is selected by each of them alone.
 */
#include "fuzz.h"

#include "object/select/selector_match.h"

#include "object/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct object *make_pod(void)
{
	static const char yaml[] =
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, "
		"labels: {app: web, tier: '3', a.b/c: ''}}\n"
		"spec: {nodeName: node, containers: [{name: c, image: i}]}\n";
	const struct object *object;
	struct document_list list;

	HOLDS(documents_parse(yaml, strlen(yaml), &list, NULL) == 0);
	HOLDS(list.count == 1 && list.documents[0].object);
	object = object_ref(list.documents[0].object);
	document_list_done(&list);
	return object;
}

/* Return: 1 selected; 0 not; -1 refused. */
static int ask(const struct object *pod, const char *labels, const char *fields)
{
	struct selector_match *selector_match = NULL;
	struct failure why = { 0 };
	int r = selector_match_parse(kind_row(KIND_POD), labels, fields, &selector_match, &why);
	bool matches;

	HOLDS(r == 0 || r == -EINVAL);
	if (r < 0) {
		HOLDS(why.text[0] != '\0' && !selector_match);
		return -1;
	}
	matches = selector_match_matches(selector_match, pod);
	(void) selector_match_free(selector_match);
	return matches;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct object *pod;
	char *text = malloc(size + 1), *fields = text;
	int by_labels, by_fields;
	const char *labels;

	HOLDS(text);
	if (!pod)
		pod = make_pod();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	labels = strsep(&fields, "\n");
	by_labels = ask(pod, labels, NULL);
	by_fields = ask(pod, NULL, fields);
	if (by_labels < 0 || by_fields < 0)
		HOLDS(ask(pod, labels, fields) == -1);
	else
		HOLDS(ask(pod, labels, fields) == (by_labels && by_fields));
	free(text);
	return 0;
}
