// SPDX-License-Identifier: BSD-3-Clause
// Devices of ExecuTorch's tensors and of PyTorch's. Compiles in both modes.
#pragma once

#include <optional>

#include <c10/core/Device.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

// The CPU has no index; a device of another kind keeps its index. Aborts for an unknown kind.
inline c10::Device executorch_to_torch_device(runtime::etensor::Device device) {
  if (device.is_cpu()) return c10::Device(c10::DeviceType::CPU);
  ET_CHECK_MSG(device.type() == runtime::etensor::DeviceType::CUDA, "device: expected CPU or CUDA, got %d",
               static_cast<int>(device.type()));
  return c10::Device(c10::DeviceType::CUDA, device.index());
}

// Empty for kinds of device that programs have no number for.
inline std::optional<runtime::etensor::Device> torch_to_executorch_device(c10::Device device) {
  if (device.is_cpu()) return runtime::etensor::Device(runtime::etensor::DeviceType::CPU);
  if (device.is_cuda()) return runtime::etensor::Device(runtime::etensor::DeviceType::CUDA, device.index());
  return std::nullopt;
}

}  // namespace executorch::extension
