// SPDX-License-Identifier: BSD-3-Clause
// Zeroes the target, then scatters element by element, in the order of `picked`: with kCopy the last of equal
// indices stays. Indices are data, so each is checked before its use.
#include "kernels/geometry/unpool.h"

#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/geometry/pooling.h"
#include "kernels/index/combine.h"
#include "kernels/index/index.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error unpool(Unpooling how, size_t spatial, const Tensor& picked, const Tensor& indices,
             const Tensor& target) {
  RL_TRY(check_same_dtype(picked, target, "self and out"));
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "indices: expected dtype int64, got %s", to_string(indices.scalar_type()));
  RL_TRY(check_shape(indices, picked.sizes(), "indices"));
  if (target.nbytes() == 0) return Error::Ok;
  std::memset(target.mutable_data_ptr(), 0, target.nbytes());
  const View volume = as_volume(target, spatial);
  const View source = as_volume(picked, spatial);
  const size_t element = target.element_size();
  const ptrdiff_t rows = volume.sizes[3];
  const ptrdiff_t row = volume.sizes[4];
  // Indices are row-major in the spatial dimensions of one channel, whatever the layout of the tensors.
  const ptrdiff_t volume_size = volume.sizes[2] * rows * row;
  const ptrdiff_t plane = static_cast<ptrdiff_t>(source.sizes[2]) * source.sizes[3] * source.sizes[4];
  // In a contiguous volume an index is an offset.
  const bool is_flat = volume.strides[4] == static_cast<ptrdiff_t>(element) &&
                       volume.strides[3] == row * volume.strides[4] &&
                       volume.strides[2] == rows * volume.strides[3];
  const auto scatter = [&](auto put) {
    RowMajorCursor from(picked);
    RowMajorCursor index(indices);
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        char* const channel = volume_at(volume, n, 0, 0, 0) + c * volume.strides[1];
        for (ptrdiff_t i = 0; i < plane; ++i, from.advance(), index.advance()) {
          const int64_t named = *reinterpret_cast<const int64_t*>(index.get());
          if (named == -1 && how == Unpooling::kAdd) continue;
          RL_TRY(check_index(named, volume_size));
          const auto position = static_cast<ptrdiff_t>(named);
          const ptrdiff_t offset = is_flat ? position * volume.strides[4]
                                           : position / (rows * row) * volume.strides[2] +
                                                 position / row % rows * volume.strides[3] +
                                                 position % row * volume.strides[4];
          put(channel + offset, from.get());
        }
      }
    }
    return Error::Ok;
  };
#ifndef __OPTIMIZE_SIZE__
  if (how == Unpooling::kCopy) {
    return scatter([&](char* to, const char* value) { copy_element(to, value, element); });
  }
  // Loops for floating sums; 16-bit ones are rounded after each addition.
  constexpr TypeSet kTyped = kAnySelectedType & types::kFloating;
  if (contains(kTyped, source.type)) {
    return dispatch<kTyped>(source.type, [&](auto type) {
      using T = typename decltype(type)::Element;
      void (*const add)(char*, const char*) = [](char* to, const char* value) {
        auto& sum = *reinterpret_cast<T*>(to);
        sum = narrow<T>(widen(sum) + widen(*reinterpret_cast<const T*>(value)));
      };
      return scatter(add);  // by a pointer, so that all dtypes share the loop
    });
  }
#endif
  return scatter([&](char* to, const char* value) {
    if (how == Unpooling::kCopy) return copy_elements(to, 0, value, 0, 1, element);
    combine_elements(to, volume.type, value, source.type, Combine::kSum);
  });
}

}  // namespace rushlight::kernels
