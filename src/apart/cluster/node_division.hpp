#pragma once
#include <apart/core/team.hpp>

#include <vector>

namespace apart {

struct Model;

/// The process of each node of a model: parts of the graph of its elements with nearly as many elements of
/// present bodies each (`present`: one entry per body), and few between two parts, by PTScotch or what
/// PETSC_OPTIONS="-mat_partitioning_type ..." says. Called by all processes of the team, which are those of
/// PETSc; the same for all.
std::vector<int> divide_graph(const Model& model, const std::vector<char>& present, const Team& team);

}  // namespace apart
