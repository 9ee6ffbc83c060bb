#include "core/analysis/weights/weight_columns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "core/analysis/model_cost.h"
#include "core/base/count_text.h"
#include "core/base/number_text.h"

namespace sonde::analysis {

namespace {

using Form = WeightColumn::Form;
using Number = std::optional<double>;

Number ofFinite(const WeightFigures* figures, double number) {
    return figures && figures->finite() > 0 ? Number(number) : std::nullopt;
}

Number ofFilters(const WeightRow& row, const WeightFigures* figures, std::size_t count) {
    return figures && row.filters ? Number(static_cast<double>(count)) : std::nullopt;
}

std::string kindText(const graph::InternalGraph&, const WeightRow& row) { return std::string(kindName(row)); }

std::string tiedText(const graph::InternalGraph&, const WeightRow& row) {
    std::string text;
    for (std::size_t i = 1; i < row.names.size(); ++i) text += (i > 1 ? ", " : "") + row.names[i];
    return text;
}

std::string dtypeText(const graph::InternalGraph&, const WeightRow& row) {
    return std::string(tensor::name(row.dtype)) + (row.scale                      ? " (scaled)"
                                                   : tensor::isComplex(row.dtype) ? " (magnitudes)"
                                                                                  : "");
}

std::vector<WeightColumn> makeColumns() {
    using Row = const WeightRow&;
    using Figures = const WeightFigures*;
    return {
        {"name", "Name", "Name of the parameter or buffer in its module, or in the file", Form::Text, false,
         [](const graph::InternalGraph&, Row row) { return row.name; }},
        {"module", "Module", "Module that owns it", Form::Text, false,
         [](const graph::InternalGraph&, Row row) { return row.qualname; }},
        {"kind", "Kind", "Parameter (trained) or buffer (running statistics)", Form::Text, false, kindText},
        {"op", "Used by", "Operators that read it, in bodies of loops and functions too", Form::Text, false,
         readersText},
        {"shape", "Shape", "Dim sizes as stored", Form::Text, false,
         [](const graph::InternalGraph&, Row row) { return row.shape.text(); }},
        {"dtype", "Type",
         "Element type as stored; scaled: the figures are of (stored \u2212 zero point)\u00b7scale; magnitudes: those of complex numbers",
         Form::Text, false, dtypeText},
        {"elements", "Elements", "Count of the weights", Form::Count, false, nullptr,
         [](Row row, Figures) { return Number(static_cast<double>(row.elements)); }},
        {"bytes", "Bytes", "Size in the file", Form::Bytes, false, nullptr,
         [](Row row, Figures) { return Number(static_cast<double>(row.bytes)); }},
        {"min", "Min", "Smallest finite element", Form::Number, true, nullptr,
         [](Row, Figures figures) { return ofFinite(figures, figures ? figures->minimum : 0); }},
        {"max", "Max", "Largest finite element", Form::Number, true, nullptr,
         [](Row, Figures figures) { return ofFinite(figures, figures ? figures->maximum : 0); }},
        {"mean", "Mean", "\u03bc = \u03a3x / n of the finite elements", Form::Number, true, nullptr,
         [](Row, Figures figures) { return ofFinite(figures, figures ? figures->mean : 0); }},
        {"std", "Std", "\u221a(\u03a3(x \u2212 \u03bc)\u00b2 / n) of the finite elements", Form::Number, true, nullptr,
         [](Row, Figures figures) { return ofFinite(figures, figures ? figures->deviation : 0); }},
        {"zeros", "Zeros", "Sparsity: elements that are 0, in percent of all", Form::Percent, true, nullptr,
         [](Row, Figures figures) {
             if (!figures || figures->count == 0) return Number();
             return Number(100.0 * static_cast<double>(figures->zero) / static_cast<double>(figures->count));
         }},
        {"zero-filters", "Zero filters",
         "Filters, one for each output channel of the operation that reads it, of zeros alone", Form::Count, true,
         nullptr,
         [](Row row, Figures figures) { return ofFilters(row, figures, figures ? figures->filters.zero.size() : 0); }},
        {"duplicate-filters", "Duplicates",
         "Filters that equal one before them, element by element; zero ones are not counted", Form::Count, true,
         nullptr,
         [](Row row, Figures figures) {
             return ofFilters(row, figures, figures ? figures->filters.duplicates.size() : 0);
         }},
        {"outliers", "Outliers",
         "Elements below Q1 \u2212 3\u00b7IQR or above Q3 + 3\u00b7IQR, IQR = Q3 \u2212 Q1 of the finite elements other than 0 (Tukey 1977: far out)",
         Form::Count, true, nullptr,
         [](Row, Figures figures) {
             return figures && figures->hasQuartiles ? Number(static_cast<double>(figures->outliers)) : Number();
         }},
        {"bad", "NaN, Inf", "Elements that are NaN or infinite", Form::Count, true, nullptr,
         [](Row, Figures figures) { return figures ? Number(static_cast<double>(figures->bad())) : Number(); }},
        {"tied", "Tied with", "Other names of the same memory: it counts once", Form::Text, false, tiedText},
    };
}

}  // namespace

const std::vector<WeightColumn>& weightColumns() {
    static const std::vector<WeightColumn> columns = makeColumns();
    return columns;
}

const WeightColumn* weightColumn(std::string_view id) {
    const auto found = std::ranges::find(weightColumns(), id, &WeightColumn::id);
    return found == weightColumns().end() ? nullptr : &*found;
}

std::string weightNumberText(const WeightColumn& column, double number) {
    switch (column.form) {
        case Form::Bytes: return bytesText(static_cast<std::int64_t>(number));
        case Form::Number: return base::roundedText(number, 4);
        case Form::Percent: return base::roundedText(number, 3) + " %";
        default: return base::countText(static_cast<std::int64_t>(number));
    }
}

std::string weightText(const WeightColumn& column, const graph::InternalGraph& graph, const WeightRow& row,
                       const WeightFigures* figures) {
    if (column.text) return column.text(graph, row);
    const Number number = column.number(row, figures);
    return number ? weightNumberText(column, *number) : std::string();
}

std::string readersText(const graph::InternalGraph& graph, const WeightRow& row) {
    constexpr std::size_t kMaxNamed = 2;
    std::vector<std::string> names;
    for (const graph::ExprId user : row.users) {
        std::string name = operatorTitle(graph.expr(user));
        if (std::ranges::find(names, name) != names.end()) continue;
        if (names.size() == kMaxNamed) return fmt::format("{}, \u2026", fmt::join(names, ", "));
        names.push_back(std::move(name));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::size_t> sortedWeights(const WeightColumn& column, const graph::InternalGraph& graph,
                                       std::span<const WeightRow> rows, std::span<const WeightFigures> figures) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (column.text) {
        std::vector<std::string> texts;
        for (const WeightRow& row : rows) texts.push_back(column.text(graph, row));
        const auto before = [&](std::size_t a, std::size_t b) {
            if (texts[a].empty() != texts[b].empty()) return texts[b].empty();
            return texts[a] < texts[b];
        };
        std::ranges::stable_sort(order, before);
        return order;
    }
    std::vector<double> numbers;
    for (std::size_t i = 0; i < rows.size(); ++i)
        numbers.push_back(column.number(rows[i], i < figures.size() ? &figures[i] : nullptr).value_or(-INFINITY));
    for (double& number : numbers)
        if (std::isnan(number)) number = -INFINITY;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
    return order;
}

}  // namespace sonde::analysis
