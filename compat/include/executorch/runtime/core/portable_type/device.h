// SPDX-License-Identifier: BSD-3-Clause
// The device of a tensor's memory. rushlight computes on the CPU; memory of other devices is accessed through
// the DeviceAllocator that an application registers (core/device_allocator.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace executorch::runtime::etensor {

// Program files contain these values.
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };

// The number of kinds above.
constexpr size_t kNumDeviceTypes = 2;

// The index among devices of a kind; -1 where only the kind is known, as from EValue::toDevice().
using DeviceIndex = int8_t;

// A kind of device, and an index among devices of that kind. A tensor stores an index from -16 to 15 only.
struct Device final {
  using Type = DeviceType;

  // Not explicit: a DeviceType is its first device.
  Device(DeviceType type, DeviceIndex index = 0) : which_{type, index} {}

  DeviceType type() const noexcept { return which_.first; }
  DeviceIndex index() const noexcept { return which_.second; }
  // True for host memory, which kernels can access.
  bool is_cpu() const noexcept { return type() == Type::CPU; }
  // Equal if kind and index are.
  bool operator==(const Device& other) const noexcept { return which_ == other.which_; }
  bool operator!=(const Device& other) const noexcept { return which_ != other.which_; }

 private:
  std::pair<Type, DeviceIndex> which_;
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Device;
using ::executorch::runtime::etensor::DeviceType;
}  // namespace torch::executor
