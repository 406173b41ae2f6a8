// SPDX-License-Identifier: BSD-3-Clause
// Methods: depthwise and small groups by rows (channels-last) or by blocks of channels (channels-first),
// depthwise by planes; rows (channels-last products without im2col); planes (channels-first, im2col in
// strips); Winograd for 3x3 kernels with constant weights. Each method has its own file. Channels-first
// convolutions are computed channels-last where that pays for two copies.
#include "kernels/host/convolution/algorithm.h"

#include <algorithm>

#include "kernels/host/convolution/blocks.h"
#include "kernels/host/convolution/border.h"
#include "kernels/host/convolution/depthwise.h"
#include "kernels/host/convolution/method.h"
#include "kernels/host/convolution/planes.h"
#include "kernels/host/convolution/rows.h"
#include "kernels/host/convolution/turned.h"
#include "kernels/host/convolution/winograd.h"
#include "kernels/host/elements.h"

namespace rushlight::kernels::host {

namespace {

// True if the result has no elements.
bool is_empty(const Convolution& c) {
  ptrdiff_t outputs = c.batch * c.groups * c.out_channels;
  for (const ConvolutionAxis& axis : c.axes) outputs *= axis.out > 0 ? 1 : 0;
  return outputs == 0;
}

// Precedes the converted and the packed weights and tells how they were packed: a call may have smaller
// tensors than the plan.
struct alignas(64) Header {
  Algorithm algorithm;
  bool is_exchanged;
  bool is_turned;
  size_t widened;  // floats of the converted weight

