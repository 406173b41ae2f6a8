// SPDX-License-Identifier: BSD-3-Clause
// The gates of recurrent cells, by the functions of generic/vector_math.h.
#include "kernels/ukernel/recurrence.h"

#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE F32 gate_of(F32 x, F32 above) { return above / inverse_sigmoid(x); }
RL_INLINE F32 gate_of(F32 x) { return sigmoid(x); }
RL_INLINE F32 tanh_of(F32 x) { return tanh(x); }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/recurrence.inl"
