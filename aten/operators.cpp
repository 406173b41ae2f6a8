// SPDX-License-Identifier: BSD-3-Clause
// Each operator is a table of one entry, and the tables form a list: entries keep their addresses when others
// are added. A look-up, once per operator of a method, compares with all of them.
#include "aten/operators.h"

#include <algorithm>
#include <deque>

#include <c10/util/Exception.h>

#include "aten/boxed_call.h"
#include "aten/choice.h"
#include "aten/refusals.h"
#include "kernels/checks/selection.h"
#include "runtime/base/log.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/schema.h"

namespace rushlight::aten {

namespace {

// An operator that PyTorch may compute. `ours` is this build's kernel, tried first; null: never.
struct Operator : KernelEntry {
  Operator(std::string operator_name, BoxedCall boxed)
      : KernelEntry{nullptr, nullptr, nullptr}, text(std::move(operator_name)), call(std::move(boxed)) {
    name = text.c_str();
    signature = call.signature().c_str();
  }
  Operator(const Operator&) = delete;

  std::string text;
  BoxedCall call;
  const KernelEntry* ours = nullptr;
  TypeSet types = 0;  // of `ours`
  mutable Refusals refusals;
  OperatorTable table = {nullptr, 0};
};

const Operator& operator_of(const KernelContext& context) {
  return *static_cast<const Operator*>(context.kernel());
}

Error call_aten(KernelContext& context, EValue* const* arguments, ErasedKernel) {
  const Operator& self = operator_of(context);
  return self.call(self.name, arguments);
}

Error prepare_ours(const Operator& self, KernelContext& context, EValue* const* arguments) {
  const Error error = self.ours->function(context, arguments, self.prepare);
  return refuses(error) ? Error::Ok : error;  // it prepares nothing
}

// Our kernel is asked only for dtypes of its row in kernels/ops.yaml, and not again for a combination that it
// refused: each refusal logs a line.
Error call_ours_first(KernelContext& context, EValue* const* arguments, ErasedKernel kernel) {
  const Operator& self = operator_of(context);
  KernelContext inner(context, *self.ours);
  if (kernel != self.kernel) return prepare_ours(self, inner, arguments);
  if (!has_dtypes(self.types, self.signature, arguments) ||
      (!self.refusals.empty() && self.refusals.contain(dtypes_of(self.signature, arguments)))) {
    return self.call(self.name, arguments);
  }
  const Error error = self.ours->function(inner, arguments, kernel);
  if (!refuses(error) || !may_repeat(self.call.writes_inputs(), self.signature, arguments)) return error;
  const Error other = self.call(self.name, arguments);
  if (other == Error::Ok) self.refusals.add(dtypes_of(self.signature, arguments));
  return other;
}

// The dtypes that a kernel of this build may accept; all if it has no row.
TypeSet types_of(const std::string& name) {
  for (const auto& row : kernels::kSelectedTypes) {
    if (row.name == name) return row.types | kPositions;
  }
  return ~TypeSet{0};
}

constexpr uint64_t mixed(uint64_t hash, uint64_t number) { return (hash ^ number) * 1099511628211u; }

uint64_t mixed(uint64_t hash, const Tensor& tensor) {
  return mixed(hash, 64 + 2 * static_cast<uint64_t>(tensor.scalar_type()) + (tensor.dim() == 0 ? 1 : 0));
}

}  // namespace

uint64_t dtypes_of(const char* signature, EValue* const* arguments) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    const EValue& value = *arguments[i];
    hash = mixed(hash, static_cast<uint64_t>(value.tag));
    for_each_tensor(value, [&](const Tensor& tensor) { hash = mixed(hash, tensor); });
  }
  return hash == 0 ? 1 : hash;
}

struct Operators::Entries {
  OperatorTable head;
  const OperatorTable* ours;
  Priority priority;
  std::deque<Operator> operators;

  void add(const std::string& name);
  void insert(const std::string& name, BoxedCall call, const KernelEntry* kernel);
};

void Operators::Entries::insert(const std::string& name, BoxedCall call, const KernelEntry* kernel) {
  Operator& self = operators.emplace_back(name, std::move(call));
  self.function = &call_aten;
  if (kernel != nullptr) {
    self.ours = kernel;
    self.types = types_of(name);
    self.function = &call_ours_first;
    self.kernel = kernel->kernel;
    self.prepare = kernel->prepare;
  }
  self.table = {&self, 1, head.next};
  head.next = &self.table;
}

void Operators::Entries::add(const std::string& name) {
  const auto known = [&](const Operator& each) { return each.text == name; };
  if (std::any_of(operators.begin(), operators.end(), known)) return;
  if (auto custom = BoxedCall::find_custom(name)) return insert(name, std::move(*custom), nullptr);
  const KernelEntry* kernel = ours->find(name.c_str(), "");
  auto call = BoxedCall::find(name);
  if (!call.has_value()) return;
  if (priority == Priority::AtenFirst || kernel == nullptr) {
    return insert(name, std::move(*call), nullptr);
  }
  // The loader checks a call once, with one signature for both kernels.
  if (call->signature() == kernel->signature) insert(name, std::move(*call), kernel);
}

Operators::Operators(const OperatorTable& ours, Priority priority)
    : entries_(new Entries{{nullptr, 0, &ours}, &ours, priority, {}}) {}

Operators::~Operators() = default;

const OperatorTable& Operators::table() const { return entries_->head; }

Error Operators::add(const std::string& name) {
  try {
    entries_->add(name);
    return Error::Ok;
  } catch (const c10::Error& error) {
    RL_LOG(Error, "operator %s: %s", name.c_str(), error.what_without_backtrace());
  } catch (const std::exception& error) {
    RL_LOG(Error, "operator %s: %s", name.c_str(), error.what());
  }
  return Error::Internal;
}

Error Operators::add(const Program& program) {
  for (size_t m = 0; m < program.num_methods(); ++m) {
    RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(program.method_name(m)));
    const auto operators = meta.plan().tables(schema::plan::kOperators);
    for (size_t i = 0; i < operators.size(); ++i) {
      const std::string overload = operators[i].string(schema::operator_name::kOverload);
      std::string name = operators[i].string(schema::operator_name::kName);
      if (!overload.empty()) name += "." + overload;
      RL_TRY(add(name));
    }
  }
  return Error::Ok;
}

std::vector<std::string> Operators::names() const {
  std::vector<std::string> names;
  for (const Operator& each : entries_->operators) names.push_back(each.text);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rushlight::aten
