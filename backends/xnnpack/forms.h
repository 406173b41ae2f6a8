// SPDX-License-Identifier: BSD-3-Clause
// The tensors that stand for a graph's values in a list of calls. A value of pixels has two forms, of one
// memory where that is the list's own; otherwise the second one is a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/values.h"

namespace rushlight::xnnpack {

inline constexpr size_t kPixelRank = 4;

class Forms {
 public:
  Forms(std::vector<Value> values, CallList* list);

  [[nodiscard]] size_t size() const { return values_.size(); }
  [[nodiscard]] const Value& value(uint32_t id) const { return values_[id]; }

  // Ids are below size(), and of rank 4 where pixels are asked for.
  // To read. Error: InvalidProgram (nothing has written it).
  [[nodiscard]] Result<ValueId> plain(uint32_t id);
  [[nodiscard]] Result<ValueId> pixels(uint32_t id);
  // To write. Error: InvalidProgram (it has been written, or is a constant or an input).
  [[nodiscard]] Result<ValueId> new_plain(uint32_t id);
  [[nodiscard]] Result<ValueId> new_pixels(uint32_t id);
  // `id` is the same tensor as `of`: numbers that are quantized where they are read.
  Error share(uint32_t id, uint32_t of);
  // The dims that a node gives its result. Of values inside of the graph the file may have those before the
  // exporter exchanged them (NCHW), which XNNPACK never reads; ends keep theirs.
  void infer_dims(uint32_t id, std::vector<int32_t> dims);
  // `id` is `of`, which has been written, under other dims. False: a call has to copy it.
  [[nodiscard]] Result<bool> share_reshaped(uint32_t id, uint32_t of);
  // A row-major tensor [n, height, width, channels] as pixels.
  [[nodiscard]] ValueId pixels_of(ValueId plain);
  // A constant as `dtype`: of float32 as float16 where a layer computes in that, of quantized numbers what
  // they stand for. Error: NotSupported.
  [[nodiscard]] Result<ValueId> constant_as(ScalarType dtype, std::vector<int32_t> sizes,
                                            std::vector<uint8_t> order, uint32_t id);
  // The elements of a constant as constant_as() has them: the payload's bytes, or what was made of them in
  // `made`. Error: NotSupported.
  [[nodiscard]] Result<Span<const uint8_t>> elements_as(ScalarType dtype, uint32_t id,
                                                        std::vector<uint8_t>* made) const;
  // Declares an output of another dtype than its value's.
  void set_dtype(uint32_t id, ScalarType dtype) { states_[id].dtype = dtype; }

  // Whether its only form so far is that of pixels, which the caller's memory holds.
  [[nodiscard]] bool prefers_pixels(uint32_t id) const;

  void set_input(uint32_t id) { states_[id].is_input = states_[id].is_written = true; }
  void set_output(uint32_t id) { states_[id].is_output = true; }
  [[nodiscard]] bool is_output(uint32_t id) const { return states_[id].is_output; }
  // Of an input or output, the form that is its end. Error: InvalidProgram (an output that nothing writes).
  [[nodiscard]] Result<ValueId> end(uint32_t id);

 private:
  struct State {
    ValueId plain = -1, pixels = -1, first = -1;
    ScalarType dtype = ScalarType::Float;
    bool is_input = false, is_output = false, is_written = false;
  };

  [[nodiscard]] bool is_outside(const State& state) const { return state.is_input || state.is_output; }
  Error check_written(uint32_t id) const;
  Error begin_write(uint32_t id);
  ValueId make(uint32_t id, bool of_pixels);
  ValueId other_form(uint32_t id, bool of_pixels);

  std::vector<Value> values_;
  std::vector<State> states_;
  CallList& list_;
};

// [n, height, width, channels] as sizes [n, channels, height, width].
[[nodiscard]] std::vector<int32_t> pixel_sizes(const std::vector<int32_t>& dims);

}  // namespace rushlight::xnnpack
