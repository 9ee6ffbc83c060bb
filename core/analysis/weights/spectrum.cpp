#include "core/analysis/weights/spectrum.h"

#include <Eigen/QR>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/analysis/weights/symmetric_values.h"
#include "core/analysis/weights/weight_matrix.h"
#include "core/ops/linalg/decompositions.h"

namespace sonde::analysis {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Multiplications that a decomposition may take before the Gram matrix is cheaper, and may be cancelled.
constexpr double kMaxWholeWork = 1.5e8;
constexpr std::int64_t kBlock = 256;  ///< rows or columns that are read at a time
constexpr std::int64_t kOversampling =
    64;  ///< vectors beyond the leading ones: the last of those are 1 % too small with 16
constexpr int kPowerIterations = 2;

/// Normally distributed numbers by Box and Muller: those of the standard library differ between libraries.
class NormalNumbers {
  public:
    explicit NormalNumbers(std::uint64_t seed) : m_engine(seed) {}
    float next() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return static_cast<float>(radius * std::cos(2 * M_PI * uniform()));
    }

  private:
    double uniform() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }
    std::mt19937_64 m_engine;
};

class SpectrumFinder {
  public:
    SpectrumFinder(const WeightMatrix& matrix, const SpectrumOptions& options, const base::WorkContext& work)
        : m_matrix(matrix), m_options(options), m_work(work) {
        m_found.rows = matrix.filters();
        m_found.cols = matrix.fanIn();
        m_found.matrix = matrix.meaning();
    }

    base::Result<Spectrum> find() {
        SONDE_TRY(readSquares());
        const std::int64_t small = std::min(m_found.rows, m_found.cols), large = std::max(m_found.rows, m_found.cols);
        const double steps = static_cast<double>(small) * static_cast<double>(small) * static_cast<double>(large);
        if (small > m_options.maxWhole) {
            SONDE_TRY(randomised());
        } else if (steps <= kMaxWholeWork) {
            SONDE_TRY(whole());
        } else {
            SONDE_TRY(byGram());
        }
        measure();
        return std::move(m_found);
    }

  private:
    static constexpr const char* kPlace = "singular values";

    /// The rows are scaled by their largest element, so that no square of them overflows or vanishes.
    base::Result<void> readSquares() {
        double largest = 0;
        const auto forAll = [&](auto visit) -> base::Result<void> {
            std::vector<double> row(static_cast<std::size_t>(m_matrix.cols()));
            for (std::int64_t i = 0; i < m_matrix.rows(); ++i) {
                if (m_work.cancelled()) return base::cancelled(kPlace);
                m_matrix.readRow(i, 0, row);
                for (const double x : row) visit(x);
            }
            return {};
        };
        bool isFinite = true;
        SONDE_TRY(forAll([&](double x) {
            isFinite = isFinite && std::isfinite(x);
            largest = std::max(largest, std::abs(x));
        }));
        if (!isFinite) return base::runError("the weight has NaN or infinite elements, and no singular values");
        m_scale = largest > 0 ? largest : 1;
        return forAll([&](double x) { m_found.squares += x / m_scale * (x / m_scale); });
    }

    void readScaledRow(std::int64_t row, std::int64_t col, std::span<double> out) const {
        m_matrix.readRow(row, col, out);
        for (double& x : out) x /= m_scale;
    }

    base::Result<void> whole() {
        m_found.method = SpectrumMethod::Whole;
        const std::int64_t rows = m_matrix.rows(), cols = m_matrix.cols();
        MatrixXd matrix(cols, rows);  // by columns: a row of ours each
        for (std::int64_t i = 0; i < rows; ++i)
            readScaledRow(i, 0, {matrix.data() + i * cols, static_cast<std::size_t>(cols)});
        m_found.values.resize(static_cast<std::size_t>(std::min(rows, cols)));
        const bool isFound =
            ops::linalg::decomposeSingular<double>({matrix.data(), cols, rows}, m_found.values.data(), {}, {});
        return isFound ? base::Result<void>() : base::runError("the singular values did not converge");
    }

