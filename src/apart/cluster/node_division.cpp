#include <apart/cluster/node_division.hpp>

#include <apart/cluster/petsc_handles.hpp>
#include <apart/geometry/space_partition.hpp>
#include <apart/simulation/element_graph.hpp>
#include <apart/simulation/model.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace apart {

namespace {

/// PETSc takes over the copy.
PetscInt* copy_for_petsc(const std::vector<Index>& values) {
  PetscInt* copy;
  petsc(PetscMalloc1(values.size() + 1, &copy));
  std::copy(values.begin(), values.end(), copy);
  return copy;
}

/// The same graph is divided in the same way each time: by one thread of each process, and with random
/// numbers that begin anew. PETSc passes on neither wish.
void make_scotch_repeatable() {
  ::setenv("SCOTCH_PTHREAD_NUMBER", "1", 0);
  using Reset = void();
  if (auto* const reset = reinterpret_cast<Reset*>(::dlsym(RTLD_DEFAULT, "SCOTCH_randomReset"))) reset();
}

}  // namespace

std::vector<int> divide_graph(const Model& model, const std::vector<char>& present, const Team& team) {
  constexpr Index fewest_nodes = 20;  // for each process: of fewer there is nothing to be gained
  const Index count = model.node_count();
  if (count < fewest_nodes * team.size()) return divide_space(model.initial_nodes, team.size());
  const auto own = team.share(count);
  const ElementGraph graph = element_graph(model, present, own);
  MatHandle adjacency;
  petsc(MatCreateMPIAdj(PETSC_COMM_WORLD, own.second - own.first, count, copy_for_petsc(graph.start),
                        copy_for_petsc(graph.neighbours), nullptr, adjacency.make()));
  PartitioningHandle partitioning;
  petsc(MatPartitioningCreate(PETSC_COMM_WORLD, partitioning.make()));
  petsc(MatPartitioningSetAdjacency(partitioning, adjacency));
  petsc(MatPartitioningSetNParts(partitioning, team.size()));
  petsc(MatPartitioningSetVertexWeights(partitioning, copy_for_petsc(graph.work)));
#ifdef PETSC_HAVE_PTSCOTCH
  petsc(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
#elif defined(PETSC_HAVE_PARMETIS)
  petsc(MatPartitioningSetType(partitioning, MATPARTITIONINGPARMETIS));
#endif
  petsc(MatPartitioningSetFromOptions(partitioning));
  make_scotch_repeatable();
  IndexSetHandle parts;
  petsc(MatPartitioningApply(partitioning, parts.make()));
  const PetscInt* part;
  petsc(ISGetIndices(parts, &part));
  const std::vector<int> own_parts(part, part + (own.second - own.first));
  petsc(ISRestoreIndices(parts, &part));
  return team.joined(std::span<const int>(own_parts));
}

}  // namespace apart
