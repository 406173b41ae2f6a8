// SPDX-License-Identifier: BSD-3-Clause
// Executes elementwise computations. Fast path: one flat loop if all operands have the compute dtype and the
// output's layout. Otherwise the loops of plan_broadcast(), with operands of other dtypes converted, and
// repeated elements spread, in short spans on the stack. Long functions of bytes are looked up.
#include "kernels/walk/elementwise.h"

#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/broadcast.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kMaxOperands = kMaxElementwiseInputs + 1;
// Elements converted at a time; the stack holds one such span for each operand.
#ifdef __OPTIMIZE_SIZE__
constexpr size_t kRun = 32;
#else
constexpr size_t kRun = 256;
#endif
constexpr size_t kMaxElementSize = kSelectsComplex ? 16 : 8;

struct Walk {
  BroadcastAxis axes[kTensorDimensionLimit];  // innermost first
  size_t dim = 0;
};

struct Operand {
  ScalarType stored;    // dtype of the tensor
  ScalarType rounded;   // intermediate dtype of the conversion
  ScalarType computed;  // dtype of the row function

  [[nodiscard]] bool converts() const { return stored != computed || rounded != computed; }
};

struct Operands {
  size_t count;
  Operand items[kMaxOperands];
  bool converts;
  RowFunction row;
  const void* function;
};

// Reads n elements into a dense buffer; a rounded value is widened in place.
void read_span(char* buffer, const Operand& operand, const char* source, ptrdiff_t stride, size_t n) {
  const auto step = static_cast<ptrdiff_t>(element_size(operand.computed));
  convert_span(buffer, step, operand.rounded, source, stride, operand.stored, n);
  if (operand.rounded != operand.computed) {
    convert_span(buffer, step, operand.computed, buffer, step, operand.rounded, n);
  }
}

void write_span(char* target, ptrdiff_t stride, const Operand& operand, char* buffer, size_t n) {
  const auto step = static_cast<ptrdiff_t>(element_size(operand.computed));
  if (operand.rounded != operand.computed) {
    convert_span(buffer, step, operand.rounded, buffer, step, operand.computed, n);
  }
  convert_span(target, stride, operand.stored, buffer, step, operand.rounded, n);
}

// Rows of builds for speed have a loop for contiguous operands only, so inputs that repeat an element beside
// others that advance are spread to buffers.
#ifdef __OPTIMIZE_SIZE__
constexpr bool kSpreads = false;
#else
constexpr bool kSpreads = true;
#endif

// True if a row has such inputs, and is long enough.
bool has_repeats(const Operands& operands, const BroadcastAxis& row) {
  constexpr size_t kShort = 8;
  bool repeats = false;
  bool advances = false;
  for (size_t k = 1; k < operands.count; ++k) (row.strides[k] == 0 ? repeats : advances) = true;
  return repeats && advances && row.size >= kShort;
}

// Writes n > 0 copies of an element: one, then as many as are there.
void spread(char* buffer, const char* element, size_t size, size_t n) {
  std::memmove(buffer, element, size);  // may be there already
  for (size_t done = 1; done < n;) {
    const size_t more = n - done < done ? n - done : done;
    std::memcpy(buffer + done * size, buffer, more * size);
    done += more;
  }
}

