# bash completion for tracehost: the program itself computes the completions (complete.h describes its
# output). The package bash-completion loads this file; without the package, source it.

_tracehost() {
    local program=${1/#\~/$HOME} breaks=${COMP_WORDBREAKS-} kind text kept file
    COMPREPLY=()
    while IFS=$'\037' read -r kind text kept; do
        case $kind in
            word | part) COMPREPLY+=("$kept$text") ;;
            files | folders | sockets)
                while IFS= read -r file; do
                    [[ $kind == sockets && ! -S $file && ! -d $file ]] || COMPREPLY+=("$kept$file")
                done < <(_tracehost_files "$kind" "$text")
                compopt -o filenames 2>/dev/null
                ;;
        esac
        if [[ $kind == part ]]; then compopt -o nospace 2>/dev/null; fi
    done < <("$program" complete "${COMP_LINE:0:COMP_POINT}" "$breaks" 2>/dev/null </dev/null)
} 2>/dev/null

_tracehost_files() {
    if [[ $1 == folders ]]; then compgen -d -- "$2"; else compgen -f -- "$2"; fi
}

complete -F _tracehost tracehost
