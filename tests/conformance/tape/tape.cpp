// SPDX-License-Identifier: BSD-3-Clause
// Validates the whole tape in init(), then interprets it: registers of one element, one pass over the steps
// per element. Cost: elements * steps. It uses each service of a backend once (named data, memory of the
// method, scratch, sizes as inputs), for tests of the delegate path.
#include "tape.h"

#include <cstring>
#include <new>
#include <string_view>

#include "runtime/program/named_data.h"

namespace rushlight::testing {

namespace {

enum Operator : uint32_t { kAdd, kSub, kMul, kNeg, kRelu, kOperators };

struct Step {
  uint32_t op, a, b;
};

struct Header {
  uint32_t dtype, inputs, constants, steps, outputs, key_size;
};

struct Tape {
  Header header;
  const Step* steps;
  const uint32_t* outputs;
  void* constants;

  [[nodiscard]] ScalarType dtype() const { return static_cast<ScalarType>(header.dtype); }
  [[nodiscard]] size_t registers() const { return size_t{header.inputs} + header.constants + header.steps; }
};

constexpr uint32_t kMost = 1U << 16;

// Errors: DelegateInvalidCompatibility if the bytes are not a tape.
Error check(const Header& header, size_t size) {
  const uint32_t counts[] = {header.inputs, header.constants, header.steps, header.outputs, header.key_size};
  for (const uint32_t count : counts) {
    RL_CHECK(count <= kMost, Error::DelegateInvalidCompatibility, "tape: a count of %lu", log_number(count));
  }
  const size_t expected =
      sizeof header + header.steps * sizeof(Step) + header.outputs * sizeof(uint32_t) + header.key_size;
  RL_CHECK(size == expected, Error::DelegateInvalidCompatibility, "tape: expected %lu bytes, got %lu",
           log_number(expected), log_number(size));
  const auto dtype = static_cast<ScalarType>(header.dtype);
  RL_CHECK(dtype == ScalarType::Float || dtype == ScalarType::Long, Error::DelegateInvalidCompatibility,
           "tape: dtype %lu", log_number(header.dtype));
  return Error::Ok;
}

Error check_registers(const Tape& tape) {
  for (uint32_t i = 0; i < tape.header.steps; ++i) {
    const Step& step = tape.steps[i];
    const size_t known = size_t{tape.header.inputs} + tape.header.constants + i;
    RL_CHECK(step.op < kOperators && step.a < known && step.b < known, Error::DelegateInvalidCompatibility,
             "tape: step %lu", log_number(i));
  }
  for (uint32_t i = 0; i < tape.header.outputs; ++i) {
    RL_CHECK(tape.outputs[i] < tape.registers(), Error::DelegateInvalidCompatibility, "tape: output %lu",
             log_number(i));
  }
  return Error::Ok;
}

template <class T>
T apply(uint32_t op, T a, T b) {
  switch (op) {
    case kAdd:
      return static_cast<T>(a + b);
    case kSub:
      return static_cast<T>(a - b);
    case kMul:
      return static_cast<T>(a * b);
    case kNeg:
      return static_cast<T>(-a);
    default:
      return a < 0 ? T{0} : a;
  }
}

// A tensor, or a scalar for all elements.
template <class T>
struct Input {
  const T* data;
  T number;