// Computes n elements in spans that fit in buffers. An element that repeats is converted once.
void run_spans(const Operands& operands, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  alignas(kMaxElementSize) char buffers[kMaxOperands][kRun * kMaxElementSize];
  char* run_pointers[kMaxOperands];
  ptrdiff_t run_strides[kMaxOperands];
  size_t limit = kRun;
  if constexpr (kSpreads) {
    size_t widest = 1;
    for (size_t k = 0; k < operands.count; ++k) {
      const size_t size = element_size(operands.items[k].computed);
      if (size > widest) widest = size;
    }
    limit = kRun * kMaxElementSize / widest;
  }
  for (size_t start = 0; start < n; start += limit) {
    const size_t length = n - start < limit ? n - start : limit;
    for (size_t k = 0; k < operands.count; ++k) {
      const Operand& operand = operands.items[k];
      const size_t size = element_size(operand.computed);
      char* stored = pointers[k] + static_cast<ptrdiff_t>(start) * strides[k];
      const bool repeats = kSpreads && k > 0 && strides[k] == 0;
      run_pointers[k] = operand.converts() || repeats ? buffers[k] : stored;
      run_strides[k] = operand.converts() || repeats ? static_cast<ptrdiff_t>(size) : strides[k];
      if (k == 0 || (repeats && start > 0)) continue;
      if (operand.converts()) read_span(buffers[k], operand, stored, strides[k], repeats ? 1 : length);
      if (repeats) spread(buffers[k], operand.converts() ? buffers[k] : stored, size, length);
    }
    operands.row(operands.function, run_pointers, run_strides, length);
    if (operands.items[0].converts()) {
      write_span(pointers[0] + static_cast<ptrdiff_t>(start) * strides[0], strides[0], operands.items[0],
                 buffers[0], length);
    }
  }
}

void run_walk(const Walk& walk, const Operands& operands, char** pointers) {
  size_t index[kTensorDimensionLimit] = {};
  const BroadcastAxis& inner = walk.axes[0];
  while (true) {
    if (operands.converts || (kSpreads && has_repeats(operands, inner))) {
      run_spans(operands, pointers, inner.strides, inner.size);
    } else {
      operands.row(operands.function, pointers, inner.strides, inner.size);
    }
    // Advances like an odometer: an axis at its end goes back to its start, and the next one steps.
    size_t axis = 1;
    for (; axis < walk.dim; ++axis) {
      const BroadcastAxis& step = walk.axes[axis];
      for (size_t k = 0; k < operands.count; ++k) pointers[k] += step.strides[k];
      if (++index[axis] < step.size) break;
      for (size_t k = 0; k < operands.count; ++k) {
        pointers[k] -= step.strides[k] * static_cast<ptrdiff_t>(step.size);
      }
      index[axis] = 0;
    }
    if (axis >= walk.dim) return;
  }
}

#ifndef __OPTIMIZE_SIZE__
// Results for all values of an operand of one byte, in the dtype of the output.
struct ByteTable {
  static constexpr size_t kValues = 256;
  alignas(8) char results[kValues * 8];
  size_t operand;
};

// A row that looks up its results.
template <class Bits>
void lookup_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto& table = *static_cast<const ByteTable*>(function);
  char* to = pointers[0];
  const char* from = pointers[table.operand];
  // Copies, since stores of bytes may change the originals for all that the compiler knows.
  const char* const results = table.results;
  const ptrdiff_t to_step = strides[0];
  const ptrdiff_t from_step = strides[table.operand];
  for (; n > 0; --n, to += to_step, from += from_step) {
    std::memcpy(to, results + static_cast<uint8_t>(*from) * sizeof(Bits), sizeof(Bits));
  }
}

// Replaces the computation by lookups if one operand of a byte advances and no other does.
void make_table(const Tensor* const* tensors, char* const* pointers, Operands* operands, ByteTable* table) {
  const ScalarType result = operands->items[0].stored;
  const size_t size = element_size(result);
  const RowFunction lookup = size == 2   ? lookup_row<uint16_t>
                             : size == 4 ? lookup_row<uint32_t>
                             : size == 8 ? lookup_row<uint64_t>
                                         : nullptr;
  size_t advancing = 0;
  for (size_t k = 1; k < operands->count; ++k) {
    if (tensors[k]->numel() == 1) continue;
    if (advancing != 0) return;
    advancing = k;
  }
  constexpr size_t kWorth = 4 * ByteTable::kValues;
  if (lookup == nullptr || is_complex(result) || advancing == 0 || tensors[advancing]->element_size() != 1 ||
      tensors[advancing]->numel() < kWorth) {
    return;
  }
  uint8_t values[ByteTable::kValues];
  for (size_t i = 0; i < ByteTable::kValues; ++i) values[i] = static_cast<uint8_t>(i);
  char* given[kMaxOperands];
  ptrdiff_t strides[kMaxOperands] = {static_cast<ptrdiff_t>(size)};
  for (size_t k = 1; k < operands->count; ++k) given[k] = pointers[k];
  given[0] = table->results;
  given[advancing] = reinterpret_cast<char*>(values);
  strides[advancing] = 1;
  run_spans(*operands, given, strides, ByteTable::kValues);
  table->operand = advancing;
  *operands = {operands->count, {}, false, lookup, table};
}
#endif

