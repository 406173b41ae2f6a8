// SPDX-License-Identifier: BSD-3-Clause
// im2col in blocks of adjacent outputs that stay in the L2 cache: a row for each input channel and tap. The
// product of the weights, read as stored if the depth is contiguous, with a block gives the sums of all
// output channels of a group. Cost besides the product: one copy of an input for each tap that sees it, and
// one of each output.
#include "kernels/host/convolution/columns.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/host/convolution/method.h"
#include "kernels/host/elements.h"
#include "kernels/host/gemm.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;  // of a block of columns
constexpr size_t kGrain = size_t{1} << 18;       // multiplications worth a thread
// Gathering pays for instructions of four products, with sixteen output channels or more. Winograd's method
// saves about as many products in float32.
constexpr size_t kLeastProducts = 4;
constexpr ptrdiff_t kLeastOutChannels = 16;

size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

// The outputs of one phase, with elements of type T.
template <class T>
class Columns {
 public:
  Columns(const Convolution& c, const Phase& phase, ScalarType type, size_t threads)
      : c_(c), phase_(phase), type_(type), direct_(is_direct(phase)) {
    pixels_ = phase.pixels();
    taps_ = phase.taps();
    depth_ = taps_ * c.in_channels;
    const auto fitting = static_cast<ptrdiff_t>(kBlockBytes / sizeof(T)) / std::max<ptrdiff_t>(depth_, 1);
    block_ = std::max(fitting, kLine);
    // Makes blocks of nearly equal size, in whole cache lines, and enough for the threads.
    const ptrdiff_t wanted = static_cast<ptrdiff_t>(threads) / std::max<ptrdiff_t>(c.batch * c.groups, 1);
    const ptrdiff_t count =
        std::max<ptrdiff_t>((pixels_ + block_ - 1) / block_, std::max<ptrdiff_t>(wanted, 1));
    block_ = ((pixels_ + count - 1) / count + kLine - 1) / kLine * kLine;
    block_ = std::max(block_, kLine);
    blocks_ = (pixels_ + block_ - 1) / block_;
    // The taps of the phase in order are all weights of an input channel.
    whole_ = !c.transposed && (c.weight_in_stride == taps_ || c.in_channels == 1);
    for (ptrdiff_t tap = 0; tap < taps_ && whole_; ++tap) whole_ = kernel_offset(phase, tap) == tap;
  }

  // Bytes of the copied weights, and of the buffers of a thread.
  [[nodiscard]] size_t weight_bytes() const {
    const auto count = static_cast<size_t>(c_.groups * c_.out_channels * depth_);
    return whole_ ? 0 : round_up(count * sizeof(T));
  }
  [[nodiscard]] size_t thread_bytes() const {
    return columns_bytes() + sums_bytes() + round_up(scratch_bytes(product(block_)));
  }

  void copy_weights(T* to) const {
    for (ptrdiff_t group = 0; group < c_.groups; ++group) {
      for (ptrdiff_t o = 0; o < c_.out_channels; ++o) {
        const T* from = weight() + group * c_.weight_group_stride + o * c_.weight_out_stride;
        for (ptrdiff_t i = 0; i < c_.in_channels; ++i, from += c_.weight_in_stride) {
          for (ptrdiff_t tap = 0; tap < taps_; ++tap) *to++ = from[kernel_offset(phase_, tap)];
        }
      }
    }
  }

  // An item is a block of outputs of a group of an image.
  [[nodiscard]] size_t items() const { return static_cast<size_t>(c_.batch * c_.groups * blocks_); }
  [[nodiscard]] size_t grain() const {
    const auto work = static_cast<size_t>(block_ * depth_ * c_.out_channels);
    return std::max<size_t>(kGrain / std::max<size_t>(work, 1), 1);
  }

  // `copied` are the weights of copy_weights(), if they have bytes.
  void compute(size_t item, const T* copied, char* scratch) const {
    auto rest = static_cast<ptrdiff_t>(item);
    const ptrdiff_t first = rest % blocks_ * block_;
    rest /= blocks_;
    const ptrdiff_t group = rest % c_.groups;
    const ptrdiff_t image = rest / c_.groups;
    const ptrdiff_t count = std::min(block_, pixels_ - first);
    const ptrdiff_t channel = group * c_.out_channels;
    const T* in = reinterpret_cast<const T*>(c_.input) + image * c_.in_batch_stride +
                  group * c_.in_channels * c_.in_channel_stride;
    T* out = reinterpret_cast<T*>(c_.out) + image * c_.out_batch_stride + channel * c_.out_channel_stride +
             phase_.out_first();
    Gemm gemm = product(count);
    gemm.a.data =
        const_cast<T*>(whole_ ? weight() + group * c_.weight_group_stride : copied + channel * depth_);
    if (c_.bias != nullptr) gemm.bias = {const_cast<T*>(reinterpret_cast<const T*>(c_.bias)) + channel, 1, 0};
    if (direct_) {
      gemm.b.data = const_cast<T*>(in) + first;
      gemm.out.data = out + first;
      return multiply_serially(gemm, scratch);
    }
    T* columns = reinterpret_cast<T*>(scratch);
    T* sums = reinterpret_cast<T*>(scratch + columns_bytes());
    for (ptrdiff_t i = 0; i < c_.in_channels; ++i, in += c_.in_channel_stride) {
      for (ptrdiff_t tap = 0; tap < taps_; ++tap) {
        gather(in, tap, first, count, columns + (i * taps_ + tap) * block_);
      }
    }
    gemm.b.data = columns;
    gemm.out.data = sums;
    multiply_serially(gemm, scratch + columns_bytes() + sums_bytes());
    for (ptrdiff_t o = 0; o < c_.out_channels; ++o, out += c_.out_channel_stride) {
      store(sums + o * block_, first, count, out);
    }
  }

