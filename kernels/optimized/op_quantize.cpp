// SPDX-License-Identifier: BSD-3-Clause
// Between float32 and quantized numbers of 8 and 16 bits, where both lie alike: with one scale for all, or
// for each channel whose elements lie together. Computed in the portable kernels' steps, to the same bits.
#include <cmath>
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/shared/affine.h"
#include "kernels/shared/selection.h"
#include "kernels/ukernel/convert.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                              int64_t quant_min, int64_t quant_max, int64_t dtype, Tensor& out);
Error dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, int64_t dtype,
                                std::optional<int64_t> out_dtype, Tensor& out);
Error quantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                               const Tensor& zero_points, int64_t axis, int64_t quant_min, int64_t quant_max,
                               int64_t dtype, Tensor& out);
Error dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                 const std::optional<Tensor>& zero_points, int64_t axis, int64_t quant_min,
                                 int64_t quant_max, int64_t dtype, std::optional<int64_t> out_dtype,
                                 Tensor& out);

namespace optimized {

namespace {

constexpr TypeSet kNarrow =
    type_set(ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::UInt16);
// Elements that a thread should have at least.
constexpr size_t kGrain = 1 << 15;
// Fewer elements than that for a channel are left to the portable kernel.
constexpr size_t kLeastRun = 8;

// Whether tensors of the same shape have their elements in the same places.
bool lie_alike(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != b.sizes()[d] || a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

// Elements [first, first + n) in memory.
void quantize_run(const Tensor& input, const Affine& affine, const AffineRange& range, size_t first, size_t n,
                  const Tensor& out) {
  const float* x = input.const_data_ptr<float>() + first;
  const ukernel::Quantization how = {static_cast<float>(1.0 / affine.scale),
                                     static_cast<float>(affine.zero_point), static_cast<float>(range.min),
                                     static_cast<float>(range.max)};
  switch (out.scalar_type()) {
    case ScalarType::Byte:
      return ukernel::quantize_u8(n, x, how, out.mutable_data_ptr<uint8_t>() + first);
    case ScalarType::Char:
      return ukernel::quantize_i8(n, x, how, out.mutable_data_ptr<int8_t>() + first);
    case ScalarType::UInt16:
      return ukernel::quantize_u16(n, x, how, out.mutable_data_ptr<uint16_t>() + first);
    default:
      return ukernel::quantize_i16(n, x, how, out.mutable_data_ptr<int16_t>() + first);
  }
}

void dequantize_run(const Tensor& input, const Affine& affine, size_t first, size_t n, const Tensor& out) {
  float* to = out.mutable_data_ptr<float>() + first;
  const auto scale = static_cast<float>(affine.scale);
  const auto zero_point = static_cast<float>(affine.zero_point);
  switch (input.scalar_type()) {
    case ScalarType::Byte:
      return ukernel::dequantize_u8(n, input.const_data_ptr<uint8_t>() + first, scale, zero_point, to);
    case ScalarType::Char:
      return ukernel::dequantize_i8(n, input.const_data_ptr<int8_t>() + first, scale, zero_point, to);
    case ScalarType::UInt16:
      return ukernel::dequantize_u16(n, input.const_data_ptr<uint16_t>() + first, scale, zero_point, to);
    default:
      return ukernel::dequantize_i16(n, input.const_data_ptr<int16_t>() + first, scale, zero_point, to);
  }
}

// Whether the types are those above.
bool is_fast(TypeSet types, const Tensor& real, const Tensor& quantized) {
  return real.scalar_type() == ScalarType::Float && contains(types, ScalarType::Float) &&
         contains(types & kNarrow, quantized.scalar_type());
}

// How a dimension's channels lie: `inner` elements of one, one channel after the other, `outer` times.
struct Channels {
  size_t outer;
  size_t count;
  size_t inner;
};

// False where elements of a channel lie too much apart.
bool find_channels(const Tensor& tensor, int64_t axis, Channels* channels) {
  if (axis < 0 || axis >= tensor.dim() || tensor.numel() == 0) return false;
  const auto d = static_cast<size_t>(axis);
  channels->count = static_cast<size_t>(tensor.sizes()[d]);
  channels->inner = static_cast<size_t>(tensor.strides()[d]);
  channels->outer = tensor.numel() / (channels->count * channels->inner);
  return channels->inner >= kLeastRun;
}

// f(affine, first element, number of elements) for each channel.
template <class F>
void for_each_run(KernelContext& context, const Channels& channels, const AffineList& list, const F& f) {
  const size_t grain = channels.inner < kGrain ? kGrain / channels.inner : 1;
  context.parallel_for(channels.outer * channels.count, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) f(list.at(i % channels.count), i * channels.inner, channels.inner);
  });
}

}  // namespace

