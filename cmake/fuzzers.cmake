# SPDX-License-Identifier: BSD-3-Clause
# RUSHLIGHT_BUILD=fuzzers: compiles everything with AddressSanitizer and UndefinedBehaviorSanitizer and, with
# clang, the coverage counters that guide libFuzzer. Reports show line numbers, for which -g1 suffices.
set(rushlight_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
add_compile_options(${rushlight_sanitizers} -fno-omit-frame-pointer -g1)
add_link_options(${rushlight_sanitizers})
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
