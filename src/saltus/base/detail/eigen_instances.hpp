// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>

// Factorisations and products of dense matrices that are compiled once, in eigen_instances.cpp. Without these
// declarations every source that factorises a matrix would compile its own copy, which takes several seconds. The
// precompiled headers of the library and of the tests contain this file. Tests are compiled without optimisation, so
// that their own copies would also be slow, and the linker could choose them for the library.
#ifndef SALTUS_EIGEN_INSTANCE
#define SALTUS_EIGEN_INSTANCE extern template
#endif

namespace Eigen::internal {

using KernelResult = blas_data_mapper<double, Index, ColMajor, Unaligned, 1>;
using KernelColumns = const_blas_data_mapper<double, Index, ColMajor>;
using KernelRows = const_blas_data_mapper<double, Index, RowMajor>;
using KernelTraits = gebp_traits<double, double>;

SALTUS_EIGEN_INSTANCE struct gebp_kernel<double, double, Index, KernelResult, KernelTraits::mr, KernelTraits::nr, false,
                                         false>;
SALTUS_EIGEN_INSTANCE struct gemm_pack_lhs<double, Index, KernelColumns, KernelTraits::mr, KernelTraits::LhsProgress,
                                           KernelTraits::LhsPacket4Packing, ColMajor>;
SALTUS_EIGEN_INSTANCE struct gemm_pack_lhs<double, Index, KernelRows, KernelTraits::mr, KernelTraits::LhsProgress,
                                           KernelTraits::LhsPacket4Packing, RowMajor>;
SALTUS_EIGEN_INSTANCE struct gemm_pack_rhs<double, Index, KernelColumns, KernelTraits::nr, ColMajor>;
SALTUS_EIGEN_INSTANCE struct gemm_pack_rhs<double, Index, KernelRows, KernelTraits::nr, RowMajor>;

SALTUS_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, KernelColumns, ColMajor, false, double,
                                                           KernelColumns, false>;
SALTUS_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, KernelColumns, ColMajor, false, double,
                                                           KernelRows, false>;
SALTUS_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, KernelRows, RowMajor, false, double,
                                                           KernelColumns, false>;
SALTUS_EIGEN_INSTANCE struct general_matrix_vector_product<Index, double, KernelRows, RowMajor, false, double,
                                                           KernelRows, false>;

}  // namespace Eigen::internal

namespace Eigen {

SALTUS_EIGEN_INSTANCE class FullPivLU<MatrixXd>;
SALTUS_EIGEN_INSTANCE class PartialPivLU<MatrixXd>;
SALTUS_EIGEN_INSTANCE class LLT<MatrixXd>;
SALTUS_EIGEN_INSTANCE class LDLT<MatrixXd>;

}  // namespace Eigen
