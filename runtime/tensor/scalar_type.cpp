// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

const char* to_string(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return "uint8";
    case ScalarType::Char:
      return "int8";
    case ScalarType::Short:
      return "int16";
    case ScalarType::Int:
      return "int32";
    case ScalarType::Long:
      return "int64";
    case ScalarType::Half:
      return "float16";
    case ScalarType::Float:
      return "float32";
    case ScalarType::Double:
      return "float64";
    case ScalarType::ComplexHalf:
      return "complex32";
    case ScalarType::ComplexFloat:
      return "complex64";
    case ScalarType::ComplexDouble:
      return "complex128";
    case ScalarType::Bool:
      return "bool";
    case ScalarType::QInt8:
      return "qint8";
    case ScalarType::QUInt8:
      return "quint8";
    case ScalarType::QInt32:
      return "qint32";
    case ScalarType::BFloat16:
      return "bfloat16";
    case ScalarType::UInt16:
      return "uint16";
    case ScalarType::UInt32:
      return "uint32";
    case ScalarType::UInt64:
      return "uint64";
  }
  return "unknown";
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Bool) return b;
  if (b == ScalarType::Bool) return a;
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
  // Same width, different sign. Only uint8 with int8 is defined by PyTorch.
  if (a_size == 1) return ScalarType::Short;
  return contains(types::kUnsignedWide, a) ? b : a;
}

}  // namespace rushlight
