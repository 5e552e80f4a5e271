# Tests. tests/<folder>/test_*.c, and tests/<room>/<kind>/test_*.c: one cmocka program each, linked
# with the rooms it tests: those of the folder's name and below, or all of them where the folder is
# not a room; so they reach hidden functions. The folder's other .c files are its support library,
# tests_<folder>; programs of tests/fault, tests/fuzz and tests/load use that of rooms as well.
# tests_golden, tests/golden_files.c, is for all of them.
# tests/<folder>/test_*.py and .sh run with LEAT (the command) and LEAT_BUILD in the environment;
# exit status 77 means skipped.
# tests/<folder>/tool_*.c: programs that these call, tests/<folder>_tool_* in LEAT_BUILD.
# Labels: the folder's name; `slow` and `oracle` (compares with third-party software) for names
# with _slow or _oracle in them; `tsan` where the file declares it, in a line of its own:
#
#   /* TSan: what its threads do. */        or, in Python,        # TSan: what its threads do.
#
# and `# Alone: what it measures.` (or a C comment) where no other test may run beside it.
#
# The thread sanitizer runs only its own, because it takes ten times as long and finds nothing where
# there is only one thread. They cannot be recognized by a word in a file or by what a program links:
# every program links the thread pool and may set `threads`, but in few do threads share anything.
# Lint requires a decision in every C test that starts threads. make check leaves out slow, oracle,
# fault, fuzz, python, torch and maxtext, make check-all none. The gate leaves out slow, torch and
# maxtext; in a tree with a sanitizer it runs the tests with the label `gate`: scripts/gate.txt.
#
# No test has a limit of its own: scripts/check gives them all one, by what runs (ctest --timeout).

enable_testing()
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
  message(STATUS "leat: cmocka not found: tests left out (scripts/install.sh installs it)")
  return()
endif()

set(LEAT_TEST_ENVIRONMENT
  "CMOCKA_MESSAGE_OUTPUT=TAP"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:second_deadlock_stack=1"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "LEAT=${CMAKE_BINARY_DIR}/leat" "LEAT_BUILD=${CMAKE_BINARY_DIR}"
  "LEAT_SANITIZE=${LEAT_SANITIZE}"
  "PYTHONDONTWRITEBYTECODE=1")
# before what the caller has set, so that the gate can turn one of them off (scripts/check)
set(LEAT_TEST_ASAN
  "ASAN_OPTIONS=string_prepend:detect_stack_use_after_return=1:allocator_may_return_null=1:")

# cmocka 2 deprecates checks in favour of new ones that cmocka 1 does not have.
set(LEAT_TEST_FLAGS "")
if(CMOCKA_VERSION VERSION_GREATER_EQUAL 2)
  set(LEAT_TEST_FLAGS -Wno-deprecated-declarations)
endif()

# what the thread sanitizer's stage builds: the command, the tests that declare it, and for those in
# Python all tools of their folder
add_custom_target(tsan_tests)
if(TARGET leat)
  add_dependencies(tsan_tests leat)
endif()

# what the gate builds and runs in a tree with a sanitizer
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS scripts/gate.txt)
add_custom_target(gate_tests)
if(TARGET leat)
  add_dependencies(gate_tests leat)
endif()
set(LEAT_GATE_TREE none)
if(LEAT_SANITIZE MATCHES thread)
  set(LEAT_GATE_TREE thread)
elseif(LEAT_SANITIZE)
  set(LEAT_GATE_TREE address)
endif()
file(STRINGS scripts/gate.txt LEAT_GATE REGEX "^${LEAT_GATE_TREE} ")
file(STRINGS scripts/gate.txt LEAT_LONG REGEX "^seconds ")

