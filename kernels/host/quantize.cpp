// SPDX-License-Identifier: BSD-3-Clause
// Conversion between float32 and quantized values of 8 and 16 bits in the same layout: with one scale, or
// with a scale for each channel whose elements are contiguous. Same steps and same bits as the portable code.
#include "kernels/backs/quantize.h"

#include "kernels/quantization/affine.h"
#include "kernels/ukernel/convert.h"

namespace rushlight::kernels::host {

namespace {

// Fewest elements for a thread.
constexpr size_t kGrain = 1 << 15;
// Channels with fewer adjacent elements are left to the portable code.
constexpr size_t kLeastRun = 8;

// True if the tensors have the same sizes and strides.
bool has_equal_strides(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != b.sizes()[d] || a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

// Converts elements [first, first + n) in memory order.
void quantize_span(const Tensor& input, const Affine& affine, const AffineRange& range, size_t first,
                   size_t n, const Tensor& out) {
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

void dequantize_span(const Tensor& input, const Affine& affine, size_t first, size_t n, const Tensor& out) {
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

// The layout of channels: `inner` elements of one channel, `count` channels, repeated `outer` times.
struct Channels {
  size_t outer;
  size_t count;
  size_t inner;
};

// Returns false if a channel has fewer than kLeastRun adjacent elements, or the axis is negative.
bool find_channels(const Tensor& tensor, int64_t axis, Channels* channels) {
  if (axis < 0 || tensor.numel() == 0) return false;
  const auto d = static_cast<size_t>(axis);
  channels->count = static_cast<size_t>(tensor.sizes()[d]);
  // In a tensor without gaps the stride of a dimension is the number of elements inside it.
  channels->inner = static_cast<size_t>(tensor.strides()[d]);
  channels->outer = tensor.numel() / (channels->count * channels->inner);
  return channels->inner >= kLeastRun;
}

// Calls f(affine, first element, number of elements) for each span of a channel.
template <class F>
void for_each_span(KernelContext& context, const Channels& channels, const AffineList& list, const F& f) {
  const size_t grain = channels.inner < kGrain ? kGrain / channels.inner : 1;
  context.parallel_for(channels.outer * channels.count, grain, [&](size_t begin, size_t end, size_t) {
    // Spans follow each other in memory; their channels repeat with the outer dimensions.
    for (size_t i = begin; i < end; ++i) f(list.at(i % channels.count), i * channels.inner, channels.inner);
  });
}

}  // namespace

std::optional<Error> quantize_per_tensor(KernelContext& context, const QuantizePerTensorProblem& problem) {
  const Tensor& input = problem.real;
  const Tensor& out = problem.quantized;
  if (!has_equal_strides(input, out)) return std::nullopt;
  context.parallel_for(out.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    quantize_span(input, problem.affine, problem.range, begin, end - begin, out);
  });
  return Error::Ok;
}

std::optional<Error> dequantize_per_tensor(KernelContext& context, const PerTensorProblem& problem) {
  const Tensor& input = problem.quantized;
  const Tensor& out = problem.real;
  if (!has_equal_strides(input, out)) return std::nullopt;
  context.parallel_for(out.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    dequantize_span(input, problem.affine, begin, end - begin, out);
  });
  return Error::Ok;
}

std::optional<Error> quantize_per_channel(KernelContext& context, const QuantizePerChannelProblem& problem) {
  const Tensor& input = problem.real;
  const Tensor& out = problem.quantized;
  Channels channels;
  if (!find_channels(input, problem.axis, &channels) || !has_equal_strides(input, out)) return std::nullopt;
  for_each_span(context, channels, problem.list, [&](const Affine& affine, size_t first, size_t n) {
    quantize_span(input, affine, problem.range, first, n, out);
  });
  return Error::Ok;
}

std::optional<Error> dequantize_per_channel(KernelContext& context, const PerChannelProblem& problem) {
  const Tensor& input = problem.quantized;
  const Tensor& out = problem.real;
  Channels channels;
  if (!find_channels(input, problem.axis, &channels) || !has_equal_strides(input, out)) return std::nullopt;
  for_each_span(context, channels, problem.list, [&](const Affine& affine, size_t first, size_t n) {
    dequantize_span(input, affine, first, n, out);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
