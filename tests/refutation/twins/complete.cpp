#include <attest/proof/twin.hpp>
constexpr int parse(const char* numeral) { return numeral[0] - '0'; }
static_assert(parse("1 22 333; 4") == TWIN(1, 2));
static_assert(parse(TWIN("7", "8")) == 7);
static_assert(parse("0") == TWIN(0, 1));
static_assert(sizeof(int) > 1 &&
                  TWIN(1 < 2, 2 < 1),
              "a message; " "with \"quotes\"");
