#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh EMULATOR OPTIONS... -- EXECUTABLE ARGUMENTS...
# Runs a bare-metal executable in QEMU: it opens files relative to the current folder, prints to stdout, and
# sets the exit status. Arguments must not be empty or contain line breaks.
set -eu

# The guest receives one line; start.cpp splits it at spaces and removes backslashes. QEMU reads ",," as ",".
quoted() {
    printf '%s' "$1" | sed 's/[\\ ]/\\&/g; s/,/,,/g'
}

semihosting=enable=on,target=native,chardev=host
stage=emulator
for word; do
    shift
    case $stage in
    emulator) if [ "$word" = -- ]; then stage=executable; else set -- "$@" "$word"; fi ;;
    executable)
        executable=$word
        stage=arguments
        semihosting="$semihosting,arg=$(quoted "${word##*/}")"
        ;;
    arguments) semihosting="$semihosting,arg=$(quoted "$word")" ;;
    esac
done
exec "$@" -display none -monitor none -serial none -chardev stdio,id=host,signal=off \
    -semihosting-config "$semihosting" -kernel "$executable" </dev/null
