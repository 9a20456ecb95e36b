// No impact is ever missed: generated queries of every kind, asked of both methods with many settings.
// Answers must also not be later than the planted root. `make ccd-campaign` runs the long one.
#include "family_parameter.hpp"

#include <apart/core/parallel.hpp>
#include <apart/queries/query_generator.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <sstream>

namespace apart::test {
namespace {

/// Which generated set a setting is asked.
enum class Set { plain, separated, shifted };

struct Setting {
  CcdMethod method;
  double tolerance;
  int max_iterations;
  Set set = Set::plain;
  int exponent = 0;              ///< coordinates are multiplied by 2^exponent; the truth stays
  bool with_separation = false;  ///< of the plain set: its impacts are impacts for any separation
  Index every = 1;               ///< ask one query in so many
};

struct Count {
  std::int64_t queries = 0, missed = 0, late = 0, false_positives = 0;
  double seconds = 0, slowest = 0;
};

struct Campaign {
  QueryFamily family;
  Index queries;  ///< vertex–face and edge–edge together
  std::vector<Setting> settings;
};

double separation_of(QueryFamily family) {
  return 0x1p-10 * largest_separation(family);
}

std::string text_of(const Setting& s) {
  std::string text =
      fmt::format("{:<8} {:>5.0e} {:>7}", s.method == CcdMethod::additive ? "additive" : "tight", s.tolerance,
                  s.max_iterations);
  if (s.set == Set::separated) text += "  planted at a separation";
  if (s.set == Set::shifted) text += "  shifted by 1e3";
  if (s.with_separation) text += "  with a separation";
  if (s.exponent != 0) text += fmt::format("  scaled by 2^{}", s.exponent);
  return text;
}

class Answering {
 public:
  Answering(const Campaign& campaign) : campaign_(campaign), counts_(campaign.settings.size()) {}

  void run() {
    for (const PairKind kind : {PairKind::point_triangle, PairKind::edge_edge}) {
      if (!has_queries(campaign_.family, kind)) continue;
      const bool both = has_queries(campaign_.family, PairKind::point_triangle);
      const Index count = both ? campaign_.queries / 2 : campaign_.queries;
      for (const Set set : {Set::plain, Set::separated, Set::shifted}) ask(kind, set, count);
    }
  }

  /// A row per setting.
  void print() const {
    fmt::print("\n{}\n{:<60} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9}\n", name_of(campaign_.family),
               "method, tolerance, cap", "queries", "missed", "late", "false +", "mean us", "max ms");
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const Count& c = counts_[i];
      fmt::print("{:<60} {:>9} {:>8} {:>6} {:>8} {:>9.2f} {:>9.2f}\n", text_of(campaign_.settings[i]),
                 c.queries, c.missed, c.late, c.false_positives, 1e6 * c.seconds / double(c.queries),
                 1e3 * c.slowest);
    }
    std::fflush(stdout);
  }

  void expect_none_missed() const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      EXPECT_GT(counts_[i].queries, 0) << text_of(campaign_.settings[i]);
      EXPECT_EQ(counts_[i].missed, 0) << text_of(campaign_.settings[i]) << "\n" << first_wrong_;
      EXPECT_EQ(counts_[i].late, 0) << text_of(campaign_.settings[i]) << "\n" << first_wrong_;
    }
  }

 private:
  void ask(PairKind kind, Set set, Index count) {
    GeneratorOptions options{
        .family = campaign_.family, .kind = kind, .seed = 2026, .shifted = set == Set::shifted};
    if (set == Set::separated) options.separation = separation_of(campaign_.family);
    constexpr Index block = 1 << 15;
    for (Index first = 0; first < count; first += block) {
      std::vector<GeneratedQuery> queries;
      for (std::size_t s = 0; s < campaign_.settings.size(); ++s) {
        if (campaign_.settings[s].set != set) continue;
        if (queries.empty())
          queries = generate_queries(options, std::uint64_t(first), std::min(block, count - first));
        ask(kind, queries, first, s);
      }
    }
  }

  void ask(PairKind kind, const std::vector<GeneratedQuery>& queries, Index first, std::size_t which) {
    using Clock = std::chrono::steady_clock;
    const Setting& setting = campaign_.settings[which];
    Count& count = counts_[which];
    CcdOptions options{.method = setting.method,
                       .gap_fraction = 0,
                       .tolerance = setting.tolerance,
                       .max_iterations = setting.max_iterations};
    // An impact planted at ξ along an axis is one in both norms.
    if (setting.method == CcdMethod::tight_inclusion) options.norm = SeparationNorm::maximum;
    const bool separated = setting.with_separation || setting.set == Set::separated;
    struct Answer {
      std::optional<double> time;
      double seconds = 0;
    };
    std::vector<Answer> answers(queries.size());
    parallel_for(
        Index(queries.size()),
        [&](Index i) {
          if ((first + i) % setting.every != 0) return;
          QueryPair pair = queries[std::size_t(i)].pair;
          for (StencilPoints* points : {&pair.from, &pair.to})
            for (Vector3& x : *points) x *= std::ldexp(1.0, setting.exponent);
          const double separation =
              separated ? std::ldexp(separation_of(campaign_.family), setting.exponent) : 0;
          const CcdQuery query = query_of(kind, pair, separation);
          const Clock::time_point begin = Clock::now();
          const auto time = time_of_impact(query, options);
          answers[std::size_t(i)] = {time, std::chrono::duration<double>(Clock::now() - begin).count()};
        },
        16);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if ((first + Index(i)) % setting.every != 0) continue;
      const auto& [time, seconds] = answers[i];
      const bool impact = queries[i].pair.truth == Truth::impact;
      const bool missed = impact && !time, late = impact && time && !(*time <= queries[i].root);
      ++count.queries;
      count.missed += missed;
      count.late += late;
      count.false_positives += !impact && time;
      count.seconds += seconds;
      count.slowest = std::max(count.slowest, seconds);
      if ((missed || late) && first_wrong_.empty()) {
        std::ostringstream out;
        out << text_of(setting) << ", number " << first + Index(i) << ", root " << queries[i].root
            << ", answer " << time.value_or(-1) << "\n";
        QueryWriter(out, kind).add(queries[i].pair);
        first_wrong_ = out.str();
      }
    }
  }

  const Campaign& campaign_;
  std::vector<Count> counts_;
  std::string first_wrong_;
};

