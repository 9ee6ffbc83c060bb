#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::analysis {

/// Up to this size of the smaller dimension all singular values are computed.
inline constexpr std::int64_t kMaxWholeSpectrum = 4096;

enum class SpectrumMethod : std::uint8_t {
    Whole,      ///< a singular value decomposition in double precision
    Gram,       ///< eigenvalues of A·Aᵀ in double precision: values below 1e-7 of the largest are not told from 0
    Randomised  ///< the largest values alone (Halko, Martinsson, Tropp 2011, algorithms 4.4 and 5.1)
};
std::string_view name(SpectrumMethod method);  ///< "svd", "gram", "randomised"

/// Singular values σ of a weight as a matrix, and what its rank is by three measures.
struct Spectrum {
    std::int64_t rows = 0,
                 cols = 0;  ///< filters and elements of a filter; without filters a dimension and the rest
    std::string matrix;     ///< what the rows and columns are, see WeightMatrix::meaning()
    SpectrumMethod method = SpectrumMethod::Whole;
    std::vector<double> values;  ///< largest first: min(rows, cols) of them, or the leading ones
    double squares = 0;          ///< ‖A‖² (Frobenius), of all elements
    /// exp(−Σ pᵢ ln pᵢ), pᵢ = σᵢ / Σσ: Roy and Vetterli, "The effective rank", EUSIPCO 2007. Of a randomised spectrum
    /// it is between this and `effectiveRankHigh`: what the other values add up to is known, and so is their maximum.
    /// It is least if as few of them as possible are as large as that, and most if all are equal.
    double effectiveRank = 0, effectiveRankHigh = 0;
    double stableRank = 0;           ///< ‖A‖² / σ₁² (Rudelson and Vershynin 2007)
    std::int64_t numericalRank = 0;  ///< σ > σ₁·max(rows, cols)·2⁻²³: numpy's matrix_rank of float32
    bool isRankOpen = false;         ///< randomised, and all that is known counts: the rank is larger or equal
    double energy() const;           ///< share of ‖A‖² in the values, 0 to 1
};

struct SpectrumOptions {
    std::int64_t maxWhole = kMaxWholeSpectrum;  ///< larger ones are randomised
    std::int64_t leading = 256;                 ///< values of a randomised spectrum
    std::uint64_t seed = 0;                     ///< of its random projection
};

/// `shape` is that of the tensor that is read. Blocks. Takes memory for the square of the smaller dimension (up to
/// maxWhole), or for `leading` vectors of both. Errors: Usage, less than two dimensions or no element; Run, elements
/// that are not finite; Cancelled.
base::Result<Spectrum> spectrumOf(const WeightReader& reader, const tensor::Shape& shape,
                                  const std::optional<FilterLayout>& layout, const SpectrumOptions& options = {},
                                  const base::WorkContext& work = {});

}  // namespace sonde::analysis
