// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

// Products of matrices and solutions of triangular systems, compiled with optimisation in eigen_kernels.cpp. Tests are
// compiled without optimisation. If they instantiated these templates themselves, then the linker would take the slow
// code for the library as well: it keeps one copy of each instance, that of the first object file.
#ifndef SALTUS_KERNEL
#define SALTUS_KERNEL extern template
#endif

namespace Eigen::internal {

using KernelResult = blas_data_mapper<double, Index, ColMajor, Unaligned, 1>;
using KernelColumns = const_blas_data_mapper<double, Index, ColMajor>;
using KernelRows = const_blas_data_mapper<double, Index, RowMajor>;
using KernelTraits = gebp_traits<double, double>;

SALTUS_KERNEL struct gebp_kernel<double, double, Index, KernelResult, KernelTraits::mr, KernelTraits::nr, false, false>;
SALTUS_KERNEL struct gemm_pack_lhs<double, Index, KernelColumns, KernelTraits::mr, KernelTraits::LhsProgress,
                                   KernelTraits::LhsPacket4Packing, ColMajor>;
SALTUS_KERNEL struct gemm_pack_lhs<double, Index, KernelRows, KernelTraits::mr, KernelTraits::LhsProgress,
                                   KernelTraits::LhsPacket4Packing, RowMajor>;
SALTUS_KERNEL struct gemm_pack_rhs<double, Index, KernelColumns, KernelTraits::nr, ColMajor>;
SALTUS_KERNEL struct gemm_pack_rhs<double, Index, KernelRows, KernelTraits::nr, RowMajor>;

SALTUS_KERNEL struct general_matrix_vector_product<Index, double, KernelColumns, ColMajor, false, double, KernelColumns,
                                                   false>;
SALTUS_KERNEL struct general_matrix_vector_product<Index, double, KernelColumns, ColMajor, false, double, KernelRows,
                                                   false>;
SALTUS_KERNEL struct general_matrix_vector_product<Index, double, KernelRows, RowMajor, false, double, KernelColumns,
                                                   false>;
SALTUS_KERNEL struct general_matrix_vector_product<Index, double, KernelRows, RowMajor, false, double, KernelRows,
                                                   false>;

}  // namespace Eigen::internal
