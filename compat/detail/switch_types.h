// SPDX-License-Identifier: BSD-3-Clause
// ET_SWITCH_<set>_TYPES(dtype, context, "name", CTYPE, [&] { ... }): calls the lambda with CTYPE as the C++
// type of `dtype` and returns what it returns. A dtype outside of the set fails the context with
// InvalidArgument. A selective build may drop cases through ET_INTERNAL_CHECK_SELECTIVE_BUILD.
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#ifndef ET_INTERNAL_CHECK_SELECTIVE_BUILD
#define RUSHLIGHT_CHECK_SELECTED(enum_type) static_cast<void>(0)
#else
#define RUSHLIGHT_CHECK_SELECTED(enum_type) ET_INTERNAL_CHECK_SELECTIVE_BUILD(enum_type)
#endif

#define ET_INTERNAL_SWITCH_CASE(enum_type, CTYPE_ALIAS, ...)                                          \
  case enum_type: {                                                                                   \
    RUSHLIGHT_CHECK_SELECTED(enum_type);                                                              \
    using CTYPE_ALIAS [[maybe_unused]] = ::executorch::runtime::ScalarTypeToCppType<enum_type>::type; \
    return __VA_ARGS__();                                                                             \
  }

#define ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ...)                             \
  [&] {                                                                          \
    const auto& et_switch_type = TYPE;                                           \
    [[maybe_unused]] const char* et_switch_name = NAME;                          \
    C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wswitch-enum")                  \
    C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wreturn-type")                  \
    switch (et_switch_type) {                                                    \
      __VA_ARGS__                                                                \
      default:                                                                   \
        CONTEXT.fail(torch::executor::Error::InvalidArgument);                   \
        ET_LOG(Error, "%s: dtype %s is none of those it is for", et_switch_name, \
               ::executorch::runtime::toString(et_switch_type));                 \
    }                                                                            \
    C10_DIAGNOSTIC_POP()                                                         \
    C10_DIAGNOSTIC_POP()                                                         \
  }()

