#pragma once
// Accuracy and speed of a method of continuous collision detection on a set of queries.
#include <apart/queries/query_file.hpp>

#include <cstdint>

namespace apart {

/// Counts and times of a set of queries. Sets can be added; the times of all their queries are kept.
class QueryStatistics {
 public:
  std::int64_t queries = 0;
  std::int64_t true_impacts = 0, true_misses = 0,
               unknown = 0;          ///< by the truth given; their sum is `queries`
  std::int64_t impacts = 0;          ///< by the answer
  std::int64_t false_positives = 0;  ///< impacts answered where there are none
  std::int64_t false_negatives = 0;  ///< missed impacts; never if the truth is right
  /// Numbers in the set, from 0; −1: none, or a sum of sets.
  std::int64_t first_missed = -1, slowest = -1;

  double mean_microseconds() const;
  double p99_microseconds() const;  ///< the smallest time that at least 99 of 100 queries do not exceed
  double max_microseconds() const;

  /// `nanoseconds`: of every query, measured singly.
  void add(Truth truth, bool impact, std::int64_t nanoseconds);
  void add(const QueryStatistics& other);

 private:
  std::vector<std::int64_t> nanoseconds_;
};

/// Runs time_of_impact on every query of a set, with the options given but up to the separation itself
/// (gap_fraction 0), on thread_count() threads. Every call is timed separately.
QueryStatistics benchmark_queries(const QuerySet& set, CcdOptions options, double separation = 0);

}  // namespace apart
