# Usage: cmake -DCASE=<file.json> -DOPTIONS=<options of attest prove> -DPROOF=<proof.cpp> -DNAME=<how to call the proof>
#              [-DSTAMP=<file>] -P attest_stale.cmake
#
# Stops where PROOF was not written from CASE as it is now, with these options. A proof names its case by the SHA-256.
cmake_policy(VERSION 3.25)
cmake_path(GET CASE FILENAME case_name)
set(remedy "write it anew with:\n  attest prove ${CASE}${OPTIONS} -o ${PROOF}")
file(STRINGS "${PROOF}" written REGEX "^// Written by attest " LIMIT_COUNT 1)
file(STRINGS "${PROOF}" recorded REGEX "^// case sha256: [0-9a-f]+$" LIMIT_COUNT 1)
file(SHA256 "${CASE}" hash)
if(NOT recorded STREQUAL "// case sha256: ${hash}")
  message(FATAL_ERROR "attest: ${NAME} is not the proof of ${case_name} as it is now; ${remedy}")
endif()
string(FIND "${written}" "(attest prove ${case_name}${OPTIONS} -o " with_output)
string(FIND "${written}" "(attest prove ${case_name}${OPTIONS})" without_output)
if(with_output EQUAL -1 AND without_output EQUAL -1)
  message(FATAL_ERROR "attest: ${NAME} was written with other options than \"${OPTIONS}\"; ${remedy}")
endif()
if(DEFINED STAMP)
  file(WRITE "${STAMP}" "")
endif()
