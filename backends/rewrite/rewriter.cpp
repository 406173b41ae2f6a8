// SPDX-License-Identifier: BSD-3-Clause
// Reads the method into a list of calls, changes the list, plans its memory anew and writes a program. Cost:
// a few walks over the calls, and one copy of the weights before batch norms.
#include "backends/rewrite/rewriter.h"

#include <optional>
#include <utility>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/rewrite/passes.h"
#include "backends/rewrite/read_method.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight {

namespace {

using rewrite::Graph;

// Returns true if a pass changed the list. The order matters: linear layers, recurrent layers and attention
// are found between views, the sums of biases that recurrent layers leave are folded, batch norms are folded
// before activations are fused, and orders are decided last.
bool change(Graph* graph) {
  using Pass = bool (*)(Graph*);
  constexpr Pass kPasses[] = {
      rewrite::share_views,      rewrite::fold_constants,      rewrite::find_linear_layers,
      rewrite::find_recurrence,  rewrite::fold_constants,      rewrite::drop_indices,
      rewrite::fuse_patterns,    rewrite::find_attention,      rewrite::fold_batch_norm,
      rewrite::fuse_into_layers, rewrite::order_channels_last,
  };
  bool changed = false;
  for (const Pass pass : kPasses) {
    if (!pass(graph)) continue;
    changed = true;
    graph->update();
    if (rewrite::remove_dead_calls(graph)) graph->update();
  }
  return changed;
}

class Rewritten final : public RewrittenMethod {
 public:
  explicit Rewritten(std::shared_ptr<ConstantPool> pool) : list_(std::move(pool)) {}

  CallList& list() { return list_; }

  // Writes the program. Returns false if it cannot be written.
  bool finish(size_t new_constants) {
    auto bytes = list_.program();
    if (!bytes.ok()) return false;
    bytes_ = std::move(*bytes);
    new_constants_ = new_constants;
    // The loader refers to the bytes of this object.
    loader_.emplace(std::shared_ptr<const void>(bytes_.data(), [](const void*) {}), bytes_.size());
    auto program = Program::load(*loader_);
    if (!program.ok()) return false;
    program_.emplace(std::move(*program));
    for (size_t i = 0; i < list_.num_calls(); ++i) stated_.push_back(list_.debug_handle(i));
    return true;
  }

  [[nodiscard]] const Program& program() const override { return *program_; }
  [[nodiscard]] Span<const uint8_t> file() const override { return {bytes_.data(), bytes_.size()}; }
  [[nodiscard]] const NamedDataMap& data() const override { return list_; }
  [[nodiscard]] size_t bytes() const override { return bytes_.size() + new_constants_; }
  [[nodiscard]] Span<const uint32_t> stated_instructions() const override {
    return {stated_.data(), stated_.size()};
  }

 private:
  CallList list_;
  std::vector<uint8_t> bytes_;
  size_t new_constants_ = 0;
  std::optional<SharedDataLoader> loader_;
  std::optional<Program> program_;
  std::vector<uint32_t> stated_;
};

class Rewriter final : public MethodRewriter {
 public:
  std::unique_ptr<RewrittenMethod> rewrite(const Program& program, const char* name,
                                           const OperatorTable& operators,
                                           const NamedDataMap* external) override {
    auto method = std::make_unique<Rewritten>(pool_);
    const size_t kept_before = pool_->kept_bytes();
    if (!rewrite::read_method(program, name, operators, external, pool_.get(), &method->list()))
      return nullptr;
    Graph graph(&method->list(), operators);
    if (!change(&graph)) return nullptr;
    return method->finish(pool_->kept_bytes() - kept_before) ? std::move(method) : nullptr;
  }

 private:
  std::shared_ptr<ConstantPool> pool_ = std::make_shared<ConstantPool>();
};

}  // namespace

std::unique_ptr<MethodRewriter> make_rewriter() {
  constexpr bool kSelectsCalls = RUSHLIGHT_SELECTS_CALLS != 0;
  return kSelectsCalls ? nullptr : std::make_unique<Rewriter>();
}

}  // namespace rushlight
