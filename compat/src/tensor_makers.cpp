// SPDX-License-Identifier: BSD-3-Clause
// Tensors over given memory and new tensors: every maker assembles the parts of a tensor; those with values
// fill the elements from a function.
#include <random>

#include <executorch/extension/tensor/tensor_ptr_maker.h>

#include "compat/detail/dim_order.h"

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

using executorch::aten::Device;
using executorch::aten::DimOrderType;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::TensorShapeDynamism;
using internal::TensorParts;

using Sizes = std::vector<SizesType>;
using Strides = std::vector<StridesType>;

namespace {

// Parts of a new tensor; row-major without strides.
TensorParts form(Sizes sizes, Strides strides, ScalarType type, TensorShapeDynamism dynamism) {
  return {std::move(sizes), {}, std::move(strides), type, dynamism};
}

// Parts with another tensor's form, and its dtype unless one is given. Takes the dim order, not the strides:
// two dimensions can have equal strides if one has size 0 or 1.
TensorParts form_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  const ScalarType chosen = type != ScalarType::Undefined ? type : other->scalar_type();
  const auto sizes = other->sizes();
  const auto dim_order = rushlight::compat::dim_order_of(*other);
  TensorParts parts = form(Sizes(sizes.begin(), sizes.end()), {}, chosen, dynamism);
  parts.dim_order.assign(dim_order.begin(), dim_order.end());
  return parts;
}

// A vector of bytes is zeroed, and zero bytes are 0 in every dtype without a zero point.
TensorPtr zeroed(TensorParts parts) {
  const size_t count = internal::checked_numel(parts.sizes);
  std::vector<uint8_t> bytes(count * runtime::elementSize(parts.type));
  return internal::assemble(std::move(parts), std::move(bytes));
}

// Fills each element by a call of `next`, in the order of memory.
template <class Next>
TensorPtr filled(TensorParts parts, Next next) {
  const ScalarType type = parts.type;
  TensorPtr tensor = zeroed(std::move(parts));
  internal::AbortOnFailure context;
  ET_SWITCH_REALHBBF16_AND_UINT_TYPES(type, context, "fill", CTYPE, [&] {
    CTYPE* elements = tensor->mutable_data_ptr<CTYPE>();
    std::generate_n(elements, tensor->numel(), [&] { return static_cast<CTYPE>(next()); });
  });
  return tensor;
}

// Integers stay exact: they are not converted to double.
TensorPtr filled_with(TensorParts parts, Scalar value) {
  if (value.isFloatingPoint()) {
    return filled(std::move(parts), [number = value.to<double>()] { return number; });
  }
  return filled(std::move(parts), [number = value.to<int64_t>()] { return number; });
}

// Random values from a generator per thread: no lock, and no thread disturbs the sequence of another.
template <class Distribution>
TensorPtr drawn(TensorParts parts, Distribution distribution) {
  static thread_local std::mt19937 source{std::random_device{}()};
  return filled(std::move(parts), [&] { return distribution(source); });
}

// float, from which every other dtype is rounded.
using Uniform = std::uniform_real_distribution<float>;
using Normal = std::normal_distribution<float>;

// The distribution includes both ends.
std::uniform_int_distribution<int64_t> integers(int64_t low, int64_t high) {
  ET_CHECK_MSG(low < high, "randint: expected low below high");
  return std::uniform_int_distribution<int64_t>(low, high - 1);
}

}  // namespace

TensorPtrMaker&& TensorPtrMaker::type(ScalarType type) {
  parts_.type = type;
  return std::move(*this);
}
TensorPtrMaker&& TensorPtrMaker::device(Device device) {
  parts_.device = device;
  return std::move(*this);
}
TensorPtrMaker&& TensorPtrMaker::dynamism(TensorShapeDynamism dynamism) {
  parts_.dynamism = dynamism;
  return std::move(*this);
}
TensorPtrMaker&& TensorPtrMaker::strides(Strides strides) {
  parts_.strides.swap(strides);
  return std::move(*this);
}
TensorPtrMaker&& TensorPtrMaker::dim_order(std::vector<DimOrderType> dim_order) {
  parts_.dim_order.swap(dim_order);
  return std::move(*this);
}
TensorPtrMaker&& TensorPtrMaker::deleter(std::function<void(void*)>&& deleter) {
  parts_.deleter.swap(deleter);
  return std::move(*this);
}

