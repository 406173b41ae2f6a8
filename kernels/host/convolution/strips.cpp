// SPDX-License-Identifier: BSD-3-Clause
// Each item is a piece of a line and one panel. Pieces are short enough that their input stays in the L1
// cache while all panels read it. Sums are blocked as in sum.h.
#include "kernels/host/convolution/strips.h"

#include <algorithm>

#include "kernels/host/convolution/panels.h"
#include "kernels/host/convolution/sum.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

namespace {

using ukernel::GemmInitial;
using ukernel::GemmStrip;

constexpr ptrdiff_t kTapsAtOnce = 64;
constexpr ptrdiff_t kSeen = 1 << 12;     // approximate floats of input that all panels read in succession
constexpr ptrdiff_t kFewestPixels = 48;  // fewest pixels that pay for reading a panel
constexpr ptrdiff_t kCachedWeights = 1 << 14;  // floats that may still be cached from the last call
constexpr ptrdiff_t kShortest = 4;             // shortest line that pays

// The layout of outputs: `lines` lines of `length` outputs with constant strides; a line merges `merged`
// axes.
struct Lines {
  explicit Lines(const Phase& phase) : length(phase.axes[2].count), lines(1) {
    const PhaseAxis& row = phase.axes[2];
    out_step = row.out_stride;
    in_step = row.in_step * row.in_stride;
    merged = 1;
    for (size_t i = kSpatial - 1; i-- > 0; ++merged) {
      const PhaseAxis& axis = phase.axes[i];
      // Outer axes merge into the line if each of their outputs sees one input, and both steps continue.
      const bool sees_one =
          axis.taps == 1 && axis.position(0, 0) >= 0 && axis.position(axis.count - 1, 0) < axis.in;
      const bool goes_on =
          axis.out_stride == length * out_step && axis.in_step * axis.in_stride == length * in_step;
      if (!sees_one || !(goes_on || axis.count == 1)) break;
      length *= axis.count;
    }
    for (size_t i = 0; i < kSpatial - merged; ++i) lines *= phase.axes[i].count;
  }

  ptrdiff_t length;
  ptrdiff_t lines;
  ptrdiff_t out_step;
  ptrdiff_t in_step;
  size_t merged;  // counted from the last axis
};

class Strips {
 public:
  Strips(const Convolution& convolution, const Phase& phase, const float* packed, size_t threads)
      : c_(convolution), phase_(phase), packed_(packed), panels_(convolution, phase), lines_(phase) {
    const PhaseAxis& row = phase.axes[2];
    joins_ = c_.groups == 1 && row.tap_step == 1 && row.in_stride == c_.in_channels;
    taps_in_row_ = joins_ ? 1 : row.taps;
    depth_ = joins_ ? row.taps * c_.in_channels : c_.in_channels;
    // Pieces of nearly equal length: about kSeen floats of input, but at least kFewestPixels outputs.
    piece_ = std::max(kSeen / std::max<ptrdiff_t>(depth_, 1), kFewestPixels);
    const ptrdiff_t outer = c_.batch * c_.groups * lines_.lines * panels_.count();
    pieces_ = even_parts(outer, (lines_.length + piece_ - 1) / piece_, lines_.length, threads);
    piece_ = (lines_.length + pieces_ - 1) / pieces_;
    pieces_ = (lines_.length + piece_ - 1) / piece_;
  }

