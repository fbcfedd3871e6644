// expect: line 4: more than one TWIN in a statement: static_assert(TWIN(1, 2) + TWIN(1, 1) == 2)
#include <attest/proof/twin.hpp>
static_assert(1 + 1 == TWIN(2, 3));
static_assert(TWIN(1, 2) + TWIN(1, 1) == 2);
