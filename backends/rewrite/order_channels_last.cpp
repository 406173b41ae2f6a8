// SPDX-License-Identifier: BSD-3-Clause
// Convolutions are faster in channels-last, where a pixel's channels are one row of a matrix. A group is a
// connected component of operators whose results can have their inputs' order; it is converted, with copies
// at its borders, if it has at least as many convolutions as borders. The exporter's pass decides alike
// (python/rushlight/export/order/channels_last.py).
#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

const std::vector<uint8_t> kChannelsLast = {0, 2, 3, 1};

// Convolutions gather so few channels from an image's planes themselves: kImageChannels of
// kernels/geometry/image_channels.h, which backends do not see.
constexpr int32_t kImageChannels = 4;

// Returns true if a tensor's memory is the same in both orders: one channel, or one pixel.
bool is_either(const Sizes& sizes) {
  if (sizes.size() != 4 && sizes.size() != 5) return true;
  return sizes[1] == 1 || std::all_of(sizes.begin() + 2, sizes.end(), [](int32_t size) { return size == 1; });
}

bool is_convolution(std::string_view name) {
  return name == "aten::convolution.out" || name == "rushlight::convolution_act.out" ||
         name == "rushlight::convolution_act.clamp_out";
}

// The group of each call; kNone for calls that cannot be channels-last.
class Groups {
 public:
  explicit Groups(const Graph& graph) : graph_(graph), parents_(graph.num_calls(), Graph::kNone) {
    for (size_t call = 0; call < graph.num_calls(); ++call) {
      if (!can_move(call)) continue;
      parents_[call] = static_cast<int32_t>(call);
      for (const ValueId read : deciding(call)) {
        if (const int32_t writer = member_that_writes(read); writer != Graph::kNone)
          parents_[root(static_cast<size_t>(writer))] = static_cast<int32_t>(call);
      }
    }
    for (size_t call = 0; call < graph.num_calls(); ++call) {
      if (parents_[call] != Graph::kNone) groups_[root(call)].push_back(call);
    }
  }

  [[nodiscard]] const std::map<size_t, std::vector<size_t>>& all() const { return groups_; }
  [[nodiscard]] bool is_member(size_t call) const { return parents_[call] != Graph::kNone; }

  // The inputs whose dim order a call's results have.
  [[nodiscard]] std::vector<ValueId> deciding(size_t call) const {
    std::vector<ValueId> found;
    const TraitSet traits = graph_.traits(call);
    if ((traits & kKeepsOrder) != 0) {
      found.push_back(graph_.argument(call, 0));
      const std::string_view name = graph_.name(call);
      const bool has_residual = is_convolution(name) && name != "aten::convolution.out";
      if (has_residual && graph_.is_tensor(graph_.argument(call, 9)))
        found.push_back(graph_.argument(call, 9));
      if (graph_.sizes(found.front()).size() != 4) found.clear();
    } else if ((traits & kPointwise) != 0) {
      for (const ValueId id : graph_.reads(call)) {
        if (graph_.sizes(id) == graph_.sizes(graph_.result(call))) found.push_back(id);
      }
    }
    return found;
  }

  // The member that writes a tensor in these sizes.
  [[nodiscard]] int32_t member_that_writes(ValueId id) const {
    const int32_t writer = graph_.writer(id);
    if (writer == Graph::kNone || !is_member(static_cast<size_t>(writer))) return Graph::kNone;
    for (const ValueId result : graph_.writes(static_cast<size_t>(writer))) {
      if (result == id) return writer;
    }
    return Graph::kNone;
  }

 private:
  [[nodiscard]] bool can_move(size_t call) const {
    if (graph_.is_removed(call) || graph_.writes(call).empty()) return false;
    const std::vector<ValueId> inputs = deciding(call);
    if (inputs.empty() || !is_floating(graph_.value(graph_.result(call)).dtype)) return false;
    for (const ValueId id : graph_.writes(call)) {
      if (graph_.sizes(id).size() != 4 || is_either(graph_.sizes(id)) || !graph_.is_row_major(id) ||
          !graph_.is_stable(id))
        return false;
    }
    return std::all_of(inputs.begin(), inputs.end(), [&](ValueId id) {
      return graph_.is_row_major(id) && graph_.sizes(id).size() == 4 && graph_.is_stable(id);
    });
  }

  // Union-find with halved paths.
  size_t root(size_t call) {
    while (parents_[call] != static_cast<int32_t>(call)) {
      parents_[call] = parents_[static_cast<size_t>(parents_[call])];
      call = static_cast<size_t>(parents_[call]);
    }
    return call;
  }

  const Graph& graph_;
  std::vector<int32_t> parents_;
  std::map<size_t, std::vector<size_t>> groups_;
};

class Conversion {
 public:
  Conversion(Graph* graph, const Groups& groups, const std::vector<size_t>& calls)
      : graph_(*graph), groups_(groups), calls_(calls) {}

