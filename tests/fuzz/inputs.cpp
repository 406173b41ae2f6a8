// SPDX-License-Identifier: BSD-3-Clause
// Elements are mostly small integers: sums stay finite, and integers are valid indices. One tensor in eight
// has random bytes.
#include "tests/fuzz/inputs.h"

#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/tensor/float16.h"

namespace rushlight::fuzz {

namespace {

// Stores `number` as an element of the type.
void put(uint8_t* at, ScalarType type, int64_t number) {
  switch (type) {
    case ScalarType::Float: {
      const auto value = static_cast<float>(number);
      std::memcpy(at, &value, sizeof value);
      break;
    }
    case ScalarType::Double: {
      const auto value = static_cast<double>(number);
      std::memcpy(at, &value, sizeof value);
      break;
    }
    case ScalarType::Half: {
      const Half value(static_cast<float>(number));
      std::memcpy(at, &value, sizeof value);
      break;
    }
    case ScalarType::BFloat16: {
      const BFloat16 value(static_cast<float>(number));
      std::memcpy(at, &value, sizeof value);
      break;
    }
    default:
      std::memcpy(at, &number, element_size(type) < sizeof number ? element_size(type) : sizeof number);
  }
}

}  // namespace

void fill(Span<uint8_t> memory, ScalarType type, Choices& choices) {
  const size_t width = element_size(type);
  const size_t kind = choices.below(8);
  for (size_t i = 0; i < memory.size() / width; ++i) {
    uint8_t* at = memory.data() + i * width;
    if (type == ScalarType::Bool) {
      // A program may have any bytes as booleans.
      *at = kind == 0 ? choices.byte() : static_cast<uint8_t>(choices.below(2));
    } else if (kind == 0) {
      for (size_t b = 0; b < width; ++b) at[b] = choices.byte();
    } else {
      // Mostly small values: for arithmetic, and as valid indices.
      const int64_t numbers[] = {0, 0, 1, 1, 2, 3, -1, -2};
      put(at, type, kind == 1 ? 0 : kind == 2 ? 1 : numbers[choices.below(kind <= 5 ? 6 : 8)]);
    }
  }
}

bool Inputs::make(const MethodMeta& meta, size_t index, EValue* value) {
  const auto tag = meta.input_tag(index);
  if (!tag.ok()) return false;
  if (choices_.one_in(64)) {
    *value = EValue(int64_t{1});
    return true;
  }
  switch (*tag) {
    case Tag::Tensor: {
      const auto info = meta.input_tensor(index);
      if (!info.ok()) return false;
      std::vector<SizesType> sizes(info->sizes.begin(), info->sizes.end());
      const bool dynamic = info->dynamism != TensorShapeDynamism::STATIC;
      for (SizesType& size : sizes) {
        if (dynamic && size > 0 && choices_.one_in(3))
          size = static_cast<SizesType>(choices_.below(size + 1u));
        if (choices_.one_in(64)) size = static_cast<SizesType>(choices_.below(8));
      }
      if (choices_.one_in(64)) sizes.push_back(1);
      std::vector<DimOrderType> order(info->dim_order.begin(), info->dim_order.end());
      while (order.size() < sizes.size()) order.push_back(static_cast<DimOrderType>(order.size()));
      const ScalarType type = choices_.one_in(64) ? ScalarType::Int : info->scalar_type;
      return make_tensor(type, {sizes.data(), sizes.size()}, {order.data(), order.size()},
                         TensorShapeDynamism::STATIC, value);
    }
    case Tag::Int:
      *value = EValue(int64_t{1});
      return true;
    case Tag::Double:
      *value = EValue(1.0);
      return true;
    case Tag::Bool:
      *value = EValue(true);
      return true;
    case Tag::String:
      *value = EValue(std::string_view("text"));
      return true;
    default:
      *value = EValue();
      return true;
  }
}

bool Inputs::make_tensor(ScalarType type, Span<const SizesType> sizes, Span<const DimOrderType> dim_order,
                         TensorShapeDynamism dynamism, EValue* value) {
  size_t numel = 0;
  size_t nbytes = 0;
  if (sizes.size() > kTensorDimensionLimit || element_size(type) == 0) return false;
  if (!checked_numel(sizes, &numel) || !checked_mul(numel, element_size(type), &nbytes)) return false;
  uint32_t seen = 0;
  for (const DimOrderType d : dim_order) {
    if (d >= sizes.size() || (seen >> d & 1u) != 0) return false;
    seen |= 1u << d;
  }
  const Span<uint8_t> memory = heap_.allocate(nbytes);
  if (memory.data() == nullptr) return false;
  fill(memory, type, choices_);
  Owned& owned = owned_.emplace_back();
  owned.sizes.assign(sizes.begin(), sizes.end());
  owned.dim_order.assign(dim_order.begin(), dim_order.end());
  owned.strides.resize(sizes.size());
  owned.impl.emplace_back(type, static_cast<ptrdiff_t>(sizes.size()), owned.sizes.data(), memory.data(),
                          owned.dim_order.data(), owned.strides.data(), dynamism);
  *value = EValue(Tensor(&owned.impl[0]));
  return true;
}

}  // namespace rushlight::fuzz
