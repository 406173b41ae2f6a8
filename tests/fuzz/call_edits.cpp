// SPDX-License-Identifier: BSD-3-Clause
// edits_of() lists every single change of a call, so that a run over all of them is complete and repeatable:
// sizes 0, 1 and one more, other ranks and dtypes, the extremes of int64 and of double. An edit names its
// value by position; it does nothing in a call that another edit has left without that value.
#include "tests/fuzz/call_edits.h"

#include <algorithm>
#include <limits>
#include <set>

namespace rushlight::fuzz {

namespace {

using Kind = Edit::Kind;
using Limits = std::numeric_limits<int64_t>;

constexpr int64_t kNumbers[] = {
    -2,           -1, 0, 1, 2, 5, int64_t{1} << 31, (int64_t{1} << 32) + 1, int64_t{1} << 62, Limits::min(),
    Limits::max()};
constexpr double kReals[] = {0,
                             -1,
                             0.5,
                             1e300,
                             -1e300,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
constexpr const char* kTexts[] = {"", "none", "tanh", "relu", "mean", "sum", "floor", "trunc", "amax"};
constexpr ScalarType kTypes[] = {ScalarType::Float, ScalarType::Double, ScalarType::Half,
                                 ScalarType::Long,  ScalarType::Int,    ScalarType::Bool,
                                 ScalarType::Byte,  ScalarType::Short,  ScalarType::ComplexFloat};

// All values of a kind, including those in lists.
template <class Wanted>
void collect(std::vector<CallValue>& values, Wanted wanted, std::vector<CallValue*>* all) {
  for (CallValue& value : values) {
    if (wanted(value)) all->push_back(&value);
    collect(value.items, wanted, all);
  }
}

std::vector<CallValue*> numbers_of(RecordedCall& call) {
  std::vector<CallValue*> all;
  collect(
      call.arguments,
      [](const CallValue& value) {
        return value.kind == CallValue::Kind::Int || value.kind == CallValue::Kind::Double ||
               value.kind == CallValue::Kind::Bool;
      },
      &all);
  return all;
}

std::vector<CallValue*> texts_of(RecordedCall& call) {
  std::vector<CallValue*> all;
  collect(call.arguments, [](const CallValue& value) { return value.kind == CallValue::Kind::String; }, &all);
  return all;
}

std::vector<CallValue*> lists_of(RecordedCall& call) {
  std::vector<CallValue*> all;
  collect(call.arguments, [](const CallValue& value) { return value.kind == CallValue::Kind::List; }, &all);
  return all;
}

void set_rank(CallTensor& tensor, size_t rank) {
  tensor.sizes.resize(rank, 1);
  tensor.order.resize(rank);
  for (size_t i = 0; i < rank; ++i) tensor.order[i] = static_cast<DimOrderType>(i);
}

void change_rank(Kind kind, CallTensor& tensor) {
  if (kind == Kind::NoFirst && !tensor.sizes.empty()) tensor.sizes.erase(tensor.sizes.begin());
  if (kind == Kind::NoLast && !tensor.sizes.empty()) tensor.sizes.pop_back();
  if (kind == Kind::OneMore) tensor.sizes.insert(tensor.sizes.begin(), 1);
  if (kind == Kind::NoRank) tensor.sizes.clear();
  set_rank(tensor, tensor.sizes.size());
}

void change_everywhere(const Edit& edit, const KernelEntry& kernel, RecordedCall* call) {
  for (const RecordedCall::Named& named : call->tensors(kernel)) {
    for (SizesType& size : named.tensor->sizes) {
      if (size == edit.item) size = static_cast<SizesType>(edit.value);
    }
  }
  if (edit.kind == Kind::Sizes) return;
  for (CallValue* list : lists_of(*call)) {
    for (CallValue& item : list->items) {
      if (item.kind == CallValue::Kind::Int && item.number == edit.item) item.number = edit.value;
    }
  }
}

void add_number_edits(RecordedCall& call, std::vector<Edit>* edits) {
  const std::vector<CallValue*> numbers = numbers_of(call);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i]->kind == CallValue::Kind::Bool) {
      edits->push_back({Kind::Number, i, 0, numbers[i]->number == 0 ? 1 : 0, 0});
    } else if (numbers[i]->kind == CallValue::Kind::Int) {
      for (const int64_t value : kNumbers) edits->push_back({Kind::Number, i, 0, value, 0});
    } else {
      for (const double value : kReals) edits->push_back({Kind::Number, i, 0, 0, value});
    }
  }
  for (size_t i = 0; i < texts_of(call).size(); ++i) {
    for (size_t text = 0; text < std::size(kTexts); ++text) {
      edits->push_back({Kind::Text, i, 0, static_cast<int64_t>(text), 0});
    }
  }
}

// Two tensors in a block: the second begins `shift` bytes after the first.
MemoryPlan plan_of(size_t first, size_t second, ptrdiff_t shift) {
  const auto before = static_cast<size_t>(shift < 0 ? -shift : 0);
  const auto after = static_cast<size_t>(shift > 0 ? shift : 0);
  return {{{first, before}, {second, after}}};
}

}  // namespace

