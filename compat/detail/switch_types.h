// SPDX-License-Identifier: BSD-3-Clause
// ET_SWITCH_<set>_TYPES(dtype, context, "name", CTYPE, [&] { ... }): calls the lambda with CTYPE as the C++
// type of `dtype` and returns what it returns. A dtype outside of the set fails the context with
// InvalidArgument. A selective build may drop cases through ET_INTERNAL_CHECK_SELECTIVE_BUILD. The sets come
// from rushlight.codegen.dtype_macros; this is what their macros are made of.
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#ifndef ET_INTERNAL_CHECK_SELECTIVE_BUILD
#define RUSHLIGHT_CHECK_SELECTED(enum_type) static_cast<void>(0)
#else
#define RUSHLIGHT_CHECK_SELECTED(enum_type) ET_INTERNAL_CHECK_SELECTIVE_BUILD(enum_type)
#endif

// A case, and one by its enumerator's name.
#define ET_INTERNAL_SWITCH_CASE(ENUMERATOR, ALIAS, ...)                                                     \
  case ENUMERATOR: {                                                                                        \
    RUSHLIGHT_CHECK_SELECTED(ENUMERATOR);                                                                   \
    using ALIAS [[maybe_unused]] = typename ::executorch::runtime::ScalarTypeToCppType<(ENUMERATOR)>::type; \
    return __VA_ARGS__();                                                                                   \
  }
#define RUSHLIGHT_CASE(NAME_, ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE(::executorch::aten::ScalarType::NAME_, ALIAS, __VA_ARGS__)

// The lambda's return type is that of the first case, so nothing follows the failure.
#define ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ...)                        \
  [&] {                                                                     \
    C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wreturn-type")             \
    C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wswitch-enum")             \
    [[maybe_unused]] const char* et_switch_name = NAME;                     \
    switch (const ::executorch::aten::ScalarType rushlight_dtype = TYPE) {  \
      __VA_ARGS__                                                           \
      default:                                                              \
        ET_LOG(Error, "%s: expected another dtype, got %s", et_switch_name, \
               ::executorch::runtime::toString(rushlight_dtype));           \
        CONTEXT.fail(::executorch::runtime::Error::InvalidArgument);        \
    }                                                                       \
    C10_DIAGNOSTIC_POP()                                                    \
    C10_DIAGNOSTIC_POP()                                                    \
  }()
