// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution for any dtype, layout and rank. Sums of 64 outputs of a row are built together, one tap
// at a time over the outputs that see the input through it, so the inner loop has no border test. Products
// are added in blocks of about 128 to limit rounding error. Complex convolutions are four real ones on the
// parts.
#include "kernels/geometry/convolution.h"

#include <algorithm>

#include "kernels/checks/selection.h"
#include "kernels/geometry/spatial.h"
#include "kernels/matmul/accumulator.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::convolution.out") | selected_types("aten::convolution_backward.out") |
    selected_types("rushlight::convolution_act.out") | selected_types("rushlight::convolution_act.clamp_out");
constexpr bool kConvolvesComplex = (kTypes & types::kComplex) != 0;

constexpr ptrdiff_t kTile = 64;    // outputs of a row that are summed together
constexpr ptrdiff_t kBlock = 128;  // approximate number of products in one partial sum

struct Channels {
  ptrdiff_t per_group;
  ptrdiff_t stride;         // of channels in the input or output
  ptrdiff_t kernel_stride;  // of channels in the weight
};

// Stores the sums, or adds them to `out`, or subtracts them from it.
enum class Writes : uint8_t { kSums, kAdded, kSubtracted };

struct Plan {
  bool transposed;
  Writes writes;
  ptrdiff_t bias_stride;
  ptrdiff_t batch;
  ptrdiff_t in_batch_stride;
  ptrdiff_t out_batch_stride;
  ptrdiff_t groups;
  ptrdiff_t kernel_group_stride;
  Channels in;
  Channels out;
  ConvolutionAxis axes[kSpatial];  // the last one is the row
};

// Outputs from, from + out_step, ... of a row see the inputs at, at + in_step, ...
struct Overlap {
  ptrdiff_t count;
  ptrdiff_t from;
  ptrdiff_t at;
};

// ceil(a / b) for positive b; divide_down() is floor(a / b). C++ rounds quotients towards 0, so negative
// dividends need a separate case.
ptrdiff_t divide_up(ptrdiff_t a, ptrdiff_t b) {
  if (b == 1) return a;
  return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}
ptrdiff_t divide_down(ptrdiff_t a, ptrdiff_t b) { return -divide_up(-a, b); }

// The outputs in [begin, end) that see an input through tap k.
Overlap overlap(const ConvolutionAxis& axis, bool transposed, ptrdiff_t k, ptrdiff_t begin, ptrdiff_t end) {
  // input = output * step + shift; transposed: output = input * step + shift.
  const ptrdiff_t shift = k * axis.dilation - axis.pad;
  if (transposed) {
    const ptrdiff_t first = std::max<ptrdiff_t>(divide_up(begin - shift, axis.step), 0);
    const ptrdiff_t last = std::min(divide_down(end - 1 - shift, axis.step), axis.in - 1);
    return {last - first + 1, first * axis.step + shift, first};
  }
  const ptrdiff_t first = std::max(divide_up(-shift, axis.step), begin);
  const ptrdiff_t last = std::min(divide_down(axis.in - 1 - shift, axis.step), end - 1);
  return {last - first + 1, first, first * axis.step + shift};
}

// The input position that one output sees through tap k, or -1.
ptrdiff_t input_at(const ConvolutionAxis& axis, bool transposed, ptrdiff_t output, ptrdiff_t k) {
  const Overlap one = overlap(axis, transposed, k, output, output + 1);
  return one.count > 0 ? one.at : -1;
}

