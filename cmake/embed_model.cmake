# SPDX-License-Identifier: BSD-3-Clause

include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# rushlight_embed_model(<executable> <model.pte>) links the file into the executable, aligned to 16 bytes, in
# the section .model, for which boards have a separate bank. C++ declares it as
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

# rushlight_embed_data(<executable> <data.ptd>...) links data files into the same section, between
# rushlight_data_files_start and rushlight_data_files_end. Each is preceded by 16 bytes that start with its
# size (64 bits) and begins at a multiple of 16.
function(rushlight_embed_data executable)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${executable}_data.S")
    set(assembly
        "    .section .model, \"a\"\n    .balign 16\n    .global rushlight_data_files_start\nrushlight_data_files_start:\n"
    )
    foreach(file IN LISTS ARGN)
        get_filename_component(file "${file}" ABSOLUTE)
        file(SIZE "${file}" size)
        string(APPEND assembly "    .8byte ${size}, 0\n    .incbin \"${file}\"\n    .balign 16\n")
        rushlight_watch("${file}")
        set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${file}")
    endforeach()
    string(APPEND assembly "    .global rushlight_data_files_end\nrushlight_data_files_end:\n")
    string(APPEND assembly "    .section .note.GNU-stack, \"\"\n")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${assembly}" @ONLY)
    target_sources(${executable} PRIVATE "${source}")
endfunction()