  [[nodiscard]] const float* packed() const { return reinterpret_cast<const float*>(this + 1) + widened; }
};

// The methods that this build contains, as constants: code behind a method that no call reaches is dropped.
constexpr bool kRows = kIsReached<Algorithm::kRows>;
constexpr bool kPlanes = kIsReached<Algorithm::kPlanes>;
constexpr bool kDepthwiseRows = kIsReached<Algorithm::kDepthwiseRows>;
constexpr bool kDepthwisePlanes = kIsReached<Algorithm::kDepthwisePlanes>;
constexpr bool kDepthwiseBlocks = kIsReached<Algorithm::kDepthwiseBlocks>;
constexpr bool kWinograd = kIsReached<Algorithm::kWinograd>;
// The methods that may copy an image with a border, and that gain by an exchange of axes.
constexpr bool kAnyRows = kRows || kDepthwiseRows;

// The form of a call without a plan.
Form form_of(const Convolution& c, bool turns) {
  if constexpr (!kAnyRows) return Form(c, false, false);
  return Form(c, kReachesTurned && turns);
}

size_t packed_size(const Convolution& c, Algorithm algorithm) {
  if (kRows && algorithm == Algorithm::kRows) return packed_rows_size(c);
  if (kDepthwiseRows && algorithm == Algorithm::kDepthwiseRows) return packed_depthwise_size(c);
  if (kDepthwiseBlocks && algorithm == Algorithm::kDepthwiseBlocks) return packed_depthwise_size(c);
  if (kWinograd && algorithm == Algorithm::kWinograd) return packed_winograd_size(c);
  return 0;
}

void pack(KernelContext& context, const Convolution& c, Algorithm algorithm, float* packed) {
  if (kRows && algorithm == Algorithm::kRows) pack_rows(context, c, packed);
  if (kDepthwiseRows && algorithm == Algorithm::kDepthwiseRows) pack_depthwise(c, packed);
  if (kDepthwiseBlocks && algorithm == Algorithm::kDepthwiseBlocks) pack_depthwise(c, packed);
  if (kWinograd && algorithm == Algorithm::kWinograd) pack_winograd(context, c, packed);
}

// Bytes for one thread.
size_t scratch_size(const Convolution& c, Algorithm algorithm) {
  if (kPlanes && algorithm == Algorithm::kPlanes) return planes_scratch_size(c);
  if (kDepthwisePlanes && algorithm == Algorithm::kDepthwisePlanes) return depthwise_scratch_size(c);
  if (kDepthwiseBlocks && algorithm == Algorithm::kDepthwiseBlocks) return blocks_scratch_size(c);
  return 0;
}

uint64_t layout_of(const Convolution& c, Algorithm algorithm) {
  // Identifies the packed form: constants with equal identifiers share one copy.
  uint64_t number = layout_id(static_cast<uint64_t>(algorithm), c.transposed, c.groups, c.in_channels,
                              c.out_channels, c.weight_in_stride, c.weight_out_stride);
  for (const ConvolutionAxis& axis : c.axes) {
    number = layout_id(number, axis.kernel, axis.step, axis.pad, axis.dilation, axis.out);
  }
  return number;
}

// Methods that need scratch memory for each thread; blocks have packed weights too.
bool convolve_in_scratch(KernelContext& context, const Convolution& c, Algorithm algorithm,
                         const float* packed = nullptr) {
  if (!is_selected(c, algorithm)) return false;
  // One region for each thread, or, if that does not fit, one thread.
  const size_t each = scratch_size(c, algorithm);
  size_t threads = context.threads();
  void* scratch = each > SIZE_MAX / threads ? nullptr : context.allocate_temp(each * threads, 64);
  if (scratch == nullptr && threads > 1) {
    threads = 1;
    scratch = context.allocate_temp(each, 64);
  }
  if (scratch == nullptr && each > 0) return false;
  if (kDepthwiseBlocks && algorithm == Algorithm::kDepthwiseBlocks) {
    convolve_blocks(context, c, packed, static_cast<float*>(scratch), threads);
  } else if (kDepthwisePlanes && algorithm == Algorithm::kDepthwisePlanes) {
    convolve_depthwise_planes(context, c, static_cast<float*>(scratch), threads);
  } else if (kPlanes) {
    convolve_planes(context, c, static_cast<float*>(scratch), threads);
  }
  return true;
}

// Returns false if the method needs scratch memory for images and there is none.
bool convolve_packed(KernelContext& context, const Convolution& c, Algorithm algorithm, const float* packed) {
  if (kDepthwiseBlocks && algorithm == Algorithm::kDepthwiseBlocks) {
    return convolve_in_scratch(context, c, algorithm, packed);
  }
  if constexpr (!kAnyRows) return false;
  const auto compute =
      kRows && (!kDepthwiseRows || algorithm == Algorithm::kRows) ? convolve_rows : convolve_depthwise_rows;
  void* image = gains_by_border(c) ? context.allocate_temp(bordered_size(c), 64) : nullptr;
  if (image != nullptr) {
    for (ptrdiff_t i = 0; i < c.batch; ++i) {
      compute(context, add_border(context, c, i, static_cast<float*>(image)), packed);
    }
    return true;
  }
  if (!has_channels_last(c)) return false;
  compute(context, c, packed);
  return true;
}

Convolution image_of(const Convolution& c, ptrdiff_t index) {
  Convolution image = c;
  image.batch = 1;
  image.input += index * c.in_batch_stride;
  image.out += index * c.out_batch_stride;
  if (image.residual != nullptr) image.residual += index * c.out_batch_stride;
  return image;
}

// Scratch memory for both methods that may compute an image; planes take one thread.
size_t winograd_or_planes_size(const Convolution& c, size_t threads) {
  return std::max(winograd_scratch_size(c, threads), planes_scratch_size(image_of(c, 0)));
}

// Computes image by image. Transforms spread infinities and NaN to other outputs, so an image that contains
// any is computed again without transforms.
bool convolve_images(KernelContext& context, const Convolution& c, const float* packed) {
  size_t threads = context.threads();
  void* scratch = context.allocate_temp(winograd_or_planes_size(c, threads), 64);
  if (scratch == nullptr && threads > 1) {
    threads = 1;
    scratch = context.allocate_temp(winograd_or_planes_size(c, threads), 64);
  }
  if (scratch == nullptr) return false;
  auto* floats = static_cast<float*>(scratch);
  for (ptrdiff_t i = 0; i < c.batch; ++i) {
    const Convolution image = image_of(c, i);
    if (convolve_winograd(context, image, packed, floats, threads)) continue;
    convolve_planes(context, image, floats, 1);
  }
  return true;
}

// The result of convolve(): empty if scratch memory was too small.
std::optional<Error> done(bool is_computed) {
  return is_computed ? std::optional<Error>(Error::Ok) : std::nullopt;
}

}  // namespace

void prepare_convolution(KernelContext& context, const Convolution& given, bool constant_weight,
                         const WidenedWeight& widened) {
  if (is_empty(given)) return;
  const bool is_winograd = kWinograd && constant_weight && gains_by_winograd(given);
  const Form form = form_of(given, !is_winograd && gains_by_turning(given));
  Convolution c = form.convolution;
  const Algorithm algorithm = is_winograd ? Algorithm::kWinograd : algorithm_of(c);
  if (!is_selected(c, algorithm)) return;  // the call itself reports it
  if (kWinograd && is_winograd) context.need_scratch(winograd_or_planes_size(c, context.threads()) + 64);
  const size_t packed = packed_size(c, algorithm);
  const size_t kept = constant_weight && widens(widened.type) ? padded_floats(widened.count) : 0;
  const size_t scratch = scratch_size(c, algorithm);
  if (packed == 0) context.need_scratch(scratch * context.threads() + 64);
  if (packed == 0 && kept == 0) return;
  size_t image = scratch > 0 && packed > 0 ? scratch * context.threads() + 64 : 0;
  image += kAnyRows && !is_winograd && gains_by_border(c) ? bordered_size(c) + 64 : 0;
  // Turned forms pack in the call if the build prepares no weights: with less memory, sums would have another
  // order there.
  if (kReachesTurned && form.is_turned) image += turned_size(given) + 64 + packed + 64;
  if (image > 0) context.need_scratch(image);
  if (!constant_weight) return context.need_scratch(packed + 64 + image);
  uint64_t layout = layout_of(c, algorithm);
  if (kept > 0) layout = layout_id(layout, static_cast<int>(widened.type));
  void* memory = context.prepare(c.weight, layout, sizeof(Header) + kept * sizeof(float) + packed);
  if (memory == nullptr) return;
  auto* header = static_cast<Header*>(memory);
  header->algorithm = algorithm;
  header->is_exchanged = form.is_exchanged;
  header->is_turned = form.is_turned;
  header->widened = kept;
  auto* floats = reinterpret_cast<float*>(header + 1);
  if (kept > 0) {
    load_floats(floats, widened.type, widened.source, 1, widened.count);
    c.weight = floats;
  }
  pack(context, c, algorithm, floats + kept);
}

const float* prepared_weight(const KernelContext& context) {
  const auto* header = static_cast<const Header*>(context.prepared());
  return header == nullptr ? nullptr : reinterpret_cast<const float*>(header + 1);
}

std::optional<Error> convolve(KernelContext& context, const Convolution& given) {
  if (is_empty(given)) return Error::Ok;
  const auto* header = static_cast<const Header*>(context.prepared());
  // Packed weights have the order of the exchanged axes, so a call follows the plan.
  const bool follows = header != nullptr && (!kReachesTurned || !header->is_turned || can_have_border(given));
  const Form form = follows ? Form(given, kReachesTurned && header->is_turned, header->is_exchanged)
                            : form_of(given, gains_by_turning(given));
  const Convolution& c = form.convolution;
  const Algorithm algorithm = algorithm_of(c);
  if (!is_selected(c, algorithm)) return not_selected("convolution");
  // In-place residual: the outputs have overwritten it when an image is computed again.
  if (kWinograd && header != nullptr && header->algorithm == Algorithm::kWinograd && is_winograd(c) &&
      c.residual != c.out) {
    if (convolve_images(context, c, header->packed())) return Error::Ok;
  }
  // Without prepared weights they are packed in this call. If there is no memory for that, or none for
  // copies, a method without packing computes it.
  const size_t size = packed_size(c, algorithm);
  if (size == 0) return done(convolve_in_scratch(context, c, algorithm));
  const bool is_prepared = follows && header->algorithm == algorithm;
  const float* packed = is_prepared ? header->packed() : nullptr;
  void* pixels = kReachesTurned && form.is_turned ? context.allocate_temp(turned_size(given), 64) : nullptr;
  const bool has_pixels = !kReachesTurned || !form.is_turned || pixels != nullptr;
  if (!is_prepared && has_pixels) {
    if (auto* own = static_cast<float*>(context.allocate_temp(size, 64))) {
      pack(context, c, algorithm, own);
      packed = own;
    }
  }
  if (packed != nullptr && has_pixels) {
    if (!kReachesTurned || !form.is_turned) {
      if (convolve_packed(context, c, algorithm, packed)) return Error::Ok;
    } else {
      convolve_turned(context, given, pixels, [&](const Convolution& band) {
        // Bands have their pixels already: this takes no more memory, and does not fail.
        const bool is_computed =
            convolve_packed(context, form.is_exchanged ? exchanged(band) : band, algorithm, packed);
        static_cast<void>(is_computed);
      });
      return Error::Ok;
    }
  }
  const Convolution& plain = kReachesTurned && form.is_turned ? given : c;
  const Algorithm other = is_depthwise(plain) ? Algorithm::kDepthwisePlanes : Algorithm::kPlanes;
  return done(convolve_in_scratch(context, plain, other));
}

}  // namespace rushlight::kernels::host