TensorPtr TensorPtrMaker::make_tensor_ptr() && { return internal::assemble(std::move(parts_)); }
TensorPtrMaker::operator TensorPtr() && { return internal::assemble(std::move(parts_)); }

TensorPtrMaker for_blob(void* data, Sizes sizes, ScalarType type) {
  TensorParts parts;
  parts.data = data;
  parts.type = type;
  parts.sizes.swap(sizes);
  return TensorPtrMaker(std::move(parts));
}

TensorPtr from_blob(void* data, Sizes sizes, ScalarType type, Device device, TensorShapeDynamism dynamism) {
  return from_blob(data, std::move(sizes), Strides(), type, device, nullptr, dynamism);
}
TensorPtr from_blob(void* data, Sizes sizes, Strides strides, ScalarType type, Device device,
                    TensorShapeDynamism dynamism) {
  return from_blob(data, std::move(sizes), std::move(strides), type, device, nullptr, dynamism);
}
TensorPtr from_blob(void* data, Sizes sizes, ScalarType type, Device device,
                    std::function<void(void*)>&& deleter, TensorShapeDynamism dynamism) {
  return from_blob(data, std::move(sizes), Strides(), type, device, std::move(deleter), dynamism);
}
TensorPtr from_blob(void* data, Sizes sizes, Strides strides, ScalarType type, Device device,
                    std::function<void(void*)>&& deleter, TensorShapeDynamism dynamism) {
  TensorParts parts = form(std::move(sizes), std::move(strides), type, dynamism);
  parts.data = data;
  parts.device = device;
  parts.deleter = std::move(deleter);
  return internal::assemble(std::move(parts));
}

TensorPtr empty_strided(Sizes sizes, Strides strides, ScalarType type, TensorShapeDynamism dynamism) {
  return zeroed(form(std::move(sizes), std::move(strides), type, dynamism));
}
TensorPtr empty_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return zeroed(form_like(other, type, dynamism));
}
TensorPtr empty(Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return zeroed(form(std::move(sizes), {}, type, dynamism));
}

TensorPtr full_strided(Sizes sizes, Strides strides, Scalar fill_value, ScalarType type,
                       TensorShapeDynamism dynamism) {
  return filled_with(form(std::move(sizes), std::move(strides), type, dynamism), fill_value);
}
TensorPtr full_like(const TensorPtr& other, Scalar fill_value, ScalarType type,
                    TensorShapeDynamism dynamism) {
  return filled_with(form_like(other, type, dynamism), fill_value);
}
TensorPtr full(Sizes sizes, Scalar fill_value, ScalarType type, TensorShapeDynamism dynamism) {
  return filled_with(form(std::move(sizes), {}, type, dynamism), fill_value);
}
TensorPtr scalar_tensor(Scalar value, ScalarType type) {
  return filled_with(form({}, {}, type, TensorShapeDynamism::DYNAMIC_BOUND), value);
}
TensorPtr ones_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return filled_with(form_like(other, type, dynamism), 1);
}
TensorPtr ones(Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return filled_with(form(std::move(sizes), {}, type, dynamism), 1);
}
TensorPtr zeros_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return zeroed(form_like(other, type, dynamism));
}
TensorPtr zeros(Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return zeroed(form(std::move(sizes), {}, type, dynamism));
}

TensorPtr rand_strided(Sizes sizes, Strides strides, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), std::move(strides), type, dynamism), Uniform(0, 1));
}
TensorPtr rand_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form_like(other, type, dynamism), Uniform(0, 1));
}
TensorPtr rand(Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), {}, type, dynamism), Uniform(0, 1));
}

TensorPtr randn_strided(Sizes sizes, Strides strides, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), std::move(strides), type, dynamism), Normal(0, 1));
}
TensorPtr randn_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form_like(other, type, dynamism), Normal(0, 1));
}
TensorPtr randn(Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), {}, type, dynamism), Normal(0, 1));
}

TensorPtr randint_strided(int64_t low, int64_t high, Sizes sizes, Strides strides, ScalarType type,
                          TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), std::move(strides), type, dynamism), integers(low, high));
}
TensorPtr randint_like(const TensorPtr& other, int64_t low, int64_t high, ScalarType type,
                       TensorShapeDynamism dynamism) {
  return drawn(form_like(other, type, dynamism), integers(low, high));
}
TensorPtr randint(int64_t low, int64_t high, Sizes sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return drawn(form(std::move(sizes), {}, type, dynamism), integers(low, high));
}

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