std::vector<Edit> edits_of(RecordedCall call, const KernelEntry& kernel) {
  std::vector<Edit> edits;
  const std::vector<RecordedCall::Named> tensors = call.tensors(kernel);
  std::set<SizesType> sizes;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const CallTensor& tensor = *tensors[t].tensor;
    for (size_t d = 0; d < tensor.sizes.size(); ++d) {
      sizes.insert(tensor.sizes[d]);
      for (const SizesType size : {0, 1, tensor.sizes[d] + 1}) {
        if (size != tensor.sizes[d]) edits.push_back({Kind::Size, t, static_cast<int64_t>(d), size, 0});
      }
    }
    for (const Kind kind : {Kind::NoFirst, Kind::NoLast, Kind::OneMore, Kind::NoRank}) {
      edits.push_back({kind, t, 0, 0, 0});
    }
    for (const ScalarType type : kTypes) {
      if (type != tensor.type) edits.push_back({Kind::Type, t, 0, static_cast<int64_t>(type), 0});
    }
    if (tensor.sizes.size() > 1) edits.push_back({Kind::Order, t, 0, 0, 0});
  }
  for (const SizesType size : sizes) {
    for (const int64_t value : {0, 1}) {
      if (value == size) continue;
      edits.push_back({Kind::Everywhere, 0, size, value, 0});
      edits.push_back({Kind::Sizes, 0, size, value, 0});
    }
  }
  add_number_edits(call, &edits);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const char code = kernel.signature[i];
    if (code >= 'A' && code <= 'Z' && call.arguments[i].kind != CallValue::Kind::None) {
      edits.push_back({Kind::Absent, i, 0, 0, 0});
    }
  }
  for (size_t i = 0; i < lists_of(call).size(); ++i) {
    edits.push_back({Kind::Shorter, i, 0, 0, 0});
    edits.push_back({Kind::Longer, i, 0, 0, 0});
  }
  return edits;
}

void apply(const Edit& edit, const KernelEntry& kernel, RecordedCall* call) {
  const std::vector<RecordedCall::Named> tensors = call->tensors(kernel);
  CallTensor* tensor = edit.number < tensors.size() ? tensors[edit.number].tensor : nullptr;
  switch (edit.kind) {
    case Kind::Size:
      if (tensor == nullptr || static_cast<size_t>(edit.item) >= tensor->sizes.size()) return;
      tensor->sizes[static_cast<size_t>(edit.item)] = static_cast<SizesType>(edit.value);
      return;
    case Kind::Everywhere:
    case Kind::Sizes:
      return change_everywhere(edit, kernel, call);
    case Kind::NoFirst:
    case Kind::NoLast:
    case Kind::OneMore:
    case Kind::NoRank:
      if (tensor != nullptr) change_rank(edit.kind, *tensor);
      return;
    case Kind::Type:
      if (tensor != nullptr) tensor->type = static_cast<ScalarType>(edit.value);
      return;
    case Kind::Order:
      if (tensor != nullptr) std::reverse(tensor->order.begin(), tensor->order.end());
      return;
    case Kind::Number: {
      const std::vector<CallValue*> numbers = numbers_of(*call);
      if (edit.number >= numbers.size()) return;
      numbers[edit.number]->number = edit.value;
      numbers[edit.number]->real = edit.real;
      return;
    }
    case Kind::Text: {
      const std::vector<CallValue*> texts = texts_of(*call);
      if (edit.number < texts.size()) texts[edit.number]->text = kTexts[edit.value];
      return;
    }
    case Kind::Absent:
      call->arguments[edit.number] = {};
      return;
    case Kind::Shorter:
    case Kind::Longer: {
      const std::vector<CallValue*> lists = lists_of(*call);
      if (edit.number >= lists.size() || lists[edit.number]->items.empty()) return;
      std::vector<CallValue>& items = lists[edit.number]->items;
      if (edit.kind == Kind::Shorter) {
        items.pop_back();
      } else {
        items.push_back(CallValue(items.back()));
      }
      return;
    }
  }
}

std::string to_text(const Edit& edit) {
  static constexpr const char* kNames[] = {"size",     "everywhere", "sizes",   "no first", "no last",
                                           "one more", "no rank",    "type",    "order",    "number",
                                           "text",     "absent",     "shorter", "longer"};
  return std::string(kNames[static_cast<size_t>(edit.kind)]) + " " + std::to_string(edit.number) + " " +
         std::to_string(edit.item) + " " + std::to_string(edit.value) + " " + std::to_string(edit.real);
}

std::vector<MemoryPlan> plans_of(RecordedCall call, const KernelEntry& kernel) {
  std::vector<MemoryPlan> plans;
  const std::vector<RecordedCall::Named> tensors = call.tensors(kernel);
  MemoryPlan all;
  for (size_t w = 0; w < tensors.size(); ++w) {
    all.shared.push_back({w, 0});
    if (!tensors[w].is_written) continue;
    const auto written = static_cast<ptrdiff_t>(tensors[w].tensor->nbytes());
    for (size_t t = 0; t < tensors.size(); ++t) {
      if (t == w || (tensors[t].is_written && t < w)) continue;
      const auto other = static_cast<ptrdiff_t>(tensors[t].tensor->nbytes());
      if (written == 0 || other == 0) continue;
      const auto step = static_cast<ptrdiff_t>(
          std::max(element_size(tensors[w].tensor->type), element_size(tensors[t].tensor->type)));
      const auto rounded = [&](ptrdiff_t shift) { return shift / step * step; };
      std::set<ptrdiff_t> shifts = {
          0, step, -step, rounded(other / 2), rounded(-written / 2), rounded(other - written)};
      for (const ptrdiff_t shift : shifts) {
        if (shift < other && -shift < written) plans.push_back(plan_of(t, w, shift));
      }
    }
  }
  if (all.shared.size() > 2) plans.push_back(all);
  return plans;
}

std::string to_text(const MemoryPlan& plan) {
  std::string text;
  for (const MemoryPlan::Slot& number : plan.shared) {
    text += " tensor " + std::to_string(number.tensor) + " at " + std::to_string(number.offset);
  }
  return text;
}

}  // namespace rushlight::fuzz
