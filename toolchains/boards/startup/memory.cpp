// SPDX-License-Identifier: BSD-3-Clause
// Word-wise memcpy, memmove and memset: picolibc's work byte by byte, which costs an inference 10 to 25 %.
// Compile flags keep the compiler from replacing these loops by calls of the same functions.
#include <cstddef>
#include <cstdint>

namespace {

using Word = uintptr_t __attribute__((may_alias));
constexpr size_t kWord = sizeof(Word);
constexpr size_t kBlock = 8 * kWord;
// Below this size, aligning costs more than it saves.
constexpr size_t kShort = 2 * kWord;

size_t misalignment(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kWord; }

Word* words(uint8_t* bytes) { return reinterpret_cast<Word*>(bytes); }
const Word* words(const uint8_t* bytes) { return reinterpret_cast<const Word*>(bytes); }

// Copies eight words; loads all before the first store.
inline void copy_block(uint8_t* to, const uint8_t* from) {
#if defined(__arm__) && __ARM_ARCH >= 7
  asm volatile(
      "ldmia %1, {r3, r4, r5, r6, r8, r9, r10, r12}\n"
      "stmia %0, {r3, r4, r5, r6, r8, r9, r10, r12}"
      :
      : "r"(to), "r"(from)
      : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "memory");
#else
  const Word* source = words(from);
  const Word a = source[0], b = source[1], c = source[2], d = source[3];
  const Word e = source[4], f = source[5], g = source[6], h = source[7];
  Word* target = words(to);
  target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  target[4] = e, target[5] = f, target[6] = g, target[7] = h;
#endif
}

// Copies whole words to an aligned `to` from a misaligned `from`; returns the number of bytes copied.
inline size_t copy_misaligned(uint8_t* to, const uint8_t* from, size_t size) {
  size_t done = 0;
#ifdef __ARM_FEATURE_UNALIGNED
  struct __attribute__((packed, may_alias)) AnyWord {
    uintptr_t value;
  };
  for (; done + 4 * kWord <= size; done += 4 * kWord) {
    const auto* source = reinterpret_cast<const AnyWord*>(from + done);
    Word* target = words(to + done);
    const Word a = source[0].value, b = source[1].value, c = source[2].value, d = source[3].value;
    target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  }
  for (; done + kWord <= size; done += kWord) {
    *words(to + done) = reinterpret_cast<const AnyWord*>(from + done)->value;
  }
#else
  // Combines aligned words; each of them contains at least one requested byte.
  const size_t shift = 8 * misalignment(from);
  const Word* source = words(from - misalignment(from));
  Word low = *source++;
  for (; done + kWord <= size; done += kWord) {
    const Word high = *source++;
    *words(to + done) = (low >> shift) | (high << (8 * kWord - shift));
    low = high;
  }
#endif
  return done;
}

// Copies in ascending order, which is correct if `to` is below `from`.
inline void copy_up(uint8_t* to, const uint8_t* from, size_t size) {
  if (size >= kShort) {
    for (; misalignment(to) != 0; --size) *to++ = *from++;
    if (misalignment(from) != 0) {
      const size_t done = copy_misaligned(to, from, size);
      to += done, from += done, size -= done;
    } else {
      for (; size >= kBlock; to += kBlock, from += kBlock, size -= kBlock) copy_block(to, from);
      for (; size >= kWord; to += kWord, from += kWord, size -= kWord) *words(to) = *words(from);
    }
  }
  for (; size > 0; --size) *to++ = *from++;
}

// Copies in descending order; `to` and `from` point to the ends.
inline void copy_down(uint8_t* to, const uint8_t* from, size_t size) {
  if (size >= kShort && misalignment(to) == misalignment(from)) {
    for (; misalignment(to) != 0; --size) *--to = *--from;
    for (; size >= kWord; size -= kWord) {
      to -= kWord, from -= kWord;
      *words(to) = *words(from);
    }
  }
  for (; size > 0; --size) *--to = *--from;
}

}  // namespace

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, size_t size) {
  copy_up(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), size);
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  auto* target = static_cast<uint8_t*>(to);
  const auto* source = static_cast<const uint8_t*>(from);
  // One unsigned comparison: also true if `to` is below `from`.
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >= size) {
    copy_up(target, source, size);
  } else {
    copy_down(target + size, source + size, size);
  }
  return to;
}

void* memset(void* to, int value, size_t size) {
  auto* target = static_cast<uint8_t*>(to);
  const auto byte = static_cast<uint8_t>(value);
  if (size >= kShort) {
    for (; misalignment(target) != 0; --size) *target++ = byte;
    const Word word = ~Word{0} / 255 * byte;
    for (; size >= kBlock; target += kBlock, size -= kBlock) {
      Word* at = words(target);
      at[0] = word, at[1] = word, at[2] = word, at[3] = word;
      at[4] = word, at[5] = word, at[6] = word, at[7] = word;
    }
    for (; size >= kWord; target += kWord, size -= kWord) *words(target) = word;
  }
  for (; size > 0; --size) *target++ = byte;
  return to;
}

#if defined(__arm__) && defined(__clang__)
// Clang calls these functions; the C library's would pull in its memcpy and memmove.
#define RUSHLIGHT_ALIAS(result, name, of, ...) result name(__VA_ARGS__) __attribute__((alias(of)))
RUSHLIGHT_ALIAS(void*, __aeabi_memcpy, "memcpy", void*, const void*, size_t);
RUSHLIGHT_ALIAS(void*, __aeabi_memcpy4, "memcpy", void*, const void*, size_t);
RUSHLIGHT_ALIAS(void*, __aeabi_memcpy8, "memcpy", void*, const void*, size_t);
RUSHLIGHT_ALIAS(void*, __aeabi_memmove, "memmove", void*, const void*, size_t);
RUSHLIGHT_ALIAS(void*, __aeabi_memmove4, "memmove", void*, const void*, size_t);
RUSHLIGHT_ALIAS(void*, __aeabi_memmove8, "memmove", void*, const void*, size_t);

void __aeabi_memset(void* to, size_t size, int value) { memset(to, value, size); }
RUSHLIGHT_ALIAS(void, __aeabi_memset4, "__aeabi_memset", void*, size_t, int);
RUSHLIGHT_ALIAS(void, __aeabi_memset8, "__aeabi_memset", void*, size_t, int);

void __aeabi_memclr(void* to, size_t size) { memset(to, 0, size); }
RUSHLIGHT_ALIAS(void, __aeabi_memclr4, "__aeabi_memclr", void*, size_t);
RUSHLIGHT_ALIAS(void, __aeabi_memclr8, "__aeabi_memclr", void*, size_t);
#undef RUSHLIGHT_ALIAS
#endif

}  // extern "C"