    base::Result<void> byGram() {
        m_found.method = SpectrumMethod::Gram;
        const std::int64_t rows = m_matrix.rows(), cols = m_matrix.cols();
        const bool isWide = rows < cols;
        const std::int64_t small = std::min(rows, cols), large = std::max(rows, cols);
        MatrixXd gram = MatrixXd::Zero(small, small);
        MatrixXd block(small, kBlock);
        std::vector<double> piece(static_cast<std::size_t>(isWide ? kBlock : small));
        for (std::int64_t begin = 0; begin < large; begin += kBlock) {
            if (m_work.cancelled()) return base::cancelled(kPlace);
            m_work.report("multiplying the weight", static_cast<std::size_t>(begin), static_cast<std::size_t>(large));
            const std::int64_t count = std::min(kBlock, large - begin);
            for (std::int64_t i = 0; i < (isWide ? rows : count); ++i) {
                const std::span<double> part(piece.data(), static_cast<std::size_t>(isWide ? count : small));
                readScaledRow(isWide ? i : begin + i, isWide ? begin : 0, part);
                const Eigen::Map<const Eigen::VectorXd> values(part.data(), static_cast<Index>(part.size()));
                if (isWide) block.row(i).head(count) = values.transpose();
                else block.col(i) = values;
            }
            gram.selfadjointView<Eigen::Lower>().rankUpdate(block.leftCols(count));
        }
        SONDE_ASSIGN(const std::vector<double> squares, symmetricValues(elementsOf(gram), small, m_work));
        for (std::size_t i = squares.size(); i-- > 0;) m_found.values.push_back(std::sqrt(std::max(squares[i], 0.0)));
        return {};
    }

