#pragma once
#include <apart/core/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace apart::test {

/// The message of the InputError that `call` must throw; fails the test if it throws none.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "must throw InputError";
  return {};
}

}  // namespace apart::test
