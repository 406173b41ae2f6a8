// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <random>

#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch::extension {

using executorch::aten::Device;
using executorch::aten::DeviceType;
using executorch::aten::DimOrderType;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;

namespace {

// What a TensorPtr points into.
struct Storage {
  Storage(std::vector<SizesType> sizes, std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
          void* data, ScalarType type, TensorShapeDynamism dynamism, std::function<void(void*)> deleter)
      : sizes(std::move(sizes)),
        dim_order(std::move(dim_order)),
        strides(std::move(strides)),
        deleter(std::move(deleter)),
        impl(type, static_cast<ssize_t>(this->sizes.size()), this->sizes.data(), data, this->dim_order.data(),
             this->strides.data(), dynamism),
        tensor(&impl) {}
  Storage(const Storage&) = delete;
  ~Storage() {
    if (deleter) deleter(impl.mutable_data());
  }

  std::vector<SizesType> sizes;
  std::vector<DimOrderType> dim_order;
  std::vector<StridesType> strides;
  std::function<void(void*)> deleter;
  TensorImpl impl;
  Tensor tensor;
};

// For ET_SWITCH: there is nobody to give an error to.
struct Aborting {
  [[noreturn]] void fail(runtime::Error) { runtime::runtime_abort(); }
};

std::vector<DimOrderType> dim_order_of(const std::vector<SizesType>& sizes,
                                       const std::vector<StridesType>& strides) {
  std::vector<DimOrderType> order(sizes.size());
  if (strides.empty()) {
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<DimOrderType>(i);
  } else {
    ET_CHECK(runtime::stride_to_dim_order(strides.data(), strides.size(), order.data()) ==
             runtime::Error::Ok);
  }
  return order;
}

// A new tensor, each element made by `next`, which gives numbers.
template <class Next>
TensorPtr generate(std::vector<SizesType> sizes, std::vector<StridesType> strides, ScalarType type,
                   TensorShapeDynamism dynamism, Next&& next) {
  TensorPtr tensor = empty_strided(std::move(sizes), std::move(strides), type, dynamism);
  Aborting context;
  ET_SWITCH_REALHBBF16_AND_UINT_TYPES(type, context, "fill", CTYPE, [&] {
    auto* to = tensor->mutable_data_ptr<CTYPE>();
    for (ssize_t i = 0; i < tensor->numel(); ++i) to[i] = static_cast<CTYPE>(next());
  });
  return tensor;
}

std::mt19937& generator() {
  static thread_local std::mt19937 random{std::random_device{}()};
  return random;
}

}  // namespace

namespace internal {

size_t checked_numel(const std::vector<SizesType>& sizes) {
  auto numel = executorch::aten::safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size()));
  ET_CHECK_MSG(numel.ok(), "a shape that no tensor has");
  return static_cast<size_t>(*numel);
}

}  // namespace internal

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data, std::vector<DimOrderType> dim_order,
                          std::vector<StridesType> strides, ScalarType type, Device,
                          TensorShapeDynamism dynamism, std::function<void(void*)> deleter) {
  const size_t rank = sizes.size();
  ET_CHECK_MSG(dim_order.empty() || dim_order.size() == rank, "a dim order of %zu for rank %zu",
               dim_order.size(), rank);
  ET_CHECK_MSG(strides.empty() || strides.size() == rank, "%zu strides for rank %zu", strides.size(), rank);
  static_cast<void>(internal::checked_numel(sizes));
  if (dim_order.empty()) dim_order = dim_order_of(sizes, strides);
  std::vector<StridesType> dense(rank);
  const auto error = runtime::dim_order_to_stride(sizes.data(), dim_order.data(), rank, dense.data());
  ET_CHECK_MSG(error == runtime::Error::Ok, "a dim order that is no permutation");
  for (size_t i = 0; i < strides.size(); ++i) {
    ET_CHECK_MSG(strides[i] == dense[i] || sizes[i] == 1, "stride %d of dimension %zu where %d is dense",
                 static_cast<int>(strides[i]), i, static_cast<int>(dense[i]));
  }
  auto storage = std::make_shared<Storage>(std::move(sizes), std::move(dim_order), std::move(dense), data,
                                           type, dynamism, std::move(deleter));
  Tensor* tensor = &storage->tensor;
  return TensorPtr(std::move(storage), tensor);
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, std::vector<uint8_t> data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, TensorShapeDynamism dynamism) {
  const size_t needed = internal::checked_numel(sizes) * runtime::elementSize(type);
  ET_CHECK_MSG(data.size() >= needed, "%zu bytes for a tensor of %zu", data.size(), needed);
  auto owned = std::make_shared<std::vector<uint8_t>>(std::move(data));
  void* bytes = owned->data();
  return make_tensor_ptr(std::move(sizes), bytes, std::move(dim_order), std::move(strides), type,
                         Device(DeviceType::CPU), dynamism, [owned](void*) {});
}

