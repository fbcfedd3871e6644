// expect: is missing in its refuted file: static_assert(parse("7")==7)
#include <attest/proof/twin.hpp>
constexpr int parse(const char* numeral) { return numeral[0] - '0'; }
static_assert(parse("1 22 333; 4") == TWIN(1, 2));
static_assert(sizeof(int) > TWIN(1, 9) && 1 < 2, "a message; with \"quotes\"");
static_assert(parse("8") == TWIN(8, 7));