// Adds the products of `channels` input channels to the sums of outputs [begin, end) of a row. `in` and
// `kernel` point to the first of these channels; out_at holds the output position on the other two axes.
template <class T>
void add_channels(const Plan& plan, Accumulator<T>* sums, ptrdiff_t begin, ptrdiff_t end,
                  const ptrdiff_t* out_at, const T* in, const T* kernel, ptrdiff_t channels) {
  const ConvolutionAxis& row = plan.axes[2];
  const ptrdiff_t sum_step = plan.transposed ? row.step : 1;
  const ptrdiff_t in_step = (plan.transposed ? 1 : row.step) * row.in_stride;
  for (ptrdiff_t k0 = 0; k0 < plan.axes[0].kernel; ++k0) {
    const ptrdiff_t in0 = input_at(plan.axes[0], plan.transposed, out_at[0], k0);
    if (in0 < 0) continue;
    for (ptrdiff_t k1 = 0; k1 < plan.axes[1].kernel; ++k1) {
      const ptrdiff_t in1 = input_at(plan.axes[1], plan.transposed, out_at[1], k1);
      if (in1 < 0) continue;
      const T* in_row = in + in0 * plan.axes[0].in_stride + in1 * plan.axes[1].in_stride;
      const T* kernel_row = kernel + k0 * plan.axes[0].kernel_stride + k1 * plan.axes[1].kernel_stride;
      for (ptrdiff_t k2 = 0; k2 < row.kernel; ++k2) {
        const Overlap seen = overlap(row, plan.transposed, k2, begin, end);
        if (seen.count <= 0) continue;
        add_scaled<T>(sums + (seen.from - begin), sum_step,
                      {in_row + seen.at * row.in_stride, in_step, plan.in.stride,
                       kernel_row + k2 * row.kernel_stride, plan.in.kernel_stride, channels},
                      seen.count);
      }
    }
  }
}

// Computes the outputs [begin, end) of a row of one output channel. noinline: its loops need all registers.
template <class T>
[[gnu::noinline]] void convolve_tile(const Plan& plan, ptrdiff_t begin, ptrdiff_t end,
                                     const ptrdiff_t* out_at, const T* in, const T* kernel,
                                     Accumulator<T> bias, T* out_row) {
  const ptrdiff_t volume = plan.axes[0].kernel * plan.axes[1].kernel * plan.axes[2].kernel;
  const ptrdiff_t channels = std::max<ptrdiff_t>(kBlock / volume, 1);
  const ptrdiff_t length = end - begin;
  Accumulator<T> totals[kTile];
  for (ptrdiff_t i = 0; i < length; ++i) totals[i] = bias;
  if (channels >= plan.in.per_group) {
    add_channels(plan, totals, begin, end, out_at, in, kernel, plan.in.per_group);
  } else {
    Accumulator<T> sums[kTile];
    for (ptrdiff_t c = 0; c < plan.in.per_group; c += channels) {
      for (ptrdiff_t i = 0; i < length; ++i) sums[i] = 0;
      add_channels(plan, sums, begin, end, out_at, in + c * plan.in.stride,
                   kernel + c * plan.in.kernel_stride, std::min(channels, plan.in.per_group - c));
      for (ptrdiff_t i = 0; i < length; ++i) totals[i] += sums[i];
    }
  }
  T* out = out_row + begin * plan.axes[2].out_stride;
  for (ptrdiff_t i = 0; i < length; ++i, out += plan.axes[2].out_stride) {
    if (kConvolvesComplex && plan.writes == Writes::kAdded) totals[i] = widen(*out) + totals[i];
    if (kConvolvesComplex && plan.writes == Writes::kSubtracted) totals[i] = widen(*out) - totals[i];
    *out = narrow<T>(totals[i]);
  }
}

// One output channel of one element of the batch.
template <class T>
void convolve_channel(const Plan& plan, const T* in, const T* kernel, Accumulator<T> bias, T* out) {
  ptrdiff_t at[2];
  for (at[0] = 0; at[0] < plan.axes[0].out; ++at[0]) {
    for (at[1] = 0; at[1] < plan.axes[1].out; ++at[1]) {
      T* out_row = out + at[0] * plan.axes[0].out_stride + at[1] * plan.axes[1].out_stride;
      const ptrdiff_t length = plan.axes[2].out;
      for (ptrdiff_t begin = 0; begin < length; begin += kTile) {
        convolve_tile(plan, begin, std::min(begin + kTile, length), at, in, kernel, bias, out_row);
      }
    }
  }
}

template <class T>
void convolve(const Plan& plan, const T* in, const T* kernel, const T* bias, T* out) {
  for (ptrdiff_t n = 0; n < plan.batch; ++n, in += plan.in_batch_stride, out += plan.out_batch_stride) {
    for (ptrdiff_t group = 0; group < plan.groups; ++group) {
      for (ptrdiff_t c = 0; c < plan.out.per_group; ++c) {
        const ptrdiff_t channel = group * plan.out.per_group + c;
        convolve_channel(plan, in + group * plan.in.per_group * plan.in.stride,
                         kernel + group * plan.kernel_group_stride + c * plan.out.kernel_stride,
                         bias == nullptr ? Accumulator<T>(0) : widen(bias[channel * plan.bias_stride]),
                         out + channel * plan.out.stride);
      }
    }
  }
}

