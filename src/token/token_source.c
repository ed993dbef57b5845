/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_source - what every source of tokens needs; see token_source.h
 */
#include "token/token_source.h"

#include <stdlib.h>
#include <string.h>

void issued_token_done(struct issued_token *token)
{
	if (token->text)
		explicit_bzero(token->text, strlen(token->text));
	free(token->text);
	*token = (struct issued_token){ .text = NULL };
}
