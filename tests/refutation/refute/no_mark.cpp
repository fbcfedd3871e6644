// expect: there is no TWIN in it
static_assert(1 + 1 == 2);