// Merges pointwise axes into the last axis, the row, and swaps the longest axis into it: the inner loops run
// along it.
void lengthen_row(ConvolutionAxis* axes) {
  ConvolutionAxis& row = axes[kSpatial - 1];
  for (size_t i = kSpatial - 1; i-- > 0;) {
    ConvolutionAxis& outer = axes[i];
    const bool adjoins =
        outer.in_stride == row.in * row.in_stride && outer.out_stride == row.out * row.out_stride;
    if (adjoins && is_pointwise(outer) && is_pointwise(row)) {
      row.in *= outer.in;
      row.out *= outer.out;
      outer = ConvolutionAxis{};
    }
  }
  // The order of axes does not matter to the sums, only their lengths to the inner loops.
  for (size_t i = 0; i + 1 < kSpatial; ++i) {
    if (axes[i].out > row.out) std::swap(axes[i], row);
  }
}

void plan_convolution(const Tensor& input, const Tensor& weight, const ConvolutionArguments& arguments,
                      const Tensor& out, Plan* plan) {
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  const Span<const StridesType> weight_strides = weight.strides();
  // Dimension 0 of the weight is output channels; for transposed convolutions it is input channels.
  const ptrdiff_t first = weight.size(0) / groups;
  plan->transposed = arguments.transposed;
  plan->writes = Writes::kSums;
  plan->bias_stride = 1;
  plan->batch = input.size(0);
  plan->in_batch_stride = input.strides()[0];
  plan->out_batch_stride = out.strides()[0];
  plan->groups = groups;
  plan->kernel_group_stride = first * weight_strides[0];
  plan->in = {first, 0, weight_strides[0]};
  plan->out = {weight.size(1), 0, weight_strides[1]};
  if (!arguments.transposed) std::swap(plan->in, plan->out);
  plan->in.stride = input.strides()[1];
  plan->out.stride = out.strides()[1];
  plan_axes(input, weight, arguments, out, plan->axes);
  lengthen_row(plan->axes);
}

// Converts strides in complex elements to strides in their parts.
void double_strides(Plan* plan) {
  for (ptrdiff_t* const stride :
       {&plan->bias_stride, &plan->in_batch_stride, &plan->out_batch_stride, &plan->kernel_group_stride,
        &plan->in.stride, &plan->in.kernel_stride, &plan->out.stride, &plan->out.kernel_stride}) {
    *stride *= 2;
  }
  for (ConvolutionAxis& axis : plan->axes) {
    axis.in_stride *= 2;
    axis.out_stride *= 2;
    axis.kernel_stride *= 2;
  }
}

// Each part of a complex result is the sum of two real convolutions.
template <class T>
void convolve_pairs(Plan plan, const T* in, const T* kernel, const T* bias, T* out) {
  double_strides(&plan);
  for (const int which : {0, 1}) {
    // Real part: re(x) re(w) - im(x) im(w); imaginary part: re(x) im(w) + im(x) re(w).
    plan.writes = Writes::kSums;
    convolve(plan, in, kernel + which, bias == nullptr ? nullptr : bias + which, out + which);
    plan.writes = which == 0 ? Writes::kSubtracted : Writes::kAdded;
    convolve<T>(plan, in + 1, kernel + (which ^ 1), nullptr, out + which);
  }
}

}  // namespace

Error convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
               const ConvolutionArguments& arguments, const Tensor& out) {
  Plan plan;
  plan_convolution(input, weight, arguments, out, &plan);
  if constexpr (kConvolvesComplex) {
    constexpr TypeSet kParts = type_set(ScalarType::Float, ScalarType::Double);
    if (contains(kTypes & types::kComplex, input.scalar_type())) {
      return dispatch<kParts>(component_type(input.scalar_type()), [&](auto type) {
        using T = typename decltype(type)::Element;
        convolve_pairs(plan, input.const_data_ptr<T>(), weight.const_data_ptr<T>(),
                       bias ? bias->const_data_ptr<T>() : nullptr, out.mutable_data_ptr<T>());
        return Error::Ok;
      });
    }
  }
  return dispatch<(kTypes & ~types::kComplex)>(input.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    convolve(plan, input.const_data_ptr<T>(), weight.const_data_ptr<T>(),
             bias ? bias->const_data_ptr<T>() : nullptr, out.mutable_data_ptr<T>());
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
