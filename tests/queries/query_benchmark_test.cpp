// The benchmark counts what a method gets wrong, and its times are those of single queries.
#include <apart/queries/query_benchmark.hpp>
#include <apart/queries/query_generator.hpp>
#include <apart/queries/query_recorder.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

/// A vertex that falls onto a resting triangle at time 1/2, or is lifted.
QueryPair falling(bool falls, Truth truth) {
  QueryPair pair;
  pair.from = {Vector3(0.25, 0.25, 1), Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, 1, 0)};
  pair.to = pair.from;
  pair.to[0].z() = falls ? -1 : 2;
  pair.truth = truth;
  return pair;
}

TEST(QueryBenchmark, CountsAnswersAgainstTheTruth) {
  QuerySet set{PairKind::point_triangle, {}};
  for (int i = 0; i < 3; ++i) set.pairs.push_back(falling(true, Truth::impact));
  for (int i = 0; i < 5; ++i) set.pairs.push_back(falling(false, Truth::free));
  set.pairs.push_back(falling(true, Truth::free));     // the truth is wrong: a false positive
  set.pairs.push_back(falling(false, Truth::impact));  // and a false negative
  set.pairs.push_back(falling(true, Truth::unknown));
  for (const CcdMethod method : {CcdMethod::additive, CcdMethod::tight_inclusion}) {
    const QueryStatistics s = benchmark_queries(set, {.method = method});
    EXPECT_EQ(s.queries, 11);
    EXPECT_EQ(s.true_impacts, 4);
    EXPECT_EQ(s.true_misses, 6);
    EXPECT_EQ(s.unknown, 1);
    EXPECT_EQ(s.impacts, 5);
    EXPECT_EQ(s.false_positives, 1);
    EXPECT_EQ(s.false_negatives, 1);
    EXPECT_EQ(s.first_missed, 9);
    EXPECT_GE(s.slowest, 0);
    EXPECT_GT(s.mean_microseconds(), 0);
    EXPECT_GE(s.max_microseconds(), s.p99_microseconds());
  }
}

TEST(QueryBenchmark, ASeparationCountsAsTouching) {
  QuerySet set{PairKind::point_triangle, {falling(false, Truth::free)}};
  set.pairs[0].to[0].z() = 0.5;  // stops half a metre above
  for (const CcdMethod method : {CcdMethod::additive, CcdMethod::tight_inclusion}) {
    const CcdOptions options{.method = method, .norm = SeparationNorm::maximum};
    EXPECT_EQ(benchmark_queries(set, options, 0.0).impacts, 0);
    EXPECT_EQ(benchmark_queries(set, options, 0.6).impacts, 1);
  }
}

TEST(QueryBenchmark, PercentileAndMaximumAreOfSingleQueries) {
  QueryStatistics a, b;
  for (int i = 1; i <= 150; ++i) a.add(Truth::unknown, false, 1000 * i);
  for (int i = 151; i <= 200; ++i) b.add(Truth::unknown, false, 1000 * i);
  EXPECT_EQ(a.p99_microseconds(), 149);  // ⌈148.5⌉
  EXPECT_EQ(a.slowest, 149);
  a.add(b);
  EXPECT_EQ(a.queries, 200);
  EXPECT_EQ(a.p99_microseconds(), 198);
  EXPECT_EQ(a.max_microseconds(), 200);
  EXPECT_EQ(a.mean_microseconds(), 100.5);
  EXPECT_EQ(QueryStatistics().p99_microseconds(), 0);
}

TEST(QueryRecorder, KeepsEveryKthAndNeverMoreThanItMay) {
  QueryRecorder recorder(10);
  Matrix3X x = Matrix3X::Zero(3, 4), p = Matrix3X::Zero(3, 4);
  p(0, 0) = 1;
  const Candidates one = {{PairKind::point_triangle, {0, 1, 2, 3}}};
  for (int i = 0; i < 1000; ++i) {
    x(1, 0) = i;
    recorder.add(one, x, p);
    EXPECT_LE(recorder.kept(PairKind::point_triangle).pairs.size(), 10u);
  }
  EXPECT_EQ(recorder.seen(PairKind::point_triangle), 1000u);
  const auto& kept = recorder.kept(PairKind::point_triangle).pairs;
  ASSERT_GE(kept.size(), 5u);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].from[0].y(), double(128 * i));
}

TEST(QueryRecorder, WritesAllKindsOfPairsThatMove) {
  Matrix3X x(3, 6), p = Matrix3X::Zero(3, 6);
  for (int v = 0; v < 6; ++v) x.col(v) = Vector3(v, v * v, 1);
  p.col(0) = Vector3(0, 0, 0.5);
  const Candidates candidates = {{PairKind::point_point, {0, 1, -1, -1}},
                                 {PairKind::point_edge, {0, 1, 2, -1}},
                                 {PairKind::point_triangle, {0, 1, 2, 3}},
                                 {PairKind::point_triangle, {5, 1, 2, 3}},  // at rest
                                 {PairKind::edge_edge, {0, 1, 2, 3}}};
  QueryRecorder recorder;
  recorder.add(candidates, x, p);
  const TemporaryDirectory directory;
  prepare_query_folder(directory.path(), "recorded", false);
  recorder.write(directory.path(), "recorded");
  const QuerySet faces = read_queries(directory / "vertex-face/recorded.csv");
  const QuerySet edges = read_queries(directory / "edge-edge/recorded.csv");
  ASSERT_EQ(faces.pairs.size(), 3u);
  ASSERT_EQ(edges.pairs.size(), 1u);
  EXPECT_EQ(faces.kind, PairKind::point_triangle);
  EXPECT_EQ(edges.kind, PairKind::edge_edge);
  const int expected[3][4] = {{0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
  for (int q = 0; q < 3; ++q)
    for (int i = 0; i < 4; ++i) {
      const int v = expected[q][i];
      EXPECT_EQ(faces.pairs[std::size_t(q)].from[i], x.col(v));
      EXPECT_EQ(faces.pairs[std::size_t(q)].to[i], x.col(v) + p.col(v));
      EXPECT_EQ(faces.pairs[std::size_t(q)].truth, Truth::unknown);
    }

  // A later recording takes the place of the whole earlier one.
  QueryRecorder later;
  later.add(Candidates{candidates.back()}, x, p);
  later.write(directory.path(), "recorded");
  EXPECT_FALSE(std::filesystem::exists(directory / "vertex-face/recorded.csv"));
  EXPECT_EQ(read_queries(directory / "edge-edge/recorded.csv").pairs.size(), 1u);
}

}  // namespace
}  // namespace apart::test
