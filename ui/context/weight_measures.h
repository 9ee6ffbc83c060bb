#pragma once

#include <memory>
#include <vector>

#include "core/session/weights/weights.h"

namespace sonde::context {

/// What the parameters of an operation are like together, by ExprId; NaN of one without.
struct WeightMeasures {
    std::vector<double> zeros;      ///< percent of their elements
    std::vector<double> outliers;   ///< elements
    std::vector<double> deviation;  ///< of its largest parameter
};

/// Those of a document whose weights were read; null before. Belongs to the UI thread.
std::shared_ptr<const WeightMeasures> weightMeasuresOf(const std::shared_ptr<const document::Document>& document);

/// By Weights: all figures are there. Remembered for the documents that were read last.
void setWeightMeasures(const session::WeightReport& report);

}  // namespace sonde::context
