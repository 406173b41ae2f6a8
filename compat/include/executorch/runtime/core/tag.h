// SPDX-License-Identifier: BSD-3-Clause
// The kinds of values, rushlight's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/defines.h>
#include <executorch/runtime/platform/compiler.h>

#include "runtime/tensor/evalue.h"

#define EXECUTORCH_FORALL_TAGS(_) \
  _(None)                         \
  _(Tensor)                       \
  _(String)                       \
  _(Double)                       \
  _(Int)                          \
  _(Bool)                         \
  _(ListBool)                     \
  _(ListDouble)                   \
  _(ListInt)                      \
  _(ListTensor)                   \
  _(ListScalar)                   \
  _(ListOptionalTensor)

namespace executorch::runtime {

using Tag = rushlight::Tag;

#if ET_ENABLE_ENUM_STRINGS
// "Tensor" and so on; "Unknown" for a number that is no tag.
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

// Writes the name, cut to `buffer_size` with its zero byte; returns how long the whole name is.
size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size);
constexpr size_t kTagNameBufferSize = 19;

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Tag;
}