# in_gate: whether the last line of scripts/gate.txt with a pattern of this name takes it in
function(leat_in_gate name in_gate)
  set(${in_gate} OFF PARENT_SCOPE)
  foreach(line ${LEAT_GATE})
    string(REGEX REPLACE "^[a-z]+ +(not +)?" "" pattern "${line}")
    if(name MATCHES "${pattern}")
      if(line MATCHES "^[a-z]+ +not ")
        set(${in_gate} OFF PARENT_SCOPE)
      else()
        set(${in_gate} ON PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# The seconds that a long test takes, so that ctest starts the longest first.
function(leat_cost name)
  foreach(line ${LEAT_LONG})
    if(line MATCHES "^seconds +([0-9]+) +(.*)$" AND CMAKE_MATCH_2 STREQUAL name)
      set_tests_properties(${name} PROPERTIES COST ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# A test by its command; scripts/check can count its processor time.
function(leat_add_test name)
  add_test(NAME ${name} COMMAND "${PROJECT_SOURCE_DIR}/scripts/cpu-seconds.sh" ${name} ${ARGN})
endfunction()

function(leat_register name folder source)
  set(labels ${folder})
  file(STRINGS ${source} tsan REGEX "^(/\\*|#) TSan: " LIMIT_COUNT 1)
  if(tsan)
    list(APPEND labels tsan)
  endif()
  leat_in_gate(${name} in_gate)
  if(in_gate)
    list(APPEND labels gate)
  endif()
  foreach(label tsan gate)
    if(NOT label IN_LIST labels)
      continue()
    endif()
    if(TARGET ${name})
      add_dependencies(${label}_tests ${name})
    elseif(LEAT_TOOLS_${folder})
      add_dependencies(${label}_tests ${LEAT_TOOLS_${folder}})
    endif()
  endforeach()
  file(STRINGS ${source} alone REGEX "^(/\\*|#) Alone: " LIMIT_COUNT 1)
  if(alone)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  foreach(label slow oracle)
    if(name MATCHES "_${label}")
      list(APPEND labels ${label})
    endif()
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}"
    SKIP_RETURN_CODE 77 ENVIRONMENT "${LEAT_TEST_ENVIRONMENT}"
    ENVIRONMENT_MODIFICATION "${LEAT_TEST_ASAN}" WORKING_DIRECTORY "${CMAKE_BINARY_DIR}")
  leat_cost(${name})
endfunction()

