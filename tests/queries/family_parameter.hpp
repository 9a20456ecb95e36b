#pragma once
// Tests that are made for each family of queries.
#include <apart/queries/query_generator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace apart::test {

inline std::string family_test_name(const ::testing::TestParamInfo<QueryFamily>& info) {
  std::string name(name_of(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
inline std::vector<QueryFamily> all_query_families() {
  std::vector<QueryFamily> families;
  for (const FamilyName& row : query_families) families.push_back(row.family);
  return families;
}

}  // namespace apart::test
