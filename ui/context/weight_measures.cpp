#include "ui/context/weight_measures.h"

#include <cmath>
#include <deque>
#include <limits>
#include <utility>

namespace sonde::context {

namespace {

constexpr std::size_t kMaxMeasured = 4;  ///< documents

using MeasuredDocument = std::pair<std::weak_ptr<const document::Document>, std::shared_ptr<const WeightMeasures>>;

std::deque<MeasuredDocument>& measuredDocuments() {
    static std::deque<MeasuredDocument> documents;
    return documents;
}

}  // namespace

std::shared_ptr<const WeightMeasures> weightMeasuresOf(const std::shared_ptr<const document::Document>& document) {
    for (const MeasuredDocument& measured : measuredDocuments())
        if (document && measured.first.lock() == document) return measured.second;
    return nullptr;
}

void setWeightMeasures(const session::WeightReport& report) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const std::size_t count = report.document->graph->exprCount();
    auto measures = std::make_shared<WeightMeasures>();
    measures->zeros.assign(count, kNone);
    measures->outliers.assign(count, kNone);
    measures->deviation.assign(count, kNone);
    struct Sum {
        double elements = 0, zero = 0, largest = 0;
    };
    std::vector<Sum> sums(count);
    for (std::size_t i = 0; i < report.rows.size() && i < report.figures.size(); ++i) {
        const analysis::WeightFigures& figures = report.figures[i];
        if (report.rows[i].kind != analysis::StoredKind::Parameter || figures.count == 0) continue;
        const auto elements = static_cast<double>(figures.count);
        for (const graph::ExprId user : report.rows[i].users) {
            const std::size_t at = user.index();
            Sum& sum = sums[at];
            sum.elements += elements;
            sum.zero += static_cast<double>(figures.zero);
            measures->zeros[at] = 100 * sum.zero / sum.elements;
            const double before = std::isnan(measures->outliers[at]) ? 0 : measures->outliers[at];
            measures->outliers[at] = before + static_cast<double>(figures.outliers);
            if (elements <= sum.largest || figures.finite() == 0) continue;
            sum.largest = elements;
            measures->deviation[at] = figures.deviation;
        }
    }
    std::deque<MeasuredDocument>& documents = measuredDocuments();
    std::erase_if(documents, [&report](const MeasuredDocument& measured) {
        const auto document = measured.first.lock();
        return !document || document == report.document;
    });
    documents.emplace_back(report.document, std::move(measures));
    if (documents.size() > kMaxMeasured) documents.pop_front();
}

}  // namespace sonde::context
