#include <apart/scene/pair_rules.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace apart {

namespace {

/// Classes of bodies with the same pair settings: split until every set of a rule consists of whole classes.
class BodyClasses {
 public:
  explicit BodyClasses(std::vector<int> start) : class_(std::move(start)) {
    for (const int c : class_) {
      if (c >= int(size_.size())) size_.resize(std::size_t(c) + 1, 0);
      ++size_[std::size_t(c)];
    }
  }
  void separate(const std::vector<int>& bodies) {
    std::unordered_map<int, std::vector<int>> chosen;  // of each class
    for (const int b : bodies) chosen[class_[std::size_t(b)]].push_back(b);
    std::vector<int> touched;
    for (const auto& [c, some] : chosen) touched.push_back(c);
    std::sort(touched.begin(), touched.end());  // independent of the order of the hash table
    for (const int c : touched) {
      const std::vector<int>& some = chosen[c];
      if (int(some.size()) == size_[std::size_t(c)]) continue;
      for (const int b : some) class_[std::size_t(b)] = int(size_.size());
      size_[std::size_t(c)] -= int(some.size());
      size_.push_back(int(some.size()));
    }
  }
  const std::vector<int>& of_body() const { return class_; }
  int count() const { return int(size_.size()); }

 private:
  std::vector<int> class_, size_;
};

}  // namespace

PairTable make_pair_table(std::vector<int> base_class, const std::vector<PairRule>& rules,
                          FunctionRef<PairSettings(int, int)> base) {
  // Rules about few pairs give those settings of their own if classes would become many.
  constexpr int most_classes = 2048;
  constexpr double few_pairs = 4096;
  BodyClasses classes(base_class);
  for (const PairRule& rule : rules)
    for (const auto* side : {&rule.first, &rule.second}) classes.separate(*side);
  const bool by_class = classes.count() <= most_classes;
  if (!by_class) {
    classes = BodyClasses(std::move(base_class));
    for (const PairRule& rule : rules)
      if (rule.pair_count() > few_pairs)
        for (const auto* side : {&rule.first, &rule.second}) classes.separate(*side);
  }
  const int n = int(classes.of_body().size());
  std::vector<std::vector<int>> members(static_cast<std::size_t>(classes.count()));
  for (int b = 0; b < n; ++b) members[std::size_t(classes.of_body()[std::size_t(b)])].push_back(b);
  PairTable table(classes.of_body(), base(0, 0));
  for (int b = 0; b < n; ++b) table.set(b, b, base(b, b));
  const auto other_in = [&](int c, int d) {  // a body of d that is not the first of c; −1: none
    const std::vector<int>& bodies = members[std::size_t(d)];
    return c != d ? bodies[0] : bodies.size() > 1 ? bodies[1] : -1;
  };
  for (int c = 0; c < classes.count(); ++c)
    for (int d = c; d < classes.count(); ++d)
      if (const int b = other_in(c, d); b >= 0) table.set_classes(c, d, base(members[std::size_t(c)][0], b));

  const auto change = [&](const PairRule& rule, int a, int b) {
    PairSettings settings = table(a, b);
    rule.apply(settings);
    table.set(a, b, settings);
  };
  std::vector<char> is_first(std::size_t(n), 0), is_second(std::size_t(n), 0);
  for (const PairRule& rule : rules) {
    if (!by_class && rule.pair_count() <= few_pairs) {
      for (const int a : rule.first)
        for (const int b : rule.second) change(rule, a, b);
      continue;
    }
    for (const int a : rule.first) is_first[std::size_t(a)] = 1;
    for (const int b : rule.second) is_second[std::size_t(b)] = 1;
    std::set<int> first, second;
    for (const int a : rule.first) {
      first.insert(table.class_of(a));
      if (is_second[std::size_t(a)]) change(rule, a, a);
    }
    for (const int b : rule.second) second.insert(table.class_of(b));
    const std::vector<std::pair<int, int>> own = table.own_pairs();
    for (const int c : first)
      for (const int d : second)
        if (other_in(c, d) >= 0) {
          PairSettings settings = table.of_classes(c, d);
          rule.apply(settings);
          table.set_classes(c, d, settings);
        }
    for (const auto& [a, b] : own)
      if ((is_first[std::size_t(a)] && is_second[std::size_t(b)]) ||
          (is_first[std::size_t(b)] && is_second[std::size_t(a)]))
        change(rule, a, b);
    for (const int a : rule.first) is_first[std::size_t(a)] = 0;
    for (const int b : rule.second) is_second[std::size_t(b)] = 0;
  }
  return table;
}

}  // namespace apart
