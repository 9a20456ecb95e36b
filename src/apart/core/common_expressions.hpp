#pragma once
// For the precompiled headers alone: Eigen's class templates of the expressions that most files write,
// instantiated once instead of in every file (each costs GCC about 20 ms). Only types are named, no function
// is instantiated, so nothing of this reaches a program. What a file writes that is not here compiles as
// well, only slower.
#include <apart/core/types.hpp>

#include <Eigen/Geometry>

namespace apart::common_expressions {

template <class... Expressions>
inline constexpr bool instantiated = ((sizeof(Expressions) > 0) && ...);
template <class T>
T value();  // never defined: stands for a value in decltype
template <class T>
const T& constant();         // likewise, for a constant one
template <class A, class B>  // what A.dot(B) sums
using Dot = decltype(value<A>().template binaryExpr<Eigen::internal::scalar_conj_product_op<double, double>>(
    value<B>()));

template <class M>
using Column = decltype(constant<M>().col(0));
template <class A, class B = A>
using Difference = decltype(value<A>() - value<B>());
template <class A, class B = A>
using Sum = decltype(value<A>() + value<B>());
template <class A>
using Scaled = decltype(2.0 * value<A>());
template <class A>
using Squares = decltype(value<A>().cwiseAbs2());

using V = Vector3;
using C = Column<Matrix3X>;
using ToV = Difference<C, V>;
using Span = Difference<V>;
using Moved = Difference<Matrix3X>;
using Turned = decltype(value<Matrix3>() * value<Span>());

template <class A>
using Array = decltype(value<A>().array());

static_assert(
    instantiated<V, Matrix3X, Matrix3, Eigen::MatrixXd, Eigen::VectorXd, Eigen::VectorXi, Eigen::Vector4d,
                 Eigen::Matrix2d, Eigen::Matrix4d, Eigen::Vector2d, Eigen::MatrixXi, Eigen::Matrix2Xi,
                 Eigen::Matrix3Xi, Eigen::Matrix4Xi, Eigen::Matrix4Xd, Eigen::Vector3i, Eigen::Vector2i,
                 Eigen::Vector4i, Eigen::Array3d, Eigen::Matrix<double, 4, 2>, Eigen::Matrix<double, 3, 2>,
                 Eigen::Matrix<double, 3, 4>, Eigen::Matrix<double, 6, Eigen::Dynamic>>);
static_assert(
    instantiated<Eigen::Map<Eigen::VectorXd>, Eigen::Map<Eigen::MatrixXd>, Eigen::Map<const Eigen::MatrixXd>,
                 Eigen::Map<const V>, Eigen::Map<const Eigen::VectorXi>, Eigen::Map<Eigen::VectorXi>>);
static_assert(
    instantiated<decltype(V::Zero()), decltype(Matrix3::Zero()), decltype(Matrix3X::Zero(3, 1)),
                 decltype(Eigen::VectorXd::Zero(1)), decltype(Eigen::MatrixXd::Zero(1, 1)),
                 decltype(Matrix3::Identity()), decltype(V::Unit(0)), decltype(Eigen::Vector4d::Zero()),
                 decltype(Eigen::Array3d::Zero()), decltype(Eigen::Vector3i::Zero())>);
static_assert(
    instantiated<C, decltype(value<Matrix3X&>().col(0)), Column<Matrix3>, decltype(value<Matrix3&>().col(0)),
                 Column<Eigen::Matrix3Xi>, Column<Eigen::Matrix4Xi>, decltype(constant<Matrix3X>().row(0)),
                 decltype(constant<Matrix3>().row(0)), decltype(constant<Matrix3>().row(0).transpose()),
                 decltype(constant<Matrix3X>().middleCols(0, 1)),
                 decltype(value<Matrix3X&>().middleCols(0, 1)), decltype(constant<Matrix3>().transpose())>);
static_assert(instantiated<Span, ToV, Difference<C>, Difference<V, C>, Sum<V>, Scaled<V>, Scaled<C>,
                           Scaled<Span>, Sum<V, Scaled<V>>, Sum<V, Scaled<Span>>, decltype(value<V>() * 2.0),
                           decltype(-value<V>()), decltype(value<V>() / 2.0), Scaled<Matrix3>>);
static_assert(
    instantiated<Squares<V>, Squares<Span>, Squares<ToV>, Squares<Difference<C>>, Dot<V, V>, Dot<V, ToV>,
                 decltype(value<V>().cwiseAbs()), decltype(value<V>().cwiseMin(value<V>())),
                 decltype(value<V>().cwiseMax(value<V>())), decltype(value<V>().cwiseProduct(value<V>()))>);
static_assert(
    instantiated<Moved, Scaled<Moved>, decltype(value<Moved>() / 2.0), Scaled<Matrix3X>, Array<const Moved>>);
static_assert(instantiated<decltype(value<Matrix3>() * value<Matrix3>()),
                           decltype(value<Matrix3>().lazyProduct(value<Matrix3>())), Turned,
                           decltype(value<Matrix3>().lazyProduct(value<Span>())), Sum<V, Turned>,
                           Sum<Sum<V, Turned>, V>, decltype(value<Matrix3>() * value<V>())>);
static_assert(
    instantiated<Array<const V>, Array<const Span>, decltype(constant<V>().array() <= constant<V>().array()),
                 decltype(constant<Span>().array() <= 1.0),
                 decltype(constant<Span>().array() == constant<Span>().array())>);

// What a product of small matrices sums for one coefficient.
using Row = decltype(constant<Matrix3>().row(0).transpose());
static_assert(
    instantiated<decltype(constant<V>().col(0)), decltype(value<Row>().cwiseProduct(constant<V>().col(0))),
                 decltype(value<Row>().cwiseProduct(constant<Matrix3>().col(0)))>);
static_assert(instantiated<Eigen::Array<bool, 3, Eigen::Dynamic>,
                           decltype(Eigen::Array<bool, 3, Eigen::Dynamic>::Zero(3, 1)),
                           decltype(constant<Eigen::Vector3i>().cast<double>()),
                           decltype(constant<V>().rowwise().replicate(2)), Scaled<Eigen::VectorXd>>);

}  // namespace apart::common_expressions
