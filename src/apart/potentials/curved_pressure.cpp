#include <apart/math/psd_projection.hpp>
#include <apart/potentials/curved_pressure.hpp>

#include <Eigen/Geometry>
#include <map>

namespace apart {

CurvedPressure::Place CurvedPressure::place(const Term& term, const CurvedFace::Point& point,
                                            const Matrix3X& q) {
  Place at{point.offset - term.apex, point.offset_s, point.offset_t};
  for (std::size_t a = 0; a < term.nodes.size(); ++a) {
    const Vector3 x = q.col(term.nodes[a]);
    at.y += point.values[Index(a)] * x;
    at.s += point.slopes_s[Index(a)] * x;
    at.t += point.slopes_t[Index(a)] * x;
  }
  return at;
}

void CurvedPressure::set(double scale, const std::vector<Patch>& patches, const Matrix3X& start) {
  terms_.clear();
  rim_.clear();
  for (const Patch& patch : patches) {
    if (patch.pressure == 0 || patch.faces->empty()) continue;
    const std::size_t first = terms_.size();
    Vector3 apex = Vector3::Zero();
    Index count = 0;
    for (const CurvedFace& face : *patch.faces) {
      Term& term = terms_.emplace_back(Term{&face, face.nodes, scale * patch.pressure, Vector3::Zero()});
      for (Index& node : term.nodes) {
        node += patch.first_node;
        apex += start.col(node);
        ++count;
      }
    }
    apex /= double(count);
    // Gradient of the cone minus pressure proper. Inside the patch the difference cancels but for rounding.
    std::map<Index, Vector3> excess;
    for (std::size_t i = first; i < terms_.size(); ++i) {
      terms_[i].apex = apex;
      for (const CurvedFace::Point& k : terms_[i].face->points) {
        const Place at = place(terms_[i], k, start);
        const double c = terms_[i].strength * k.weight / 3;
        const Vector3 n = at.s.cross(at.t), s = at.t.cross(at.y), t = at.y.cross(at.s);
        for (std::size_t a = 0; a < terms_[i].nodes.size(); ++a)
          excess.try_emplace(terms_[i].nodes[a], Vector3::Zero()).first->second +=
              c * (k.slopes_s[Index(a)] * s + k.slopes_t[Index(a)] * t - 2 * k.values[Index(a)] * n);
      }
    }
    for (const auto& [node, vector] : excess) rim_.push_back({node, vector, start.col(node)});
  }
}

double CurvedPressure::value(const Matrix3X& q) const {
  double sum = ordered_sum(term_count(), [&](Index i) {
    const Term& term = terms_[std::size_t(i)];
    double volume = 0;
    for (const CurvedFace::Point& k : term.face->points) {
      const Place at = place(term, k, q);
      volume += k.weight / 3 * at.y.dot(at.s.cross(at.t));
    }
    return term.strength * volume;
  });
  for (const Rim& r : rim_) sum -= r.excess.dot(q.col(r.node) - r.origin);
  return sum;
}

void CurvedPressure::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Term& term = terms_[std::size_t(i)];
    for (const CurvedFace::Point& k : term.face->points) {
      const Place at = place(term, k, q);
      const double c = term.strength * k.weight / 3;
      const Vector3 n = c * at.s.cross(at.t), s = c * at.t.cross(at.y), t = c * at.y.cross(at.s);
      for (Index a = 0; a < Index(term.nodes.size()); ++a)
        g.template segment<3>(3 * a) += k.values[a] * n + k.slopes_s[a] * s + k.slopes_t[a] * t;
    }
  });
  for (const Rim& r : rim_) gradient.col(r.node) -= r.excess;
}

void CurvedPressure::hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                              LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Term& term = terms_[std::size_t(i)];
    auto h = out[i];
    h.setZero();
    for (const CurvedFace::Point& k : term.face->points) {
      const Place at = place(term, k, q);
      const double c = term.strength * k.weight / 3;
      for (Index a = 0; a < Index(term.nodes.size()); ++a)
        for (Index b = 0; b < a; ++b) {
          // ∂²/∂q_a∂q_b of the determinant of (y, y_s, y_t) is the matrix of v ×, with
          const Vector3 v = c * ((k.values[b] * k.slopes_s[a] - k.values[a] * k.slopes_s[b]) * at.t +
                                 (k.values[a] * k.slopes_t[b] - k.values[b] * k.slopes_t[a]) * at.s +
                                 (k.slopes_s[b] * k.slopes_t[a] - k.slopes_s[a] * k.slopes_t[b]) * at.y);
          Matrix3 m;
          m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
          h.block<3, 3>(3 * a, 3 * b) += m;
          h.block<3, 3>(3 * b, 3 * a) -= m;
        }
    }
    if (projection != Projection::none) make_positive(h, NegativeEigenvalues::zeroed);
  }
}

}  // namespace apart
