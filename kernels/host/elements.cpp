// SPDX-License-Identifier: BSD-3-Clause
// Conversion of spans between float32 and 16-bit floats: contiguous spans by vector microkernels, strided
// ones element by element. Integers are converted by the portable loops. Strides are in elements.
#include "kernels/host/elements.h"

#include <cstring>

#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/ukernel/convert.h"

namespace rushlight::kernels::host {

namespace {

// See FloatingProblem.
constexpr bool kLoadsIntegers = !kKnowsCalls && (kAnySelectedType & (types::kIntegral | types::kBool)) != 0;

template <class T>
void load_as(float* to, const T* from, ptrdiff_t stride, size_t n) {
  for (size_t i = 0; i < n; ++i, from += stride) to[i] = static_cast<float>(*from);
}

template <class T>
void store_as(T* to, ptrdiff_t stride, const float* from, size_t n) {
  for (size_t i = 0; i < n; ++i, to += stride) *to = static_cast<T>(from[i]);
}

}  // namespace

// Builds without a dtype contain no code for it.
void load_floats(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n) {
  if constexpr (kLoadsIntegers) {
    if (!is_floating(type)) {
      const auto element = static_cast<ptrdiff_t>(element_size(type));
      return convert_span(to, sizeof(float), ScalarType::Float, from, stride * element, type, n);
    }
  }
  if constexpr (contains(kAnySelectedType, ScalarType::Half)) {
    if (type == ScalarType::Half) {
      if (stride == 1) return ukernel::half_to_f32(n, static_cast<const uint16_t*>(from), to);
      return load_as(to, static_cast<const Half*>(from), stride, n);
    }
  }
  if constexpr (contains(kAnySelectedType, ScalarType::BFloat16)) {
    if (type == ScalarType::BFloat16) {
      if (stride == 1) return ukernel::bfloat16_to_f32(n, static_cast<const uint16_t*>(from), to);
      return load_as(to, static_cast<const BFloat16*>(from), stride, n);
    }
  }
  if (stride == 1) {
    std::memcpy(to, from, n * sizeof(float));
  } else {
    load_as(to, static_cast<const float*>(from), stride, n);
  }
}

// Rounds to nearest even, as the portable conversion does.
void store_floats(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n) {
  if constexpr (contains(kAnySelectedType, ScalarType::Half)) {
    if (type == ScalarType::Half) {
      if (stride == 1) return ukernel::f32_to_half(n, from, static_cast<uint16_t*>(to));
      return store_as(static_cast<Half*>(to), stride, from, n);
    }
  }
  if constexpr (contains(kAnySelectedType, ScalarType::BFloat16)) {
    if (type == ScalarType::BFloat16) {
      if (stride == 1) return ukernel::f32_to_bfloat16(n, from, static_cast<uint16_t*>(to));
      return store_as(static_cast<BFloat16*>(to), stride, from, n);
    }
  }
  if (stride == 1) {
    std::memcpy(to, from, n * sizeof(float));
  } else {
    store_as(static_cast<float*>(to), stride, from, n);
  }
}

namespace {

constexpr size_t kGrain = size_t{1} << 15;  // elements worth another thread

}  // namespace

void load_tensor(KernelContext& context, float* to, const Tensor& from) {
  const size_t size = from.element_size();
  context.parallel_for(from.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    load_floats(to + begin, from.scalar_type(), from.const_data_ptr<char>() + begin * size, 1, end - begin);
  });
}

void store_tensor(KernelContext& context, const Tensor& to, const float* from) {
  const size_t size = to.element_size();
  context.parallel_for(to.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    store_floats(to.mutable_data_ptr<char>() + begin * size, 1, to.scalar_type(), from + begin, end - begin);
  });
}

// The tensor is static, so that nothing writes to the arrays.
TensorImpl widened_tensor(const Tensor& of, float* floats) {
  const auto sizes = of.sizes();
  return {ScalarType::Float,
          sizes.size(),
          const_cast<SizesType*>(sizes.data()),
          const_cast<DimOrderType*>(of.dim_order().data()),
          const_cast<StridesType*>(of.strides().data()),
          of.numel(),
          floats,
          Storage::Planned,
          TensorShapeDynamism::STATIC};
}

}  // namespace rushlight::kernels::host
