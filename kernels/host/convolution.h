// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of a convolution share. A Convolution holds sizes and strides; each of its phases is a
// convolution in which the inputs that an output sees lie at equal steps. There is one phase, but for
// transposed convolutions with strides: there outputs whose positions leave equal remainders see the same
// kernel elements.
#pragma once

#include <cstddef>

#include "kernels/backs/convolution.h"
#include "kernels/geometry/convolution_shape.h"
#include "kernels/host/activate.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

struct Convolution {
  const float* input;
  const float* weight;
  const float* bias;  // may be null
  float* out;
  // With out's strides; may be null.
  const float* residual = nullptr;
  // What becomes of the sums: bounds, or an activation that has none.
  float low = -__builtin_inff();
  float high = __builtin_inff();
  Activation activation;

  bool transposed;
  ptrdiff_t batch;
  ptrdiff_t in_batch_stride;
  ptrdiff_t out_batch_stride;
  ptrdiff_t groups;
  ptrdiff_t in_channels;  // of a group
  ptrdiff_t in_channel_stride;
  ptrdiff_t out_channels;  // of a group
  ptrdiff_t out_channel_stride;
  ptrdiff_t kernel_in_stride;
  ptrdiff_t kernel_out_stride;
  ptrdiff_t kernel_group_stride;
  ConvolutionAxis axes[kSpatial];

  // Activates n of `out`, whose sums are there.
  void finish(float* x, ptrdiff_t n) const {
    if (activation.kind != ActivationKind::kNone) activate(activation, x, static_cast<size_t>(n));
  }
};

// One dimension of a phase: output j < count lies at out_first + j * out_stride and sees through tap m < taps
// position j * in_step + in_first + m * tap_step of the input, where that is one.
struct PhaseAxis {
  ptrdiff_t count;
  ptrdiff_t in;
  ptrdiff_t in_step;
  ptrdiff_t in_first;
  ptrdiff_t tap_step;
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

// A range of outputs or taps.
struct Range {
  ptrdiff_t begin;
  ptrdiff_t end;
  [[nodiscard]] ptrdiff_t size() const { return end - begin; }
};

// The outputs in [begin, end) that see an input through the tap.
Range seen_through(const PhaseAxis& axis, ptrdiff_t tap, Range outputs);
// The taps through which the output sees an input.
Range taps_of(const PhaseAxis& axis, ptrdiff_t output);

// Of float32 tensors; without residual and activation.
Convolution make_convolution(const ConvolutionProblem& problem);

size_t count_phases(const Convolution& convolution);
Phase make_phase(const Convolution& convolution, size_t index);

// Where the element of the kernel lies that a tap is, taps counted with the last dimension fastest.
ptrdiff_t kernel_offset(const Phase& phase, ptrdiff_t tap);

}  // namespace rushlight::kernels::host
