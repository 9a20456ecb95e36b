#include <apart/simulation/state.hpp>

#include <string_view>

namespace apart {

bool is_unchanged(const State& before, const State& after) {
  bool same = true;
  const auto compare = [&](std::string_view name, const auto& a, const auto& b) {
    if (!same || name == "step" || name == "time") return;
    if constexpr (requires { a.cols(); })
      same = a.rows() == b.rows() && a.cols() == b.cols() && a == b;
    else
      same = a == b;
  };
  for_each_member(compare, before, after);
  return same;
}

}  // namespace apart
