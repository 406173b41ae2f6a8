# SPDX-License-Identifier: BSD-3-Clause
# Files that decide what cmake does.

# rushlight_watch(<files>...): cmake runs again when one of them changes. One whose time lies in the future would
# be newer than any build file, and ninja would configure for ever: it is named and left out.
function(rushlight_watch)
    string(TIMESTAMP now "%s" UTC)
    set(watched "")
    foreach(file IN LISTS ARGN)
        set(changed 0)
        if(EXISTS "${file}")
            file(TIMESTAMP "${file}" changed "%s" UTC)
        endif()
        if(changed GREATER now)
            message(
                STATUS
                "${file} has a time in the future: cmake does not run again when it changes (touch it)"
            )
        else()
            list(APPEND watched "${file}")
        endif()
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${watched})
endfunction()
