// SPDX-License-Identifier: BSD-3-Clause
// Sizes and strides that the methods of a convolution share. A convolution is divided into phases, in each of
// which the inputs that an output sees have constant strides. There is one phase, except for strided
// transposed convolutions: there all outputs whose positions have the same remainder modulo the stride form a
// phase, because they see the same taps.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/backs/convolution.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/host/activate.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// A convolution of float32 tensors as addresses. Built by make_convolution(); methods copy it and change
// fields, for instance to describe one image.
struct Convolution : ConvolutionGeometry {
  const float* input = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // may be null
  float* out = nullptr;
  // Has the strides of `out`; may be null.
  const float* residual = nullptr;
  // Applied to the sums: bounds, or an activation that bounds cannot express.
  float low = -__builtin_inff();
  float high = __builtin_inff();
  Activation activation = {};

  // True if the activation takes another pass over the sums.
  [[nodiscard]] bool finishes() const {
    return kReachesActivations && activation.kind != ActivationKind::kNone;
  }
  // Applies the activation to n results.
  void finish(float* x, ptrdiff_t n) const {
    if (finishes()) activate(activation, x, static_cast<size_t>(n));
  }
};

// One dimension of a phase. Output j < count is at out_first + j * out_stride, and sees through tap m < taps
// the input position j * in_step + in_first + m * tap_step, if that is inside the input. The weight of that
// tap is at kernel_first + m * kernel_stride. tap_step is not positive for transposed convolutions.
struct PhaseAxis {
  // Outputs of the phase along the axis, and the size of the input.
  ptrdiff_t count;
  ptrdiff_t in;
  // Input position of output 0 and tap 0, and its steps from output to output and from tap to tap.
  ptrdiff_t in_step;
  ptrdiff_t in_first;
  ptrdiff_t tap_step;
  // Taps that the phase sees, and strides in elements of input, output and weight.
  ptrdiff_t taps;
  ptrdiff_t in_stride;
  ptrdiff_t out_first;
  ptrdiff_t out_stride;
  ptrdiff_t kernel_first;
  ptrdiff_t kernel_stride;

  [[nodiscard]] ptrdiff_t position(ptrdiff_t output, ptrdiff_t tap) const {
    return output * in_step + in_first + tap * tap_step;
  }
};

// The axes of a phase, and sums over them: a phase is a convolution without transposition.
struct Phase {
  PhaseAxis axes[kSpatial];

  [[nodiscard]] ptrdiff_t pixels() const { return axes[0].count * axes[1].count * axes[2].count; }
  [[nodiscard]] ptrdiff_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  [[nodiscard]] ptrdiff_t out_first() const {
    return axes[0].out_first + axes[1].out_first + axes[2].out_first;
  }
  [[nodiscard]] ptrdiff_t kernel_first() const {
    return axes[0].kernel_first + axes[1].kernel_first + axes[2].kernel_first;
  }
};

// A range [begin, end) of outputs or taps; empty if begin == end.
struct Range {
  ptrdiff_t begin;
  ptrdiff_t end;
  [[nodiscard]] ptrdiff_t size() const { return end - begin; }
};

// The outputs in the range that see an input through the tap. seen_through() and taps_of() return empty
// ranges with begin == end, never negative sizes.
Range seen_through(const PhaseAxis& axis, ptrdiff_t tap, Range outputs);
// The taps through which the output sees an input: a range, because positions are linear in the tap.
Range taps_of(const PhaseAxis& axis, ptrdiff_t output);

// Describes the convolution of tensors, as if they were float32, without residual and activation. Merges
// pointwise axes into the last one.
Convolution make_convolution(const ConvolutionProblem& problem);

// For prepare functions: packs a constant weight of `problem` and requests scratch memory, for any dtype.
// `residual`: a call may have one.
void prepare_convolution(KernelContext& context, const ConvolutionProblem& problem, bool residual);
// Computes `made`, which make_convolution() made of `problem`, by the methods for the dtype. `residual` is
// null or has the strides of `out`. float64: bounds, residual and activation are left to the caller. Empty,
// without effect, if scratch memory is too small; NotSupported as convolve() in algorithm.h.
[[nodiscard]] std::optional<Error> convolve(KernelContext& context, const ConvolutionProblem& problem,
                                            const Convolution& made, const Tensor* residual);

// Number of phases, and the phase `index`. A phase may have no taps: its outputs are the bias.
size_t count_phases(const Convolution& convolution);
Phase make_phase(const Convolution& convolution, size_t index);

// Offset of a tap in the weight; taps are numbered with the last dimension fastest.
ptrdiff_t kernel_offset(const Phase& phase, ptrdiff_t tap);

}  // namespace rushlight::kernels::host
