# SPDX-License-Identifier: BSD-3-Clause
# Registers files whose changes require a new configure.

# rushlight_watch(<files>...): cmake runs again when one of them changes. A file with a time in the future is
# reported and skipped: it would be newer than any build file, and ninja would configure forever.
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
                "${file} has a time in the future: cmake does not run again when it changes (to fix this, touch the file)"
            )
        else()
            list(APPEND watched "${file}")
        endif()
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${watched})
endfunction()