// A case by its enumerator's name.
#define RUSHLIGHT_CASE(NAME_, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE(::executorch::aten::ScalarType::NAME_, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Byte, CTYPE_ALIAS, __VA_ARGS__)            \
  RUSHLIGHT_CASE(Char, CTYPE_ALIAS, __VA_ARGS__)            \
  RUSHLIGHT_CASE(Short, CTYPE_ALIAS, __VA_ARGS__)           \
  RUSHLIGHT_CASE(Int, CTYPE_ALIAS, __VA_ARGS__)             \
  RUSHLIGHT_CASE(Long, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_UINT_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(UInt16, CTYPE_ALIAS, __VA_ARGS__)           \
  RUSHLIGHT_CASE(UInt32, CTYPE_ALIAS, __VA_ARGS__)           \
  RUSHLIGHT_CASE(UInt64, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Float, CTYPE_ALIAS, __VA_ARGS__)             \
  RUSHLIGHT_CASE(Double, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, ...)  \
  ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(ComplexFloat, CTYPE_ALIAS, __VA_ARGS__)        \
  RUSHLIGHT_CASE(ComplexDouble, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_COMPLEXH_TYPES(CTYPE_ALIAS, ...)  \
  ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__) \
  RUSHLIGHT_CASE(ComplexHalf, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_QINT_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(QInt8, CTYPE_ALIAS, __VA_ARGS__)            \
  RUSHLIGHT_CASE(QUInt8, CTYPE_ALIAS, __VA_ARGS__)           \
  RUSHLIGHT_CASE(QInt32, CTYPE_ALIAS, __VA_ARGS__)           \
  RUSHLIGHT_CASE(QUInt4x2, CTYPE_ALIAS, __VA_ARGS__)         \
  RUSHLIGHT_CASE(QUInt2x4, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_BITS_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Bits1x8, CTYPE_ALIAS, __VA_ARGS__)          \
  RUSHLIGHT_CASE(Bits2x4, CTYPE_ALIAS, __VA_ARGS__)          \
  RUSHLIGHT_CASE(Bits4x2, CTYPE_ALIAS, __VA_ARGS__)          \
  RUSHLIGHT_CASE(Bits8, CTYPE_ALIAS, __VA_ARGS__)            \
  RUSHLIGHT_CASE(Bits16, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_ALL_TYPES(CTYPE_ALIAS, ...)        \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__)     \
  RUSHLIGHT_CASE(Half, CTYPE_ALIAS, __VA_ARGS__)                   \
  RUSHLIGHT_CASE(BFloat16, CTYPE_ALIAS, __VA_ARGS__)               \
  RUSHLIGHT_CASE(Bool, CTYPE_ALIAS, __VA_ARGS__)                   \
  ET_INTERNAL_SWITCH_CASE_COMPLEXH_TYPES(CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SWITCH_CASE_QINT_TYPES(CTYPE_ALIAS, __VA_ARGS__)     \
  ET_INTERNAL_SWITCH_CASE_BITS_TYPES(CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Bool, CTYPE_ALIAS, __VA_ARGS__)                   \
  RUSHLIGHT_CASE(Long, CTYPE_ALIAS, __VA_ARGS__)                   \
  RUSHLIGHT_CASE(Double, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_REAL_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Long, CTYPE_ALIAS, __VA_ARGS__)                        \
  RUSHLIGHT_CASE(Double, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_INTB_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Bool, CTYPE_ALIAS, __VA_ARGS__)                        \
  RUSHLIGHT_CASE(Long, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_FLOATB_TYPES(CTYPE_ALIAS, ...) \
  RUSHLIGHT_CASE(Bool, CTYPE_ALIAS, __VA_ARGS__)                          \
  RUSHLIGHT_CASE(Double, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  RUSHLIGHT_CASE(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__)                              \
  RUSHLIGHT_CASE(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                                     \
  RUSHLIGHT_CASE(ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__)                                           \
  RUSHLIGHT_CASE(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                                                  \
  RUSHLIGHT_CASE(ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                                                  \
  RUSHLIGHT_CASE(ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_INT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  RUSHLIGHT_CASE(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  RUSHLIGHT_CASE(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)                              \
  RUSHLIGHT_CASE(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                                      \
  RUSHLIGHT_CASE(ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)

#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)                                           \
  RUSHLIGHT_CASE(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                                                   \
  RUSHLIGHT_CASE(ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                                                   \
  RUSHLIGHT_CASE(ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_ALL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_ALL_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_REAL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_INT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_FLOAT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_QINT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_QINT_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_COMPLEXH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_COMPLEXH_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_SCALAR_OBJ_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_SCALAR_OBJ_REAL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                      \
                     ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_SCALAR_OBJ_INTB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                      \
                     ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_INTB_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_SCALAR_OBJ_FLOATB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                        \
                     ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_FLOATB_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_REAL_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                           \
                     ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(                                                                              \
      TYPE, CONTEXT, NAME,                                                                         \
      ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_REAL_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, TYPE, CONTEXT, NAME, CTYPE_ALIAS, \
                                  ...)                                                                     \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                                                  \
                     ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3,        \
                                                             CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_INT_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                          \
                     ET_INTERNAL_SWITCH_CASE_INT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_FLOAT_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                            \
                     ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(                                                                               \
      TYPE, CONTEXT, NAME,                                                                          \
      ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_FLOAT_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, TYPE, CONTEXT, NAME, CTYPE_ALIAS, \
                                   ...)                                                                     \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                                                   \
                     ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3,        \
                                                              CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_REALH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_REAL_TYPES_AND(Half, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_REALHBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_REAL_TYPES_AND2(Half, BFloat16, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_REALB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_REAL_TYPES_AND(Bool, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_REALHB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_REAL_TYPES_AND2(Half, Bool, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_REALHBBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_REAL_TYPES_AND3(Half, Bool, BFloat16, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_FLOATH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_FLOAT_TYPES_AND(Half, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_FLOATHBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_FLOAT_TYPES_AND2(Half, BFloat16, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_FLOATHBF16_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_SWITCH_FLOAT_TYPES_AND3(Half, BFloat16, ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, __VA_ARGS__)

#define ET_SWITCH_REALHBBF16_AND_UINT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)                           \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                                                    \
                     ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND3(Half, Bool, BFloat16, CTYPE_ALIAS, __VA_ARGS__) \
                         ET_INTERNAL_SWITCH_CASE_UINT_TYPES(CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_TWO_TYPES(T1, T2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                  \
                     RUSHLIGHT_CASE(T1, CTYPE_ALIAS, __VA_ARGS__)          \
                         RUSHLIGHT_CASE(T2, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_THREE_TYPES(T1, T2, T3, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)  \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                         \
                     RUSHLIGHT_CASE(T1, CTYPE_ALIAS, __VA_ARGS__) RUSHLIGHT_CASE( \
                         T2, CTYPE_ALIAS, __VA_ARGS__) RUSHLIGHT_CASE(T3, CTYPE_ALIAS, __VA_ARGS__))

#define ET_SWITCH_FOUR_TYPES(T1, T2, T3, T4, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)             \
  ET_INTERNAL_SWITCH(                                                                           \
      TYPE, CONTEXT, NAME,                                                                      \
      RUSHLIGHT_CASE(T1, CTYPE_ALIAS, __VA_ARGS__) RUSHLIGHT_CASE(T2, CTYPE_ALIAS, __VA_ARGS__) \
          RUSHLIGHT_CASE(T3, CTYPE_ALIAS, __VA_ARGS__) RUSHLIGHT_CASE(T4, CTYPE_ALIAS, __VA_ARGS__))
