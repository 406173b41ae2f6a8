// SPDX-License-Identifier: BSD-3-Clause
// Indirect convolution: for each tap of each pixel of a tile the microkernel takes a pointer to its input
// channels; pointers to padding lead to a row of zeros. If adjacent taps are adjacent in memory, a row of
// taps is one longer product. Long lines without padding take strips.cpp. Reference: Dukhan, "The Indirect
// Convolution Algorithm", 2019. Weights are packed as [panel][tap][in channel][columns]; the pointers of a
// tile cost index arithmetic once and serve all panels and channels.
#include "kernels/host/convolution/rows.h"

#include <algorithm>

#include "kernels/host/convolution/panels.h"
#include "kernels/host/convolution/strips.h"
#include "kernels/host/convolution/sum.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

namespace {

using ukernel::GemmInitial;
using ukernel::GemmTile;

constexpr ptrdiff_t kMostRows = ukernel::kMostGemmRows;
constexpr ptrdiff_t kPointers = 256;           // held at a time
constexpr ptrdiff_t kCachedWeights = 1 << 18;  // floats of weights that are read again for each tile
constexpr ptrdiff_t kCachedPixels = 1 << 17;   // floats of input that are read again for each panel

// True if adjacent taps are adjacent pixels, so that a row of taps is a single product.
bool taps_adjoin(const Convolution& c, const Phase& phase) {
  return c.groups == 1 && phase.axes[2].tap_step == 1 && phase.axes[2].in_stride == c.in_channels;
}

// Number of zeros for a row of taps; a multiple of 16, so that the panels behind it are aligned.
ptrdiff_t zeros_of(const Convolution& c) {
  return (c.in_channels * (c.groups == 1 ? c.axes[2].kernel : 1) + 15) / 16 * 16;
}

// The outputs of one phase, for one group and element of the batch.
class Rows {
 public:
  Rows(const Convolution& convolution, const Phase& phase, const float* packed, const float* zeros)
      : c_(convolution), phase_(phase), packed_(packed), zeros_(zeros), panels_(convolution, phase) {
    const PhaseAxis* axes = phase.axes;
    // The outputs of a tile have a constant stride.
    run_ = axes[2].count;
    for (size_t i = kSpatial - 1; i-- > 0;) {
      if (axes[i].count > 1 && axes[i].out_stride != run_ * axes[2].out_stride) break;
      run_ *= axes[i].count;
    }
    const auto columns = static_cast<size_t>(std::min(c_.out_channels, panels_.columns()));
    rows_ = static_cast<ptrdiff_t>(
        ukernel::gemm_split(static_cast<size_t>(run_), ukernel::gemm_rows_of(columns)));
    // A tile never crosses the end of a span, as its outputs need a constant stride.
    tiles_in_span_ = (run_ + rows_ - 1) / rows_;
    most_taps_ = kPointers / rows_;
    tiles_ = phase.pixels() / run_ * tiles_in_span_;
    merges_ = taps_adjoin(c_, phase);
    const ptrdiff_t weights = panels_.floats() / std::max<ptrdiff_t>(c_.groups, 1);
    // Weights that fit in cache are read for each tile. Larger ones are read once for a block of tiles whose
    // inputs stay in cache.
    block_ = weights <= kCachedWeights
                 ? 1
                 : std::max<ptrdiff_t>(kCachedPixels / std::max<ptrdiff_t>(rows_ * c_.in_channels, 1), 1);
    block_ = std::min(block_, tiles_);
    blocks_ = (tiles_ + block_ - 1) / block_;
  }