  // An item is a piece of a line and one panel.
  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * c_.groups * lines_.lines * pieces_ * panels_.count());
  }
  [[nodiscard]] size_t grain() const {
    const ptrdiff_t work = piece_ * phase_.taps() * c_.in_channels * panels_.columns();
    return items_for_thread(work);
  }

  void compute(size_t begin, size_t end) const {
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      const ptrdiff_t panel = rest % panels_.count();
      rest /= panels_.count();
      const ptrdiff_t first = rest % pieces_ * piece_;
      rest /= pieces_;
      const ptrdiff_t line = rest % lines_.lines;
      rest /= lines_.lines;
      compute_piece(rest / c_.groups, rest % c_.groups, line, first, panel);
    }
  }

 private:
  void compute_piece(ptrdiff_t batch, ptrdiff_t group, ptrdiff_t line, ptrdiff_t first,
                     ptrdiff_t panel) const {
    const PhaseAxis* axes = phase_.axes;
    // Output indices on the axes that the line does not contain; merged axes start at output 0.
    const ptrdiff_t y = lines_.merged == 1 ? line % axes[1].count : 0;
    const ptrdiff_t z = lines_.merged == 1 ? line / axes[1].count : lines_.merged == 2 ? line : 0;
    const ptrdiff_t channel = group * c_.out_channels + panel * panels_.columns();
    const ptrdiff_t out = batch * c_.out_batch_stride + phase_.out_first() + z * axes[0].out_stride +
                          y * axes[1].out_stride + first * lines_.out_step + channel;
    GemmStrip strip;
    strip.rows = static_cast<size_t>(std::min(piece_, lines_.length - first));
    strip.columns = static_cast<size_t>(panels_.channels_in(panel));
    strip.a_stride = lines_.in_step;
    strip.b_stride = panels_.width(panel);
    // Prefetches weights that are too large to be cached since the last call.
    strip.looks_ahead = panels_.floats() > kCachedWeights;
    strip.initial_from = c_.bias == nullptr ? GemmInitial::kZero : GemmInitial::kColumns;
    strip.initial = c_.bias == nullptr ? nullptr : c_.bias + channel;
    strip.c = c_.out + out;
    strip.c_stride = lines_.out_step;
    strip.residual = c_.residual == nullptr ? nullptr : c_.residual + out;
    strip.residual_stride = lines_.out_step;

    // Rows of taps in the padding above or below are left out; along the line no tap is in the padding.
    const Range taps0 = taps_of(axes[0], z);
    const Range taps1 = taps_of(axes[1], y);
    const ptrdiff_t rows = std::max<ptrdiff_t>(taps0.size(), 0) * std::max<ptrdiff_t>(taps1.size(), 0);
    const ptrdiff_t taps = rows * taps_in_row_;
    const float* in = c_.input + batch * c_.in_batch_stride + group * c_.in_channels * c_.in_channel_stride +
                      first * lines_.in_step;
    const float* weights = packed_ + panels_.offset(group, panel);
    const float* a[kTapsAtOnce];
    const float* b[kTapsAtOnce];
    ptrdiff_t done = 0;
    ptrdiff_t t0 = taps0.begin;
    ptrdiff_t t1 = taps1.begin;
    ptrdiff_t t2 = 0;
    do {
      const ptrdiff_t count = std::min(taps - done, kTapsAtOnce);
      for (ptrdiff_t i = 0; i < count; ++i) {
        a[i] = in + axes[0].position(z, t0) * axes[0].in_stride +
               axes[1].position(y, t1) * axes[1].in_stride + axes[2].position(0, t2) * axes[2].in_stride;
        b[i] = weights + ((t0 * axes[1].taps + t1) * taps_in_row_ + t2) * depth_ * strip.b_stride;
        if (++t2 < taps_in_row_) continue;
        t2 = 0;
        if (++t1 < taps1.end) continue;
        t1 = taps1.begin;
        ++t0;
      }
      add(&strip, a, b, count, done + count == taps);
      done += count;
    } while (done < taps);
    if (!c_.finishes()) return;
    for (size_t r = 0; r < strip.rows; ++r) {
      c_.finish(c_.out + out + static_cast<ptrdiff_t>(r) * lines_.out_step,
                static_cast<ptrdiff_t>(strip.columns));
    }
  }

  // Adds `count` taps in blocks; bias and residual are added once.
  void add(GemmStrip* strip, const float* const* a, const float* const* b, ptrdiff_t count, bool ends) const {
    const ptrdiff_t depth = count == 0 ? 0 : depth_;
    // A deep tap is divided into parts of about kSumBlock products; several shallow taps form one block.
    const ptrdiff_t parts = std::max<ptrdiff_t>((depth + kSumBlock / 2) / kSumBlock, 1);
    const ptrdiff_t part = (depth + parts - 1) / parts;
    const ptrdiff_t step = parts > 1 ? 1 : std::max<ptrdiff_t>(kSumBlock / std::max<ptrdiff_t>(depth, 1), 1);
    // Intermediate sums are neither clamped nor given the residual: only the last call of the last block is.
    const float* residual = strip->residual;
    const float* shifted[kTapsAtOnce];
    for (ptrdiff_t first = 0; first < count || first == 0; first += step) {
      strip->taps = static_cast<size_t>(std::min(step, count - first));
      for (ptrdiff_t p = 0; p < depth || p == 0; p += part) {
        strip->depth = static_cast<size_t>(std::min(part, depth - p));
        strip->a = a + first;
        strip->a_offset = p;
        strip->b = b + first;
        if (p > 0) {  // then there is one tap
          shifted[0] = b[first] + p * strip->b_stride;
          strip->b = shifted;
        }
        const bool is_last = ends && first + step >= count && p + part >= depth;
        strip->residual = is_last ? residual : nullptr;
        strip->low = is_last ? c_.low : -__builtin_inff();
        strip->high = is_last ? c_.high : __builtin_inff();
        gemm_strip(*strip);
        strip->initial_from = GemmInitial::kZero;
        strip->adds_to_c = true;
        if (part == 0) break;
      }
    }
    strip->residual = residual;
  }

  const Convolution& c_;
  const Phase& phase_;
  const float* packed_;
  Panels panels_;
  Lines lines_;
  bool joins_;  // a row of taps is one product
  ptrdiff_t taps_in_row_;
  ptrdiff_t depth_;
  ptrdiff_t piece_;  // pixels
  ptrdiff_t pieces_;
};

}  // namespace

bool has_strips(const Phase& phase) {
  const PhaseAxis& row = phase.axes[2];
  if (phase.pixels() <= 0) return false;
  for (const ptrdiff_t output : {ptrdiff_t{0}, row.count - 1}) {
    for (const ptrdiff_t tap : {ptrdiff_t{0}, row.taps - 1}) {
      const ptrdiff_t position = row.position(output, tap);
      if (row.taps > 0 && (position < 0 || position >= row.in)) return false;
    }
  }
  // Shorter lines are computed by the tiles of rows.cpp, whose pixels may be anywhere.
  const Lines lines(phase);
  return lines.lines == 1 || lines.length >= kShortest;
}

void convolve_strips(KernelContext& context, const Convolution& c, const Phase& phase, const float* packed) {
  const Strips strips(c, phase, packed, context.threads());
  context.parallel_for(strips.items(), strips.grain(),
                       [&](size_t begin, size_t end, size_t) { strips.compute(begin, end); });
}

}  // namespace rushlight::kernels::host
