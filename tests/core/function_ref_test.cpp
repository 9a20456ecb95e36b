#include <gtest/gtest.h>
#include <apart/core/function_ref.hpp>

#include <string>

namespace apart::test {
namespace {

TEST(FunctionRef, CallsTheObjectItRefersTo) {
  int calls = 0;
  auto count = [&calls](int by) { return calls += by; };
  const FunctionRef<int(int)> ref = count;
  EXPECT_EQ(ref(2), 2);
  const FunctionRef<int(int)> copy = ref;
  EXPECT_EQ(copy(3), 5);
  EXPECT_EQ(calls, 5);
}

TEST(FunctionRef, KeepsTheStateOfAMutableCallable) {
  auto counter = [n = 0]() mutable { return ++n; };
  const FunctionRef<int()> ref = counter;
  EXPECT_EQ(ref(), 1);
  EXPECT_EQ(ref(), 2);
  EXPECT_EQ(counter(), 3);
}

TEST(FunctionRef, TakesOnlyWhatCanBeCalled) {
  // So that a function may be overloaded for text and for a callable.
  EXPECT_FALSE((std::is_constructible_v<FunctionRef<void(int)>, std::string>));
  EXPECT_FALSE((std::is_constructible_v<FunctionRef<void(int)>, const char(&)[3]>));
  EXPECT_FALSE((std::is_constructible_v<FunctionRef<int(int)>, void (&)(int)>));
  EXPECT_TRUE((std::is_constructible_v<FunctionRef<void(int)>, int (&)(long)>));
}

}  // namespace
}  // namespace apart::test
