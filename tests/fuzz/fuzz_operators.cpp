// SPDX-License-Identifier: BSD-3-Clause
// One call of one operator of the table, on values of the kinds in its signature: tensors of any dtype, shape
// and dim order in memory of exactly their size, and scalars that are rarely valid. The kernel may refuse or
// compute anything: a failure is a sanitizer's report.
#include <cstring>
#include <vector>

#include "runtime/executor/arguments.h"
#include "tests/fuzz/argument_values.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kTemporary = 16384;

size_t count_operators() {
  size_t count = 0;
  for (const OperatorTable* table = &selected_operators; table != nullptr; table = table->next) {
    count += table->size;
  }
  return count;
}

const KernelEntry& operator_at(size_t index) {
  const OperatorTable* table = &selected_operators;
  for (; index >= table->size; table = table->next) index -= table->size;
  return table->entries[index];
}

Error call(const KernelEntry& kernel, Span<EValue* const> arguments, size_t temporary_bytes) {
  RL_TRY(check_kinds(kernel, arguments));
  RL_TRY(check_tensors(kernel, arguments.data(), When::Running));
  Heap heap;
  Arena temporary(heap.allocate(temporary_bytes));
  KernelContext context(&temporary);
  return kernel.call(context, arguments.data());
}

}  // namespace

// The first two bytes choose the operator, the others its arguments. The written tensors get one rank and
// dtype after another, until the operator takes them.
Outcome run_input(Span<const uint8_t> input) {
  const size_t operators = count_operators();
  if (input.size() < 2 || operators == 0) return {};
  const KernelEntry& kernel = operator_at((input[0] * 256u + input[1]) % operators);
  const Span<const uint8_t> rest = input.subspan(2, input.size() - 2);
  Outcome outcome;
  for (const WrittenType type :
       {WrittenType::First, WrittenType::Bool, WrittenType::Long, WrittenType::Any}) {
    for (size_t rank = 0; rank <= 5; ++rank) {
      Choices choices(rest);
      const size_t temporary = choices.of<size_t>({0, 256, kTemporary, kTemporary});
      ArgumentValues values(choices, type, rank);
      std::vector<EValue*> arguments;
      for (const char* code = kernel.signature; *code != '\0'; ++code) {
        EValue* value = values.make(*code);
        if (value == nullptr) return outcome;
        arguments.push_back(value);
      }
      outcome.error = call(kernel, {arguments.data(), arguments.size()}, temporary);
      outcome.stage = Stage::Loaded;
      if (outcome.error != Error::Ok) continue;
      for (const EValue* value : arguments) read_value(*value);
      return {Stage::Executed, Error::Ok};
    }
  }
  return outcome;
}

// A new input: its bytes are choices, so that any bytes are equally good.
size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  constexpr size_t kLength = 96;
  if (size < 2 || choices.one_in(2)) {
    size = capacity < kLength ? capacity : kLength;
    for (size_t i = 0; i < size; ++i) data[i] = choices.byte();
  }
  for (size_t i = choices.below(4); i-- > 0 && size > 0;) data[choices.below(size)] = choices.byte();
  return size;
}

}  // namespace rushlight::fuzz
