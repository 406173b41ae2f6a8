// SPDX-License-Identifier: BSD-3-Clause
// For builds with sanitizers: a host without so much memory returns null, and so do they.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() { return "allocator_may_return_null=1"; }
