#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/weights/spectrum.h"
#include "core/analysis/weights/weight_figures.h"
#include "core/analysis/weights/weight_table.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"

namespace sonde::session {

/// Bins that layers share.
inline constexpr std::size_t kLayerBins = 48;

/// The parameters of one module together.
struct LayerHistogram {
    std::string qualname;  ///< of the module; of one without a name the parameter's own
    std::vector<std::size_t> rows;
    analysis::BinnedWeights bins;
};

/// Histograms of the layers over one range, in the order in which they are read. The range is that of the matrices and
/// kernels (of all, if there are none) without their outliers (WeightFigures::lowFence): one wild element would put all
/// others into one bin. What is outside of it is counted beside the bins.
struct LayerHistograms {
    double low = 0, high = 0;
    std::vector<LayerHistogram> layers;
};

/// The weights of a model: what `sonde weights` prints and the panel Weights shows.
struct WeightReport {
    std::shared_ptr<const document::Document> document;
    std::vector<analysis::WeightRow> rows;
    std::vector<analysis::WeightFigures> figures;  ///< by row, as far as they were read
    std::optional<LayerHistograms> layers;
    std::vector<std::pair<std::size_t, analysis::Spectrum>> spectra;  ///< of a row, of each of its matrices
};

/// Every parameter and buffer of the document, without figures. Reads no weight.
WeightReport listWeights(std::shared_ptr<const document::Document> document);

/// Reads the weights one after the other from row `first` on, and calls `take` with each row's index and figures.
/// Blocks; may be called on any thread. Errors: Cancelled; Unreadable, if a file of the model changed meanwhile.
base::Result<void> measureWeights(const WeightReport& report,
                                  const std::function<void(std::size_t row, analysis::WeightFigures figures)>& take,
                                  const base::WorkContext& work = {}, std::size_t first = 0);

/// Needs the figures. Reads the parameters once more. Errors as measureWeights().
base::Result<LayerHistograms> layerHistograms(const WeightReport& report, const base::WorkContext& work = {});

/// Singular values of a row, of one of its WeightRow::matrices. Errors: those of analysis::spectrumOf() with the
/// weight's name, and of measureWeights().
base::Result<analysis::Spectrum> weightSpectrum(const WeightReport& report, std::size_t row,
                                                const base::WorkContext& work = {}, std::int64_t matrix = 0);

/// The row with that name, one of its tied names, or the name of its node. Usage error with the nearest names.
base::Result<std::size_t> findWeight(const WeightReport& report, const std::string& name);

/// The rank measures of a spectrum for people: "effective rank 412.6 of 512 …".
std::string spectrumText(const analysis::Spectrum& spectrum);

/// `order`: which rows, in which order. `withHistograms`: of each row, too.
std::string weightsText(const WeightReport& report, const std::vector<std::size_t>& order, bool withHistograms);
/// The JSON of `sonde weights --json` (sonde-weights, version 1).
std::string weightsJson(const WeightReport& report, const std::vector<std::size_t>& order, bool withHistograms);

}  // namespace sonde::session
