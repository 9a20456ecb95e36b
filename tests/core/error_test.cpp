#include <gtest/gtest.h>
#include <apart/core/error.hpp>

namespace apart::test {
namespace {

TEST(Errors, InputErrorFormatsItsArguments) {
  const InputError error("{}: got {}, must lie in ({}, {})", "bodies[2].material.nu", 0.5, -1, 0.5);
  EXPECT_STREQ(error.what(), "bodies[2].material.nu: got 0.5, must lie in (-1, 0.5)");
}

TEST(Errors, MessagesWithoutArgumentsAreTakenAsTheyAre) {
  // Text from a user's file may hold braces.
  EXPECT_STREQ(InputError("unexpected '{' in {file}").what(), "unexpected '{' in {file}");
  EXPECT_STREQ(InputError(std::string("unexpected '{}'")).what(), "unexpected '{}'");
}

TEST(Errors, KindsAreDistinguished) {
  // Exit code 2, exit code 3, and a fault of the program: none may be caught as another.
  EXPECT_FALSE((std::is_base_of_v<InputError, SolverError> || std::is_base_of_v<SolverError, InputError>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, InvariantError>));
  EXPECT_TRUE((std::is_base_of_v<std::exception, InvariantError>));
}

TEST(Errors, EnsureThrowsInEveryKindOfBuild) {
  EXPECT_NO_THROW(ensure(true, "fine"));
  try {
    ensure(false, "face index in range");
    FAIL() << "ensure(false) returned";
  } catch (const InvariantError& error) {
    EXPECT_STREQ(error.what(), "face index in range");
  }
}

}  // namespace
}  // namespace apart::test
