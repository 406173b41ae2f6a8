// SPDX-License-Identifier: BSD-3-Clause
// One loop for each element size, shared by all dtypes; contiguous spans use memmove.
#include "kernels/walk/strided_copy.h"

#include <cstdint>
#include <cstring>

#include "kernels/elements/convert.h"
#include "kernels/walk/row_major.h"

namespace rushlight::kernels {

namespace {

template <size_t kSize>
void copy_sized(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                size_t n) {
  // Tensors are aligned to their elements, which spares cores without unaligned access a loop of bytes.
  const auto copy = [](char* to, const char* from) {
    std::memcpy(__builtin_assume_aligned(to, kSize), __builtin_assume_aligned(from, kSize), kSize);
  };
  // Bytes and words, the elements of images and of transposed weights, two at a time: loop control is up to
  // two thirds of the instructions.
  for (; (kSize == 1 || kSize == 4) && n > 1; n -= 2) {
    copy(target, source);
    copy(target + target_stride, source + source_stride);
    target += 2 * target_stride;
    source += 2 * source_stride;
  }
  for (; n > 0; --n, target += target_stride, source += source_stride) copy(target, source);
}

// Elements of 16 bytes, aligned to 8: a plan may overlap them by half. A call of memmove would cost the other
// loops, which the compiler merges into the same function, an instruction for each element.
void copy_wide(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride, size_t n) {
  for (; n > 0; --n) {
    uint64_t first, second;
    std::memcpy(&first, __builtin_assume_aligned(source, 8), 8);
    std::memcpy(&second, __builtin_assume_aligned(source + 8, 8), 8);
    std::memcpy(__builtin_assume_aligned(target, 8), &first, 8);
    std::memcpy(__builtin_assume_aligned(target + 8, 8), &second, 8);
    target += target_stride;
    source += source_stride;
  }
}

#ifndef __OPTIMIZE_SIZE__
// Repeats one element: what is written is copied behind itself, in pieces that stay in the first cache.
void repeat_element(char* target, const char* source, size_t bytes, size_t element) {
  constexpr size_t kPiece = 4096;
  std::memmove(target, source, element);
  for (size_t done = element; done < bytes;) {
    size_t piece = done < kPiece ? done : kPiece;
    if (bytes - done < piece) piece = bytes - done;
    std::memcpy(target + done, target, piece);
    done += piece;
  }
}
#endif

}  // namespace

// Contiguous spans may overlap; strided elements are copied in order, one by one.
void copy_elements(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                   size_t n, size_t element) {
  if (target_stride == static_cast<ptrdiff_t>(element) && source_stride == target_stride) {
    std::memmove(target, source, element * n);
    return;
  }
#ifndef __OPTIMIZE_SIZE__
  constexpr size_t kFewest = 64;  // fewer take less time one by one
  if (target_stride == static_cast<ptrdiff_t>(element) && source_stride == 0 && n >= kFewest) {
    return repeat_element(target, source, element * n, element);
  }
#endif
  switch (element) {
    case 1:
      return copy_sized<1>(target, target_stride, source, source_stride, n);
    case 2:
      return copy_sized<2>(target, target_stride, source, source_stride, n);
    case 4:
      return copy_sized<4>(target, target_stride, source, source_stride, n);
    case 8:
      return copy_sized<8>(target, target_stride, source, source_stride, n);
    default:
      return copy_wide(target, target_stride, source, source_stride, n);
  }
}

// Equal dtypes move as bytes of the element's size, whatever they represent.
Error copy_view(const View& target, const View& source) {
  PairedLoops loops(target, source);
  loops.lengthen_spans();
  if (target.type == source.type) {
    const size_t element = element_size(target.type);
    loops.for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
      copy_elements(to, loop.target, from, loop.source, static_cast<size_t>(loop.size), element);
    });
    return Error::Ok;
  }
  RL_TRY(check_convertible(target.type));
  RL_TRY(check_convertible(source.type));
  loops.for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    convert_span(to, loop.target, target.type, from, loop.source, source.type,
                 static_cast<size_t>(loop.size));
  });
  return Error::Ok;
}

Error copy_to_out(const View& source, const Tensor& out) {
  RL_CHECK(out.scalar_type() == source.type, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(source.type), to_string(out.scalar_type()));
  return convert_to_out(source, out);
}

Error convert_to_out(const View& source, const Tensor& out) {
  RL_TRY(resize_out(out, {source.sizes, source.dim}));
  return copy_view(View::of(out), source);
}

void copy_reshaped(const Tensor& target, const Tensor& source) {
  RL_DCHECK(target.numel() == source.numel() && target.scalar_type() == source.scalar_type());
  const ScalarType type = target.scalar_type();
  Error error = Error::Ok;
  // If one of the two is row-major, it is viewed with the shape of the other: one strided copy. Otherwise
  // elements are paired one by one in row-major order.
  if (is_contiguous_dim_order(target.dim_order())) {
    error = copy_view(View::row_major(target.mutable_data_ptr(), type, source.sizes()), View::of(source));
  } else if (is_contiguous_dim_order(source.dim_order())) {
    error = copy_view(View::of(target), View::row_major(source.mutable_data_ptr(), type, target.sizes()));
  } else {
    const size_t element = target.element_size();
    RowMajorCursor to(target);
    RowMajorCursor from(source);
    for (size_t i = 0; i < target.numel(); ++i, to.advance(), from.advance()) {
      std::memcpy(to.get(), from.get(), element);
    }
  }
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
}

}  // namespace rushlight::kernels
