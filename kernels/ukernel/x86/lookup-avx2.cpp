// SPDX-License-Identifier: BSD-3-Clause
// Tables of 256 bytes on x86 by PSHUFB, which indexes 16 bytes: part p of the table gives the results for
// indices whose upper half is p, and 0 for others. Its operand is (index ^ 16 p) + 112 with saturation, which
// is below 128 if and only if the upper half is p; PSHUFB gives 0 for bytes from 128 on.
#include "kernels/ukernel/lookup.h"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kParts = 16;

#if defined(__AVX512F__)
RL_INLINE Widest repeated(const uint8_t* from) { return _mm512_broadcast_i32x4(load<__m128i>(from)); }
RL_INLINE Widest shuffled(Widest table, Widest index) { return _mm512_shuffle_epi8(table, index); }
RL_INLINE Widest add_unsigned_8(Widest a, Widest b) { return _mm512_adds_epu8(a, b); }
#else
RL_INLINE Widest repeated(const uint8_t* from) { return _mm256_broadcastsi128_si256(load<__m128i>(from)); }
RL_INLINE Widest shuffled(Widest table, Widest index) { return _mm256_shuffle_epi8(table, index); }
RL_INLINE Widest add_unsigned_8(Widest a, Widest b) { return _mm256_adds_epu8(a, b); }
#endif

RL_INLINE Widest looked_up(const Widest* parts, Widest index) {
  Widest found = all_8<Widest>(0);
  RL_UNROLL
  for (size_t part = 0; part < kParts; ++part) {
    const Widest own = index ^ all_8<Widest>(static_cast<int>(16 * part));
    found = found | shuffled(parts[part], add_unsigned_8(own, all_8<Widest>(0x70)));
  }
  return found;
}

}  // namespace

void look_up_bytes(const uint8_t* table, size_t count, const uint8_t* from, uint8_t* to) {
  size_t i = 0;
  if (count >= 4 * sizeof(Widest)) {  // enough to load the table into vectors
    Widest parts[kParts];
    for (size_t part = 0; part < kParts; ++part) parts[part] = repeated(table + 16 * part);
    for (; i + sizeof(Widest) <= count; i += sizeof(Widest)) {
      store(to + i, looked_up(parts, load<Widest>(from + i)));
    }
  }
  for (; i < count; ++i) to[i] = table[from[i]];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