  // True if the outputs and the inputs of a channel are spans in memory, and each output sees one input.
  static bool is_direct(const Phase& phase) {
    const PhaseAxis& row = phase.axes[2];
    const auto is_single = [](const PhaseAxis& axis) {
      return axis.count == 1 && axis.taps == 1 && axis.in == 1 && axis.in_first == 0;
    };
    return is_single(phase.axes[0]) && is_single(phase.axes[1]) && row.taps == 1 && row.in_step == 1 &&
           row.in_first == 0 && row.in == row.count && row.in_stride == 1 && row.out_stride == 1;
  }

 private:
  static constexpr ptrdiff_t kLine = 64 / sizeof(T);

  [[nodiscard]] const T* weight() const { return reinterpret_cast<const T*>(c_.weight); }
  [[nodiscard]] size_t columns_bytes() const {
    if (direct_) return 0;
    return round_up(static_cast<size_t>(depth_ * block_) * sizeof(T));
  }
  [[nodiscard]] size_t sums_bytes() const {
    if (direct_) return 0;
    return round_up(static_cast<size_t>(c_.out_channels * block_) * sizeof(T));
  }

  // The product of `count` outputs, without data: [output channels][outputs]. With fewer outputs it needs no
  // more scratch memory, as the strides stay the same.
  [[nodiscard]] Gemm product(ptrdiff_t count) const {
    Gemm gemm;
    gemm.type = type_;
    gemm.rows = static_cast<size_t>(c_.out_channels);
    gemm.columns = static_cast<size_t>(count);
    gemm.depth = static_cast<size_t>(depth_);
    gemm.a = {nullptr, whole_ ? c_.weight_out_stride : depth_, 1};
    gemm.b = {nullptr, direct_ ? c_.in_channel_stride : block_, 1};
    gemm.out = {nullptr, direct_ ? c_.out_channel_stride : block_, 1};
    if (!is_double(type_)) {
      gemm.activation = c_.activation.kind == ActivationKind::kNone
                            ? make_clamp(static_cast<double>(c_.low), static_cast<double>(c_.high))
                            : c_.activation;
    }
    return gemm;
  }

  // Calls f(begin, n, position on axes 0 and 1, first position on axis 2) for the part of each row of
  // outputs in [first, first + count); `begin` counts from `first`.
  template <class F>
  void for_each_row(ptrdiff_t first, ptrdiff_t count, F f) const {
    const ptrdiff_t row = phase_.axes[2].count;
    for (ptrdiff_t done = 0; done < count;) {
      const ptrdiff_t at = first + done;
      const ptrdiff_t n = std::min(count - done, row - at % row);
      f(done, n, at / row / phase_.axes[1].count, at / row % phase_.axes[1].count, at % row);
      done += n;
    }
  }

  // The inputs that outputs [first, first + count) see through a tap; 0 outside of the image.
  void gather(const T* in, ptrdiff_t tap, ptrdiff_t first, ptrdiff_t count, T* to) const {
    const PhaseAxis* axes = phase_.axes;
    const ptrdiff_t tap2 = tap % axes[2].taps;
    const ptrdiff_t tap1 = tap / axes[2].taps % axes[1].taps;
    const ptrdiff_t tap0 = tap / axes[2].taps / axes[1].taps;
    const ptrdiff_t step = axes[2].in_step * axes[2].in_stride;
    for_each_row(first, count,
                 [&](ptrdiff_t begin, ptrdiff_t n, ptrdiff_t at0, ptrdiff_t at1, ptrdiff_t at2) {
                   const ptrdiff_t in0 = axes[0].position(at0, tap0);
                   const ptrdiff_t in1 = axes[1].position(at1, tap1);
                   const bool inside = in0 >= 0 && in0 < axes[0].in && in1 >= 0 && in1 < axes[1].in;
                   const Range seen = inside ? seen_through(axes[2], tap2, {at2, at2 + n}) : Range{at2, at2};
                   T* row = to + begin;
                   std::fill_n(row, seen.begin - at2, T{});
                   std::fill_n(row + (seen.end - at2), at2 + n - seen.end, T{});
                   if (seen.size() == 0) return;
                   const T* from = in + in0 * axes[0].in_stride + in1 * axes[1].in_stride +
                                   axes[2].position(seen.begin, tap2) * axes[2].in_stride;
                   row += seen.begin - at2;
                   if (step == 1) {
                     std::memcpy(row, from, static_cast<size_t>(seen.size()) * sizeof(T));
                   } else {
                     for (ptrdiff_t i = 0; i < seen.size(); ++i, from += step) row[i] = *from;
                   }
                 });
  }

