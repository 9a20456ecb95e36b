#include <gtest/gtest.h>
#include <apart/simulation/state.hpp>

#include <set>
#include <string>
#include <vector>

namespace apart::test {
namespace {

TEST(State, ListsEveryMemberOnce) {
  const State state;
  // Does not compile with another number of members: extend for_each_member first.
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = state;
  const std::vector<const void*> members = {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k,
                                            &l, &m, &n, &o, &p, &q, &r, &s, &t, &u};
  std::vector<const void*> listed;
  std::set<std::string> names;
  for_each_member(
      [&](const char* name, const auto& member) {
        names.insert(name);
        listed.push_back(&member);
      },
      state);
  EXPECT_EQ(listed, members);
  EXPECT_EQ(names.size(), members.size());
}

TEST(State, IsUnchangedUnlessAMemberOtherThanStepAndTimeDiffers) {
  State before;
  const auto fill = [](const char*, auto& member) {
    if constexpr (requires { member.setOnes(); })
      member.setOnes(member.rows() == 3 ? 3 : 2, member.rows() == 3 ? 2 : 1);
    else
      member = 1;
  };
  for_each_member(fill, before);
  EXPECT_TRUE(is_unchanged(before, before));
  const auto change = [&](std::string_view name, const auto& member) {
    State after = before;
    const auto offset = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&before);
    const auto spoil = [&](const char*, auto& other) {
      if (reinterpret_cast<char*>(&other) - reinterpret_cast<char*>(&after) != offset) return;
      if constexpr (requires { other.cols(); })
        other(other.size() - 1) += 1e-9;
      else
        other += 1;
    };
    for_each_member(spoil, after);
    EXPECT_EQ(is_unchanged(before, after), name == "step" || name == "time") << name;
  };
  for_each_member(change, before);
  State longer = before;
  longer.joint_forces.setOnes(3);
  EXPECT_FALSE(is_unchanged(before, longer));
}

}  // namespace
}  // namespace apart::test
