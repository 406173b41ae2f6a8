// SPDX-License-Identifier: BSD-3-Clause
// Depthwise sums of padded planes with scalars: the sums of a tile stay in registers, and the taps of a group
// share the loads of their inputs. RL_OWN_TILES: the including source defines adder_of() itself.
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Tiles of one width of a plane, at least one. Assembler reads the members by their offsets.
struct PlaneTiles {
  const ShiftedTaps* taps;
  size_t count;  // of groups
  const float* weight;
  const float* in;
  float* out;
  const PlaneTile* tiles;
  size_t tile_count;
  const float* starts;  // kTileColumns times the initial value
  ptrdiff_t out_step;   // in bytes
};
using AddTiles = void (*)(const PlaneTiles*);

template <class T>
inline T* moved(T* from, ptrdiff_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes));
}

// Adds a group of kTaps taps to kColumns sums, whose inputs are kStep apart.
template <size_t kTaps, size_t kColumns, size_t kStep>
[[gnu::always_inline]] inline void add_plane_taps(const float* in, const float* weight,
                                                  float (&totals)[kColumns]) {
  float factors[kTaps];
#pragma GCC unroll 3
  for (size_t t = 0; t < kTaps; ++t) factors[t] = weight[t];
#pragma GCC unroll 18
  for (size_t x = 0; x < (kColumns - 1) * kStep + kTaps; ++x) {
    if (x % kStep >= kTaps) continue;  // no tap sees it
    const float number = in[x];
#pragma GCC unroll 3
    for (size_t t = 0; t < kTaps; ++t) {
      if (x >= t && (x - t) % kStep == 0 && (x - t) / kStep < kColumns) {
        totals[(x - t) / kStep] += factors[t] * number;
      }
    }
  }
}

template <size_t kColumns, size_t kStep>
[[gnu::noinline]] void add_tiles(const PlaneTiles* sums) {
  const PlaneTile* const end = sums->tiles + sums->tile_count;
  for (const PlaneTile* tile = sums->tiles; tile != end; ++tile) {
    float totals[kColumns];
#pragma GCC unroll 8
    for (size_t j = 0; j < kColumns; ++j) totals[j] = *sums->starts;
    const float* in = moved(sums->in, tile->in[0]);
    const float* weight = sums->weight;
    const ShiftedTaps* taps = sums->taps;
    for (size_t left = sums->count; left > 0; --left, ++taps) {
      const float* from = moved(in, taps->in);
      if (kShiftTaps == 1 || taps->more == 0) {
        add_plane_taps<1, kColumns, kStep>(from, weight++, totals);
      } else if (taps->more == 1) {
        add_plane_taps<2, kColumns, kStep>(from, weight, totals);
        weight += 2;
      } else {
        add_plane_taps<3, kColumns, kStep>(from, weight, totals);
        weight += 3;
      }
    }
    float* out = moved(sums->out, tile->out[0]);
    if (sums->out_step == ptrdiff_t{sizeof(float)}) {
#pragma GCC unroll 8
      for (size_t j = 0; j < kColumns; ++j) out[j] = totals[j];
    } else {
#pragma GCC unroll 8
      for (size_t j = 0; j < kColumns; ++j, out = moved(out, sums->out_step)) {
        // Keeps one pointer, where compilers prefer one to each element.
        asm("" : "+r"(out));
        *out = totals[j];
      }
    }
  }
}

// The function for tiles of 8, 4 or 1 columns (0 to 2).
#ifdef RL_OWN_TILES
AddTiles adder_of(size_t kind, ptrdiff_t in_step);
#else
AddTiles adder_of(size_t kind, ptrdiff_t in_step) {
  if (kind == 2) return add_tiles<1, 1>;
  if (in_step == 1) return kind == 0 ? add_tiles<8, 1> : add_tiles<4, 1>;
  return kind == 0 ? add_tiles<8, 2> : add_tiles<4, 2>;
}
#endif

}  // namespace

void add_planes(const PlaneSums& sums) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  static_assert(kTileColumns == 0 || (kTileColumns == 8 && kTilePositions == 1));
  float starts[8];
  PlaneTiles tiles{sums.taps, sums.count, sums.weight,           sums.in, sums.out, nullptr,
                   0,         starts,     sums.out_step * kBytes};
  const float* initial = sums.initial;
  for (size_t left = sums.planes; left > 0; --left) {
    const float start = initial == nullptr ? 0 : *initial;
#pragma GCC unroll 8
    for (float& each : starts) each = start;
    tiles.tiles = sums.tiles;
    for (size_t kind = 0; kind < 3; ++kind) {
      tiles.tile_count = sums.counts[kind];
      if (tiles.tile_count == 0) continue;
      adder_of(kind, sums.in_step)(&tiles);
      tiles.tiles += tiles.tile_count;
    }
    tiles.in += sums.in_plane;
    tiles.weight += sums.weight_plane;
    tiles.out += sums.out_plane;
    if (initial != nullptr) initial += sums.initial_plane;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
