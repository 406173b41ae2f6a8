// SPDX-License-Identifier: BSD-3-Clause
// Names and sizes of dtypes, expanded from the official list of all dtypes.
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

const char* toString(::executorch::aten::ScalarType type) {
  switch (type) {
#define RUSHLIGHT_NAME(unused, name)         \
  case ::executorch::aten::ScalarType::name: \
    return #name;
    ET_FORALL_SCALAR_TYPES(RUSHLIGHT_NAME)
#undef RUSHLIGHT_NAME
    case ::executorch::aten::ScalarType::Undefined:
      return "Undefined";
    default:
      return "UNKNOWN_SCALAR";
  }
}

size_t elementSize(::executorch::aten::ScalarType type) {
  switch (type) {
#define RUSHLIGHT_SIZE(cpp_type, name)       \
  case ::executorch::aten::ScalarType::name: \
    return sizeof(cpp_type);
    ET_FORALL_SCALAR_TYPES(RUSHLIGHT_SIZE)
#undef RUSHLIGHT_SIZE
    default:
      ET_CHECK_MSG(false, "unknown dtype %d", static_cast<int>(type));
  }
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE
