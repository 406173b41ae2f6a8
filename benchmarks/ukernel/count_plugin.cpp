// SPDX-License-Identifier: BSD-3-Clause
// A plugin for QEMU's user mode (API 1, whose header distributions do not package): counts the instructions
// between the marks of ukernel_bench --count, and writes a line for each pair.
//   qemu-aarch64 -plugin ./count_plugin.so,out=FILE ...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {

struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
using qemu_plugin_id_t = uint64_t;
using TranslationCallback = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using SyscallCallback = void (*)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, TranslationCallback callback);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* tb, qemu_plugin_op op, void* counter,
                                              uint64_t amount);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, SyscallCallback callback);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

}  // extern "C"

namespace {

constexpr uint32_t kMark = 0x726c6d6b;  // see bench.cpp

uint64_t executed;
uint64_t begin;
FILE* out;

// Blocks end at system calls: instructions before a mark are counted already.
void translated(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                           qemu_plugin_tb_n_insns(tb));
}

void called(qemu_plugin_id_t, unsigned, int64_t, uint64_t mark, uint64_t edge, uint64_t, uint64_t, uint64_t,
            uint64_t, uint64_t, uint64_t) {
  if (static_cast<uint32_t>(mark) != kMark) return;
  if (edge == 1) {
    begin = executed;
  } else {
    std::fprintf(out, "%llu\n", static_cast<unsigned long long>(executed - begin));
    std::fflush(out);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void*,
                                                                          int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    if (std::strncmp(argv[i], "out=", 4) == 0) out = std::fopen(argv[i] + 4, "w");
  }
  if (out == nullptr) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
