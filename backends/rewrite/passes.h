// SPDX-License-Identifier: BSD-3-Clause
// The passes of the rewriter, one per file. Each walks over the calls in order, changes what matches, and
// returns true if it changed anything; the caller updates the graph after it. Calls that nothing needs any
// more remain until remove_dead_calls().
//
// Matching needs the calls' arguments only, so that most rules do not depend on how many readers a result
// has: the new call reads what the old ones read. Rules that move a layer's work require one reader, because
// the layer would be computed twice.
#pragma once

#include "backends/rewrite/graph.h"

namespace rushlight::rewrite {

// Lets tensors share the memory of tensors with the same bytes: results of reshapes, and of copies,
// expansions and permutations that move nothing. Merges permutations of permutations.
[[nodiscard]] bool share_views(Graph* graph);

// Computes what depends on constants alone.
[[nodiscard]] bool fold_constants(Graph* graph);

// Products with constant weights become linear layers.
[[nodiscard]] bool find_linear_layers(Graph* graph);

// Recurrent layers, which the official exporter unrolls step by step. Needs linear layers.
[[nodiscard]] bool find_recurrence(Graph* graph);

// Max pools whose indices nothing reads do not compute them.
[[nodiscard]] bool drop_indices(Graph* graph);

// Replaces patterns of elementwise operators: hardswish, hardsigmoid, silu, clamps of clamps; and root mean
// square normalization.
[[nodiscard]] bool fuse_patterns(Graph* graph);

// Scaled dot-product attention, which the official exporter decomposes.
[[nodiscard]] bool find_attention(Graph* graph);

// Folds batch normalization with constant statistics into the weights of the layer before it.
[[nodiscard]] bool fold_batch_norm(Graph* graph);

// Adds of residuals and activations become part of the layer before them.
[[nodiscard]] bool fuse_into_layers(Graph* graph);

// Moves groups of convolutions, and the operators between them, to channels-last.
[[nodiscard]] bool order_channels_last(Graph* graph);

// Removes calls whose results nothing reads.
[[nodiscard]] bool remove_dead_calls(Graph* graph);

}  // namespace rushlight::rewrite
