// SPDX-License-Identifier: BSD-3-Clause
// Maps the values of an XNNPACK graph to tensors of a call list. A value of rank 4 can have two forms with
// the same bytes: plain, [n, height, width, channels] row-major, and pixels, [n, channels, height, width]
// channels-last. They share memory if it belongs to the list; otherwise the second form is a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/values.h"

namespace rushlight::xnnpack {

inline constexpr size_t kPixelRank = 4;

// Preconditions: ids are below size(); values used as pixels have rank 4.
class Forms {
 public:
  Forms(std::vector<Value> values, CallList* list);

  [[nodiscard]] size_t size() const { return values_.size(); }
  [[nodiscard]] const Value& value(uint32_t id) const { return values_[id]; }

  // For reading. Error: InvalidProgram (no node has written the value).
  [[nodiscard]] Result<ValueId> plain(uint32_t id);
  [[nodiscard]] Result<ValueId> pixels(uint32_t id);
  // For writing. Error: InvalidProgram (already written, a constant, or an input).
  [[nodiscard]] Result<ValueId> new_plain(uint32_t id);
  [[nodiscard]] Result<ValueId> new_pixels(uint32_t id);
  // Makes `id` the same tensor as `of`: a value that its readers quantize dynamically. Error: InvalidProgram.
  Error share(uint32_t id, uint32_t of);
  // Sets the dimensions that a node gives its result. For values inside of the graph, the file may hold those
  // from before the exporter's layout conversion (NCHW), which XNNPACK never reads. Inputs and outputs keep
  // theirs.
  void infer_dims(uint32_t id, std::vector<int32_t> dims);
  // Makes `id` an alias of `of` with other dimensions. Returns false if a call must copy it.
  [[nodiscard]] Result<bool> share_reshaped(uint32_t id, uint32_t of);
  // The pixel form of a row-major tensor [n, height, width, channels].
  [[nodiscard]] ValueId pixels_of(ValueId plain);
  // Adds a constant converted to `dtype`: float32 to float16 if a layer computes in float16, quantized to its
  // real values. Error: NotSupported.
  [[nodiscard]] Result<ValueId> constant_as(ScalarType dtype, std::vector<int32_t> sizes,
                                            std::vector<uint8_t> order, uint32_t id);
  // The elements of a constant as constant_as() converts them: the payload's bytes, or a conversion stored in
  // `made`. Error: NotSupported.
  [[nodiscard]] Result<Span<const uint8_t>> elements_as(ScalarType dtype, uint32_t id,
                                                        std::vector<uint8_t>* made) const;
  // Overrides the dtype of an output.
  void set_dtype(uint32_t id, ScalarType dtype) { states_[id].dtype = dtype; }

  // Returns true if the value exists only as pixels, in memory of the caller.
  [[nodiscard]] bool prefers_pixels(uint32_t id) const;

  void set_input(uint32_t id) { states_[id].is_input = states_[id].is_written = true; }
  void set_output(uint32_t id) { states_[id].is_output = true; }
  [[nodiscard]] bool is_output(uint32_t id) const { return states_[id].is_output; }
  // The tensor of an input or output. Error: InvalidProgram (an output that no node writes).
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

// Converts dimensions [n, height, width, channels] to sizes [n, channels, height, width].
[[nodiscard]] std::vector<int32_t> pixel_sizes(const std::vector<int32_t>& dims);

}  // namespace rushlight::xnnpack
