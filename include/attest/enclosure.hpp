#pragma once

#include <attest/enclosure/elementary.hpp>
#include <attest/enclosure/evaluate.hpp>
#include <attest/enclosure/fixed_point.hpp>
#include <attest/enclosure/interval.hpp>
#include <attest/enclosure/printed.hpp>