Error check_conversion(const Operand& operand) {
  RL_TRY(check_convertible(operand.stored));
  RL_TRY(check_convertible(operand.rounded));
  return check_convertible(operand.computed);
}

// The part of complex elements that a pass processes: the whole element, or its real or imaginary part.
enum class Part : uint8_t { kWhole, kReal, kImaginary };

// A pass over parts sees complex tensors as real ones with doubled strides.
ScalarType seen_type(ScalarType type, Part part) {
  return kSelectsComplex && part != Part::kWhole ? component_type(type) : type;
}

char* seen_data(const Tensor& tensor, Part part) {
  const bool skips = kSelectsComplex && part == Part::kImaginary;
  return tensor.mutable_data_ptr<char>() + (skips ? tensor.element_size() / 2 : 0);
}

Operand result_operand(ScalarType stored, const Computation& computation) {
  // A float result is stored in a wider output without rounding, as in ExecuTorch's kernels.
  const bool is_exact = is_floating(computation.promoted) || is_complex(computation.promoted);
  const bool rounds = computation.result == computation.computed && !is_exact;
  return {stored, rounds ? computation.promoted : computation.result, computation.result};
}

// Conversion in two steps, as PyTorch promotes: to the promoted dtype first, which may round, then to the
// compute dtype.
Operand input_operand(ScalarType stored, bool is_number, const Computation& computation) {
  // No intermediate dtype if the input has the promoted dtype, or is a scalar that must not be rounded. Every
  // dtype holds the values of bool.
  bool exact = stored == computation.promoted ||
               (computation.numbers == Numbers::kExact && is_number && is_floating(computation.promoted));
  if constexpr (kSpreads) exact = exact || stored == ScalarType::Bool;
  return {stored, exact ? computation.computed : computation.promoted, computation.computed};
}

// The common case: all operands have the compute dtype, and each input has the layout of the output or, in
// small builds, is a scalar, with at least one of the former. Returns false, without effect, otherwise.
bool run_flat(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation) {
  const ScalarType type = computation.computed;
  if (computation.promoted != type || out.scalar_type() != computation.result) return false;
  char* pointers[kMaxOperands] = {out.mutable_data_ptr<char>()};
  ptrdiff_t strides[kMaxOperands] = {static_cast<ptrdiff_t>(out.element_size())};
  bool any_dense = false;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& input = *inputs[k];
    if (input.scalar_type() != type) return false;
    const bool dense = has_layout_of(input, out);
    any_dense = any_dense || dense;
    if (!dense && (kSpreads || input.numel() != 1 || input.dim() > out.dim())) return false;
    pointers[k + 1] = input.mutable_data_ptr<char>();
    strides[k + 1] = dense ? static_cast<ptrdiff_t>(element_size(type)) : 0;
  }
  if (!any_dense) return false;
  computation.row(computation.function, pointers, strides, out.numel());
  return true;
}

