constexpr int parse(const char* numeral) { return numeral[0] - '0'; }
static_assert(parse("1 22"
                    " 333; 4") == 1);  // a literal in two parts
static_assert(sizeof(int) > 1 && 1 < 2, "a message; with \"quotes\"");
static_assert(parse("7") == 7);
// static_assert(false);
