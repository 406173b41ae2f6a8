// SPDX-License-Identifier: BSD-3-Clause
// ET_FORALL_<set>_TYPES(_) names _(cpp_type, ScalarType) for each type of a set; _AND adds types by their
// enumerators, _WITH puts arguments of the caller's in front.
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#define RUSHLIGHT_CPP_TYPE(SCALARTYPE) \
  ::executorch::runtime::ScalarTypeToCppType<::executorch::aten::ScalarType::SCALARTYPE>::type

#define ET_FORALL_INT_TYPES(_) \
  _(uint8_t, Byte)             \
  _(int8_t, Char)              \
  _(int16_t, Short)            \
  _(int32_t, Int)              \
  _(int64_t, Long)

#define ET_FORALL_INT_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                  \
  _(ANOTHER_INPUT, int8_t, Char)                   \
  _(ANOTHER_INPUT, int16_t, Short)                 \
  _(ANOTHER_INPUT, int32_t, Int)                   \
  _(ANOTHER_INPUT, int64_t, Long)

#define ET_FORALL_INT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, uint8_t, Byte)                   \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int8_t, Char)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int16_t, Short)                  \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int32_t, Int)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int64_t, Long)

#define ET_FORALL_INT_TYPES_AND(SCALARTYPE, _) \
  _(uint8_t, Byte)                             \
  _(int8_t, Char)                              \
  _(int16_t, Short)                            \
  _(int32_t, Int)                              \
  _(int64_t, Long)                             \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE), SCALARTYPE)

#define ET_FORALL_INT_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  _(uint8_t, Byte)                                            \
  _(int8_t, Char)                                             \
  _(int16_t, Short)                                           \
  _(int32_t, Int)                                             \
  _(int64_t, Long)                                            \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)             \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)

#define ET_FORALL_INT_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _) \
  _(uint8_t, Byte)                                                         \
  _(int8_t, Char)                                                          \
  _(int16_t, Short)                                                        \
  _(int32_t, Int)                                                          \
  _(int64_t, Long)                                                         \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)                          \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)                          \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE3), SCALARTYPE3)

#define ET_FORALL_FLOAT_TYPES(_) \
  _(float, Float)                \
  _(double, Double)

#define ET_FORALL_FLOAT_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, float, Float)                     \
  _(ANOTHER_INPUT, double, Double)

#define ET_FORALL_FLOAT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                      \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)

#define ET_FORALL_FLOAT_TYPES_AND(SCALARTYPE, _) \
  _(float, Float)                                \
  _(double, Double)                              \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE), SCALARTYPE)

#define ET_FORALL_FLOAT_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  _(float, Float)                                               \
  _(double, Double)                                             \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)               \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)

#define ET_FORALL_FLOAT_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _) \
  _(float, Float)                                                            \
  _(double, Double)                                                          \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)                            \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)                            \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE3), SCALARTYPE3)

#define ET_FORALL_REAL_TYPES(_) \
  _(uint8_t, Byte)              \
  _(int8_t, Char)               \
  _(int16_t, Short)             \
  _(int32_t, Int)               \
  _(int64_t, Long)              \
  _(float, Float)               \
  _(double, Double)

#define ET_FORALL_REAL_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                   \
  _(ANOTHER_INPUT, int8_t, Char)                    \
  _(ANOTHER_INPUT, int16_t, Short)                  \
  _(ANOTHER_INPUT, int32_t, Int)                    \
  _(ANOTHER_INPUT, int64_t, Long)                   \
  _(ANOTHER_INPUT, float, Float)                    \
  _(ANOTHER_INPUT, double, Double)

#define ET_FORALL_REAL_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, uint8_t, Byte)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int8_t, Char)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int16_t, Short)                   \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int32_t, Int)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int64_t, Long)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)

#define ET_FORALL_REAL_TYPES_AND(SCALARTYPE, _) \
  _(uint8_t, Byte)                              \
  _(int8_t, Char)                               \
  _(int16_t, Short)                             \
  _(int32_t, Int)                               \
  _(int64_t, Long)                              \
  _(float, Float)                               \
  _(double, Double)                             \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE), SCALARTYPE)

#define ET_FORALL_REAL_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  _(uint8_t, Byte)                                             \
  _(int8_t, Char)                                              \
  _(int16_t, Short)                                            \
  _(int32_t, Int)                                              \
  _(int64_t, Long)                                             \
  _(float, Float)                                              \
  _(double, Double)                                            \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)              \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)

#define ET_FORALL_REAL_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _) \
  _(uint8_t, Byte)                                                          \
  _(int8_t, Char)                                                           \
  _(int16_t, Short)                                                         \
  _(int32_t, Int)                                                           \
  _(int64_t, Long)                                                          \
  _(float, Float)                                                           \
  _(double, Double)                                                         \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE1), SCALARTYPE1)                           \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE2), SCALARTYPE2)                           \
  _(RUSHLIGHT_CPP_TYPE(SCALARTYPE3), SCALARTYPE3)

#define ET_FORALL_REAL_TYPES_AND_WITH(SCALARTYPE, ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                                   \
  _(ANOTHER_INPUT, int8_t, Char)                                    \
  _(ANOTHER_INPUT, int16_t, Short)                                  \
  _(ANOTHER_INPUT, int32_t, Int)                                    \
  _(ANOTHER_INPUT, int64_t, Long)                                   \
  _(ANOTHER_INPUT, float, Float)                                    \
  _(ANOTHER_INPUT, double, Double)                                  \
  _(ANOTHER_INPUT, RUSHLIGHT_CPP_TYPE(SCALARTYPE), SCALARTYPE)

