# SPDX-License-Identifier: BSD-3-Clause
# rushlight_embed_model(<executable> <model.pte>) links the file into the executable, aligned to 16, in the
# section .model, which boards keep in a bank of its own. C++ finds it as
#   extern "C" const uint8_t rushlight_model_start[], rushlight_model_end[];
# The project must have enabled the language ASM.
function(rushlight_embed_model executable model)
    get_filename_component(model "${model}" ABSOLUTE)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${executable}_model.S")
    file(
        CONFIGURE
        OUTPUT "${source}"
        CONTENT
            [[
    .section .model, "a"
    .balign 16
    .global rushlight_model_start
rushlight_model_start:
    .incbin "@model@"
    .global rushlight_model_end
rushlight_model_end:
    .section .note.GNU-stack, ""
]]
        @ONLY
    )
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${model}")
    target_sources(${executable} PRIVATE "${source}")
endfunction()