  // Returns true if the group pays for the copies at its borders.
  [[nodiscard]] bool pays() const {
    size_t convolutions = 0, exits = 0;
    std::vector<ValueId> borders;
    for (const size_t call : calls_) {
      if (is_convolution(graph_.name(call))) ++convolutions;
      for (const ValueId read : groups_.deciding(call)) {
        if (is_entry(read) && !is_either(graph_.sizes(read))) borders.push_back(read);
      }
      for (const ValueId result : graph_.writes(call)) exits += is_exit(result) ? 1 : 0;
    }
    std::sort(borders.begin(), borders.end());
    const auto distinct = std::unique(borders.begin(), borders.end()) - borders.begin();
    return convolutions > 0 && convolutions >= static_cast<size_t>(distinct) + exits;
  }

  void convert() {
    for (const size_t call : calls_) {
      for (const ValueId result : graph_.writes(call)) {
        // Before arguments change: exits are found by what reads the row-major tensor.
        const bool exits = is_exit(result);
        const ValueId moved = graph_.tensor(graph_.value(result).dtype, graph_.sizes(result), kChannelsLast);
        moved_[result] = moved;
        for (const uint32_t reader : graph_.readers(result)) {
          if (!is_read_by_member(reader, result) && takes(reader, result)) replace(reader, result, moved);
        }
        if (exits) copy(call + 1, call, moved, result);
      }
    }
    for (const size_t call : calls_) {
      for (const ValueId read : groups_.deciding(call)) {
        if (const auto found = moved_.find(read); found != moved_.end()) {
          replace(call, read, found->second);
        } else if (is_entry(read) && !is_free(call, read)) {
          const ValueId moved = graph_.tensor(graph_.value(read).dtype, graph_.sizes(read), kChannelsLast);
          copy(call, call, read, moved);
          moved_[read] = moved;
          replace(call, read, moved);
        }
      }
      for (const ValueId result : graph_.writes(call)) {
        if (const auto found = moved_.find(result); found != moved_.end())
          replace(call, result, found->second);
      }
    }
  }

 private:
  [[nodiscard]] bool is_entry(ValueId read) const {
    return !graph_.is_constant(read) && groups_.member_that_writes(read) == Graph::kNone;
  }

  [[nodiscard]] bool is_read_by_member(size_t reader, ValueId id) const {
    if (!groups_.is_member(reader)) return false;
    const std::vector<ValueId> reads = groups_.deciding(reader);
    return std::find(reads.begin(), reads.end(), id) != reads.end();
  }

  // Returns true if a call outside of the group reads the tensor in any order.
  [[nodiscard]] bool takes(size_t reader, ValueId id) const {
    const std::vector<ValueId> reads = graph_.reads(reader);
    // As a view, the memory is row-major.
    for (const ValueId read : reads) {
      if (read != id && graph_.value(read).storage == graph_.value(id).storage) return false;
    }
    const TraitSet traits = graph_.traits(reader);
    const Sizes& result = graph_.sizes(graph_.result(reader));
    if ((traits & kAnyOrder) != 0) return true;
    if (!is_either(result)) return false;
    if ((traits & kReadsAnyOrder) != 0) return true;
    const std::vector<ValueId> deciding = groups_.deciding(reader);
    return result.size() == 4 && std::find(deciding.begin(), deciding.end(), id) != deciding.end();
  }

  // Returns true if the result is needed in row-major order too.
  [[nodiscard]] bool is_exit(ValueId result) const {
    if (graph_.is_output(result)) return true;
    for (const uint32_t reader : graph_.readers(result)) {
      if (graph_.writes(reader).empty()) return true;
      if (!is_read_by_member(reader, result) && !takes(reader, result)) return true;
    }
    return false;
  }

  // Returns true if a member reads the tensor as it is.
  [[nodiscard]] bool is_free(size_t call, ValueId read) const {
    if (is_either(graph_.sizes(read))) return true;
    return is_convolution(graph_.name(call)) && graph_.argument(call, 0) == read &&
           graph_.value(graph_.argument(call, 6)).number == 0 &&
           graph_.integer(graph_.argument(call, 8)) == std::optional<int64_t>(1) &&
           graph_.sizes(read)[1] <= kImageChannels;
  }

  void replace(size_t call, ValueId id, ValueId by) {
    CallList& list = graph_.list();
    const std::vector<ValueId> arguments = list.arguments(call);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == id) list.set_argument(call, i, by);
    }
  }

  // Inserts a copy of `from` to `to`, which has the other order.
  void copy(size_t before, size_t like, ValueId from, ValueId to) {
    CallList& list = graph_.list();
    const std::vector<uint8_t>& order = graph_.value(to).order;
    const ValueId dims = list.integers(std::vector<int64_t>(order.begin(), order.end()));
    list.insert_call(before, like, "dim_order_ops::_clone_dim_order", "out",
                     {from, list.boolean(false), dims, to});
  }

  Graph& graph_;
  const Groups& groups_;
  const std::vector<size_t>& calls_;
  std::map<ValueId, ValueId> moved_;
};

}  // namespace

bool order_channels_last(Graph* graph) {
  if (!graph->has("dim_order_ops::_clone_dim_order", "out")) return false;
  const Groups groups(*graph);
  bool changed = false;
  for (const auto& [root, calls] : groups.all()) {
    Conversion conversion(graph, groups, calls);
    if (!conversion.pays()) continue;
    conversion.convert();
    changed = true;
  }
  return changed;
}

}  // namespace rushlight::rewrite
