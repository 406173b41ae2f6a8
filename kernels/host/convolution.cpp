// SPDX-License-Identifier: BSD-3-Clause
// Geometry of phases, see convolution.h; the methods are in host/convolution/.
#include "kernels/host/convolution.h"

#include <algorithm>

#include "kernels/geometry/convolution_shape.h"
#include "kernels/host/convolution/algorithm.h"
#include "kernels/host/convolution/columns.h"
#include "kernels/host/convolution/method.h"
#include "kernels/host/convolution/widened.h"
#include "kernels/host/elements.h"

namespace rushlight::kernels::host {

namespace {

// ceil(a / b) for positive b.
ptrdiff_t divide_up(ptrdiff_t a, ptrdiff_t b) { return a > 0 ? (a - 1) / b + 1 : -(-a / b); }

// The outputs of phase `index` along one axis, and the inputs that they see. A transposed convolution with
// step s is s ordinary ones (phases), whose outputs are s apart: outputs of one phase see the same taps. Taps
// with the same remainder of k * dilation modulo s belong together; they repeat with a period of `cycle`. For
// example, step 2, three taps and padding 1: even outputs see tap 1, odd ones taps 0 and 2.
PhaseAxis make_phase_axis(const ConvolutionAxis& axis, bool transposed, ptrdiff_t index) {
  if (!kReachesTransposed || !transposed) {
    return {axis.out,       axis.in, axis.step,       -axis.pad, axis.dilation,     axis.kernel,
            axis.in_stride, 0,       axis.out_stride, 0,         axis.kernel_stride};
  }
  // Tap k of output o sees input (o + pad - k * dilation) / step if that is an integer.
  const ptrdiff_t shifted = index + axis.pad;
  ptrdiff_t first = 0;
  const ptrdiff_t tried = std::min(axis.step, axis.kernel);
  while (first < tried && (shifted - first * axis.dilation) % axis.step != 0) ++first;
  ptrdiff_t cycle = 1;
  while (cycle < axis.kernel && cycle * axis.dilation % axis.step != 0) ++cycle;
  PhaseAxis phase{};
  phase.count = (axis.out - index + axis.step - 1) / axis.step;
  phase.in = axis.in;
  phase.in_step = 1;
  phase.in_stride = axis.in_stride;
  phase.out_first = index * axis.out_stride;
  phase.out_stride = axis.step * axis.out_stride;
  // No tap reaches outputs of this phase, which happens if the kernel is shorter than the step: these get the
  // bias only.
  if (first == tried) return phase;  // no taps
  phase.taps = (axis.kernel - first + cycle - 1) / cycle;
  phase.in_first = (shifted - first * axis.dilation) / axis.step;
  phase.tap_step = -(cycle * axis.dilation / axis.step);
  phase.kernel_first = first * axis.kernel_stride;
  phase.kernel_stride = cycle * axis.kernel_stride;
  return phase;
}

// No more phases than outputs: the others would be empty.
ptrdiff_t phases_of(const ConvolutionAxis& axis, bool transposed) {
  return kReachesTransposed && transposed ? std::min(axis.step, axis.out) : 1;
}

// The indices i of the range with 0 <= i * step + first < limit.
Range within(ptrdiff_t first, ptrdiff_t step, ptrdiff_t limit, Range range) {
  if (step == 0) return first >= 0 && first < limit ? range : Range{range.begin, range.begin};
  if (step < 0) {  // mirror the axis
    first = limit - 1 - first;
    step = -step;
  }
  if (step == 1) {  // fast path for the most common step
    const ptrdiff_t begin = std::max(range.begin, -first);
    return {begin, std::max(begin, std::min(range.end, limit - first))};
  }
  const ptrdiff_t begin = std::max(range.begin, divide_up(-first, step));
  const ptrdiff_t end = std::min(range.end, divide_up(limit - first, step));
  return {begin, std::max(begin, end)};
}

// 16-bit floats with a residual take the methods of float32. A constant in builds without these dtypes.
bool is_by_columns(const Convolution& made, ScalarType type, bool residual) {
  return is_double(type) || (widens(type) && !residual && gains_by_columns(made, type));
}

}  // namespace

Range seen_through(const PhaseAxis& axis, ptrdiff_t tap, Range outputs) {
  return within(axis.position(0, tap), axis.in_step, axis.in, outputs);
}

Range taps_of(const PhaseAxis& axis, ptrdiff_t output) {
  return within(axis.position(output, 0), axis.tap_step, axis.in, {0, axis.taps});
}

Convolution make_convolution(const ConvolutionProblem& problem) {
  const auto& [input, weight, bias, arguments, out] = problem;
  Convolution made = {convolution_geometry(input, weight, arguments, out)};
  // 16-bit floats: convolve_widened() replaces the addresses.
  made.input = input.const_data_ptr<float>();
  made.weight = weight.const_data_ptr<float>();
  made.bias = bias ? bias->const_data_ptr<float>() : nullptr;
  made.out = out.mutable_data_ptr<float>();
  return made;
}

size_t count_phases(const Convolution& convolution) {
  size_t count = 1;
  for (const ConvolutionAxis& axis : convolution.axes) {
    count *= static_cast<size_t>(phases_of(axis, convolution.transposed));
  }
  return count;
}

Phase make_phase(const Convolution& convolution, size_t index) {
  Phase phase;
  for (size_t i = kSpatial; i-- > 0;) {
    const ConvolutionAxis& axis = convolution.axes[i];
    const auto phases = static_cast<size_t>(phases_of(axis, convolution.transposed));
    phase.axes[i] = make_phase_axis(axis, convolution.transposed, static_cast<ptrdiff_t>(index % phases));
    index /= phases;
  }
  return phase;
}

// Divides the tap of the phase into its coordinates, last axis first.
ptrdiff_t kernel_offset(const Phase& phase, ptrdiff_t tap) {
  ptrdiff_t offset = phase.kernel_first();
  for (size_t i = kSpatial; i-- > 0;) {
    offset += tap % phase.axes[i].taps * phase.axes[i].kernel_stride;
    tap /= phase.axes[i].taps;
  }
  return offset;
}

std::optional<Error> convolve(KernelContext& context, const ConvolutionProblem& problem,
                              const Convolution& made, const Tensor* residual) {
  if (is_by_columns(made, problem.type(), residual != nullptr)) {
    if (!convolve_columns(context, made, problem.type())) return std::nullopt;
    return Error::Ok;
  }
  if (widens(problem.type())) return convolve_widened(context, problem, made, residual);
  return convolve(context, made);
}

std::optional<Error> convolution(KernelContext& context, const ConvolutionProblem& problem) {
  return convolve(context, problem, make_convolution(problem), nullptr);
}

void prepare_convolution(KernelContext& context, const ConvolutionProblem& problem, bool residual) {
  context.need_products(
      convolution_products(problem.input, problem.weight, problem.out, problem.arguments.transposed));
  const Convolution made = make_convolution(problem);
  if (is_by_columns(made, problem.type(), residual)) return prepare_columns(context, made, problem.type());
  if (widens(problem.type())) return prepare_widened(context, problem, residual);
  const bool is_constant = problem.weight.impl()->storage() == Storage::Constant;
  prepare_convolution(context, made, is_constant);
}

Error convolution_prepare(KernelContext& context, const ConvolutionProblem& problem) {
  prepare_convolution(context, problem, false);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
