#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/weights/weight_figures.h"
#include "core/analysis/weights/weight_table.h"

namespace sonde::analysis {

/// One thing that is said of every weight: a column of the table, and what it may be sorted by.
struct WeightColumn {
    enum class Form : std::uint8_t { Text, Count, Bytes, Number, Percent };

    std::string_view id;           ///< "std": for --sort and settings
    std::string_view title;        ///< "Std"
    std::string_view description;  ///< with its formula
    Form form = Form::Text;
    bool isMeasured = false;  ///< nothing is known of it before the weight was read
    std::string (*text)(const graph::InternalGraph& graph, const WeightRow& row) = nullptr;  ///< of Form::Text
    /// Of the other forms; nothing if there is no such number. `figures`: null unless the weight was read.
    std::optional<double> (*number)(const WeightRow& row, const WeightFigures* figures) = nullptr;
};
const std::vector<WeightColumn>& weightColumns();
const WeightColumn* weightColumn(std::string_view id);  ///< null if there is none

/// As a table shows it; empty if nothing is known.
std::string weightText(const WeightColumn& column, const graph::InternalGraph& graph, const WeightRow& row,
                       const WeightFigures* figures);
std::string weightNumberText(const WeightColumn& column, double number);
/// Names of the operators that read it: "Conv", "Conv, Add, …".
std::string readersText(const graph::InternalGraph& graph, const WeightRow& row);

/// Indices of the rows in the order of a column: largest numbers first, texts by the alphabet; what has none is last.
/// Equal ones keep their order. `figures`: by row.
std::vector<std::size_t> sortedWeights(const WeightColumn& column, const graph::InternalGraph& graph,
                                       std::span<const WeightRow> rows, std::span<const WeightFigures> figures);

}  // namespace sonde::analysis