#ifndef __OPTIMIZE_SIZE__
// An operation on parts if the output is of the compute dtype, and each input has its dtype and layout or is
// one element: real loops over twice as many adjacent elements, beside which both parts of the one element
// alternate in a buffer. Returns false, without effect, otherwise. The output has its shape.
bool run_pairs(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation) {
  const ScalarType type = out.scalar_type();
  const ScalarType part = computation.computed;
  if (type != computation.promoted || component_type(type) != part || computation.result != part)
    return false;
  const auto size = static_cast<ptrdiff_t>(element_size(part));
  alignas(16) char buffers[kMaxOperands][kRun * 8];
  char* pointers[kMaxOperands] = {out.mutable_data_ptr<char>()};
  ptrdiff_t strides[kMaxOperands] = {size};
  bool advances[kMaxOperands] = {true};
  bool any_dense = false;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& input = *inputs[k];
    advances[k + 1] = input.scalar_type() == type && has_layout_of(input, out);
    any_dense = any_dense || advances[k + 1];
    if (!advances[k + 1] && (input.numel() != 1 || check_convertible(input.scalar_type()) != Error::Ok)) {
      return false;
    }
    pointers[k + 1] = input.mutable_data_ptr<char>();
    strides[k + 1] = size;
  }
  if (!any_dense) return false;
  for (size_t k = 1; k <= inputs.size(); ++k) {
    if (advances[k]) continue;
    convert_span(buffers[k], 2 * size, type, pointers[k], 0, inputs[k - 1]->scalar_type(), kRun / 2);
    pointers[k] = buffers[k];
  }
  const size_t n = 2 * out.numel();
  for (size_t start = 0; start < n; start += kRun) {
    const size_t length = n - start < kRun ? n - start : kRun;
    computation.row(computation.function, pointers, strides, length);
    for (size_t k = 0; k <= inputs.size(); ++k) {
      if (advances[k]) pointers[k] += static_cast<ptrdiff_t>(length) * size;
    }
  }
  return true;
}
#endif

// Computes one part. The output has its shape.
Error run_part(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation,
               Part part) {
  const Tensor* tensors[kMaxOperands] = {&out};
  char* pointers[kMaxOperands] = {seen_data(out, part)};
  alignas(8) char numbers[kMaxOperands][kMaxElementSize] = {};
  Operands operands{inputs.size() + 1,
                    {result_operand(seen_type(out.scalar_type(), part), computation)},
                    false,
                    computation.row,
                    computation.function};
  // An output of the promoted dtype is rounded by its own conversion.
  if (operands.items[0].stored == operands.items[0].rounded) {
    operands.items[0].rounded = operands.items[0].computed;
  }
  operands.converts = operands.items[0].converts();
  if (operands.converts) RL_TRY(check_conversion(operands.items[0]));
  for (size_t k = 1; k < operands.count; ++k) {
    const Tensor& input = *inputs[k - 1];
    Operand& operand = operands.items[k];
    if (kSelectsComplex && part == Part::kImaginary && !is_complex(input.scalar_type())) {
      pointers[k] = numbers[k];  // zero
      operand = {computation.computed, computation.computed, computation.computed};
      continue;
    }
    tensors[k] = &input;
    pointers[k] = seen_data(input, part);
    operand = input_operand(seen_type(input.scalar_type(), part), input.dim() == 0, computation);
    if (!operand.converts()) continue;
    RL_TRY(check_conversion(operand));
    if (input.numel() == 1) {
      // One element is converted once, not again for each span, and then repeats with stride 0.
      read_span(numbers[k], operand, pointers[k], 0, 1);
      pointers[k] = numbers[k];
      operand = {operand.computed, operand.computed, operand.computed};
    } else {
      operands.converts = true;
    }
  }
#ifndef __OPTIMIZE_SIZE__
  ByteTable table;
  if (computation.is_long && operands.converts) make_table(tensors, pointers, &operands, &table);
#endif
  Walk walk;
  walk.dim = plan_broadcast(tensors, operands.count, walk.axes);
  if (walk.dim == 0) walk.axes[walk.dim++] = BroadcastAxis{1, {}};
  run_walk(walk, operands, pointers);
  return Error::Ok;
}

}  // namespace