# Links a program with the support libraries that it may use, its own folder's first. A library
# gives a program only what it refers to, so none gets in the way of another. They must come
# before the rooms that they use.
set(LEAT_SUPPORT_fault ingest load format)
set(LEAT_SUPPORT_ingest format)
set(LEAT_SUPPORT_synth ingest format)
set(LEAT_SUPPORT_load format)
set(LEAT_SUPPORT_detect ingest format)
set(LEAT_SUPPORT_train load format nn)
set(LEAT_SUPPORT_crowd train load format)
set(LEAT_SUPPORT_fuzz ingest load format)
# Rooms that a room does not see, but its tests do: to read the golden files with, for input, and for
# what the support library of another room uses.
set(LEAT_TESTS_SEE_nn format)
set(LEAT_TESTS_SEE_ingest synth)
set(LEAT_TESTS_SEE_synth ingest)
set(LEAT_TESTS_SEE_detect ingest load)
add_library(tests_golden STATIC tests/golden_files.c)
target_compile_definitions(tests_golden PRIVATE LEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_compile_options(tests_golden PRIVATE ${LEAT_TEST_FLAGS})
target_link_libraries(tests_golden PRIVATE leat_flags leat_lib_JANSSON leat_lib_ZLIB
  PkgConfig::CMOCKA)
function(leat_link_support target folder)
  foreach(of ${folder} ${LEAT_SUPPORT_${folder}})
    file(GLOB sources CONFIGURE_DEPENDS tests/${of}/*.c)
    list(FILTER sources EXCLUDE REGEX "/((test|tool|fuzz)_[^/]*|replay)\\.c$")
    if(sources AND NOT TARGET tests_${of})
      add_library(tests_${of} STATIC ${sources})
      target_include_directories(tests_${of} PRIVATE include src tests tests/${of})
      target_compile_definitions(tests_${of} PRIVATE LEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        LEAT_BINARY_DIR="${CMAKE_BINARY_DIR}")
      target_compile_options(tests_${of} PRIVATE ${LEAT_TEST_FLAGS})
      target_link_libraries(tests_${of} PRIVATE leat_flags leat_libraries PkgConfig::CMOCKA)
    endif()
    if(TARGET tests_${of})
      target_link_libraries(${target} PRIVATE tests_${of})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE tests_golden)
endfunction()

file(GLOB test_sources CONFIGURE_DEPENDS tests/*/test_*.c tests/*/*/test_*.c)
foreach(source ${test_sources})
  # tests/ingest/can/test_store.c: folder "ingest", target "ingest_can_test_store"
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/tests" ${source})
  string(REGEX REPLACE "/.*" "" folder ${path})
  if(folder STREQUAL "lint")
    continue()
  endif()
  string(REGEX REPLACE "\\.c$" "" target ${path})
  string(REPLACE "/" "_" target ${target})
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE include src tests tests/${folder})
  target_compile_definitions(${target} PRIVATE LEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    LEAT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
    "${CMAKE_BINARY_DIR}/tests")
  target_compile_options(${target} PRIVATE ${LEAT_TEST_FLAGS})
  target_link_libraries(${target} PRIVATE leat_flags)
  leat_link_support(${target} ${folder})
  if(folder STREQUAL "fault")
    target_compile_definitions(${target} PRIVATE LEAT_FAULTS=1)
    target_link_libraries(${target} PRIVATE leat_base_faults ${LEAT_ROOM_TARGETS})
  elseif(TARGET leat_${folder})
    foreach(room ${LEAT_TESTS_SEE_${folder}})
      target_link_libraries(${target} PRIVATE leat_${room})
    endforeach()
    target_link_libraries(${target} PRIVATE leat_${folder})
  else()
    target_link_libraries(${target} PRIVATE ${LEAT_ROOM_TARGETS})
  endif()
  target_link_libraries(${target} PRIVATE leat_libraries leat_lib_JANSSON leat_lib_ZSTD
    leat_lib_ZLIB leat_lib_CRYPTO leat_lib_XXHASH PkgConfig::CMOCKA)
  leat_add_test(${target} $<TARGET_FILE:${target}>)
  leat_register(${target} ${folder} ${source})
endforeach()

