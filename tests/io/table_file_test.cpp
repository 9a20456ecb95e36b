#include <apart/core/error.hpp>
#include <apart/io/table_file.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <cmath>

namespace apart::test {
namespace {

TEST(TableFile, ColumnsAreFoundByName) {
  const TemporaryDirectory directory;
  write_file(directory / "a.csv",
             "step,time,push.x\n1,0.5,inf\n2,1.0,-3e-2\n3,1.5");  // the last is under way
  const Table table = read_table(directory / "a.csv");
  ASSERT_TRUE(table.find("time") && table.find("push.x"));
  EXPECT_EQ(*table.find("time"), (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(std::isinf((*table.find("push.x"))[0]));
  EXPECT_EQ(table.find("push"), nullptr);
}

TEST(TableFile, DamagedLinesAreNamed) {
  const TemporaryDirectory directory;
  const auto error = [&](const char* text) {
    write_file(directory / "a.csv", text);
    return message_of([&] { read_table(directory / "a.csv"); });
  };
  EXPECT_NE(error("a,b\n1,2\n3\n").find("a.csv:3: has 1 columns, must have 2"), std::string::npos);
  EXPECT_NE(error("a,b\n1,two\n").find("a.csv:2: has no number for 'b'"), std::string::npos);
  EXPECT_NE(error("a,b").find("no line of column names"), std::string::npos);
  EXPECT_THROW(read_table(directory / "none.csv"), InputError);
}

}  // namespace
}  // namespace apart::test