constexpr CcdMethod tight = CcdMethod::tight_inclusion, additive = CcdMethod::additive;
constexpr int small_cap = 100, large_cap = 1'000'000;

class CcdCampaign : public ::testing::TestWithParam<QueryFamily> {};

TEST_P(CcdCampaign, MissesNoImpact) {
  set_thread_count(0);
  const Campaign campaign{
      GetParam(),
      20'000,
      {{.method = tight, .tolerance = 1e-6, .max_iterations = small_cap},
       {.method = tight, .tolerance = 1e-2, .max_iterations = small_cap},
       {.method = tight, .tolerance = 1e-6, .max_iterations = large_cap, .every = 53},
       {.method = tight, .tolerance = 1e-8, .max_iterations = 1000, .every = 7},
       {.method = tight, .tolerance = 1e-6, .max_iterations = small_cap, .exponent = 20, .every = 3},
       {.method = tight, .tolerance = 1e-6, .max_iterations = small_cap, .exponent = -20, .every = 3},
       {.method = tight, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::separated},
       {.method = tight, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::shifted},
       {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap},
       {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap, .with_separation = true},
       {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap, .exponent = 20, .every = 3},
       {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::separated},
       {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::shifted}}};
  Answering answering(campaign);
  answering.run();
  answering.expect_none_missed();
}

/// With the large cap, where edges lie in each other or slide along, or lengths are a billion tolerances, a
/// query may look at all of its 10⁶ boxes, which takes 20 to 50 ms, and the mean reaches 2 ms. Where a
/// million of them would take minutes, one in so many is asked. Odd: the kinds of queries repeat with
/// period 4.
Index large_cap_share(const Setting& setting, QueryFamily family) {
  if (setting.method == additive) return 1;  // hands few over
  const bool separated = setting.set == Set::separated;
  switch (family) {
    case QueryFamily::parallel_edges:
      return separated ? 9 : setting.tolerance < 1e-5 ? 3 : 1;
    case QueryFamily::degenerate_points:
    case QueryFamily::huge:
      return separated ? 5 : 1;
    default:
      return 1;
  }
}

TEST_P(CcdCampaign, SlowMissesNoImpactInAMillion) {
  set_thread_count(0);
  Campaign campaign{GetParam(), 1'000'000, {}};
  auto& settings = campaign.settings;
  for (const double tolerance : {1e-8, 1e-6, 1e-4, 1e-2}) {
    settings.push_back({.method = tight, .tolerance = tolerance, .max_iterations = small_cap});
    settings.push_back({.method = tight, .tolerance = tolerance, .max_iterations = large_cap});
    settings.push_back(
        {.method = tight, .tolerance = tolerance, .max_iterations = small_cap, .set = Set::separated});
  }
  // Tolerance and cap concern the additive method only where it hands a query over.
  settings.push_back({.method = additive, .tolerance = 1e-6, .max_iterations = small_cap});
  settings.push_back({.method = additive, .tolerance = 1e-6, .max_iterations = large_cap});
  settings.push_back(
      {.method = additive, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::separated});
  for (const CcdMethod method : {tight, additive}) {
    settings.push_back(
        {.method = method, .tolerance = 1e-6, .max_iterations = large_cap, .set = Set::separated});
    settings.push_back(
        {.method = method, .tolerance = 1e-6, .max_iterations = small_cap, .with_separation = true});
    settings.push_back(
        {.method = method, .tolerance = 1e-6, .max_iterations = small_cap, .set = Set::shifted});
    for (const int exponent : {-20, -10, 10, 20})
      settings.push_back(
          {.method = method, .tolerance = 1e-6, .max_iterations = small_cap, .exponent = exponent});
  }
  for (Setting& setting : settings)
    if (setting.max_iterations == large_cap) setting.every = large_cap_share(setting, GetParam());
  Answering answering(campaign);
  answering.run();
  answering.print();
  answering.expect_none_missed();
}

INSTANTIATE_TEST_SUITE_P(Families, CcdCampaign, ::testing::ValuesIn(all_query_families()), family_test_name);

}  // namespace
}  // namespace apart::test