  [[nodiscard]] T at(size_t element) const { return data == nullptr ? number : data[element]; }
};

template <class T>
Error run(const Tape& tape, T* registers, const Input<T>* inputs, T* const* outputs, size_t count) {
  const Header& header = tape.header;
  T* const constants = registers + header.inputs;
  for (uint32_t i = 0; i < header.constants; ++i) constants[i] = static_cast<const T*>(tape.constants)[i];
  T* const results = constants + header.constants;
  for (size_t element = 0; element < count; ++element) {
    for (uint32_t i = 0; i < header.inputs; ++i) registers[i] = inputs[i].at(element);
    for (uint32_t i = 0; i < header.steps; ++i) {
      const Step& step = tape.steps[i];
      results[i] = apply(step.op, registers[step.a], registers[step.b]);
    }
    for (uint32_t i = 0; i < header.outputs; ++i) outputs[i][element] = registers[tape.outputs[i]];
  }
  return Error::Ok;
}

// All tensors have the dtype of the tape and the shape of the first; inputs may be sizes.
template <class T>
Error gather(BackendExecuteContext& context, const Tape& tape, Span<EValue* const> arguments) {
  const Header& header = tape.header;
  auto* registers = static_cast<T*>(context.allocate_temp(tape.registers() * sizeof(T)));
  auto* inputs = static_cast<Input<T>*>(context.allocate_temp(header.inputs * sizeof(Input<T>)));
  auto** outputs = static_cast<T**>(context.allocate_temp(header.outputs * sizeof(T*)));
  if (registers == nullptr || inputs == nullptr || outputs == nullptr) return Error::MemoryAllocationFailed;
  size_t position = 0;
  while (position + 1 < header.inputs && arguments[position]->is_int()) ++position;
  RL_TRY_ASSIGN(const Tensor first, input_tensor(arguments, position));
  for (uint32_t i = 0; i < header.inputs; ++i) {
    if (arguments[i]->is_int()) {
      inputs[i] = {nullptr, static_cast<T>(arguments[i]->to_int())};
      continue;
    }
    RL_TRY_ASSIGN(const Tensor x, input_tensor(arguments, i));
    RL_CHECK(x.scalar_type() == tape.dtype() && x.numel() == first.numel(), Error::InvalidArgument,
             "tape: input %lu has another dtype or size", log_number(i));
    inputs[i] = {x.const_data_ptr<T>(), T{0}};
  }
  for (uint32_t i = 0; i < header.outputs; ++i) {
    RL_TRY_ASSIGN(const Tensor y, output_tensor(arguments, size_t{header.inputs} + i));
    RL_CHECK(y.scalar_type() == tape.dtype(), Error::InvalidType, "tape: output %lu has another dtype",
             log_number(i));
    RL_TRY(y.impl()->resize(first.sizes()));
    outputs[i] = y.mutable_data_ptr<T>();
  }
  return run<T>(tape, registers, inputs, outputs, static_cast<size_t>(first.numel()));
}

}  // namespace

Result<DelegateHandle*> TapeBackend::init(BackendInitContext& context, FreeableBuffer* processed,
                                          Span<const CompileSpec>) const {
  const auto* bytes = static_cast<const uint8_t*>(processed->data());
  Header header{};
  RL_CHECK(processed->size() >= sizeof header, Error::DelegateInvalidCompatibility, "tape: %lu bytes",
           log_number(processed->size()));
  std::memcpy(&header, bytes, sizeof header);
  RL_TRY(check(header, processed->size()));
  const size_t element = header.dtype == static_cast<uint32_t>(ScalarType::Long) ? 8 : 4;
  const size_t steps_size = header.steps * sizeof(Step);
  const size_t outputs_size = header.outputs * sizeof(uint32_t);
  void* memory = context.allocate(sizeof(Tape));
  auto* steps = static_cast<uint8_t*>(context.allocate(steps_size + outputs_size));
  void* constants = context.allocate(header.constants * element);
  if (memory == nullptr || steps == nullptr || constants == nullptr) {
    return Error::DelegateMemoryAllocationFailed;
  }
  std::memcpy(steps, bytes + sizeof header, steps_size + outputs_size);
  auto* tape = new (memory) Tape{header, reinterpret_cast<const Step*>(steps),
                                 reinterpret_cast<const uint32_t*>(steps + steps_size), constants};
  RL_TRY(check_registers(*tape));
  if (header.constants > 0) {
    if (context.named_data() == nullptr) return Error::NotFound;
    const auto* key = reinterpret_cast<const char*>(bytes + sizeof header + steps_size + outputs_size);
    RL_TRY(context.named_data()->load_into(std::string_view(key, header.key_size), constants,
                                           header.constants * element));
  }
  processed->free();
  return static_cast<DelegateHandle*>(tape);
}

Error TapeBackend::execute(BackendExecuteContext& context, DelegateHandle* handle,
                           Span<EValue* const> arguments) const {
  const auto& tape = *static_cast<const Tape*>(handle);
  const size_t expected = size_t{tape.header.inputs} + tape.header.outputs;
  RL_CHECK(arguments.size() == expected, Error::InvalidProgram, "tape: expected %lu arguments, got %lu",
           log_number(expected), log_number(arguments.size()));
  return tape.dtype() == ScalarType::Long ? gather<int64_t>(context, tape, arguments)
                                          : gather<float>(context, tape, arguments);
}

}  // namespace rushlight::testing
