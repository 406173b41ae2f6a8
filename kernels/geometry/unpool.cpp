// SPDX-License-Identifier: BSD-3-Clause
// Zeroes the target, then scatters element by element, in the order of `picked`: with kCopy the last of equal
// indices stays. Indices are data, so each is checked before its use.
#include "kernels/geometry/unpool.h"

#include <algorithm>
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
  // In a contiguous volume an index is an offset. The stride of a dimension of size 1 is never used.
  const bool is_flat = volume.strides[4] == static_cast<ptrdiff_t>(element) &&
                       (rows == 1 || volume.strides[3] == row * volume.strides[4]) &&
                       (volume.sizes[2] == 1 || volume.strides[2] == rows * row * volume.strides[4]);
  // A function for floating sums; 16-bit ones are rounded after each addition. A call for each element, so
  // that all dtypes and copies share the loop.
  void (*add)(char*, const char*) = nullptr;
#ifndef __OPTIMIZE_SIZE__
  constexpr TypeSet kTyped = kAnySelectedType & types::kFloating;
  if (how == Unpooling::kAdd && contains(kTyped, source.type)) {
    RL_TRY(dispatch<kTyped>(source.type, [&](auto type) {
      using T = typename decltype(type)::Element;
      add = [](char* to, const char* value) {
        auto& sum = *reinterpret_cast<T*>(to);
        sum = narrow<T>(widen(sum) + widen(*reinterpret_cast<const T*>(value)));
      };
      return Error::Ok;
    }));
  }
#endif
  RowMajorCursor values(picked);
  RowMajorCursor positions(indices);
  const ptrdiff_t step = volume.strides[4];
  const ptrdiff_t value_step = values.stride();
  const ptrdiff_t named_step = positions.stride();
  // Both cursors are behind the current span, of which `left` elements are to be done.
  const char* value = nullptr;
  const char* named = nullptr;
  ptrdiff_t left = 0;
  for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
    char* channel = volume_at(volume, n, 0, 0, 0);
    for (ptrdiff_t c = 0; c < source.sizes[1]; ++c, channel += volume.strides[1]) {
      for (ptrdiff_t i = 0; i < plane; ++i, value += value_step, named += named_step, --left) {
        if (left == 0) {
          left = std::min(values.span(), positions.span());
          value = values.get();
          named = positions.get();
          values.skip(left);
          positions.skip(left);
        }
        const int64_t index = *reinterpret_cast<const int64_t*>(named);
        if (index < 0 || index >= volume_size) {
          if (index == -1 && how == Unpooling::kAdd) continue;
          return check_index(index, volume_size);
        }
        const auto position = static_cast<ptrdiff_t>(index);
        const ptrdiff_t offset = is_flat
                                     ? position * step
                                     : position / (rows * row) * volume.strides[2] +
                                           position / row % rows * volume.strides[3] + position % row * step;
        char* const to = channel + offset;
        if (add != nullptr) {
          add(to, value);
        } else if (how == Unpooling::kCopy) {
          copy_element(to, value, element);
        } else {
          combine_elements(to, volume.type, value, source.type, Combine::kSum);
        }
      }
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
