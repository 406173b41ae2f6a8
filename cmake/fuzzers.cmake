# SPDX-License-Identifier: BSD-3-Clause
# RUSHLIGHT_BUILD=fuzzers: everything is compiled with AddressSanitizer and UndefinedBehaviorSanitizer;
# with clang also with the counters that libFuzzer is steered by. Reports name lines, for which -g1 is enough.
set(rushlight_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
add_compile_options(${rushlight_sanitizers} -fno-omit-frame-pointer -g1)
add_link_options(${rushlight_sanitizers})
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
