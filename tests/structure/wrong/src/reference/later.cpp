#include "reference/earlier.hpp"
#include "check/arrays.hpp"
