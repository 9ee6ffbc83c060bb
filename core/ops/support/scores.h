#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

// What the classifiers and regressors of domain ai.onnx.ml share: features as a table, classes, and what is done with
// scores at the end. The specification says little about two classes with one score; what it leaves open is as in ONNX
// Runtime, whose models these are.

/// Rows and columns of features: a vector is one row.
struct FeatureTable {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};
base::Result<FeatureTable> featureTable(const Tensor& x);

/// Numbered as TreeEnsemble's attribute post_transform.
enum class PostTransform { None, Softmax, Logistic, SoftmaxZero, Probit };
base::Result<PostTransform> postTransform(const Attributes& attributes);

/// 1 / (1 + e^-x).
double logistic(double x);

/// The scores of one row, in place. LOGISTIC and PROBIT element by element, SOFTMAX over the row; SOFTMAX_ZERO leaves
/// zeros zero. PROBIT is sqrt(2)·erfinv(2p − 1) with erfinv by the closed form of S. Winitzki, "A handy approximation
/// for the error function and its inverse" (2008), a = 0.147: the exporters' runtimes have it so.
void transformScores(std::span<double> row, PostTransform transform);

/// How one score s of two classes becomes two: the complement of a probability, [1 − s, s], or its opposite, [−s, s].
/// After LOGISTIC both are [logistic(−s), logistic(s)]; PROBIT gives one; the other transforms are not applied.
enum class SecondScore { Complement, Opposite };
std::vector<double> twoScores(double score, SecondScore second, PostTransform transform);

/// Names of classes: texts or numbers.
struct ClassLabels {
    std::vector<std::string> texts;
    std::vector<std::int64_t> numbers;

    /// From classlabels_strings and the attribute that has the numbers. Error: there are none, or both.
    static base::Result<ClassLabels> of(const Attributes& attributes, std::string_view numbersName);
    std::size_t size() const { return texts.empty() ? numbers.size() : texts.size(); }
    /// Output 0: the label of each row.
    void set(KernelContext& context, const std::vector<std::size_t>& picks) const;
};

// Inference: features [C] or [N,C] give N rows.
tensor::Dim rowsOf(const InferContext& context);
/// [N, columns] of float32 as an output; -1 columns: not known.
void setScoreType(InferContext& context, std::size_t output, std::int64_t columns);
/// A label for each row as output 0. Gives the number of labels.
std::int64_t setLabelType(InferContext& context, std::string_view numbersName);

/// Rows of scores as a float tensor; every row must have the same length.
base::Result<void> setScores(KernelContext& context, std::size_t output, DType dtype,
                             const std::vector<std::vector<double>>& rows, std::size_t columns);

}  // namespace sonde::ops
