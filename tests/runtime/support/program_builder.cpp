// SPDX-License-Identifier: BSD-3-Clause
// ExecuTorch's schema defines the field numbers, written out here; see data_files.cpp for the reason.
#include "tests/runtime/support/program_builder.h"

#include <numeric>

namespace rushlight::testing {

namespace {

NodePtr instruction(uint8_t kind, NodePtr arguments) {
  return table({{0, number(kind)}, {1, link(std::move(arguments))}});
}

template <class T>
NodePtr list(uint8_t kind, const std::vector<T>& items) {
  return value(kind, table({{0, link(vector(items))}}));
}

template <class Items, class F>
NodePtr table_of_each(const Items& items, F f) {
  std::vector<NodePtr> nodes;
  for (const auto& item : items) nodes.push_back(f(item));
  return tables(std::move(nodes));
}

NodePtr plan_table(const PlanSpec& plan) {
  std::vector<NodePtr> chains;
  if (plan.has_chain) chains.push_back(table({{2, link(tables(plan.instructions))}}));
  for (const auto& instructions : plan.more_chains)
    chains.push_back(table({{2, link(tables(instructions))}}));
  const NodePtr operators = table_of_each(plan.operators, [](const auto& name) {
    return table({{0, link(text(name.first))}, {1, link(text(name.second))}});
  });
  const NodePtr delegates = table_of_each(plan.delegates, [](const DelegateSpec& spec) {
    const NodePtr specs = table_of_each(spec.specs, [](const auto& entry) {
      return table({{0, link(text(entry.first))}, {1, link(vector(entry.second))}});
    });
    return table({{0, link(text(spec.id))},
                  {1, link(table({{0, number(uint8_t{spec.in_segment})}, {1, number(spec.index)}}))},
                  {2, link(specs)}});
  });
  const NodePtr devices = table_of_each(plan.devices, [](const auto& device) {
    return table({{0, number(std::get<0>(device))},
                  {1, number(std::get<1>(device))},
                  {2, number(std::get<2>(device))}});
  });
  return table({{0, link(text(plan.name))},
                {2, link(tables(plan.values))},
                {3, link(vector(plan.inputs))},
                {4, link(vector(plan.outputs))},
                {5, link(tables(chains))},
                {6, link(operators)},
                {7, link(delegates)},
                {8, link(vector(plan.buffer_sizes))},
                {9, link(devices)}});
}

NodePtr subsegment(const std::vector<uint64_t>& offsets) {
  return table({{0, number(uint32_t{0})}, {1, link(vector(offsets))}});
}

NodePtr root_table(const ProgramSpec& program) {
  std::map<unsigned, FlatField> fields;
  fields[0] = number(program.version);
  fields[1] = link(table_of_each(program.plans, plan_table));
  fields[2] = link(table_of_each(program.inline_constants,
                                 [](const Bytes& bytes) { return table({{0, link(vector(bytes))}}); }));
  fields[3] = link(table_of_each(program.inline_delegates,
                                 [](const Bytes& bytes) { return table({{0, link(vector(bytes))}}); }));
  if (!program.segment.empty()) {
    const uint64_t size = program.segment.size();
    fields[4] = link(tables({table({{0, number(uint64_t{0})}, {1, number(size)}})}));
  }
  if (!program.constant_offsets.empty()) fields[5] = link(subsegment(program.constant_offsets));
  if (!program.mutable_offsets.empty()) fields[6] = link(tables({subsegment(program.mutable_offsets)}));
  std::vector<NodePtr> named;
  for (const auto& [key, segment] : program.named_data) {
    named.push_back(table({{0, link(text(key))}, {1, number(segment)}}));
  }
  if (!named.empty()) fields[7] = link(tables(named));
  return table(std::move(fields));
}

}  // namespace

NodePtr value(uint8_t kind, NodePtr content) {
  return table({{0, number(kind)}, {1, link(std::move(content))}});
}
NodePtr none() { return value(1, table({})); }
NodePtr integer(int64_t v) { return value(2, table({{0, number(v)}})); }
NodePtr boolean(uint8_t v) { return value(3, table({{0, number(v)}})); }
NodePtr real(double v) { return value(4, table({{0, number(v)}})); }
NodePtr string(const std::string& v) { return value(6, table({{0, link(text(v))}})); }
NodePtr int_list(const std::vector<int64_t>& indices) { return list(7, indices); }
NodePtr double_list(const std::vector<double>& values) { return list(8, values); }
NodePtr bool_list(const std::vector<uint8_t>& values) { return list(9, values); }
NodePtr tensor_list(const std::vector<int32_t>& indices) { return list(10, indices); }
NodePtr optional_tensor_list(const std::vector<int32_t>& indices) { return list(11, indices); }

NodePtr tensor(const TensorSpec& spec) {
  std::vector<uint8_t> order(spec.sizes.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::map<unsigned, FlatField> fields;
  fields[0] = number(static_cast<int8_t>(spec.type));
  fields[2] = link(vector(spec.sizes));
  fields[3] = link(vector(spec.dim_order.value_or(order)));
  fields[5] = number(spec.constant);
  if (spec.memory_id != 0) {
    fields[6] = link(table({{0, number(static_cast<uint32_t>(spec.memory_id))},
                            {1, number(static_cast<uint32_t>(spec.offset))},
                            {2, number(static_cast<uint32_t>(spec.offset >> 32))}}));
  }
  fields[8] = number(static_cast<uint8_t>(spec.dynamism));
  if (spec.mutable_segment || spec.external || spec.device != 0) {
    fields[9] = link(table({{0, number(spec.mutable_segment.value_or(0))},
                            {1, link(text("layer.weight"))},
                            {2, number(static_cast<uint8_t>(spec.external))},
                            {3, number(spec.device)},
                            {4, number(spec.device_index)}}));
  }
  return value(5, table(std::move(fields)));
}

NodePtr call(int32_t op, const std::vector<int32_t>& arguments) {
  return instruction(1, table({{0, number(op)}, {1, link(vector(arguments))}}));
}
NodePtr delegate_call(int32_t delegate, const std::vector<int32_t>& arguments) {
  return instruction(2, table({{0, number(delegate)}, {1, link(vector(arguments))}}));
}
NodePtr move(int32_t from, int32_t to) { return instruction(3, table({{0, number(from)}, {1, number(to)}})); }
NodePtr jump_false(int32_t condition, int32_t destination) {
  return instruction(4, table({{0, number(condition)}, {1, number(destination)}}));
}
NodePtr free_value(int32_t v) { return instruction(5, table({{0, number(v)}})); }

Bytes build(const ProgramSpec& program) {
  Bytes head;
  if (program.header_length != 0) head.resize(32);
  Bytes file = flat_file(root_table(program), program.identifier, head);
  if (program.header_length == 0) return file;
  const uint64_t flat_size = file.size();
  while (file.size() % 128 != 0) file.push_back(0);
  const uint64_t base = program.segment.empty() ? 0 : file.size();
  const uint64_t segments = program.segment.size();
  file.insert(file.end(), program.segment.begin(), program.segment.end());
  std::memcpy(&file[8], "eh00", 4);
  std::memcpy(&file[12], &program.header_length, 4);
  std::memcpy(&file[16], &flat_size, 8);
  std::memcpy(&file[24], &base, 8);
  std::memcpy(&file[32], &segments, 8);
  return file;
}

Bytes build(const PlanSpec& plan) {
  ProgramSpec program;
  program.plans.push_back(plan);
  return build(program);
}

Bytes floats(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Loaded::Loaded(const Bytes& file, const OperatorTable& operators, Change change)
    : file_(file.size()), loader_(file_.span().data(), file.size()) {
  std::memcpy(file_.span().data(), file.data(), file.size());
  error_ = load(operators, change);
}

Error Loaded::load(const OperatorTable& operators, Change change) {
  auto program = Program::load(loader_);
  if (!program.ok()) return program.error();
  program_.emplace(std::move(*program));
  const char* name = program_->num_methods() == 0 ? "forward" : program_->method_name(0);
  RL_TRY_ASSIGN(const MethodMeta meta, program_->method_meta(name));
  RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
  arena_block_.emplace(arena_bytes + change.arena + change.backends);
  arena_ = Arena(arena_block_->span());
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
    if (size > size_t{1} << 30) return Error::MemoryAllocationFailed;
    planned_.push_back(std::make_unique<Block>(size + change.planned));
    planned_spans_.push_back(planned_.back()->span());
  }
  MemoryManager memory;
  memory.method = &arena_;
  memory.planned = {planned_spans_.data(), planned_spans_.size()};
  temporary_ = Arena({temporary_block_.span().data(), change.temporary});
  memory.temporary = &temporary_;
  memory.prepared = change.prepared;
  auto method = Method::load(*program_, name, memory, operators, change.options);
  if (!method.ok()) return method.error();
  method_.emplace(std::move(*method));
  return Error::Ok;
}

FloatTensor::FloatTensor(std::vector<int32_t> sizes, std::vector<float> values)
    : data(std::move(values)), sizes_(std::move(sizes)), order_(sizes_.size()), strides_(sizes_.size()) {
  std::iota(order_.begin(), order_.end(), uint8_t{0});
  impl_.emplace(ScalarType::Float, static_cast<ptrdiff_t>(sizes_.size()), sizes_.data(), data.data(),
                order_.data(), strides_.data());
}

std::vector<float> elements(const EValue& value) {
  const Tensor tensor = value.to_tensor();
  const auto* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

}  // namespace rushlight::testing
