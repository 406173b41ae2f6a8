// SPDX-License-Identifier: BSD-3-Clause
// The kinds of values; the enumeration is rushlight's, with ExecuTorch's values.
//
//   schema type        tag                  read by EValue's
//   int, bool, float   Int, Bool, Double    toInt(), toBool(), toDouble()
//   Scalar             one of these three   toScalar()
//   str                String               toString()
//   Tensor             Tensor               toTensor()
//   int[], SymInt[]    ListInt              toIntList()
//   bool[], float[]    ListBool, ListDouble toBoolList(), toDoubleList()
//   Tensor[]           ListTensor           toTensorList()
//   Tensor?[]          ListOptionalTensor   toListOptionalTensor()
//   an absent T?       None                 toOptional<T>()
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/defines.h>
#include <executorch/runtime/platform/compiler.h>

#include "runtime/tensor/evalue.h"

// All tags by name: scalars and strings, tensors, and lists of each. EXECUTORCH_FORALL_TAGS(_) expands to
// _(name) for each enumerator, not in the order of the values. No value of a program is a ListScalar.
#define RUSHLIGHT_PLAIN_TAGS(_) _(Int) _(Double) _(Bool)
#define RUSHLIGHT_LIST_TAGS(_) _(ListInt) _(ListDouble) _(ListBool) _(ListScalar)
#define RUSHLIGHT_TENSOR_TAGS(_) _(Tensor) _(ListTensor) _(ListOptionalTensor)
#define EXECUTORCH_FORALL_TAGS(_) \
  _(None) RUSHLIGHT_PLAIN_TAGS(_) _(String) RUSHLIGHT_LIST_TAGS(_) RUSHLIGHT_TENSOR_TAGS(_)

namespace executorch::runtime {

using rushlight::Tag;

#if ET_ENABLE_ENUM_STRINGS
// Returns "Tensor" and so on, or "Unknown". The text is a constant.
inline const char* tag_to_string(Tag tag) {
  switch (tag) {
#define RUSHLIGHT_TAG_NAME(name) \
  case Tag::name:                \
    return #name;
    EXECUTORCH_FORALL_TAGS(RUSHLIGHT_TAG_NAME)
#undef RUSHLIGHT_TAG_NAME
  }
  return "Unknown";
}
#endif

// Writes the name, truncated to `buffer_size` with its zero byte; returns the length of the whole name,
// without the zero byte. kTagNameBufferSize bytes hold every name. Available with ET_ENABLE_ENUM_STRINGS 0,
// too.
size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size);
constexpr size_t kTagNameBufferSize = 19;

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Tag;
}
