#pragma once
#include <apart/python/conversion.hpp>

#include <array>

namespace apart::python {

/// Contacts as arrays, a row for each.
class ContactArrays {
 public:
  explicit ContactArrays(Index n)
      : points_(Eigen::MatrixXi::Constant(4, n, -1)),
        normals_(3, n),
        forces_(n),
        distances_(n),
        weights_({py::ssize_t(n), py::ssize_t(4)}) {}

  /// `contact`: with direction, magnitude, distance and weights. `ids`: of its points; those that are missing
  /// are −1.
  template <class Contact, class Ids>
  void set(Index i, const Contact& contact, const Ids& ids, int count = 4) {
    for (int k = 0; k < 4; ++k) {
      if (k < count) points_(k, i) = ids[std::size_t(k)];
      weights_.mutable_at(i, k) = contact.weights[k];
    }
    normals_.col(i) = contact.direction;
    forces_[i] = contact.magnitude;
    distances_[i] = contact.distance;
  }

  /// `points`: what the points are called.
  py::dict dictionary(const char* points) {
    py::dict result;
    result[points] = owned(std::move(points_));
    result["weights"] = weights_;
    result["normals"] = owned(std::move(normals_));
    result["forces"] = owned(std::move(forces_));
    result["distances"] = owned(std::move(distances_));
    return result;
  }

 private:
  Eigen::MatrixXi points_;
  Matrix3X normals_;
  VectorX forces_, distances_;
  py::array_t<double> weights_;
};

}  // namespace apart::python
