#pragma once
#include <apart/core/types.hpp>

namespace apart::test {

/// Which pairs count: all.
constexpr auto any_pair = [](Index, Index) { return true; };

}  // namespace apart::test
