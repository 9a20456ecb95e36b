#pragma once
#include <apart/collision/ccd.hpp>

namespace apart::test {

constexpr CcdMethod all_ccd_methods[] = {CcdMethod::additive, CcdMethod::tight_inclusion};

}  // namespace apart::test
