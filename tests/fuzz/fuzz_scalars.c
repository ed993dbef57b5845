/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_scalars - texts that stand for bytes, times and lengths of time
 *
 * Each input goes to all readers. What is taken as base64 is as long as was measured and comes back
 * when it is encoded again; a time has the form of RFC 3339 and prints as itself; a duration has an
 * end, and digits.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "object/json/base64.h"
#include "object/timestamp.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Line breaks, and bits of the last digit that stand for nothing, need not come back. */
static void check_encoded_again(const char *bytes)
{
	char *encoded = base64_encode(bytes, strlen(bytes)), *again = NULL;

	HOLDS(encoded && base64_decode_text(encoded, &again) == 0);
	HOLDS(strcmp(again, bytes) == 0);
	free(encoded);
	free(again);
}

static void check_base64(const char *text)
{
	size_t measured = 0;
	bool is_base64 = base64_measure(text, &measured);
	char *bytes = NULL;
	int r = base64_decode_text(text, &bytes);

	HOLDS(r == 0 || r == -EINVAL || r == -EILSEQ);
	HOLDS((r == -EINVAL) == !is_base64);
	if (r < 0)
		return;
	HOLDS(strlen(bytes) == measured);
	check_encoded_again(bytes);
	free(bytes);
}

/* 2006-01-02T15:04:05, a fraction or none, Z or a zone. */
static bool has_form(const char *text)
{
	const char *form = "0000-00-00T00:00:00";

	for (; *form; form++, text++)
		if (*form == '0' ? !isdigit((unsigned char) *text) : *text != *form)
			return false;
	if (*text == '.') {
		if (!isdigit((unsigned char) *++text))
			return false;
		text += strspn(text, "0123456789");
	}
	if (strcmp(text, "Z") == 0)
		return true;
	return (*text == '+' || *text == '-') && strlen(text) == 6 &&
	       isdigit((unsigned char) text[1]) && isdigit((unsigned char) text[2]) &&
	       text[3] == ':' && isdigit((unsigned char) text[4]) &&
	       isdigit((unsigned char) text[5]);
}

static void check_time(const char *text)
{
	char again[TIMESTAMP_BYTES];
	uint64_t usec = timestamp_parse(text);

	if (!timestamp_is_valid(text)) {
		HOLDS(usec == 0);
		return;
	}
	HOLDS(has_form(text));
	if (usec == 0)
		return;
	timestamp_print_micro(usec, again);
	HOLDS(again[0] == '\0' || timestamp_parse(again) == usec);
}

static void check_duration(const char *text)
{
	uint64_t usec = 0;
	int r = duration_parse(text, &usec);

	HOLDS(r == 0 || r == -EINVAL || r == -ERANGE);
	if (r < 0)
		return;
	HOLDS(usec <= DURATION_USEC_MAX && isdigit((unsigned char) *text));
	HOLDS(text[strspn(text, "0123456789hmsu")] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	HOLDS(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	check_base64(text);
	check_time(text);
	check_duration(text);
	free(text);
	return 0;
}
