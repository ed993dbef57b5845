/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion - the scripts by which shells ask `podvolctl --complete` what may come next
 *
 * They know no verb and no option: all that comes from the table of the command that is asked, so
 * that a script never disagrees with the command beside it. See complete.c.
 */
#include "cli/verb.h"

#include "base/cleanup.h"

#include <string.h>

/* bash replaces only what follows the last = or : of a word, as far as COMP_WORDBREAKS has them. */
static const char bash_script[] =
	"# bash completion for podvolctl; printed by: podvolctl completion bash\n"
	"_podvolctl() {\n"
	"	local line=${COMP_LINE:0:COMP_POINT} word value prefix='' candidate\n"
	"	local -a words found\n"
	"	read -ra words <<<\"$line\"\n"
	"	[[ $line == *[[:space:]] ]] && words+=('')\n"
	"	word=${words[${#words[@]} - 1]}\n"
	"	value=$word\n"
	"	[[ $word == --*=* ]] && value=${word#*=}\n"
	"	[[ $COMP_WORDBREAKS == *=* ]] && prefix=${word%\"${word##*=}\"}\n"
	"	[[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && "
	"prefix=${word%\"${word##*[=:]}\"}\n"
	"	COMPREPLY=()\n"
	"	while IFS=$'\\t' read -r candidate _; do\n"
	"		case $candidate in\n"
	"		:file) compopt -o filenames 2>/dev/null; mapfile -t found < <(compgen -f "
	"-- \"$value\");\n"
	"			COMPREPLY+=(\"${found[@]}\") ;;\n"
	"		:directory) compopt -o filenames 2>/dev/null; mapfile -t found < <(compgen "
	"-d -- \"$value\");\n"
	"			COMPREPLY+=(\"${found[@]}\") ;;\n"
	"		*) COMPREPLY+=(\"${candidate#\"$prefix\"}\") ;;\n"
	"		esac\n"
	"	done < <(\"${words[0]}\" --complete \"${words[@]:1}\" 2>/dev/null)\n"
	"	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
	"2>/dev/null\n"
	"	return 0\n"
	"}\n"
	"complete -F _podvolctl podvolctl\n";

static const char zsh_script[] =
	"#compdef podvolctl\n"
	"# zsh completion for podvolctl; printed by: podvolctl completion zsh\n"
	"_podvolctl() {\n"
	"	local line\n"
	"	local -a found open\n"
	"	for line in \"${(@f)$(\"${words[1]}\" --complete \"${(@)words[2,CURRENT]}\" "
	"2>/dev/null)}\"; do\n"
	"		case $line in\n"
	"		:file) [[ $PREFIX == --*=* ]] && compset -P 1 '*='; _files; return ;;\n"
	"		:directory) [[ $PREFIX == --*=* ]] && compset -P 1 '*='; _files -/; return "
	";;\n"
	"		*=$'\\t'*) open+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"		?*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"		esac\n"
	"	done\n"
	"	(( ${#found} )) && _describe -t words podvolctl found\n"
	"	(( ${#open} )) && _describe -t options podvolctl open -S ''\n"
	"}\n"
	"if [[ $funcstack[1] == _podvolctl ]]; then\n"
	"	_podvolctl \"$@\"\n"
	"else\n"
	"	compdef _podvolctl podvolctl\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for podvolctl; printed by: podvolctl completion fish\n"
	"function __podvolctl_complete\n"
	"	set -l words (commandline -opc)\n"
	"	set -l word (commandline -ct)\n"
	"	for line in ($words[1] --complete $words[2..-1] \"$word\" 2>/dev/null)\n"
	"		switch $line\n"
	"			case :file\n"
	"				__fish_complete_suffix (string replace -r -- '^--[^=]*=' "
	"'' \"$word\") ''\n"
	"			case :directory\n"
	"				__fish_complete_directories (string replace -r -- "
	"'^--[^=]*=' '' \"$word\")\n"
	"			case '*'\n"
	"				printf '%s\\n' $line\n"
	"		end\n"
	"	end\n"
	"end\n"
	"complete -c podvolctl -f -a '(__podvolctl_complete)'\n";

int verb_completion(struct cli *cli)
{
	static const struct {
		const char *shell, *script;
	} rows[] = {
		{ "bash", bash_script },
		{ "zsh", zsh_script },
		{ "fish", fish_script },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].shell, cli->arguments[0]) == 0) {
			(void) fputs(rows[i].script, cli->out);
			return EXIT_DONE;
		}
	}
	return cli_end(cli, EXIT_USAGE, "unknown shell '%s': must be bash, zsh or fish",
		       cli->arguments[0]);
}
