# SPDX-License-Identifier: BSD-3-Clause
# Static libraries of this tree, compiled with the flags of device code.

# rushlight_add_library(<name> SOURCES <files> PUBLIC <targets>) adds a library that links the targets.
function(rushlight_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 given "" "" "SOURCES;PUBLIC")
    add_library(${name} STATIC ${given_SOURCES})
    target_link_libraries(${name} PUBLIC ${given_PUBLIC} PRIVATE $<BUILD_INTERFACE:rushlight_flags>)
    rushlight_name_library(${name})
endfunction()

# rushlight_name_library(<name>) gives a library its public name, such as rushlight::module, both when
# included and when installed. Static libraries are position independent if shared libraries link them, and on
# x86-64 always: hidden symbols cost nothing there, and a compiler cache has the same objects for the wheel, for
# runners and for applications.
function(rushlight_name_library name)
    string(REGEX REPLACE "^(rushlight|executorch)_" "" short "${name}")
    add_library(rushlight::${short} ALIAS ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
    get_target_property(type ${name} TYPE)
    if(
        type STREQUAL "STATIC_LIBRARY"
        AND (
            CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"
            OR RUSHLIGHT_HAS_PYTHON
            OR RUSHLIGHT_HAS_TESTS
            OR RUSHLIGHT_HAS_COMPAT
        )
    )
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
endfunction()
