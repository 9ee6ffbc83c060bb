#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/ops/dependence/dependence.h"
#include "core/ops/support/scores.h"

/// What classifiers and regressors of ai.onnx.ml make of their scores at the end, and of their features.
namespace sonde::ops::dependence {

/// Makes the formula of an element from that of its score ("sum(w * x) + bias"), as transformScores() computes it.
/// `row`: the scores of all targets, which take part where the transform goes over the row.
void transformScore(Dependence& dependence, const std::string& score, std::span<const double> row,
                    PostTransform transform);
/// The same as twoScores() computes both elements from one score; `target`: 0 or 1.
void transformOneOfTwo(Dependence& dependence, const std::string& score, std::int64_t target, SecondScore second,
                       PostTransform transform);

/// The label with the largest score (or most votes), which are numbers inside of the operator. Labels that no score is
/// given for are left out. Error: labels that are texts.
base::Result<void> chooseLabel(Dependence& dependence, const ClassLabels& labels, std::span<const double> scores,
                               std::span<const char> given = {});
/// The second of two labels where `condition`, a formula, holds, else the first.
base::Result<void> chooseOfTwo(Dependence& dependence, const ClassLabels& labels, const std::string& condition);

/// Numbers that the operator computes on its way: a list of that name.
void addInside(Dependence& dependence, std::string_view name, std::span<const double> values,
               std::string_view weights = {}, std::span<const double> by = {});
/// Features [C] or [N,C] of a row that act through something else: "x" without weights.
base::Result<void> addFeatures(Dependence& dependence, const ElementCall& call, std::int64_t row);
/// The same row as a tensor of one row.
Tensor featureRow(const ElementCall& call, std::int64_t row);

}  // namespace sonde::ops::dependence