file(GLOB tool_sources CONFIGURE_DEPENDS tests/*/tool_*.c)
foreach(source ${tool_sources})
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(target ${folder}_${name})
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE include src)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
    "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${target} PRIVATE leat_flags ${LEAT_ROOM_TARGETS})
  list(APPEND LEAT_TOOLS_${folder} ${target})
endforeach()

# leat-worker, which tests/crowd/test_worker.py runs.
if(TARGET leat_worker)
  list(APPEND LEAT_TOOLS_crowd leat_worker)
endif()

# The command that counts its memory (tests/cli/counted.c), for tests of --memory.
if(TARGET leat)
  add_executable(leat_counted $<TARGET_OBJECTS:leat> tests/cli/counted.c tests/fault/count.c)
  target_include_directories(leat_counted PRIVATE include src tests)
  target_compile_definitions(leat_counted PRIVATE LEAT_FAULTS=1)
  if(LEAT_SANITIZE)
    target_compile_definitions(leat_counted PRIVATE SANITIZED=1)
  endif()
  set_target_properties(leat_counted PROPERTIES RUNTIME_OUTPUT_DIRECTORY
    "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(leat_counted PRIVATE leat_flags leat_base_faults ${LEAT_ROOM_TARGETS})
  list(APPEND LEAT_TOOLS_cli leat_counted)
endif()

# Programs in the place of the command, of which they are made: its option tables as text
# (tests/cli/option_rows.c), its tables of facts (fact_rows.c) and facts of their own (fact_shown.c),
# a page that is rendered (rendered.c), and an evaluation that is made up (eval_shown.c).
if(TARGET leat)
  foreach(name option_rows fact_rows fact_shown rendered eval_shown)
    add_executable(leat_${name} $<TARGET_OBJECTS:leat> tests/cli/${name}.c)
    target_include_directories(leat_${name} PRIVATE include cli src)
    set_target_properties(leat_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
      "${CMAKE_BINARY_DIR}/tests")
    target_link_libraries(leat_${name} PRIVATE leat_flags ${LEAT_ROOM_TARGETS})
    list(APPEND LEAT_TOOLS_cli leat_${name})
  endforeach()
endif()

# The command with a second model, which no file of src or cli knows (tests/cli/tenant.c).
if(TARGET leat)
  add_executable(leat_tenant
    $<FILTER:$<TARGET_OBJECTS:leat>,EXCLUDE,/cli/commands\\.c\\.>
    tests/cli/tenant.c tests/train/tenant.c)
  target_include_directories(leat_tenant PRIVATE include src cli tests)
  set_target_properties(leat_tenant PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(leat_tenant PRIVATE leat_flags ${LEAT_ROOM_TARGETS})
  list(APPEND LEAT_TOOLS_cli leat_tenant)
  list(APPEND LEAT_TOOLS_crowd leat_tenant)
endif()

# The command with fault points, which waits where a Python test wants it (tests/cli/held.py), and
# with a clock that goes by what it does (tests/cli/held_clock.c), and with the memory that a test
# wants (tests/cli/held_memory.c).
if(TARGET leat)
  add_executable(leat_held $<TARGET_OBJECTS:leat> tests/cli/held.c tests/cli/held_clock.c
    tests/cli/held_memory.c tests/fault/count.c tests/fault/count_base.c)
  target_include_directories(leat_held PRIVATE src)
  target_compile_definitions(leat_held PRIVATE LEAT_FAULTS=1)
  set_target_properties(leat_held PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(leat_held PRIVATE leat_flags leat_base_faults ${LEAT_ROOM_TARGETS})
  target_link_options(leat_held PRIVATE -Wl,--wrap=pthread_sigmask)
  list(APPEND LEAT_TOOLS_cli leat_held)
endif()

# Python tests run in the environment of scripts/python-env.sh where it was made (tests/python: in
# that with Grain and JAX; tests/torch: in that with PyTorch).
file(GLOB script_tests CONFIGURE_DEPENDS tests/*/test_*.py tests/*/test_*.sh)
foreach(source ${script_tests})
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(extension ${source} EXT)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  if(extension STREQUAL ".sh")
    leat_add_test(${folder}_${name} bash ${source})
  else()
    leat_add_test(${folder}_${name} "${PROJECT_SOURCE_DIR}/scripts/oracle-python.sh" ${source} -v)
  endif()
  leat_register(${folder}_${name} ${folder} ${source})
endforeach()

# Fuzz targets: with LEAT_FUZZ (clang) programs of libFuzzer; else each reruns its corpus, the files
# under tests/fuzz/corpus/<name>/ (name without "fuzz_").
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" corpus ${name})
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE include src tests tests/fuzz)
  target_compile_definitions(${name} PRIVATE LEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${name} PRIVATE leat_flags)
  leat_link_support(${name} fuzz)
  target_link_libraries(${name} PRIVATE ${LEAT_ROOM_TARGETS})
  add_dependencies(fuzzers ${name})
  if(LEAT_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE tests/fuzz/replay.c)
    leat_add_test(${name} $<TARGET_FILE:${name}>
      "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus}")
    leat_register(${name} fuzz ${source})
  endif()
endforeach()
if(LEAT_FUZZ AND TARGET leat_base_objects)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LEAT_FUZZ needs clang: use the preset fuzz")
  endif()
  # the rooms count the edges they take, so that libFuzzer sees where an input led
  foreach(room ${LEAT_ROOMS})
    if(TARGET leat_${room}_objects)
      target_compile_options(leat_${room}_objects PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endforeach()
endif()
