// SPDX-License-Identifier: BSD-3-Clause
// shapes_are_apart() finds aliased tensors with a mark bit in each tensor, in three passes over the
// arguments: linear time and no memory, where comparing all pairs would be quadratic in the length of tensor
// lists.
#include "runtime/executor/arguments.h"

#include <cstring>

#include "runtime/base/log.h"

namespace rushlight {

namespace {

// The kinds that a signature character accepts; an upper-case one also accepts None. Numbers convert as in
// boxing.h.
bool accepts(char code, const EValue& value) {
  const bool may_be_none = code >= 'A' && code <= 'Z';
  if (may_be_none && value.is_none()) return true;
  const Tag tag = value.tag;
  // The character in lower case: None is decided, and the kind remains.
  switch (may_be_none ? code - 'A' + 'a' : code) {
    case 't':
    case 'w':
      return tag == Tag::Tensor;
    case 'i':
    case 'b':
      return tag == Tag::Int || tag == Tag::Bool;
    case 'd':
    case 's':
      return value.is_number();
    case 'z':
      return tag == Tag::String;
    case 'n':
      return tag == Tag::ListInt;
    case 'f':
      return tag == Tag::ListDouble;
    case 'o':
      return tag == Tag::ListBool;
    case 'l':
    case 'k':
      return tag == Tag::ListTensor;
    case 'p':
      return tag == Tag::ListOptionalTensor;
    case 'e':
      return true;
    default:
      return false;
  }
}

uint32_t count_tensors(const EValue& value) {
  if (value.is_tensor()) return 1;
  const bool is_list = value.tag == Tag::ListTensor || value.tag == Tag::ListOptionalTensor;
  return is_list ? value.length : 0;
}

TensorImpl* impl_of(const EValue* item) {
  return item == nullptr || item->is_none() ? nullptr : item->payload.as_tensor.impl();
}

// The i-th of count_tensors() tensors; null for an absent one.
TensorImpl* tensor_at(const EValue& value, uint32_t i) {
  if (value.is_tensor()) return value.payload.as_tensor.impl();
  if (value.tag == Tag::ListTensor) {
    const auto* list = value.payload.as_tensor_list;
    return list->values == nullptr ? list->items[i].impl() : impl_of(list->values[i]);
  }
  const auto* list = value.payload.as_optional_tensor_list;
  if (list->values != nullptr) return impl_of(list->values[i]);
  return list->items[i].has_value() ? list->items[i]->impl() : nullptr;
}

// Returns true if no tensor that is written and may change its shape is named twice.
bool shapes_are_apart(const char* signature, EValue* const* arguments) {
  enum Pass { kMark, kCompare, kClear };
  bool apart = true;
  for (const Pass pass : {kMark, kCompare, kClear}) {
    for (size_t i = 0; signature[i] != '\0'; ++i) {
      const bool written = is_written(signature[i]);
      // Written tensors are marked and cleared, all others compared. 'e' arguments are exempt: they are
      // values that the operator replaces (boxing.h).
      if (written == (pass == kCompare) || signature[i] == 'e') continue;
      for (uint32_t n = count_tensors(*arguments[i]); n-- > 0;) {
        TensorImpl* tensor = tensor_at(*arguments[i], n);
        if (tensor == nullptr || tensor->shape_dynamism() == TensorShapeDynamism::STATIC) continue;
        // In the pass kMark a set mark means that two written arguments name one tensor.
        if (pass != kClear && tensor->is_marked()) apart = false;
        if (written) tensor->set_marked(pass == kMark);
      }
    }
  }
  return apart;
}

Error check_tensor(const TensorImpl& tensor, bool written, When when) {
  // A tensor that has memory must be writable: constants and lent inputs are not.
  if (written && tensor.storage() != Storage::None) {
    return tensor.is_writable() ? Error::Ok : Error::InvalidProgram;
  }
  // A tensor without memory must be empty; one that is written must also be unable to grow.
  const bool ready = tensor.data() != nullptr || (written ? tensor.numel_bound() : tensor.numel()) == 0;
  return ready || when == When::Loading ? Error::Ok : Error::InvalidState;
}

}  // namespace

Error check_kinds(const KernelEntry& kernel, Span<EValue* const> arguments) {
  const size_t expected = std::strlen(kernel.signature);
  // A program may pass more arguments than the signature has; the kernel does not see them.
  RL_CHECK(arguments.size() >= expected, Error::InvalidProgram,
           "operator %s: expected %lu arguments, got %lu", kernel.name, log_number(expected),
           log_number(arguments.size()));
  for (size_t i = 0; i < expected; ++i) {
    RL_CHECK(accepts(kernel.signature[i], *arguments[i]), Error::InvalidProgram,
             "operator %s: argument %lu is a %s, expected '%c'", kernel.name, log_number(i),
             to_string(arguments[i]->tag), kernel.signature[i]);
  }
  return Error::Ok;
}

Error check_tensors(const KernelEntry& kernel, EValue* const* arguments, When when) {
  for (size_t i = 0; kernel.signature[i] != '\0'; ++i) {
    const char code = kernel.signature[i];
    if (code == 'e') continue;
    for (uint32_t n = count_tensors(*arguments[i]); n-- > 0;) {
      const TensorImpl* tensor = tensor_at(*arguments[i], n);
      if (tensor == nullptr) continue;
      const Error error = check_tensor(*tensor, is_written(code), when);
      RL_CHECK(error == Error::Ok, error, "operator %s: argument %lu is %s", kernel.name, log_number(i),
               error == Error::InvalidState ? "a tensor without memory" : "written, but constant or lent");
    }
  }
  RL_CHECK(shapes_are_apart(kernel.signature, arguments), Error::InvalidProgram,
           "operator %s: resizes a tensor that it also reads", kernel.name);
  return Error::Ok;
}

}  // namespace rushlight