    /// visit(first row, block of rows [≤ kBlock, cols]) for all.
    template <typename Visit>
    base::Result<void> forRows(const char* what, Visit visit) {
        const std::int64_t rows = m_matrix.rows(), cols = m_matrix.cols();
        Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> block(kBlock, cols);
        std::vector<double> row(static_cast<std::size_t>(cols));
        for (std::int64_t begin = 0; begin < rows; begin += kBlock) {
            if (m_work.cancelled()) return base::cancelled(kPlace);
            m_work.report(what, static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
            const std::int64_t count = std::min(kBlock, rows - begin);
            for (std::int64_t i = 0; i < count; ++i) {
                readScaledRow(begin + i, 0, row);
                for (std::int64_t j = 0; j < cols; ++j)
                    block(i, j) = static_cast<float>(row[static_cast<std::size_t>(j)]);
            }
            visit(begin, block.topRows(count));
        }
        return {};
    }

    static std::span<double> elementsOf(MatrixXd& matrix) {
        return {matrix.data(), static_cast<std::size_t>(matrix.size())};
    }

    static void orthonormalise(MatrixXf& vectors) {
        const Eigen::HouseholderQR<Eigen::Ref<MatrixXf>> qr(vectors);
        const MatrixXf thin = qr.householderQ() * MatrixXf::Identity(vectors.rows(), vectors.cols());
        vectors = thin;
    }

    /// The range of A by A·Ω with power iterations, each orthonormalised; then the values of QᵀA, which has few rows.
    base::Result<void> randomised() {
        m_found.method = SpectrumMethod::Randomised;
        const std::int64_t rows = m_matrix.rows(), cols = m_matrix.cols();
        const std::int64_t width = std::min(m_options.leading + kOversampling, std::min(rows, cols));
        MatrixXf right(cols, width), left(rows, width);
        NormalNumbers random(m_options.seed);
        for (Index i = 0; i < right.size(); ++i) right.data()[i] = random.next();
        for (int step = 0;; ++step) {
            SONDE_TRY(forRows("projecting the weight", [&](std::int64_t begin, const auto& block) {
                left.middleRows(begin, block.rows()).noalias() = block * right;
            }));
            orthonormalise(left);
            right.setZero();
            SONDE_TRY(forRows("projecting the weight", [&](std::int64_t begin, const auto& block) {
                right.noalias() += block.transpose() * left.middleRows(begin, block.rows());
            }));
            if (step == kPowerIterations) break;
            orthonormalise(right);
        }
        const MatrixXd wide = right.cast<double>();
        MatrixXd gram = MatrixXd::Zero(width, width);
        gram.selfadjointView<Eigen::Lower>().rankUpdate(wide.transpose());
        SONDE_ASSIGN(const std::vector<double> squares,
                     symmetricValues(elementsOf(gram), width, base::WorkContext{m_work.stop, {}}));
        const auto kept = std::min(static_cast<std::size_t>(m_options.leading), squares.size());
        for (std::size_t i = 0; i < kept; ++i)
            m_found.values.push_back(std::sqrt(std::max(squares[squares.size() - 1 - i], 0.0)));
        return {};
    }

    /// exp of the entropy of σ/Σσ for the values and `more` others of `size`, and part of one of them.
    double entropyRank(double more, double size) const {
        double sum = more * size, entropy = 0;
        for (const double value : m_found.values) sum += value;
        if (sum <= 0) return 0;
        for (const double value : m_found.values)
            if (value > 0) entropy -= value / sum * std::log(value / sum);
        if (more > 0 && size > 0) entropy -= more * (size / sum) * std::log(size / sum);
        return std::exp(entropy);
    }

    void measure() {
        const double largest = m_found.values.empty() ? 0 : m_found.values.front();
        const auto size = static_cast<double>(std::max(m_found.rows, m_found.cols));
        const double tolerance = largest * size * std::numeric_limits<float>::epsilon();
        m_found.numericalRank =
            std::ranges::count_if(m_found.values, [tolerance](double value) { return value > tolerance; });
        m_found.stableRank = largest > 0 ? m_found.squares / (largest * largest) : 0;
        m_found.effectiveRank = m_found.effectiveRankHigh = entropyRank(0, 0);
        const auto others =
            static_cast<double>(std::min(m_found.rows, m_found.cols)) - static_cast<double>(m_found.values.size());
        if (others > 0 && largest > 0) {
            double known = 0;
            for (const double value : m_found.values) known += value * value;
            const double rest = std::max(m_found.squares - known, 0.0), last = m_found.values.back();
            if (last > 0) m_found.effectiveRank = entropyRank(rest / (last * last), last);
            m_found.effectiveRankHigh = entropyRank(others, std::sqrt(rest / others));
            m_found.isRankOpen = static_cast<std::size_t>(m_found.numericalRank) == m_found.values.size();
        }
        for (double& value : m_found.values) value *= m_scale;
        m_found.squares *= m_scale * m_scale;
    }

    const WeightMatrix& m_matrix;
    const SpectrumOptions& m_options;
    const base::WorkContext& m_work;
    double m_scale = 1;  ///< |element|: all are divided by it while they are worked on
    Spectrum m_found;
};

}  // namespace

std::string_view name(SpectrumMethod method) {
    constexpr std::string_view kNames[] = {"svd", "gram", "randomised"};
    return kNames[static_cast<std::size_t>(method)];
}

double Spectrum::energy() const {
    double known = 0;
    for (const double value : values) known += value * value;
    return squares > 0 ? std::min(known / squares, 1.0) : 1.0;
}

base::Result<Spectrum> spectrumOf(const WeightReader& reader, const tensor::Shape& shape,
                                  const std::optional<FilterLayout>& layout, const SpectrumOptions& options,
                                  const base::WorkContext& work) {
    SONDE_ASSIGN(const WeightMatrix matrix, WeightMatrix::make(reader, shape, layout));
    return SpectrumFinder(matrix, options, work).find();
}

}  // namespace sonde::analysis
