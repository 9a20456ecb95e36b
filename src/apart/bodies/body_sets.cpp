#include <apart/bodies/body_sets.hpp>

#include <apart/core/error.hpp>

#include <algorithm>

namespace apart {

int BodySets::add(SetKind kind, std::string name, std::vector<Index> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::vector<NamedSet>& sets = sets_[std::size_t(kind)];
  std::string unused = name;
  for (int copy = 2;; ++copy) {
    const auto same = std::ranges::find(sets, unused, &NamedSet::name);
    if (same == sets.end()) break;
    if (same->members == members) return int(same - sets.begin());
    unused = fmt::format("{} ({})", name, copy);
  }
  sets.push_back({std::move(unused), std::move(members)});
  return int(sets.size()) - 1;
}

void BodySets::replace(SetKind kind, std::size_t set, std::vector<Index> members) {
  std::vector<NamedSet>& sets = sets_[std::size_t(kind)];
  ensure(set < sets.size(), "BodySets::replace: there is no such set");
  ensure(std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end(),
         "BodySets::replace: members ascend");
  sets[set].members = std::move(members);
}

const std::vector<Index>& BodySets::members(SetKind kind, int number) const {
  static const std::vector<Index> none;
  if (number < 0) return none;
  const std::vector<NamedSet>& sets = sets_[std::size_t(kind)];
  ensure(std::size_t(number) < sets.size(), "BodySets: the set belongs to another body");
  return sets[std::size_t(number)].members;
}

}  // namespace apart