#define ET_FORALL_FLOATH_TYPES(_) \
  _(float, Float)                 \
  _(double, Double)               \
  _(::executorch::aten::Half, Half)

#define ET_FORALL_FLOATH_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, float, Float)                      \
  _(ANOTHER_INPUT, double, Double)                    \
  _(ANOTHER_INPUT, ::executorch::aten::Half, Half)

#define ET_FORALL_FLOATH_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                       \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::Half, Half)

#define ET_FORALL_FLOATHBF16_TYPES(_) \
  _(float, Float)                     \
  _(double, Double)                   \
  _(::executorch::aten::Half, Half)   \
  _(::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_FLOATHBF16_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, float, Float)                          \
  _(ANOTHER_INPUT, double, Double)                        \
  _(ANOTHER_INPUT, ::executorch::aten::Half, Half)        \
  _(ANOTHER_INPUT, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_FLOATHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                           \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)                         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::Half, Half)         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALH_TYPES(_) \
  _(uint8_t, Byte)               \
  _(int8_t, Char)                \
  _(int16_t, Short)              \
  _(int32_t, Int)                \
  _(int64_t, Long)               \
  _(float, Float)                \
  _(double, Double)              \
  _(::executorch::aten::Half, Half)

#define ET_FORALL_REALH_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                    \
  _(ANOTHER_INPUT, int8_t, Char)                     \
  _(ANOTHER_INPUT, int16_t, Short)                   \
  _(ANOTHER_INPUT, int32_t, Int)                     \
  _(ANOTHER_INPUT, int64_t, Long)                    \
  _(ANOTHER_INPUT, float, Float)                     \
  _(ANOTHER_INPUT, double, Double)                   \
  _(ANOTHER_INPUT, ::executorch::aten::Half, Half)

#define ET_FORALL_REALH_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, uint8_t, Byte)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int8_t, Char)                      \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int16_t, Short)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int32_t, Int)                      \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int64_t, Long)                     \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                      \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)                    \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::Half, Half)

#define ET_FORALL_REALHBF16_TYPES(_) \
  _(uint8_t, Byte)                   \
  _(int8_t, Char)                    \
  _(int16_t, Short)                  \
  _(int32_t, Int)                    \
  _(int64_t, Long)                   \
  _(float, Float)                    \
  _(double, Double)                  \
  _(::executorch::aten::Half, Half)  \
  _(::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALHBF16_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                        \
  _(ANOTHER_INPUT, int8_t, Char)                         \
  _(ANOTHER_INPUT, int16_t, Short)                       \
  _(ANOTHER_INPUT, int32_t, Int)                         \
  _(ANOTHER_INPUT, int64_t, Long)                        \
  _(ANOTHER_INPUT, float, Float)                         \
  _(ANOTHER_INPUT, double, Double)                       \
  _(ANOTHER_INPUT, ::executorch::aten::Half, Half)       \
  _(ANOTHER_INPUT, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, uint8_t, Byte)                         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int8_t, Char)                          \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int16_t, Short)                        \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int32_t, Int)                          \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int64_t, Long)                         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                          \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)                        \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::Half, Half)        \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALHBBF16_TYPES(_) \
  _(uint8_t, Byte)                    \
  _(int8_t, Char)                     \
  _(int16_t, Short)                   \
  _(int32_t, Int)                     \
  _(int64_t, Long)                    \
  _(float, Float)                     \
  _(double, Double)                   \
  _(bool, Bool)                       \
  _(::executorch::aten::Half, Half)   \
  _(::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALHBBF16_TYPES_WITH(ANOTHER_INPUT, _) \
  _(ANOTHER_INPUT, uint8_t, Byte)                         \
  _(ANOTHER_INPUT, int8_t, Char)                          \
  _(ANOTHER_INPUT, int16_t, Short)                        \
  _(ANOTHER_INPUT, int32_t, Int)                          \
  _(ANOTHER_INPUT, int64_t, Long)                         \
  _(ANOTHER_INPUT, float, Float)                          \
  _(ANOTHER_INPUT, double, Double)                        \
  _(ANOTHER_INPUT, bool, Bool)                            \
  _(ANOTHER_INPUT, ::executorch::aten::Half, Half)        \
  _(ANOTHER_INPUT, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_REALHBBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, uint8_t, Byte)                          \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int8_t, Char)                           \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int16_t, Short)                         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int32_t, Int)                           \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, int64_t, Long)                          \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, float, Float)                           \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, double, Double)                         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, bool, Bool)                             \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::Half, Half)         \
  _(ANOTHER_INPUT1, ANOTHER_INPUT2, ::executorch::aten::BFloat16, BFloat16)

#define ET_FORALL_QINT_TYPES(_)            \
  _(::torch::executor::qint8, QInt8)       \
  _(::torch::executor::quint8, QUInt8)     \
  _(::torch::executor::qint32, QInt32)     \
  _(::torch::executor::quint4x2, QUInt4x2) \
  _(::torch::executor::quint2x4, QUInt2x4)

#define ET_FORALL_COMPLEX_TYPES(_)                    \
  _(::executorch::aten::complex<float>, ComplexFloat) \
  _(::executorch::aten::complex<double>, ComplexDouble)

#define ET_FORALL_COMPLEXH_TYPES(_)                                     \
  _(::executorch::aten::complex<::executorch::aten::Half>, ComplexHalf) \
  _(::executorch::aten::complex<float>, ComplexFloat)                   \
  _(::executorch::aten::complex<double>, ComplexDouble)
