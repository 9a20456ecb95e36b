#pragma once
#include <apart/core/error.hpp>

#include <petscksp.h>

namespace apart {

/// Throws if a call of PETSc failed, which it has then explained on the screen.
inline void petsc(PetscErrorCode code) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  if (code == PETSC_ERR_MEM)
    throw SolverError("PETSc: not enough memory for the linear system; use more machines or a coarser mesh");
  throw SolverError(fmt::format(
      "PETSc: {}; its options are those of PETSC_OPTIONS, and --linear-solver gathered needs none",
      text ? text : "an error without a name"));
}

/// An object of PETSc, destroyed with this.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class Handle {
 public:
  Handle() = default;
  ~Handle() { reset(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  void reset() {
    if (object_) destroy(&object_);
    object_ = nullptr;
  }
  /// For the call that makes it.
  Object* make() {
    reset();
    return &object_;
  }
  operator Object() const { return object_; }  // NOLINT: used as the object

 private:
  Object object_ = nullptr;
};
using MatHandle = Handle<Mat, MatDestroy>;
using VecHandle = Handle<Vec, VecDestroy>;
using KspHandle = Handle<KSP, KSPDestroy>;
using NullSpaceHandle = Handle<MatNullSpace, MatNullSpaceDestroy>;
using PartitioningHandle = Handle<MatPartitioning, MatPartitioningDestroy>;
using IndexSetHandle = Handle<IS, ISDestroy>;

}  // namespace apart
