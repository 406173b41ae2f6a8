// SPDX-License-Identifier: BSD-3-Clause
// Conversion between float32 and int8 with one scale, in the steps of the portable code and with the same
// bits. Elements that are not adjacent pass through a buffer on the stack.
#include "kernels/backs/quantize.h"

#include "kernels/ukernel/convert.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::board {

namespace {

constexpr ptrdiff_t kStaged = 32;  // elements

template <class T>
void copy_apart(T* to, ptrdiff_t to_stride, const T* from, ptrdiff_t from_stride, ptrdiff_t count) {
  for (; count > 0; --count, to += to_stride, from += from_stride) *to = *from;
}

// Calls convert(count, const From*, To*) for contiguous parts of all elements.
template <class From, class To, class Convert>
void convert_all(const Tensor& source, const Tensor& target, const Convert& convert) {
  const PairedLoops loops(View::of(target), View::of(source));
  loops.for_each_span([&](char* target_data, const char* source_data, const PairedLoops::Loop& loop) {
    const auto* from = reinterpret_cast<const From*>(source_data);
    auto* to = reinterpret_cast<To*>(target_data);
    const ptrdiff_t from_stride = loop.source / static_cast<ptrdiff_t>(sizeof(From));
    const ptrdiff_t to_stride = loop.target / static_cast<ptrdiff_t>(sizeof(To));
    if (from_stride == 1 && to_stride == 1) return convert(static_cast<size_t>(loop.size), from, to);
    From gathered[kStaged];
    To staged[kStaged];
    for (ptrdiff_t i = 0; i < loop.size; i += kStaged) {
      const ptrdiff_t count = loop.size - i < kStaged ? loop.size - i : kStaged;
      copy_apart(gathered, 1, from + i * from_stride, from_stride, count);
      convert(static_cast<size_t>(count), gathered, staged);
      copy_apart(to + i * to_stride, to_stride, staged, 1, count);
    }
  });
}

}  // namespace

Error quantize_per_tensor(KernelContext&, const QuantizePerTensorProblem& problem) {
  const Affine& affine = problem.affine;
  // The reciprocal is computed in double and rounded once, as in the portable code.
  const ukernel::Quantization how = {
      static_cast<float>(1.0 / affine.scale), static_cast<float>(affine.zero_point),
      static_cast<float>(problem.range.min), static_cast<float>(problem.range.max)};
  convert_all<float, int8_t>(
      problem.real, problem.quantized,
      [&how](size_t count, const float* from, int8_t* to) { ukernel::quantize_i8(count, from, how, to); });
  return Error::Ok;
}

Error dequantize_per_tensor(KernelContext&, const PerTensorProblem& problem) {
  const auto scale = static_cast<float>(problem.affine.scale);
  const auto zero_point = static_cast<float>(problem.affine.zero_point);
  convert_all<int8_t, float>(problem.quantized, problem.real,
                             [&](size_t count, const int8_t* from, float* to) {
                               ukernel::dequantize_i8(count, from, scale, zero_point, to);
                             });
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