  void store(const T* sums, ptrdiff_t first, ptrdiff_t count, T* out) const {
    const PhaseAxis* axes = phase_.axes;
    for_each_row(first, count,
                 [&](ptrdiff_t begin, ptrdiff_t n, ptrdiff_t at0, ptrdiff_t at1, ptrdiff_t at2) {
                   const ptrdiff_t step = axes[2].out_stride;
                   T* to = out + at0 * axes[0].out_stride + at1 * axes[1].out_stride + at2 * step;
                   for (ptrdiff_t i = 0; i < n; ++i, to += step) *to = sums[begin + i];
                 });
  }

  const Convolution& c_;
  const Phase& phase_;
  ScalarType type_;
  bool direct_;  // the tensors are the matrices
  ptrdiff_t pixels_;
  ptrdiff_t taps_;
  ptrdiff_t depth_;
  ptrdiff_t block_;   // outputs in a block
  ptrdiff_t blocks_;  // of an image and group
  bool whole_;        // the weights of an output channel are contiguous
};

// Calls f(columns) for each phase.
template <class T, class F>
void for_each_phase(const Convolution& c, ScalarType type, size_t threads, F f) {
  const size_t count = count_phases(c);
  for (size_t i = 0; i < count; ++i) {
    const Phase phase = make_phase(c, i);
    f(Columns<T>(c, phase, type, threads));
  }
}

struct Bytes {
  size_t weight = 0;
  size_t thread = 0;
};

// The most bytes that a phase needs: phases share the memory.
template <class T>
Bytes bytes_of(const Convolution& c, ScalarType type, size_t threads) {
  Bytes most;
  for_each_phase<T>(c, type, threads, [&](const Columns<T>& columns) {
    most.weight = std::max(most.weight, columns.weight_bytes());
    most.thread = std::max(most.thread, columns.thread_bytes());
  });
  return most;
}

template <class T>
bool convolve(KernelContext& context, const Convolution& c, ScalarType type) {
  const size_t threads = context.threads();
  const Bytes bytes = bytes_of<T>(c, type, threads);
  auto* scratch = static_cast<char*>(context.allocate_temp(bytes.weight + threads * bytes.thread, 64));
  if (scratch == nullptr) return false;
  T* weights = reinterpret_cast<T*>(scratch);
  for_each_phase<T>(c, type, threads, [&](const Columns<T>& columns) {
    if (columns.weight_bytes() > 0) columns.copy_weights(weights);
    context.parallel_for(columns.items(), columns.grain(), [&](size_t begin, size_t end, size_t thread) {
      char* own = scratch + bytes.weight + thread * bytes.thread;
      for (size_t item = begin; item < end; ++item) columns.compute(item, weights, own);
    });
  });
  return true;
}

// Calls f with a number of the size of an element: double, or a float of 16 bits.
template <class F>
decltype(auto) with_element(ScalarType type, F f) {
  if constexpr (kNarrowTypes != 0) {
    if (contains(kNarrowTypes, type)) return f(uint16_t{});
  }
  return f(double{});
}

bool is_empty(const Convolution& c) {
  ptrdiff_t outputs = c.batch * c.groups * c.out_channels;
  for (const ConvolutionAxis& axis : c.axes) outputs *= axis.out > 0 ? 1 : 0;
  return outputs == 0;
}

}  // namespace

bool gains_by_columns(const Convolution& c, ScalarType type) {
  const size_t products = narrow_products(type);
  if (products == 0 || count_phases(c) != 1) return false;
  if (Columns<uint16_t>::is_direct(make_phase(c, 0))) return true;
  return products >= kLeastProducts && c.out_channels >= kLeastOutChannels && !gains_by_winograd(c);
}

void prepare_columns(KernelContext& context, const Convolution& c, ScalarType type) {
  if (is_empty(c)) return;
  const size_t threads = context.threads();
  const Bytes bytes =
      with_element(type, [&](auto element) { return bytes_of<decltype(element)>(c, type, threads); });
  context.need_scratch(bytes.weight + threads * bytes.thread + 64);
}

bool convolve_columns(KernelContext& context, const Convolution& c, ScalarType type) {
  return is_empty(c) ||
         with_element(type, [&](auto element) { return convolve<decltype(element)>(context, c, type); });
}

}  // namespace rushlight::kernels::host