Error quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                              int64_t quant_min, int64_t quant_max, int64_t dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::quantize_per_tensor.out");
  const auto portable = [&]() -> Error {
    RL_FALL_BACK("quantized_decomposed::quantize_per_tensor.out", quantize_per_tensor_out, context, input,
                 scale, zero_point, quant_min, quant_max, dtype, out);
  };
  if (!is_fast(kTypes, input, out)) return portable();
  const AffineRange range{quant_min, quant_max};
  RL_TRY(check_quantized(out, dtype, range));
  const Affine affine{scale, static_cast<double>(zero_point)};
  RL_TRY(resize_out(out, input.sizes()));
  if (!lie_alike(input, out)) return portable();
  context.parallel_for(out.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    quantize_run(input, affine, range, begin, end - begin, out);
  });
  return Error::Ok;
}

Error dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, int64_t dtype,
                                std::optional<int64_t> out_dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_tensor.out");
  const auto portable = [&]() -> Error {
    RL_FALL_BACK("quantized_decomposed::dequantize_per_tensor.out", dequantize_per_tensor_out, context, input,
                 scale, zero_point, quant_min, quant_max, dtype, out_dtype, out);
  };
  if (!is_fast(kTypes, out, input)) return portable();
  RL_TRY(check_requested_dtype(out_dtype.value_or(static_cast<int64_t>(ScalarType::Float)), out));
  RL_TRY(check_dequantized(input, dtype, {quant_min, quant_max}));
  const Affine affine{scale, static_cast<double>(zero_point)};
  RL_TRY(resize_out(out, input.sizes()));
  if (!lie_alike(input, out)) return portable();
  context.parallel_for(out.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    dequantize_run(input, affine, begin, end - begin, out);
  });
  return Error::Ok;
}

Error quantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                               const Tensor& zero_points, int64_t axis, int64_t quant_min, int64_t quant_max,
                               int64_t dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::quantize_per_channel.out");
  const auto portable = [&]() -> Error {
    RL_FALL_BACK("quantized_decomposed::quantize_per_channel.out", quantize_per_channel_out, context, input,
                 scales, zero_points, axis, quant_min, quant_max, dtype, out);
  };
  if (!is_fast(kTypes, input, out) || scales.scalar_type() != ScalarType::Float) return portable();
  const AffineRange range{quant_min, quant_max};
  const AffineList list{scales, &zero_points};
  RL_TRY(check_quantized(out, dtype, range));
  Channels channels;
  if (!find_channels(input, axis, &channels)) return portable();
  RL_TRY(list.check(channels.count));
  RL_TRY(resize_out(out, input.sizes()));
  if (!lie_alike(input, out)) return portable();
  for_each_run(context, channels, list, [&](const Affine& affine, size_t first, size_t n) {
    quantize_run(input, affine, range, first, n, out);
  });
  return Error::Ok;
}

Error dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                 const std::optional<Tensor>& zero_points, int64_t axis, int64_t quant_min,
                                 int64_t quant_max, int64_t dtype, std::optional<int64_t> out_dtype,
                                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_channel.out");
  const auto portable = [&]() -> Error {
    RL_FALL_BACK("quantized_decomposed::dequantize_per_channel.out", dequantize_per_channel_out, context,
                 input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype, out);
  };
  if (!is_fast(kTypes, out, input) || scales.scalar_type() != ScalarType::Float) return portable();
  RL_TRY(check_requested_dtype(out_dtype.value_or(static_cast<int64_t>(ScalarType::Float)), out));
  RL_TRY(check_dequantized(input, dtype, {quant_min, quant_max}));
  const AffineList list{scales, zero_points ? &*zero_points : nullptr};
  Channels channels;
  if (!find_channels(input, axis, &channels)) return portable();
  RL_TRY(list.check(channels.count));
  RL_TRY(resize_out(out, input.sizes()));
  if (!lie_alike(input, out)) return portable();
  for_each_run(context, channels, list, [&](const Affine& affine, size_t first, size_t n) {
    dequantize_run(input, affine, first, n, out);
  });
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
