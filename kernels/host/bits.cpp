// SPDX-License-Identifier: BSD-3-Clause
// Bitwise and logical and, or and xor on 64-bit words: eight bytes for each operation, for every dtype.
#include <cstdint>
#include <cstring>

#include "kernels/backs/elementwise.h"
#include "kernels/host/elementwise.h"

namespace rushlight::kernels::host {

namespace {

using Word = uint64_t;

// Loads `count` bytes into a word; the rest of the word is 0.
Word load(const char* from, size_t count) {
  Word word = 0;
  std::memcpy(&word, from, count);
  return word;
}

// Replaces each nonzero byte, which is true, by 1. Adding 0x7f to the low 7 bits carries into bit 7.
Word truth(Word bytes) {
  constexpr Word kLow = 0x7f7f7f7f7f7f7f7f;
  return ((((bytes & kLow) + kLow) | bytes) >> 7) & 0x0101010101010101;
}

// Fills the word with copies of an element of `size` bytes.
Word repeat(const char* from, size_t size) {
  Word word = load(from, size);
  for (size_t bits = 8 * size; bits < 64; bits *= 2) word |= word << bits;
  return word;
}

// Applies f to rows of elements of `size` bytes; with kTruth to their truth values.
template <bool kTruth, class F>
void combine_rows(const ukernel::Rows& rows, size_t size, F f) {
  const auto bits = [](Word word) { return kTruth ? truth(word) : word; };
  const size_t bytes = rows.n * size;
  for (size_t row = 0; row < rows.count; ++row) {
    const auto at = static_cast<ptrdiff_t>(row);
    const char* a = static_cast<const char*>(rows.in[0].data) + at * rows.in[0].stride;
    const char* b = static_cast<const char*>(rows.in[1].data) + at * rows.in[1].stride;
    char* out = static_cast<char*>(rows.out) + at * rows.stride;
    const bool one_a = rows.in[0].one;
    const bool one_b = rows.in[1].one;
    // A single element is repeated in a word once, not loaded for each word.
    const Word all_a = one_a ? bits(repeat(a, size)) : 0;
    const Word all_b = one_b ? bits(repeat(b, size)) : 0;
    const auto combine = [&](size_t i, size_t count) {
      const Word x = one_a ? all_a : bits(load(a + i, count));
      const Word y = one_b ? all_b : bits(load(b + i, count));
      const Word word = f(x, y);
      std::memcpy(out + i, &word, count);
    };
    size_t i = 0;
    for (; i + sizeof(Word) <= bytes; i += sizeof(Word)) combine(i, sizeof(Word));
    // The last bytes, fewer than a word: nothing behind the row is read or written.
    if (i < bytes) combine(i, bytes - i);
  }
}

template <class F>
Error combine(KernelContext& context, const BinaryProblem& problem, F f) {
  const Tensor& a = problem.a;
  const Tensor& b = problem.b;
  const Tensor& out = problem.out;
  if (out.scalar_type() == ScalarType::Bool)
    return elementwise(
        context, out, [f](const ukernel::Rows& rows) { combine_rows<true>(rows, 1, f); }, a, b);
  const size_t size = out.element_size();
  return elementwise(
      context, out, [f, size](const ukernel::Rows& rows) { combine_rows<false>(rows, size, f); }, a, b);
}

}  // namespace

Error bits_and(KernelContext& context, const BinaryProblem& problem) {
  return combine(context, problem, [](Word a, Word b) { return a & b; });
}

Error bits_or(KernelContext& context, const BinaryProblem& problem) {
  return combine(context, problem, [](Word a, Word b) { return a | b; });
}

Error bits_xor(KernelContext& context, const BinaryProblem& problem) {
  return combine(context, problem, [](Word a, Word b) { return a ^ b; });
}

}  // namespace rushlight::kernels::host
