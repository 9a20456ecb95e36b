#include <apart/core/parallel.hpp>
#include <apart/queries/query_benchmark.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace apart {

double QueryStatistics::mean_microseconds() const {
  if (nanoseconds_.empty()) return 0;
  return 1e-3 * std::accumulate(nanoseconds_.begin(), nanoseconds_.end(), 0.0) / double(nanoseconds_.size());
}

double QueryStatistics::p99_microseconds() const {
  if (nanoseconds_.empty()) return 0;
  std::vector<std::int64_t> times = nanoseconds_;
  const std::size_t rank = (99 * times.size() + 99) / 100;  // ⌈0.99 n⌉, from 1
  const auto place = times.begin() + std::ptrdiff_t(rank - 1);
  std::nth_element(times.begin(), place, times.end());
  return 1e-3 * double(*place);
}

double QueryStatistics::max_microseconds() const {
  if (nanoseconds_.empty()) return 0;
  return 1e-3 * double(*std::max_element(nanoseconds_.begin(), nanoseconds_.end()));
}

void QueryStatistics::add(Truth truth, bool impact, std::int64_t nanoseconds) {
  if (truth == Truth::impact && !impact && false_negatives == 0) first_missed = queries;
  if (slowest < 0 || nanoseconds > nanoseconds_[std::size_t(slowest)]) slowest = queries;
  ++queries;
  true_impacts += truth == Truth::impact;
  true_misses += truth == Truth::free;
  unknown += truth == Truth::unknown;
  impacts += impact;
  false_positives += truth == Truth::free && impact;
  false_negatives += truth == Truth::impact && !impact;
  nanoseconds_.push_back(nanoseconds);
}

void QueryStatistics::add(const QueryStatistics& other) {
  first_missed = slowest = -1;
  queries += other.queries;
  true_impacts += other.true_impacts;
  true_misses += other.true_misses;
  unknown += other.unknown;
  impacts += other.impacts;
  false_positives += other.false_positives;
  false_negatives += other.false_negatives;
  nanoseconds_.insert(nanoseconds_.end(), other.nanoseconds_.begin(), other.nanoseconds_.end());
}

QueryStatistics benchmark_queries(const QuerySet& set, CcdOptions options, double separation) {
  using Clock = std::chrono::steady_clock;
  options.gap_fraction = 0;
  struct Answer {
    bool impact = false;
    std::int64_t nanoseconds = 0;
  };
  std::vector<Answer> answers(set.pairs.size());
  parallel_for(
      Index(set.pairs.size()),
      [&](Index i) {
        const CcdQuery query = query_of(set.kind, set.pairs[std::size_t(i)], separation);
        const Clock::time_point begin = Clock::now();
        const bool impact = time_of_impact(query, options).has_value();
        const auto time = Clock::now() - begin;
        answers[std::size_t(i)] = {impact, std::chrono::nanoseconds(time).count()};
      },
      16);
  QueryStatistics statistics;
  for (std::size_t i = 0; i < answers.size(); ++i)
    statistics.add(set.pairs[i].truth, answers[i].impact, answers[i].nanoseconds);
  return statistics;
}

}  // namespace apart
