// SPDX-License-Identifier: BSD-3-Clause
// A function of one 8-bit quantized value as a table of its 256 results, of 8 or 16 bits. Exact for every
// function, and one load for each element.
#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_lookup.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = kQuantizedElements & (selected_types("rushlight::quantized_lookup.out") |
                                                 selected_types("cortex_m::quantized_activation.out"));
constexpr size_t kBytes = 256;

template <class T>
Error look_up(const Tensor& input, const T* table, const Tensor& out) {
  PairedLoops(View::of(out), View::of(input))
      .for_each_span([&](char* to, const char* from, const auto& loop) {
        for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source)
          *reinterpret_cast<T*>(to) = table[static_cast<uint8_t>(*from)];
      });
  return Error::Ok;
}

// A copy of the table indexed by the input's bytes, since `out` may alias the table. The given table begins
// at the least value, which for int8 is byte 128.
template <class T>
struct ByBytes {
  T results[kBytes];
  ByBytes(const Tensor& table, ScalarType input) {
    const size_t first = input == ScalarType::Char ? kBytes / 2 : 0;
    const auto* numbers = table.const_data_ptr<T>();
    // XOR with 128 maps the byte of an int8 value to its position in ascending order.
    for (size_t i = 0; i < kBytes; ++i) results[i] = numbers[i ^ first];
  }
};

}  // namespace

Error quantized_lookup_out(KernelContext& context, const Tensor& input, const Tensor& table, Tensor& out) {
  RL_TRY(check_type(input, kTypes & kByteTypes, "input"));
  RL_TRY(check_type(out, kTypes, "out"));
  RL_TRY(check_same_dtype(table, out, "table and out"));
  RL_CHECK(table.dim() == 1 && table.numel() == kBytes, Error::InvalidArgument,
           "table: expected 256 elements in one dimension, got %lu in %d",
           static_cast<unsigned long>(table.numel()), static_cast<int>(table.dim()));
  RL_TRY(resize_out(out, input.sizes()));
  // 8-bit results are copied as bytes, whatever their sign.
  if (contains(kTypes, ScalarType::Short) && out.scalar_type() == ScalarType::Short) {
    return look_up(input, ByBytes<int16_t>(table, input.scalar_type()).results, out);
  }
  const ByBytes<uint8_t> bytes(table, input.scalar_type());
  const QuantizedLookupProblem problem{input, bytes.results, out};
  return backs::quantized_lookup_out(context, problem, [&] { return look_up(input, bytes.results, out); });
}

}  // namespace rushlight::kernels