  // An item is a block of tiles and one panel.
  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * c_.groups * blocks_ * panels_.count());
  }
  [[nodiscard]] size_t grain() const {
    const ptrdiff_t work = block_ * rows_ * phase_.taps() * c_.in_channels * panels_.columns();
    return items_for_thread(work);
  }

  void compute(size_t begin, size_t end) const {
    Tile tile;
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      const ptrdiff_t panel = rest % panels_.count();
      rest /= panels_.count();
      const ptrdiff_t block = rest % blocks_;
      rest /= blocks_;
      tile.group = rest % c_.groups;
      tile.batch = rest / c_.groups;
      const ptrdiff_t last = std::min((block + 1) * block_, tiles_);
      for (ptrdiff_t t = block * block_; t < last; ++t) {
        // Consecutive items have the same tiles and the next panel, for which a single tile is placed
        // already.
        if (panel == 0 || t != tile.number || item == begin) start(t, &tile);
        compute_tile(&tile, panel);
      }
    }
  }

 private:
  struct Tile {
    ptrdiff_t number = -2;  // none
    ptrdiff_t batch = 0;
    ptrdiff_t group = 0;
    ptrdiff_t rows = 0;
    ptrdiff_t out = 0;                       // offset of the first output
    ptrdiff_t at[kSpatial][kMostRows] = {};  // position of each row's first tap
    ptrdiff_t in_span = 0;
    ptrdiff_t next[kSpatial] = {};  // the first output after the tile
    bool in_row = false;            // all outputs are in one row
    bool inside = false;            // no tap of the last axis is in the padding
    ptrdiff_t first_tap = -1;       // first tap that the pointers belong to
    const float* pointers[kPointers] = {};
  };

  void start(ptrdiff_t number, Tile* tile) const {
    const PhaseAxis* axes = phase_.axes;
    // The next tile goes on where the last one ended, which saves the divisions.
    if (number == tile->number + 1) {
      tile->in_span = tile->in_span + rows_ < run_ ? tile->in_span + rows_ : 0;
    } else {
      tile->in_span = number % tiles_in_span_ * rows_;
      const ptrdiff_t first = number / tiles_in_span_ * run_ + tile->in_span;
      tile->next[2] = first % axes[2].count;
      tile->next[1] = first / axes[2].count % axes[1].count;
      tile->next[0] = first / axes[2].count / axes[1].count;
    }
    auto& [z, y, x] = tile->next;
    tile->number = number;
    tile->rows = std::min(rows_, run_ - tile->in_span);
    tile->first_tap = -1;
    tile->out = phase_.out_first() + x * axes[2].out_stride + y * axes[1].out_stride + z * axes[0].out_stride;
    const ptrdiff_t reach = (axes[2].taps - 1) * axes[2].tap_step;
    // The first and the last tap are inside, and with them all others; a transposed axis walks backwards.
    const auto sees_inputs = [&](ptrdiff_t first) {
      return first >= 0 && first + reach >= 0 && first + std::max<ptrdiff_t>(reach, 0) < axes[2].in;
    };
    tile->in_row = x + tile->rows <= axes[2].count;
    if (tile->in_row) {
      // Positions increase from row to row of the tile.
      tile->at[0][0] = axes[0].position(z, 0);
      tile->at[1][0] = axes[1].position(y, 0);
      tile->at[2][0] = axes[2].position(x, 0);
      tile->inside = sees_inputs(tile->at[2][0]) && sees_inputs(axes[2].position(x + tile->rows - 1, 0));
      if (tile->inside) {
        x += tile->rows;
        if (x == axes[2].count) step_row(tile);
        return;
      }
    }
    tile->inside = true;
    for (ptrdiff_t r = 0; r < tile->rows; ++r) {
      tile->at[0][r] = axes[0].position(z, 0);
      tile->at[1][r] = axes[1].position(y, 0);
      tile->at[2][r] = axes[2].position(x, 0);
      tile->inside = tile->inside && sees_inputs(tile->at[2][r]);
      if (++x == axes[2].count) step_row(tile);
    }
  }

  void step_row(Tile* tile) const {
    auto& [z, y, x] = tile->next;
    x = 0;
    if (++y < phase_.axes[1].count) return;
    y = 0;
    ++z;
  }

  // Computes the pointers of taps, or of rows of taps, [first, first + count).
  void point(Tile* tile, ptrdiff_t first, ptrdiff_t count, ptrdiff_t taps_in_row) const {
    // The pointers do not depend on output channels: another panel of the tile uses them again.
    if (tile->first_tap == first) return;
    tile->first_tap = first;
    const PhaseAxis* axes = phase_.axes;
    const float* image =
        c_.input + tile->batch * c_.in_batch_stride + tile->group * c_.in_channels * c_.in_channel_stride;
    const float** pointers = tile->pointers;
    for (ptrdiff_t t = first; t < first + count; ++t) {
      const ptrdiff_t shift2 = t % taps_in_row * axes[2].tap_step;
      const ptrdiff_t shift1 = t / taps_in_row % axes[1].taps * axes[1].tap_step;
      const ptrdiff_t shift0 = t / taps_in_row / axes[1].taps * axes[0].tap_step;
      if (tile->in_row && tile->inside) {
        const ptrdiff_t z = tile->at[0][0] + shift0;
        const ptrdiff_t y = tile->at[1][0] + shift1;
        const bool seen = z >= 0 && z < axes[0].in && y >= 0 && y < axes[1].in;
        const ptrdiff_t offset =
            z * axes[0].in_stride + y * axes[1].in_stride + (tile->at[2][0] + shift2) * axes[2].in_stride;
        const ptrdiff_t step = axes[2].in_step * axes[2].in_stride;
        for (ptrdiff_t r = 0; r < tile->rows; ++r) *pointers++ = seen ? image + offset + r * step : zeros_;
        continue;
      }
      for (ptrdiff_t r = 0; r < tile->rows; ++r) {
        const ptrdiff_t z = tile->at[0][r] + shift0;
        const ptrdiff_t y = tile->at[1][r] + shift1;
        const ptrdiff_t x = tile->at[2][r] + shift2;
        const bool seen = z >= 0 && z < axes[0].in && y >= 0 && y < axes[1].in && x >= 0 && x < axes[2].in;
        const ptrdiff_t offset = z * axes[0].in_stride + y * axes[1].in_stride + x * axes[2].in_stride;
        *pointers++ = seen ? image + offset : zeros_;
      }
    }
  }

  void compute_tile(Tile* tile, ptrdiff_t panel) const {
    const ptrdiff_t width = panels_.width(panel);
    // A merged row of taps must not have padding in it.
    const bool merged = merges_ && tile->inside;
    const ptrdiff_t taps_in_row = merged ? 1 : std::max<ptrdiff_t>(phase_.axes[2].taps, 1);
    const ptrdiff_t taps = merged ? phase_.axes[0].taps * phase_.axes[1].taps : phase_.taps();
    const ptrdiff_t depth = merged ? phase_.axes[2].taps * c_.in_channels : c_.in_channels;
    const ptrdiff_t first_channel = tile->group * c_.out_channels + panel * panels_.columns();
    const ptrdiff_t out = tile->batch * c_.out_batch_stride + tile->out + first_channel;
    GemmTile gemm;
    gemm.rows = static_cast<size_t>(tile->rows);
    gemm.columns = static_cast<size_t>(panels_.channels_in(panel));
    gemm.depth = static_cast<size_t>(depth);
    gemm.a_tap_stride = gemm.rows;
    gemm.b = packed_ + panels_.offset(tile->group, panel);
    gemm.b_stride = width;
    gemm.b_tap_stride = depth * width;
    gemm.b_columns = static_cast<size_t>(width);
    // The bias belongs to columns here: those are output channels.
    gemm.initial_from = c_.bias == nullptr ? GemmInitial::kZero : GemmInitial::kColumns;
    gemm.initial = c_.bias == nullptr ? nullptr : c_.bias + first_channel;
    gemm.c = c_.out + out;
    gemm.c_stride = phase_.axes[2].out_stride;
    gemm.residual = c_.residual == nullptr ? nullptr : c_.residual + out;
    gemm.residual_stride = gemm.c_stride;
    gemm.low = c_.low;
    gemm.high = c_.high;
    sum_in_blocks(gemm, taps, most_taps_, [&](ptrdiff_t first, ptrdiff_t count) {
      point(tile, first, count, taps_in_row);
      return tile->pointers;
    });
    if (c_.activation.kind == ActivationKind::kNone) return;
    for (ptrdiff_t r = 0; r < tile->rows; ++r) {
      c_.finish(gemm.c + r * gemm.c_stride, static_cast<ptrdiff_t>(gemm.columns));
    }
  }

  const Convolution& c_;
  const Phase& phase_;
  const float* packed_;
  const float* zeros_;
  Panels panels_;
  ptrdiff_t run_;   // outputs with a constant stride
  ptrdiff_t rows_;  // of a tile
  ptrdiff_t tiles_in_span_;
  ptrdiff_t most_taps_;  // whose pointers are held at a time
  ptrdiff_t tiles_;
  ptrdiff_t block_;  // tiles that use a panel in succession
  ptrdiff_t blocks_;
  bool merges_;
};

