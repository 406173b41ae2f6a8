// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a call in their official form, for official kernels, backends and tracers. They are the
// same objects, except in ATen mode, where they are views: of the tensors' memory, and of strings and lists
// of numbers, which only their descriptions copy. The views are made for each call.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>

#include "compat/detail/convert.h"
#include "compat/detail/tensor_mode.h"
#include "runtime/tensor/evalue.h"

#ifdef USE_ATEN_LIB
#include <deque>
#include <memory>
#include <vector>

#include "aten/convert.h"
#endif

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

#ifdef USE_ATEN_LIB

// Official values over rushlight's. They live as long as this object, and as the values that they describe.
class OfficialValues {
 public:
  // A view of the value; of a string or list, the elements.
  executorch::runtime::EValue of(const EValue& value);

 private:
  template <class T, class Items>
  executorch::runtime::EValue list_of(Items&& items);

  std::deque<std::shared_ptr<void>> lists_;
};

// One value with its lists.
struct OfficialView {
  OfficialValues values;
  executorch::runtime::EValue value;
};

// The arguments of one call. Entries that are one object stay one object: an output and its result.
class OfficialStack {
 public:
  OfficialStack(EValue* const* arguments, size_t size);
  [[nodiscard]] executorch::runtime::Span<executorch::runtime::EValue*> values() {
    return {pointers_.data(), pointers_.size()};
  }
  // Gives the tensors the shapes that the call gave their views. Errors as rushlight::aten::store()'s.
  [[nodiscard]] Error finish();

 private:
  OfficialValues views_;
  std::deque<executorch::runtime::EValue> values_;
  std::vector<executorch::runtime::EValue*> pointers_;
  EValue* const* arguments_;
};

// The reverse: rushlight's arguments for official ones. `error()` is Ok if all of them have a view.
class OurStack {
 public:
  explicit OurStack(executorch::runtime::Span<executorch::runtime::EValue*> stack);
  [[nodiscard]] Error error() const { return error_; }
  [[nodiscard]] Span<EValue* const> values() const { return {pointers_.data(), pointers_.size()}; }
  [[nodiscard]] executorch::runtime::Error finish();

 private:
  Result<EValue*> add(executorch::runtime::EValue& value);

  Error error_ = Error::Ok;
  rushlight::aten::Values views_;
  std::vector<EValue*> pointers_;
  executorch::runtime::Span<executorch::runtime::EValue*> stack_;
};

// A value that rushlight's method takes as an input. Keeps the tensor's memory.
class OurValue {
 public:
  explicit OurValue(const executorch::runtime::EValue& value);
  [[nodiscard]] Error error() const { return error_; }
  [[nodiscard]] const EValue& value() const { return value_; }

 private:
  Error error_ = Error::Ok;
  std::shared_ptr<rushlight::aten::TensorAlias> tensor_;
  EValue value_;
};

#else

class OfficialStack {
 public:
  OfficialStack(EValue* const* arguments, size_t size)
      : values_(reinterpret_cast<executorch::runtime::EValue**>(const_cast<EValue**>(arguments)), size) {}
  [[nodiscard]] executorch::runtime::Span<executorch::runtime::EValue*> values() const { return values_; }
  [[nodiscard]] Error finish() const { return Error::Ok; }

 private:
  executorch::runtime::Span<executorch::runtime::EValue*> values_;
};

#endif

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
