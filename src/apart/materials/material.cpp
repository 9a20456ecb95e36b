#include <apart/materials/material.hpp>

namespace apart {

bool prevents_inversion(const Material& material) {
  return std::visit([](const auto& m) { return m.prevents_inversion; }, material);
}

}  // namespace apart
