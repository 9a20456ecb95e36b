#pragma once
#include <apart/core/team.hpp>

#include <functional>

namespace apart::test {

/// Calls body(team) for each process of a team, whose processes are threads of this one. An exception of one
/// of them ends the others, and is thrown on.
void as_team(int size, const std::function<void(const Team&)>& body);

}  // namespace apart::test
