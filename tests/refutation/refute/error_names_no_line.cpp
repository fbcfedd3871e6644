// The value that a concept needs cannot be computed. g++ reports that for the header alone, and a negated claim would
// even hold; and of two claims that fail in the same instantiation only the first is reported.
#include "error_in_a_concept.hpp"

#include <attest/proof/twin.hpp>

static_assert(!inverse_is_positive<TWIN(-1, 0)>);
static_assert(more_than_two<TWIN(3, 2)>::value > 0);
static_assert(more_than_two<TWIN(4, 2)>::value > 1);