// Packs one panel of the weights of a group: a block of in_channels rows for each tap.
void pack_panel(const Convolution& c, const Phase& phase, const Panels& panels, ptrdiff_t group,
                ptrdiff_t panel, float* packed) {
  const float* weight =
      c.weight + group * c.weight_group_stride + panel * panels.columns() * c.weight_out_stride;
  const ptrdiff_t width = panels.width(panel);
  for (ptrdiff_t tap = 0; tap < phase.taps(); ++tap, packed += c.in_channels * width) {
    ukernel::gemm_pack(packed, weight + kernel_offset(phase, tap), c.weight_in_stride, c.weight_out_stride,
                       static_cast<size_t>(c.in_channels), static_cast<size_t>(panels.channels_in(panel)),
                       static_cast<size_t>(width));
  }
}

}  // namespace

size_t packed_rows_size(const Convolution& c) {
  ptrdiff_t floats = zeros_of(c);
  for (size_t i = 0; i < count_phases(c); ++i) floats += Panels(c, make_phase(c, i)).floats();
  return static_cast<size_t>(floats) * sizeof(float);
}

void pack_rows(KernelContext& context, const Convolution& c, float* packed) {
  constexpr ptrdiff_t kGrain = ptrdiff_t{1} << 14;  // packed floats worth a thread
  std::fill(packed, packed + zeros_of(c), 0.0F);
  packed += zeros_of(c);
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const Panels panels(c, phase);
    const ptrdiff_t items = c.groups * panels.count();
    const ptrdiff_t grain = kGrain * items / std::max<ptrdiff_t>(panels.floats(), 1) + 1;
    const auto body = [&](size_t begin, size_t end, size_t) {
      for (auto item = static_cast<ptrdiff_t>(begin); item < static_cast<ptrdiff_t>(end); ++item) {
        const ptrdiff_t group = item / panels.count(), panel = item % panels.count();
        pack_panel(c, phase, panels, group, panel, packed + panels.offset(group, panel));
      }
    };
    context.parallel_for(static_cast<size_t>(items), static_cast<size_t>(grain), body);
    packed += panels.floats();
  }
}

void convolve_rows(KernelContext& context, const Convolution& c, const float* packed) {
  // Taps in the padding read these zeros; they precede the panels.
  const float* zeros = packed;
  packed += zeros_of(c);
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    if (has_strips(phase)) {
      convolve_strips(context, c, phase, packed);
    } else {
      const Rows rows(c, phase, packed, zeros);
      context.parallel_for(rows.items(), rows.grain(),
                           [&](size_t begin, size_t end, size_t) { rows.compute(begin, end); });
    }
    packed += Panels(c, phase).floats();
  }
}

}  // namespace rushlight::kernels::host