TensorPtr make_tensor_ptr(const Tensor& tensor, std::vector<SizesType> sizes,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          std::function<void(void*)> deleter) {
  if (sizes.empty()) sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  const size_t numel = internal::checked_numel(sizes);
  ET_CHECK_MSG(numel <= static_cast<size_t>(tensor.numel()), "a view of %zu elements on a tensor of %zd",
               numel, tensor.numel());
  const bool same_rank = sizes.size() == tensor.sizes().size();
  if (dim_order.empty() && strides.empty() && same_rank) {
    dim_order.assign(tensor.dim_order().begin(), tensor.dim_order().end());
  }
  return make_tensor_ptr(std::move(sizes), tensor.mutable_data_ptr(), std::move(dim_order),
                         std::move(strides), tensor.scalar_type(), tensor.device(), tensor.shape_dynamism(),
                         std::move(deleter));
}

TensorPtr clone_tensor_ptr(const Tensor& tensor, ScalarType type) {
  std::vector<SizesType> sizes(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<DimOrderType> dim_order(tensor.dim_order().begin(), tensor.dim_order().end());
  const auto dynamism = tensor.shape_dynamism();
  if (tensor.const_data_ptr() == nullptr) {
    return make_tensor_ptr(std::move(sizes), nullptr, std::move(dim_order), {}, type, Device(DeviceType::CPU),
                           dynamism);
  }
  const auto numel = static_cast<size_t>(tensor.numel());
  std::vector<uint8_t> bytes(numel * runtime::elementSize(type));
  if (type == tensor.scalar_type()) {
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.const_data_ptr(), bytes.size());
  } else {
    ET_CHECK_MSG(runtime::canCast(tensor.scalar_type(), type), "%s does not become %s",
                 runtime::toString(tensor.scalar_type()), runtime::toString(type));
    Aborting context;
    ET_SWITCH_REALHBBF16_AND_UINT_TYPES(tensor.scalar_type(), context, "clone", FROM, [&] {
      ET_SWITCH_REALHBBF16_AND_UINT_TYPES(type, context, "clone", TO, [&] {
        const auto* from = tensor.const_data_ptr<FROM>();
        std::transform(from, from + numel, reinterpret_cast<TO*>(bytes.data()),
                       [](const FROM& element) { return static_cast<TO>(element); });
      });
    });
  }
  return make_tensor_ptr(std::move(sizes), std::move(bytes), std::move(dim_order), {}, type, dynamism);
}

TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, Device target) {
  ET_CHECK_MSG(target.is_cpu(), "the CPU is the only device");
  return clone_tensor_ptr(tensor);
}

runtime::Error resize_tensor_ptr(TensorPtr& tensor, const std::vector<SizesType>& sizes) {
  return runtime::resize_tensor(*tensor, {sizes.data(), sizes.size()});
}

TensorPtr empty_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides, ScalarType type,
                        TensorShapeDynamism dynamism) {
  std::vector<uint8_t> bytes(internal::checked_numel(sizes) * runtime::elementSize(type));
  return make_tensor_ptr(std::move(sizes), std::move(bytes), {}, std::move(strides), type, dynamism);
}

TensorPtr full_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides, Scalar fill_value,
                       ScalarType type, TensorShapeDynamism dynamism) {
  if (!fill_value.isFloatingPoint()) {
    return generate(std::move(sizes), std::move(strides), type, dynamism,
                    [value = fill_value.to<int64_t>()] { return value; });
  }
  return generate(std::move(sizes), std::move(strides), type, dynamism,
                  [value = fill_value.to<double>()] { return value; });
}

TensorPtr rand_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides, ScalarType type,
                       TensorShapeDynamism dynamism) {
  std::uniform_real_distribution<float> uniform(0, 1);
  return generate(std::move(sizes), std::move(strides), type, dynamism, [&] { return uniform(generator()); });
}

TensorPtr randn_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides, ScalarType type,
                        TensorShapeDynamism dynamism) {
  std::normal_distribution<float> normal(0, 1);
  return generate(std::move(sizes), std::move(strides), type, dynamism, [&] { return normal(generator()); });
}

TensorPtr randint_strided(int64_t low, int64_t high, std::vector<SizesType> sizes,
                          std::vector<StridesType> strides, ScalarType type, TensorShapeDynamism dynamism) {
  ET_CHECK_MSG(low < high, "no integer lies between these bounds");
  std::uniform_int_distribution<int64_t> uniform(low, high - 1);
  return generate(std::move(sizes), std::move(strides), type, dynamism, [&] { return uniform(generator()); });
}

}  // namespace executorch::extension
