// SPDX-License-Identifier: BSD-3-Clause
// Hashes the name, dtypes, shapes, scalar values and data addresses with layout_id() (FNV-1a). Addresses
// suffice for constants, because their contents do not change.
#include "runtime/executor/call_key.h"

#include <cstring>

#include "runtime/kernel/prepared.h"

namespace rushlight {

namespace {

class Key {
 public:
  void add(uint64_t number) { value_ = layout_id(value_, number); }

  void add(double number) {
    // The bits, so that -0.0 differs from 0.0 and NaN equals itself.
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    add(bits);
  }

  template <class T>
  void add_all(Span<T> items) {
    // The length separates adjacent lists: [1], [2, 3] and [1, 2], [3] get different keys.
    add(static_cast<uint64_t>(items.size()));
    for (const auto& item : items) add(item);
  }

  void add(bool item) { add(static_cast<uint64_t>(item)); }
  void add(int64_t item) { add(static_cast<uint64_t>(item)); }

  void add(const Tensor& tensor) {
    add_shape(tensor);
    add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(tensor.const_data_ptr())));
  }

  void add(const std::optional<Tensor>& tensor) {
    add(tensor.has_value());
    if (tensor.has_value()) add(*tensor);
  }

  void add_shape(const Tensor& tensor) {
    add(static_cast<uint64_t>(tensor.scalar_type()));
    add(static_cast<uint64_t>(tensor.dim()));
    for (const SizesType size : tensor.sizes()) add(static_cast<int64_t>(size));
    for (const DimOrderType d : tensor.dim_order()) add(static_cast<uint64_t>(d));
  }

  void add(const EValue& value) {
    add(static_cast<uint64_t>(value.tag));
    switch (value.tag) {
      case Tag::None:
        break;
      case Tag::Tensor:
        return add(value.to_tensor());
      case Tag::Double:
        return add(value.payload.as_double);
      case Tag::Int:
      case Tag::Bool:
        return add(value.to_int());
      case Tag::String:
        for (const char c : value.to_string_view()) add(static_cast<uint64_t>(c));
        break;
      case Tag::ListBool:
        return add_all(value.to_bool_list());
      case Tag::ListDouble:
        return add_all(value.to_double_list());
      case Tag::ListInt:
        return add_all(value.to_int_list());
      case Tag::ListTensor:
        return add_all(value.to_tensor_list());
      case Tag::ListOptionalTensor:
        return add_all(value.to_optional_tensor_list());
      case Tag::ListScalar:
        break;
    }
  }

  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

}  // namespace

uint64_t call_key(const KernelEntry& kernel, EValue* const* arguments) {
  Key key;
  for (const char* c = kernel.name; *c != '\0'; ++c) key.add(static_cast<uint64_t>(*c));
  for (size_t i = 0; kernel.signature[i] != '\0'; ++i) {
    // The memory of the result is what the key is to find, so only its layout counts.
    if (kernel.signature[i] == 'w') {
      key.add_shape(arguments[i]->to_tensor());
    } else {
      key.add(*arguments[i]);
    }
  }
  return key.value();
}

}  // namespace rushlight
