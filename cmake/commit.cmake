# Writes a C file with the commit that the sources are of, for leat version: run with every build,
# and the file changes only with the commit.
#
#   cmake -D SOURCE=FOLDER -D OUTPUT=FILE [-D COMMIT=NAME] -P cmake/commit.cmake
#
# "unknown" without git, in an unpacked archive, and in one that lies within somebody's repository.
# COMMIT names it for such sources.

cmake_minimum_required(VERSION 3.25)
set(ENV{GIT_OPTIONAL_LOCKS} 0) # looks only
foreach(name GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE) # of a hook that builds
  unset(ENV{${name}})
endforeach()
function(git out)
  execute_process(COMMAND git -C "${SOURCE}" ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${out} "${text}" PARENT_SCOPE)
  set(status "${status}" PARENT_SCOPE)
endfunction()

if(NOT COMMIT)
  set(COMMIT unknown)
  file(REAL_PATH "${SOURCE}" here)
  git(top rev-parse --show-toplevel)
  if(status STREQUAL 0 AND top STREQUAL here)
    git(head rev-parse --verify HEAD)
    if(status STREQUAL 0)
      set(COMMIT "${head}")
      git(changes diff --quiet HEAD --)
      if(NOT status STREQUAL 0)
        string(APPEND COMMIT ", with changes")
      endif()
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT
"/* by cmake/commit.cmake */
const char *leat_build_commit(void);
const char *leat_build_commit(void) { return \"@COMMIT@\"; }
")
