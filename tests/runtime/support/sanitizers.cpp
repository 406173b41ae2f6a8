// SPDX-License-Identifier: BSD-3-Clause
// For builds with sanitizers: allocators return null if memory is exhausted, as on other hosts.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() { return "allocator_may_return_null=1"; }