Error run_elementwise(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation) {
  const bool is_promoted = computation.result == computation.computed;
  const ScalarType result = is_promoted ? computation.promoted : computation.result;
  if (out.scalar_type() != result) RL_TRY(check_can_cast(result, out));
  // Bool tests whether any part is nonzero; other real dtypes would lose the imaginary part.
  const ScalarType promoted = computation.promoted;
  if (kSelectsComplex && !is_complex(promoted) && promoted != ScalarType::Bool) {
    for (const Tensor* input : inputs) {
      if (is_complex(input->scalar_type())) return unsupported_type(input->scalar_type());
    }
  }
  // A dynamic output may still have the sizes of an earlier call, so run_flat() takes only static ones.
  if (out.impl()->shape_dynamism() == TensorShapeDynamism::STATIC && run_flat(inputs, out, computation)) {
    return Error::Ok;
  }
  Shape shape;
  for (const Tensor* input : inputs) RL_TRY(broadcast_shape(shape.span(), input->sizes(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;
  // An operation on parts: two passes of real loops over the same elements.
  if (kSelectsComplex && is_complex(computation.promoted) && !is_complex(computation.computed)) {
#ifndef __OPTIMIZE_SIZE__
    if (run_pairs(inputs, out, computation)) return Error::Ok;
#endif
    Computation of_parts = computation;
    of_parts.promoted = component_type(computation.promoted);
    RL_TRY(run_part(inputs, out, of_parts, Part::kReal));
    return run_part(inputs, out, of_parts, Part::kImaginary);
  }
  return run_part(inputs, out, computation, Part::kWhole);
}

Error run_elementwise(const ElementwiseOperator& op, ScalarType promoted, const Tensor* const* tensors,
                      const void* function) {
  if (!contains(op.types, promoted)) return unsupported_type(promoted);
  const ScalarType own = promoted == ScalarType::Bool ? ScalarType::Byte : promoted;
  const ScalarType computed = contains(op.own, promoted) ? own : held_type(op.types, promoted, op.signs);
  const ElementwiseRow* row = op.rows;
  while (row->computed != computed) ++row;  // one row for each dtype that computes
#ifdef __OPTIMIZE_SIZE__
  return run_elementwise({tensors + 1, op.num_inputs}, *tensors[0],
                         {promoted, computed, row->result, op.numbers, row->row, function});
#else
  return run_elementwise({tensors + 1, op.num_inputs}, *tensors[0],
                         {promoted, computed, row->result, op.numbers, row->row, function, op.is_long});
#endif
}

namespace {

// Runs an operator whose function is empty, so its address is arbitrary.
Error run_empty(const ElementwiseOperator& op, ScalarType promoted, const Tensor& a, const Tensor* b,
                const Tensor& out) {
  const Tensor* const tensors[] = {&out, &a, b};
  return run_elementwise(op, promoted, tensors, &op);
}

}  // namespace

Error run_elementwise(const ElementwiseOperator& op, const Tensor& self, const Tensor& out) {
  return run_empty(op, self.scalar_type(), self, nullptr, out);
}

Error run_elementwise(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out) {
  return run_empty(op, result_type(a, b), a, &b, out);
}

Error run_floating(const ElementwiseOperator& op, const Tensor& self, const Tensor& out) {
  return run_empty(op, floating_type(self.scalar_type()), self, nullptr, out);
}

Error run_floating(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out) {
  return run_empty(op, floating_type(result_type(a, b)), a, &b, out);
}

#ifndef __OPTIMIZE_SIZE__
Error run_long(const ElementwiseOperator& op, const Tensor& self, const Tensor& out) {
  ElementwiseOperator of_long = op;
  of_long.is_long = true;
  return run_floating(of_long, self, out);
}

Error run_long(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out) {
  ElementwiseOperator of_long = op;
  of_long.is_long = true;
  return run_floating(of_long, a, b, out);
}
#endif

}  // namespace rushlight::kernels
