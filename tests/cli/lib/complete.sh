#!/bin/bash
# complete.sh LINE...: prints the words that bash would complete at the end of each LINE, and the options of compopt,
# by a call of the completion function like bash's. SCRIPT is the completion, PROGRAM its command; CURSOR is the
# cursor if it is not at the end; BREAKS is another COMP_WORDBREAKS.
# shellcheck disable=SC1090
. "$SCRIPT"

# Replaces bash's own compopt, which fails outside of a completion.
options=
compopt() { [[ $options == *$2* ]] || options="$options $2"; }

# Splits a line as bash does: at blanks, and at other characters of COMP_WORDBREAKS, which are words themselves.
part() {
    local rest=$1 word="" character i
    COMP_WORDS=()
    for ((i = 0; i < ${#rest}; i++)); do
        character=${rest:i:1}
        if [[ $character == ' ' || $COMP_WORDBREAKS == *"$character"* ]]; then
            [[ -z $word ]] || COMP_WORDS+=("$word")
            [[ $character == ' ' ]] || COMP_WORDS+=("$character")
            word=
        else
            word+=$character
        fi
    done
    COMP_WORDS+=("$word")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
}

COMP_WORDBREAKS=${BREAKS-$COMP_WORDBREAKS}
for line; do
    options=
    COMP_LINE=$line COMP_POINT=${CURSOR:-${#line}} COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
    part "$line"
    # bash passes the command, the word and the word before.
    _tracehost "$PROGRAM" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s =>%s\n' "$line" "${options:+ ($options )}"
    ((${#COMPREPLY[@]} == 0)) || printf '    %s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
done
