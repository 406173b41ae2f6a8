// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

const char* to_string(ScalarType type) {
#define RL_NAMED(number, name) \
  case ScalarType::number:     \
    return name;
  switch (type) {
    RL_NAMED(Byte, "uint8")
    RL_NAMED(Char, "int8")
    RL_NAMED(Short, "int16")
    RL_NAMED(Int, "int32")
    RL_NAMED(Long, "int64")
    RL_NAMED(Half, "float16")
    RL_NAMED(Float, "float32")
    RL_NAMED(Double, "float64")
    RL_NAMED(ComplexHalf, "complex32")
    RL_NAMED(ComplexFloat, "complex64")
    RL_NAMED(ComplexDouble, "complex128")
    RL_NAMED(Bool, "bool")
    RL_NAMED(QInt8, "qint8")
    RL_NAMED(QUInt8, "quint8")
    RL_NAMED(QInt32, "qint32")
    RL_NAMED(BFloat16, "bfloat16")
    RL_NAMED(UInt16, "uint16")
    RL_NAMED(UInt32, "uint32")
    RL_NAMED(UInt64, "uint64")
  }
#undef RL_NAMED
  return "unknown";
}

// PyTorch's promotion of tensors: bool < integers < floating < complex, then the wider one.
ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Bool) return b;
  if (b == ScalarType::Bool) return a;
  // Complex with real promotes the components: complex64 with float64 is complex128.
  if (is_complex(a) || is_complex(b)) {
    return complex_type(promote_types(component_type(a), component_type(b)));
  }
  const bool a_floats = is_floating(a);
  const bool b_floats = is_floating(b);
  if (a_floats != b_floats) return a_floats ? a : b;
  const size_t a_size = element_size(a);
  const size_t b_size = element_size(b);
  if (a_size != b_size) return a_size > b_size ? a : b;
  if (a_floats) return ScalarType::Float;  // float16 with bfloat16
  // Same width, different signedness. PyTorch defines only uint8 with int8.
  if (a_size == 1) return ScalarType::Short;
  return contains(types::kUnsignedWide, a) ? b : a;
}

}  // namespace rushlight
