// SPDX-License-Identifier: BSD-3-Clause
// Lowers payloads of backends to programs of plain calls, for `rushlight convert`, which replaces delegates
// by them.
#include "python/bindings/delegates.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "backends/calls/blob_map.h"
#include "backends/xnnpack/delegate.h"
#include "python/bindings/convert.h"
#include "python/bindings/failure.h"

namespace py = pybind11;

namespace rushlight {

namespace {

Span<const uint8_t> bytes_of(const py::buffer_info& info) {
  return {static_cast<const uint8_t*>(info.ptr), static_cast<size_t>(info.size * info.itemsize)};
}

// A copy, which outlives the payload.
py::bytes to_bytes(Span<const uint8_t> bytes) {
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Keeps no state: the result consists of copies, and errors carry the log of the node that failed.
py::dict lower_xnnpack(const py::buffer& payload, const std::map<std::string, py::buffer>& named_data,
                       bool is_dynamic) {
  const py::buffer_info info = payload.request();
  // Holds the buffers while the payload is read: a released buffer may move.
  std::vector<py::buffer_info> blobs;
  BlobMap named;
  for (const auto& [key, buffer] : named_data) {
    blobs.push_back(buffer.request());
    named.add(key, bytes_of(blobs.back()));
  }
  // `named` and the pool refer to the buffers of this call; everything that is returned is copied.
  const xnnpack::Payload read = value_of([&] { return xnnpack::Payload::read(bytes_of(info), &named); });
  const xnnpack::Lowered lowered = value_of([&] { return xnnpack::lower_to_program(read, is_dynamic); });
  py::dict constants;
  for (const CallList::Constant& constant : lowered.calls->constants())
    constants[to_str(constant.key.c_str())] = to_bytes(constant.bytes);
  // One handle per call, as fusing may have removed nodes.
  py::list handles;
  for (size_t i = 0; i < lowered.calls->num_calls(); ++i) handles.append(lowered.calls->debug_handle(i));
  py::dict result;
  result["program"] = to_bytes({lowered.program.data(), lowered.program.size()});
  result["constants"] = constants;
  result["inputs"] = lowered.ends.inputs;
  result["outputs"] = lowered.ends.outputs;
  result["debug_handles"] = handles;
  return result;
}

}  // namespace

void bind_delegates(py::module_& m) {
  m.def(
      "lower_xnnpack", &lower_xnnpack, py::arg("payload"), py::arg("named_data"), py::arg("dynamic"),
      "Lowers an XNNPACK payload to a program of plain calls: its bytes, its external constants by name, the "
      "indices of the delegate's arguments that are its inputs and outputs, and the exporter's debug "
      "handle of each instruction.");
}

}  // namespace rushlight
